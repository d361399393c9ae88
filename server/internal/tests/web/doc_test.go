// Package web tests the server's HTTP with clients that the server does not need: a validator of OpenAPI, and
// the page in Chromium.
package web

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
	"github.com/firn-id/firn/server/internal/web"
)

// newSet returns a generator for each format by its name, the generator order of nanoflakes with 16 workers, and more.
// A request waits for IDs as long as a busy machine needs.
func newSet(t *testing.T, more ...supply.Generator) *supply.Set {
	t.Helper()
	all := supplytest.Formats(2)
	order := all[0]
	order.Name, order.Workers = "order", 16
	c := supply.Config{Wait: time.Minute, Generators: slices.Concat(more, all, []supply.Generator{order})}
	if slices.ContainsFunc(more, func(g supply.Generator) bool { return g.Name == "broken" }) {
		c.Wait = 10 * time.Millisecond // nobody waits for a store that is down
	}
	return supplytest.New(t, c)
}

func nanoflake() inspect.Format {
	f, _ := inspect.Lookup("nanoflake")
	return f
}

// broken returns a generator whose store does not open.
func broken() supply.Generator { return supplytest.Down("broken", "the store is down") }

// past returns a generator whose timestamps have ended when the function end has been called.
func past() (_ supply.Generator, end func()) {
	var ended atomic.Bool
	clock := func() time.Time {
		if ended.Load() {
			return time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return time.Now()
	}
	return supply.Generator{Name: "past", Format: nanoflake(), Recipe: shape.Recipe{Clock: clock}}, func() { ended.Store(true) }
}

// The tokens of newAccess. One token may take 1 ID a second.
const correct, slow = "the-correct-token", "the-slow-token-of-one"

// newAccess returns an Access with tokens.
func newAccess(t *testing.T) *access.Access {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.toml")
	text := fmt.Sprintf("[tokens]\ncorrect = {token = %q}\nslow = {token = %q, rate = 1}\n", correct, slow)
	testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
	a, err := access.New(access.Config{Path: path, Burst: 1, Log: slog.New(slog.DiscardHandler)})
	testkit.OK(t, err)
	return a
}

// serve serves a set on loopback.
func serve(t *testing.T, c web.Config) *httptest.Server {
	t.Helper()
	if c.Metrics == nil {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			io.WriteString(w, "firn_ids_total 1\n")
		})
	}
	s := httptest.NewServer(web.New(c))
	t.Cleanup(s.Close)
	return s
}

// serveHandler serves a handler on loopback, and returns the address.
func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
