package sqlgen

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
)

func newTestOffer(t *testing.T) *offer {
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	testkit.OK(t, err)
	pool, err := g.ForLease().Pool()
	testkit.OK(t, err)
	return newOffer(pool, new(clock))
}

// isOver reports whether an offer is over.
func isOver(o *offer) bool {
	select {
	case <-o.over:
		return true
	default:
		return false
	}
}

// TestOffer: an offer grows by intervals that follow each other, and keeps what was sent.
func TestOffer(t *testing.T) {
	at := func(tick int64) time.Time {
		return nanoflake.DefaultEpoch().Add(time.Duration(tick) * time.Millisecond)
	}
	type step func(t *testing.T, o *offer)
	grants := func(worker int, from, until int64) step {
		return func(t *testing.T, o *offer) {
			if err := o.Grant(worker, at(from), at(until)); err != nil {
				t.Error(err)
			}
		}
	}
	sends := func(want interval, wantOK bool) step {
		return func(t *testing.T, o *offer) {
			if i, ok := o.send(); i != want || ok != wantOK {
				t.Errorf("%v, %v are sent, not %v, %v", i, ok, want, wantOK)
			}
		}
	}
	seals := func(want int64) step {
		return func(t *testing.T, o *offer) {
			if got := o.Seal(nil); !got.Equal(at(want)) {
				t.Errorf("sealed at %v, not %v", got, at(want))
			}
		}
	}
	withdraws := func(want int64) step {
		return func(t *testing.T, o *offer) {
			if got := o.Withdraw(); !got.Equal(at(want)) {
				t.Errorf("withdrawn to %v, not %v", got, at(want))
			}
		}
	}
	nothing := sends(interval{}, false)
	for name, test := range map[string]struct {
		steps []step
		why   error
	}{
		"nothing":          {[]step{nothing, seals(0)}, nil},
		"not sent":         {[]step{grants(7, 100, 200), seals(100), nothing}, nil},
		"sent":             {[]step{grants(7, 100, 200), sends(interval{7, 100, 200}, true), seals(200), seals(200), nothing}, nil},
		"sent in part":     {[]step{grants(7, 100, 200), sends(interval{7, 100, 200}, true), grants(7, 200, 300), seals(200), nothing}, nil},
		"grows":            {[]step{grants(7, 100, 200), grants(7, 200, 300), sends(interval{7, 100, 300}, true), seals(300)}, nil},
		"overlaps":         {[]step{grants(7, 100, 200), grants(7, 150, 300), grants(7, 150, 250), sends(interval{7, 100, 300}, true)}, nil},
		"no whole tick":    {[]step{grants(7, 100, 100), grants(7, 100, 90), nothing}, nil},
		"a gap":            {[]step{grants(7, 100, 200), sends(interval{7, 100, 200}, true), grants(7, 201, 300), nothing, seals(200)}, errGap},
		"a worker":         {[]step{grants(7, 100, 200), sends(interval{7, 100, 200}, true), grants(8, 200, 300), nothing, seals(200)}, errGap},
		"after a gap":      {[]step{grants(7, 100, 200), grants(7, 300, 400), grants(7, 200, 300), nothing, seals(100)}, errGap},
		"withdrawn":        {[]step{grants(7, 100, 200), sends(interval{7, 100, 200}, true), withdraws(200), nothing, seals(200)}, errAhead},
		"after the end":    {[]step{grants(7, 100, 200), seals(100), grants(7, 200, 300), nothing, seals(100)}, nil},
		"before the epoch": {[]step{grants(7, -100, 5), sends(interval{7, 1, 5}, true)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTestOffer(t)
			for _, s := range test.steps {
				s(t, o)
			}
			if isOver(o) != (test.why != nil) || o.why != test.why {
				t.Errorf("over because of %v, not %v", o.why, test.why)
			}
		})
	}
}

// Ticks that are not whole are left out, and no other worker is taken.
func TestOfferRefuses(t *testing.T) {
	o := newTestOffer(t)
	for _, worker := range []int{-1, 1024} {
		if o.Grant(worker, nanoflake.DefaultEpoch(), nanoflake.DefaultEpoch().Add(time.Second)) == nil {
			t.Errorf("worker %d is granted", worker)
		}
	}
	part := nanoflake.DefaultEpoch().Add(100*time.Millisecond + 1)
	if err := o.Grant(7, part, part.Add(100*time.Millisecond)); err != nil {
		t.Error(err)
	}
	if i, ok := o.send(); !ok || i != (interval{7, 101, 200}) {
		t.Errorf("%v, %v", i, ok)
	}
	var _ grant.Grantee = o
}

// TestClock: a clock follows the readings, and not the differences that the time of a request
// explains.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		began := time.Now()
		is := func(want time.Duration) {
			t.Helper()
			if got := c.now().Sub(began); got != want {
				t.Errorf("%v, not %v", got, want)
			}
		}
		reads := func(offset, took time.Duration) {
			sent := time.Now()
			time.Sleep(took / 2)
			ms := time.Now().Add(offset).UnixMilli()
			time.Sleep(took - took/2)
			c.set(ms, sent, time.Now())
		}
		is(0)
		reads(time.Hour, 0)
		is(time.Hour)
		time.Sleep(time.Second)
		is(time.Hour + time.Second)
		reads(time.Hour+40*time.Millisecond, 100*time.Millisecond) // the request may have taken as long
		is(time.Hour + 1100*time.Millisecond)
		reads(-time.Hour, 2*time.Millisecond)
		is(-time.Hour + 1102*time.Millisecond)
		reads(0, 4*time.Second)
		is(5102 * time.Millisecond)
	})
}
