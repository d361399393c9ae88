package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/supply"
)

// A teller tells the log of leases and stores.
type teller struct {
	log    *slog.Logger
	notify func(generator string, e lease.Event)

	mu   sync.Mutex
	last map[string]said // by subject: a generator, or a generator and a kind of event
}

// said is what the log has about a subject.
type said struct {
	text string
	at   time.Time
}

func newTeller(c *Config) *teller {
	return &teller{log: c.Log, notify: c.Notify, last: map[string]said{}}
}

// levels are the levels of events: what an operator need not know, has to know, and has to mend.
var levels = map[lease.EventKind]slog.Level{
	lease.Renewed: slog.LevelDebug, lease.Acquired: slog.LevelInfo, lease.Released: slog.LevelInfo, lease.Recovered: slog.LevelInfo,
	lease.Failing: slog.LevelWarn, lease.Waiting: slog.LevelWarn, lease.Withdrawn: slog.LevelWarn, lease.Created: slog.LevelWarn,
	lease.Expired: slog.LevelError, lease.Lost: slog.LevelError, lease.Ahead: slog.LevelError, lease.Ended: slog.LevelError,
}

// event tells of an event of a lease. A lease that fails to renew tries again several times a second, and each worker of a
// generator does: the log has the first such event, each change of the reason, and then one about each minute.
func (t *teller) event(s *supply.Source, e lease.Event) {
	if t.notify != nil {
		defer t.notify(s.Name, e)
	}
	repeats := e.Kind == lease.Failing || e.Kind == lease.Waiting
	if repeats && !t.news(s.Name+" "+e.Kind.String(), metrics.Why(e.Err)) {
		return
	}
	attrs := []slog.Attr{slog.String("generator", s.Name), slog.Any("lease", e)}
	if remedy := lease.RemedyFor(e.Err).Kind; remedy != "" {
		attrs = append(attrs, slog.String("remedy", string(remedy)))
	}
	t.log.LogAttrs(context.Background(), levels[e.Kind], "lease", attrs...)
}

// failed tells of a store that does not open, or a lease that does not start. The tries are many: the log has each
// error once, and then about once a minute.
func (t *teller) failed(s *supply.Source, err error) {
	if !t.news(s.Name, err.Error()) {
		return
	}
	t.log.Error("no worker yet: the server tries again", "generator", s.Name, "store", s.Store, "err", err, "remedy", lease.RemedyFor(err).Kind)
}

// news reports whether the log has not had a text about a subject for a minute.
func (t *teller) news(subject, text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.last[subject]; before.text == text && time.Since(before.at) < time.Minute {
		return false
	}
	t.last[subject] = said{text, time.Now()}
	return true
}
