package pools

import (
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/grant"
)

func TestWorkerStates(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, v := range []struct {
		held  bool
		until time.Duration
		want  string
	}{
		{true, time.Second, "held"},
		{true, 0, "expired"},
		{true, -time.Hour, "expired"},
		{false, -time.Hour, "free"},
		{false, time.Millisecond, "free"},
		{false, time.Second, "ahead"},
	} {
		if got := stateOf(lease.Worker{Held: v.held, Until: now.Add(v.until)}, now); got != v.want {
			t.Errorf("held %v until now + %v: %s, not %s", v.held, v.until, got, v.want)
		}
	}
}

// TestEnds: a pool's timestamps end where its format says, and no layout of another program
// overflows.
func TestEnds(t *testing.T) {
	for _, name := range formats.Names() {
		f, _ := formats.Lookup(name)
		r := formats.Recipe{Format: f}
		want := map[string]string{
			"nanoflake": "2090-09-07T15:47:35.552Z", "ulidflake": "2302-09-27T15:10:22.208Z", "ulidflake-scalable": "2302-09-27T15:10:22.208Z",
			"snowflakesi": "2055-11-04T19:53:47.776Z", "scru160": "10889-08-02T05:31:50.656Z", "sno": "2079-09-07T15:47:35.552Z",
		}[name]
		p, err := r.Pool()
		testkit.OK(t, err)
		if got := cli.TimeText(ends(p.Layout)); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	for _, l := range []grant.Layout{
		{Unit: time.Hour, Widths: []int{1000}}, {Unit: 1 << 62, Widths: []int{63}}, {Unit: time.Second},
	} {
		if got := ends(l); got.Before(l.Epoch) {
			t.Errorf("%v: %v", l, got)
		}
	}
}
