package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/server/internal/supply"
)

// A teller tells the log of leases and stores.
type teller struct {
	log     *slog.Logger
	explain func(generator string, err error) error
	notify  func(generator string, e lease.Event)

	mu   sync.Mutex
	last map[string]said // by generator
}

// said is what the log has about the store of a generator.
type said struct {
	text string
	at   time.Time
}

func newTeller(c *Config) *teller {
	return &teller{log: c.Log, explain: c.Explain, notify: c.Notify, last: map[string]said{}}
}

// levels are the levels of events: what an operator need not know, has to know, and has to mend.
var levels = map[lease.EventKind]slog.Level{
	lease.Renewed: slog.LevelDebug, lease.Acquired: slog.LevelInfo, lease.Released: slog.LevelInfo,
	lease.Failing: slog.LevelWarn, lease.Waiting: slog.LevelWarn, lease.Withdrawn: slog.LevelWarn, lease.Created: slog.LevelWarn, lease.Shared: slog.LevelWarn,
	lease.Expired: slog.LevelError, lease.Lost: slog.LevelError, lease.Ended: slog.LevelError,
}

// event tells of an event of a lease.
func (t *teller) event(s *supply.Source, e lease.Event) {
	if e.Err != nil {
		e.Err = t.explain(s.Name, e.Err)
	}
	t.log.LogAttrs(context.Background(), levels[e.Kind], "lease", slog.String("generator", s.Name), slog.Any("lease", e))
	if t.notify != nil {
		t.notify(s.Name, e)
	}
}

// failed tells of a store that does not open, or a lease that does not start. The tries are many: the log has each
// error once, and then about once a minute.
func (t *teller) failed(s *supply.Source, err error) {
	text := t.explain(s.Name, err).Error()
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.last[s.Name]; before.text == text && time.Since(before.at) < time.Minute {
		return
	}
	t.last[s.Name] = said{text, time.Now()}
	t.log.Error("no worker yet: the server tries again", "generator", s.Name, "store", s.Store, "err", text)
}
