package lease

import (
	"log/slog"
	"time"
)

// An Event is something that happened to a lease.
type Event struct {
	Kind   EventKind
	Pool   string
	Worker int
	From   time.Time     // Acquired, Renewed: the times that were allocated begin here
	Until  time.Time     // where the times of the lease end; Released: where the worker's times go on
	Left   time.Duration // Failing: how long minting can go on
	Err    error         // Failing, Expired, Lost: why
}

// An EventKind says what happened.
type EventKind uint8

const (
	// Acquired: the lease has a worker, the first or, after Lost, another one.
	Acquired EventKind = iota + 1
	// Renewed: the worker has more time.
	Renewed
	// Failing: a try to renew has failed, and there will be others.
	Failing
	// Expired: the times are used up, and the generator refuses to mint.
	Expired
	// Lost: the worker has no more times for the lease, which takes another worker. Mostly
	// another lease has it, since this one's times were used up; or the pool was rescued (Err
	// is [ErrRescued]), or has to be (Err is [ErrRolledBack]), and the lease waits for that.
	Lost
	// Released: the lease was closed, and the worker given back.
	Released
)

// String returns the kind in a word.
func (k EventKind) String() string {
	switch k {
	case Acquired:
		return "acquired"
	case Renewed:
		return "renewed"
	case Failing:
		return "failing"
	case Expired:
		return "expired"
	case Lost:
		return "lost"
	case Released:
		return "released"
	}
	return "unknown"
}

// LogValue makes an Event a group of its own in logs.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("event", e.Kind.String()), slog.String("pool", e.Pool), slog.Int("worker", e.Worker)}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", e.Until))
	}
	if e.Kind == Failing {
		attrs = append(attrs, slog.Duration("left", e.Left))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	return slog.GroupValue(attrs...)
}
