package server

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/supply"
)

// A long outage of the store takes a line of the log each minute, and not one for each try of each worker. A change of the
// reason is told at once, and Config.Notify gets each event.
func TestLogOfOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		notified := 0
		teller := newTeller(&Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Notify: func(string, lease.Event) { notified++ }})
		source := &supply.Source{Generator: supply.Generator{Name: "order"}}
		count := func() int { return strings.Count(log.String(), "\n") }
		outage := func(worker int, err error) {
			teller.event(source, lease.Event{Kind: lease.Failing, Worker: worker, Err: err})
		}
		down := &driver.Error{Op: "swap", Err: driver.ErrUnavailable}
		for range 10 * 60 * 2 { // ten minutes, two tries a second
			for worker := range 4 {
				outage(worker, down)
			}
			time.Sleep(500 * time.Millisecond)
		}
		if n := count(); n < 10 || n > 11 {
			t.Errorf("%d lines in ten minutes", n)
		}
		before := count()
		outage(0, lease.ErrRolledBack)
		outage(1, errors.New("another"))
		if n := count() - before; n != 2 {
			t.Errorf("%d lines for two new reasons", n)
		}
		before = count()
		teller.event(source, lease.Event{Kind: lease.Expired, Worker: 1})
		teller.event(source, lease.Event{Kind: lease.Expired, Worker: 2})
		if n := count() - before; n != 2 {
			t.Errorf("%d lines for two workers without a window", n)
		}
		if want := 10*60*2*4 + 4; notified != want {
			t.Errorf("%d events, want %d", notified, want)
		}
	})
}
