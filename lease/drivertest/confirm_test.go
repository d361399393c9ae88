package drivertest

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// A confirmation is the method Confirm of a server.
type confirmation func(ctx context.Context, key string) (driver.Entry, error)

// A primary is a server that a successor may replace.
type primary struct {
	driver.Store
	confirm confirmation
}

func (p *primary) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return p.confirm(ctx, key)
}

// cutDefects are ways in which a server confirms after it was cut off. The functions now and own return the
// entry of all servers, which fails after the cut, and the entry of the server itself.
var cutDefects = map[string]func(now, own confirmation) confirmation{
	"none":                       func(now, _ confirmation) confirmation { return now },
	"answers from its own state": func(_, own confirmation) confirmation { return own },
	"answers from a cache where it gets no answer": func(now, _ confirmation) confirmation {
		var mu sync.Mutex
		var last driver.Entry
		return func(ctx context.Context, key string) (driver.Entry, error) {
			e, err := now(ctx, key)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				last = e
			}
			return last, nil
		}
	},
}

// TestCutDefects shows that CutOff finds each defect.
func TestCutDefects(t *testing.T) {
	for name, defect := range cutDefects {
		if failed := fails(t, func(t testing.TB) { cutOff(t, defect) }); failed != (name != "none") {
			t.Errorf("%s: it fails: %v", name, failed)
		}
	}
}

func cutOff(t testing.TB, defect func(now, own confirmation) confirmation) {
	var mu sync.Mutex
	off := false
	all, own := memlease.New(), memlease.New()
	old := &primary{Store: all}
	old.confirm = defect(func(ctx context.Context, key string) (driver.Entry, error) {
		mu.Lock()
		defer mu.Unlock()
		if off {
			return driver.Entry{}, driver.ErrUnavailable
		}
		return all.Get(ctx, key)
	}, func(ctx context.Context, key string) (driver.Entry, error) {
		mu.Lock()
		defer mu.Unlock()
		if off {
			return own.Get(ctx, key)
		}
		return all.Get(ctx, key)
	})
	CutOff(t, old, func() driver.Store {
		mu.Lock()
		defer mu.Unlock()
		e, err := all.Get(t.Context(), "cut/off")
		if err != nil {
			t.Fatal(err)
		}
		for rev := driver.None; rev != e.Revision; { // the copy has the same revision
			if rev, err = own.Put(t.Context(), "cut/off", bytes.Clone(e.Value), rev); err != nil {
				t.Fatal(err)
			}
		}
		off = true
		return all.Open()
	})
}
