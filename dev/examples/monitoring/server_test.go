package monitoring

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server"
)

// A listener is in memory: a bubble's time stands still while a goroutine waits for a real socket.
type listener struct{ *bufconn.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, net.ErrClosed // as listeners of package net say
	}
	return c, nil
}

// serve starts a server with a generator on a store, and a client that asks for n IDs each second. s scrapes the server.
// serve returns the path of the server's file of tokens.
func serve(t *testing.T, s *scraper, store driver.Store, g server.Generator, n int) (tokens string) {
	const token = "0123456789abcdef0123456789abcdef"
	tokens = filepath.Join(t.TempDir(), "tokens.toml")
	testkit.OK(t, os.WriteFile(tokens, []byte("[tokens.shop]\ntoken = \""+token+"\"\n"), 0o600))
	g.Name = "orders"
	ln := listener{bufconn.Listen(1 << 16)}
	served, err := server.New(server.Config{Generators: []server.Generator{g, {Name: "idle", Format: "nanoflake"}},
		Tokens: tokens, Log: slog.New(slog.DiscardHandler),
		OpenStore:  func(context.Context, string) (driver.Store, error) { return store, nil },
		OpenSocket: func(string, string) (net.Listener, error) { return ln, nil }})
	testkit.OK(t, err)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return ln.DialContext(ctx) }}}
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequest("GET", "http://127.0.0.1"+path, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		return client.Do(r)
	}
	s.get = func() *http.Response {
		response := testkit.Must(get("/metrics"))
		return response
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving, asking sync.WaitGroup
	serving.Go(func() {
		if err := served.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	asking.Go(func() {
		for ; t.Context().Err() == nil; time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) {
			response, err := get(fmt.Sprintf("/v1/generators/orders/ids?n=%d", n))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Error(err)
			}
			response.Body.Close()
		}
	})
	t.Cleanup(func() {
		asking.Wait()
		cancel()
		serving.Wait()
		client.CloseIdleConnections()
	})
	return tokens
}

// TestServerRules runs a server and its store into each failure. The alerts of docs/server.md for the failure fire, and no
// others.
func TestServerRules(t *testing.T) {
	nanoflake := server.Generator{Format: "nanoflake"}
	testRules(t, "server.md", []failure{
		{"healthy", func(t *testing.T, s *scraper) {
			serve(t, s, create(t, memlease.New()), nanoflake, 10)
			s.run(time.Hour)
		}, nil},
		{"a store that refuses for long", func(t *testing.T, s *scraper) {
			store := &faults.Cut{Store: create(t, memlease.New())}
			serve(t, s, store, nanoflake, 10)
			s.run(10 * time.Minute)
			store.Down.Store(true)
			s.run(20 * time.Minute)
		}, []string{"FirnLeaseExpired", "FirnNoIDs", "FirnRefusals", "FirnStoreUnreliable", "FirnWorkerLost"}},
		{"a store that refuses for 30 s again and again", func(t *testing.T, s *scraper) {
			store := &faults.Cut{Store: create(t, memlease.New())}
			serve(t, s, store, nanoflake, 10)
			for range 6 {
				s.run(90 * time.Second)
				store.Down.Store(true)
				s.run(30 * time.Second)
				store.Down.Store(false)
			}
		}, []string{"FirnLeaseExpired", "FirnRefusals"}},
		{"a directory that is lost", func(t *testing.T, s *scraper) {
			dir := filepath.Join(t.TempDir(), "state")
			store := testkit.Must(filelease.Open(dir))
			serve(t, s, create(t, store), nanoflake, 10)
			s.run(10 * time.Minute)
			testkit.OK(t, os.Rename(dir, dir+"-away"))
			s.run(2 * time.Minute)
		}, []string{"FirnDirectoryLost", "FirnLeaseExpired", "FirnNoIDs"}},
		{"damaged records", func(t *testing.T, s *scraper) {
			store := create(t, memlease.New())
			serve(t, s, store, nanoflake, 10)
			s.run(10 * time.Minute)
			damage(t, store)
			s.run(2 * time.Minute)
		}, []string{"FirnLeaseExpired", "FirnNoIDs", "FirnPoolNeedsRecovery"}},
		{"a clock of the store that differs", func(t *testing.T, s *scraper) {
			ahead := new(atomic.Int64)
			store := faults.Clocked{Store: create(t, memlease.New()), Time: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
			serve(t, s, store, nanoflake, 10)
			s.run(10 * time.Minute)
			ahead.Store(int64(-time.Hour))
			s.run(2 * time.Minute)
		}, []string{"FirnClockWrong", "FirnLeaseExpired", "FirnNoIDs"}},
		{"a first start, and a generator of 1000 IDs a second", func(t *testing.T, s *scraper) {
			serve(t, s, memlease.New(), server.Generator{Format: "snowflakesi", MachineBits: new(13), Create: true}, 600)
			s.run(11 * time.Minute)
		}, []string{"FirnGeneratorNearlyFull", "FirnPoolCreated"}},
		{"the end of the format", func(t *testing.T, s *scraper) {
			time.Sleep(time.Until(time.Date(2089, 1, 1, 0, 0, 0, 0, time.UTC)))
			serve(t, s, create(t, memlease.New()), nanoflake, 10)
			s.run(2 * time.Minute)
		}, []string{"FirnFormatEnds"}},
		{"a file of tokens with a fault", func(t *testing.T, s *scraper) {
			tokens := serve(t, s, create(t, memlease.New()), nanoflake, 10)
			s.run(2 * time.Minute)
			testkit.OK(t, os.WriteFile(tokens, []byte("[tokens"), 0o600))
			s.run(2 * time.Minute)
		}, []string{"FirnReloadFailed"}},
	})
}
