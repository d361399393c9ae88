// Orders serves IDs over HTTP. The recipes of docs/deploy.md run this program, and the page prints the
// program as it is.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	_ "github.com/firn-id/firn/lease/etcdlease" // etcd://…
	_ "github.com/firn-id/firn/lease/filelease" // file:///DIRECTORY
	_ "github.com/firn-id/firn/lease/kubelease" // kubernetes://…
	_ "github.com/firn-id/firn/lease/pglease"   // postgres://…
	"github.com/firn-id/firn/nanoflake"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv("FIRN_STORE"), cmp.Or(os.Getenv("LISTEN"), ":8080")); err != nil {
		log.Fatal(err) // says what is wrong, and what to do
	}
}

// run serves IDs until ctx ends, and then gives the worker back.
func run(ctx context.Context, store, listen string) (err error) {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	open := func(ctx context.Context) (driver.Store, error) { return lease.OpenStore(ctx, store) }
	notify := func(e lease.Event) {
		if e.Kind != lease.Renewed { // every few seconds
			slog.Info("lease", "lease", e)
		}
	}
	held, err := lease.OpenAndStart(ctx, open, gen, lease.Config{Notify: notify})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, held.Close()) }() // frees the worker at once, and closes the store

	unavailable := func(w http.ResponseWriter, err error) {
		slog.Warn("no IDs", "err", err) // for the log only: it can name the store's host and user
		w.Header().Set("Retry-After", "1")
		http.Error(w, "no IDs right now", http.StatusServiceUnavailable)
	}
	http.HandleFunc("GET /id", func(w http.ResponseWriter, r *http.Request) {
		within, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		id, err := gen.Next(within)
		if err != nil {
			unavailable(w, err)
			return
		}
		fmt.Fprintln(w, id)
	})
	http.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if held.Left() <= 0 {
			unavailable(w, held.Err())
		}
	})
	http.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})

	server := &http.Server{Addr: listen, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-held.Done(): // no retry can mend the error
		return held.Err()
	case <-ctx.Done():
		within, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return server.Shutdown(within) // finishes the requests
	}
}
