// Package web tests the server's HTTP with clients that the server does not need: curl, Node, a validator of OpenAPI,
// and the page in Chromium.
package web

import (
	"context"
	"errors"
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
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/web"
)

// newSet returns a generator for each format by its name, the generator order of nanoflakes with 16 workers, and more.
// A request waits for IDs as long as a busy machine needs.
func newSet(t *testing.T, more ...supply.Generator) *supply.Set {
	t.Helper()
	store := memlease.New()
	open := func(context.Context) (driver.Store, error) { return store, nil }
	all := more
	c := supply.Config{Wait: time.Minute}
	for _, f := range inspect.Formats() {
		g := supply.Generator{Name: f.Name(), Format: f, Workers: 1, Store: "memory", Open: open}
		if g.Recipe.Leased = f.Worker() != ""; g.Recipe.Leased {
			g.Workers = 2
		}
		all = append(all, g)
	}
	all = append(all, supply.Generator{Name: "order", Format: nanoflake(), Workers: 16, Store: "memory", Open: open, Recipe: shape.Recipe{Leased: true}})
	if c.Generators = all; slices.ContainsFunc(all, func(g supply.Generator) bool { return g.Name == "broken" }) {
		c.Wait = 10 * time.Millisecond // nobody waits for a store that is down
	}
	set, err := supply.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close(context.Background()) })
	return set
}

func nanoflake() inspect.Format {
	f, _ := inspect.Lookup("nanoflake")
	return f
}

// broken returns a generator whose store does not open.
func broken() supply.Generator {
	return supply.Generator{Name: "broken", Format: nanoflake(), Store: "broken", Recipe: shape.Recipe{Leased: true},
		Open: func(context.Context) (driver.Store, error) { return nil, errors.New("the store is down") }}
}

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
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := access.New(access.Config{Path: path, Burst: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
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
