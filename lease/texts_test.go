package lease

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"
)

// What logs get of events.
func TestEvents(t *testing.T) {
	names := []string{"unknown", "acquired", "renewed", "failing", "expired", "lost", "released", "withdrawn", "waiting", "created", "ended", "ahead", "recovered", "unknown"}
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
		{Event{Kind: Recovered, Until: at, Took: 1}, []string{"event", "pool", "worker", "until", "took"}},
	} {
		got := attrs(test.e)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v is logged with %v, want %v", test.e.Kind, got, test.want)
		}
	}
}
