package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/driver"
)

func TestErrorTexts(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_500).UTC()
	const stamp = "2023-11-14T22:13:20.5Z"
	cause := fmt.Errorf("%w: x", driver.ErrUnavailable)
	for want, err := range map[string]error{
		"pool p: no worker is free: of the 4, processes with another pool on this machine, such as another user's, use the free ones: wait until such a process ends":                                                     &NoWorkerError{Pool: "p", Workers: 4, Excluded: true},
		"pool p: worker 3: the worker is held by a process with another pool on this machine, such as another user's: ask for another one, or for none":                                                                   &HeldError{Pool: "p", Worker: 3, Excluded: true},
		"pool p: no worker is free: all 4 are taken, the first until " + stamp + ": wait, or stop a process that holds a worker":                                                                                          &NoWorkerError{Pool: "p", Workers: 4, Soonest: at},
		"pool p: no worker is free: no lease holds one, but the timestamps of all 4 are used up to " + stamp + " at least: the clock was ahead, or is behind now: set the clock, or wait until then":                      &NoWorkerError{Pool: "p", Workers: 4, Soonest: at, Ahead: true},
		"pool p: no worker is free: the pool was rescued, and no lease gets a worker before " + stamp + ": try again then":                                                                                                &NoWorkerError{Pool: "p", Workers: 4, Soonest: at, Rescued: true},
		"pool p: worker 3: the worker is held by me until " + stamp + ": ask for another one, or for none":                                                                                                                &HeldError{Pool: "p", Worker: 3, Holder: "me", Until: at},
		"pool p: worker 3: the worker is held by nobody, but its timestamps are used up to " + stamp + ": ask for another one, or for none":                                                                               &HeldError{Pool: "p", Worker: 3, Until: at},
		"pool p: worker 3: the lease has expired at " + stamp + ": store unavailable: x":                                                                                                                                  &ExpiredError{"p", 3, at, cause},
		"pool p: the clock is wrong: it says " + stamp + ", 1m30s behind the store's time (2023-11-14T22:14:50.5Z): set the clock; if the clock is right, trust it (TrustClock)":                                          &SkewError{Pool: "p", Now: at, Reference: at.Add(90 * time.Second), OfStore: true},
		"pool p: the pool is for other IDs: its unit is 1ms, not 4ms: name the pool of these IDs; use the settings of this pool only if these IDs are meant to be of this pool":                                           &MismatchError{"p", "unit", "1ms", "4ms"},
		"pool p: worker 3: nobody is recorded at " + stamp + ": the earliest known holder is of 2023-11-14T22:13:20Z: search the logs of programs for the worker (event acquired), and look for programs without a lease": &UnrecordedError{"p", 3, at, at.Truncate(time.Second)},
		"pool p: worker 3: nobody is recorded at " + stamp + ": no holder of the worker is known: search the logs of programs for the worker (event acquired), and look for programs without a lease":                     &UnrecordedError{Pool: "p", Worker: 3, At: at},
		"pool p: worker 3: the lease has lost the worker to me until " + stamp + ": do not use IDs that were not confirmed; the lease takes a worker again by itself":                                                     &LostError{"p", 3, "me", at},
		"pool p: worker 3: the lease has lost the worker to nobody, and its timestamps are used up to " + stamp + ": do not use IDs that were not confirmed; the lease takes a worker again by itself":                    &LostError{Pool: "p", Worker: 3, Until: at},
		"pool p: the lease is starting since " + stamp + ", and has no worker yet: wait, or try again: the start goes on by itself":                                                                                       &StartingError{Pool: "p", Since: at},
		"pool p: the lease is starting since " + stamp + ", and has no worker yet: " + cause.Error():                                                                                                                      &StartingError{Pool: "p", Since: at, Cause: cause},
	} {
		if err.Error() != want {
			t.Errorf("it says\n\t%s\nnot\n\t%s", err, want)
		}
	}
	for _, test := range []struct {
		by    time.Duration
		store bool
		want  string
	}{
		{400 * 24 * time.Hour, false, "400 days ahead of the last use of the pool"},
		{-3650 * 24 * time.Hour, false, "10 years behind what most records of the pool say"},
		{47 * time.Hour, true, "47h0m0s ahead of the store's time"},
	} {
		if err := (&SkewError{Now: at.Add(test.by), Reference: at, OfStore: test.store}); !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	for err, is := range map[error][]error{
		&NoWorkerError{}:                               {ErrNoWorker},
		&HeldError{}:                                   {ErrHeld},
		&ExpiredError{Cause: cause}:                    {ErrLeaseExpired, iderr.ErrFenced, driver.ErrUnavailable},
		&StartingError{Cause: cause}:                   {ErrStarting, iderr.ErrFenced, driver.ErrUnavailable},
		&StartingError{}:                               {ErrStarting, iderr.ErrFenced},
		&UnrecordedError{}:                             {ErrUnrecorded},
		&SkewError{}:                                   {ErrClockSkew},
		&MismatchError{}:                               {ErrPoolMismatch},
		&waitError{&HeldError{}, context.Canceled}:     {ErrHeld, context.Canceled},
		&driver.Error{Err: ErrDamaged, Advice: "pray"}: {ErrDamaged, driver.ErrDamaged},
	} {
		for _, target := range is {
			if !errors.Is(err, target) {
				t.Errorf("%T is not %v", err, target)
			}
		}
	}
}

func TestEvents(t *testing.T) {
	names := []string{"unknown", "acquired", "renewed", "failing", "expired", "lost", "released", "withdrawn", "waiting", "created", "shared", "ended", "unknown"}
	for i, want := range names {
		if got := EventKind(i).String(); got != want {
			t.Errorf("kind %d is %s, not %s", i, got, want)
		}
	}
	cause := errors.New("x")
	at := time.UnixMilli(1_700_000_000_500)
	attrs := func(e Event) (keys []string) {
		for _, a := range e.LogValue().Group() {
			keys = append(keys, a.Key)
		}
		return keys
	}
	var _ slog.LogValuer = Event{}
	for _, test := range []struct {
		e    Event
		want []string
	}{
		{Event{Kind: Renewed, From: at, Until: at}, []string{"event", "pool", "worker", "until"}},
		{Event{Kind: Failing, Until: at, Left: 1, Err: cause}, []string{"event", "pool", "worker", "until", "left", "err"}},
		{Event{Kind: Failing, Worker: -1, Err: cause}, []string{"event", "pool", "err"}},
		{Event{Kind: Ended, Worker: -1, Err: cause}, []string{"event", "pool", "err"}},
		{Event{Kind: Lost, Err: cause}, []string{"event", "pool", "worker", "err"}},
		{Event{Kind: Waiting, Worker: -1, Until: at, Err: cause}, []string{"event", "pool", "until", "err"}},
		{Event{Kind: Created, Worker: -1}, []string{"event", "pool"}},
	} {
		got := attrs(test.e)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v is logged with %v, want %v", test.e.Kind, got, test.want)
		}
	}
}
