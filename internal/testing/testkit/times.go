package testkit

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
)

// IsConfigError checks that err is the ConfigError of the field, with the message.
func IsConfigError(t testing.TB, err error, format, field, message string) {
	t.Helper()
	e, ok := errors.AsType[*iderr.ConfigError](err)
	switch {
	case !ok || !errors.Is(err, iderr.ErrConfig):
		t.Errorf("%s: %v, want a ConfigError", field, err)
	case e.Format != format || e.Field != field:
		t.Errorf("%v is of %s.%s, want %s.%s", err, e.Format, e.Field, format, field)
	case !strings.Contains(err.Error(), message) || !strings.HasPrefix(err.Error(), format+": "+field+" "):
		t.Errorf("%q does not say %q", err, message)
	}
}

// Epochs checks that a constructor refuses epochs in the future, and epochs so long ago that the
// timestamps, of a number of bits of milliseconds, have run out. The error names the epoch and the
// valid epochs, and wraps the TimeError of the clock.
func Epochs(t *testing.T, format string, bits int, construct func(epoch time.Time, clock func() time.Time) error) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 123456789, time.UTC)
	least := time.UnixMilli(at.UnixMilli() - (1<<bits - 1)).UTC()
	most := time.UnixMilli(at.UnixMilli() - 1).UTC()
	if bits == 40 { // the bound of Snowflake-SI
		least = time.UnixMilli(1047972019225).UTC()
	}
	for _, epoch := range []time.Time{least, least.Add(time.Millisecond), most.Add(-time.Millisecond), most} {
		if err := construct(epoch, At(at).Now); err != nil {
			t.Errorf("the epoch %v: %v", epoch, err)
		}
	}
	refuses := func(epoch time.Time, clock func() time.Time) *iderr.TimeError {
		t.Helper()
		err := construct(epoch, clock)
		e, ok := errors.AsType[*iderr.TimeError](err)
		if !ok || !errors.Is(err, iderr.ErrTimeRange) {
			t.Errorf("the epoch %v: %v", epoch, err)
			return nil
		}
		if e.Format != format || e.Last.Before(e.First) {
			t.Errorf("the epoch %v: %#v", epoch, e)
		}
		IsConfigError(t, err, format, "Epoch", epoch.UTC().Format(time.RFC3339Nano)+" is not in "+
			least.Format(time.RFC3339Nano)+" to "+most.Format(time.RFC3339Nano)+
			", the epochs for the clock's time 2026-07-01T12:00:00.123456789Z: use one of these, or correct the clock")
		return e
	}
	for _, epoch := range []time.Time{
		most.Add(time.Millisecond), most.Add(time.Hour),
		time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.UnixMilli(1 << 62),
	} {
		if e := refuses(epoch, At(at).Now); e != nil && (!e.Time.Before(e.First) || !strings.Contains(e.Error(), "before the first timestamp")) {
			t.Errorf("the epoch %v: %v", epoch, e)
		}
	}
	if bits != 40 {
		for _, epoch := range []time.Time{least.Add(-time.Millisecond), least.AddDate(-1, 0, 0), time.UnixMilli(-1 << 62)} {
			if e := refuses(epoch, At(at).Now); e != nil && (!e.Time.After(e.Last) || !strings.Contains(e.Error(), "after the last timestamp")) {
				t.Errorf("the epoch %v: %v", epoch, e)
			}
		}
	}
	// The same with the system's clock.
	if err := construct(time.Now().Add(time.Hour).Truncate(time.Millisecond), nil); !errors.Is(err, iderr.ErrConfig) || !errors.Is(err, iderr.ErrTimeRange) {
		t.Errorf("an epoch in an hour: %v", err)
	}
	// The default epoch is not to blame, and neither is any epoch if no epoch suits the clock.
	for _, clock := range []time.Time{time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<62, 0), time.Unix(-1<<62, 0)} {
		err := construct(time.Time{}, At(clock).Now)
		if errors.Is(err, iderr.ErrConfig) || !errors.Is(err, iderr.ErrTimeRange) {
			t.Errorf("the default epoch in %v: %v", clock, err)
		}
	}
	for _, clock := range []time.Time{time.Unix(1<<62, 0), time.Unix(-1<<62, 0)} {
		err := construct(least, At(clock).Now)
		if errors.Is(err, iderr.ErrConfig) || !errors.Is(err, iderr.ErrTimeRange) {
			t.Errorf("the epoch %v in %v: %v", least, clock, err)
		}
	}
}

// Timed has a format's functions of times.
type Timed[T comparable] struct {
	Format       string
	Bits         int // width of the timestamp, in milliseconds
	DefaultEpoch time.Time
	Reserved     bool // the first and the last timestamp are never made
	Compare      func(T, T) int
	FromTime     func(t, epoch time.Time) (T, error)
	First, Last  func(t, epoch time.Time) (T, error)
	Time         func(id T, epoch time.Time) time.Time
	Timestamp    func(T) int64
	Min, Max     T // the smallest and the largest ID
}

// floorMilli returns t in Unix milliseconds, for any t.
func floorMilli(t time.Time) *big.Int {
	ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
	ns.Add(ns, big.NewInt(int64(t.Nanosecond())))
	return ns.Div(ns, big.NewInt(1e6)) // Euclidean: down
}

// Times checks FromTime, First, Last and Time of times of all kinds, against exact arithmetic.
func Times[T comparable](t *testing.T, f Timed[T]) {
	most := new(big.Int).Lsh(big.NewInt(1), uint(f.Bits))
	most.Sub(most, big.NewInt(1))
	random := rand.New(rand.NewPCG(3, 4))
	epochs := []time.Time{{}, f.DefaultEpoch}
	if !f.Reserved { // the format has a fixed epoch
		for _, epoch := range []time.Time{
			time.UnixMilli(0), time.UnixMilli(1288834974657), time.UnixMilli(1047972019225),
			time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC),
			time.UnixMilli(-1 << 62), time.UnixMilli(1 << 62),
		} {
			if f.Bits == 40 && epoch.UnixMilli() <= 1047972019224 { // the bound of Snowflake-SI
				f.badEpoch(t, epoch)
			} else {
				epochs = append(epochs, epoch)
			}
		}
		f.badEpoch(t, time.UnixMilli(1288834974657).Add(1)) // not in whole milliseconds
		f.badEpoch(t, time.UnixMilli(1288834974657).Add(time.Millisecond-1))
		f.badEpoch(t, time.Unix(math.MaxInt64/1000+1, 0)) // too many milliseconds for an int64
		f.badEpoch(t, time.Unix(math.MinInt64/1000-1, 0))
	}
	for _, epoch := range epochs {
		zero := epoch
		if epoch.IsZero() {
			zero = f.DefaultEpoch
		}
		e := floorMilli(zero)
		times := append(Extremes(), zero, zero.Add(-1), zero.Add(time.Millisecond), time.Now(), time.UnixMilli(0))
		for _, edge := range []*big.Int{e, new(big.Int).Add(e, most)} {
			if edge.IsInt64() {
				for d := int64(-2); d <= 2; d++ {
					times = append(times, time.UnixMilli(edge.Int64()+d), time.UnixMilli(edge.Int64()+d).Add(time.Millisecond-1))
				}
			}
		}
		for range 200 {
			offset := random.Int64N(1 << min(f.Bits+1, 52))
			times = append(times, time.UnixMilli(e.Int64()-1000+offset).Add(time.Duration(random.IntN(1e6))))
		}
		for _, at := range times {
			f.checkTime(t, at, epoch, e, most)
			if t.Failed() {
				return
			}
		}
	}
}

// badEpoch checks that the functions refuse an epoch that every generator refuses.
func (f Timed[T]) badEpoch(t *testing.T, epoch time.Time) {
	t.Helper()
	for what, build := range map[string]func(t, epoch time.Time) (T, error){"FromTime": f.FromTime, "First": f.First, "Last": f.Last} {
		id, err := build(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), epoch)
		if IsConfigError(t, err, f.Format, "Epoch", epoch.UTC().Format(time.RFC3339Nano)+" is not "); id != *new(T) {
			t.Errorf("%s since %v: %v beside an error", what, epoch, id)
		}
	}
}

func (f Timed[T]) checkTime(t *testing.T, at, epoch time.Time, e, most *big.Int) {
	t.Helper()
	exact := floorMilli(at)
	exact.Sub(exact, e)
	fits := exact.Sign() >= 0 && exact.Cmp(most) <= 0
	if f.Reserved {
		fits = exact.Sign() > 0 && exact.Cmp(most) < 0
	}
	near := exact // the nearest valid timestamp
	switch {
	case exact.Sign() < 0:
		near = new(big.Int)
	case exact.Cmp(most) > 0:
		near = most
	}
	first, err := f.First(at, epoch)
	if err != nil {
		t.Errorf("First of %v since %v: %v", at, epoch, err)
	}
	last, err := f.Last(at, epoch)
	if err != nil {
		t.Errorf("Last of %v since %v: %v", at, epoch, err)
	}
	if f.Timestamp(first) != near.Int64() || f.Timestamp(last) != near.Int64() || f.Compare(first, last) >= 0 {
		t.Errorf("First and Last of %v since %v are %v, %v: timestamps %d, %d; want %v", at, epoch, first, last, f.Timestamp(first), f.Timestamp(last), near)
	}
	if near.Cmp(most) == 0 && last != f.Max {
		t.Errorf("Last of the last millisecond is %v", last)
	}
	if near.Sign() == 0 && first != f.Min {
		t.Errorf("First of the first millisecond is %v", first)
	}
	id, err := f.FromTime(at, epoch)
	if !fits {
		te, ok := errors.AsType[*iderr.TimeError](err)
		switch {
		case !ok || !errors.Is(err, iderr.ErrTimeRange):
			t.Errorf("FromTime(%v) since %v = %v, %v; want a TimeError", at, epoch, id, err)
		case errors.Is(err, iderr.ErrRange) == at.Before(f.Time(f.Max, epoch)):
			t.Errorf("FromTime(%v) since %v: %v is the error of an ID that is too large, or is not", at, epoch, err)
		case id != *new(T):
			t.Errorf("FromTime(%v): %v beside an error", at, id)
		case te.Format != f.Format || !te.Time.Equal(at) || te.Last.Before(te.First):
			t.Errorf("FromTime(%v) since %v: %#v", at, epoch, te)
		}
		return
	}
	if err != nil || f.Timestamp(id) != exact.Int64() {
		t.Errorf("FromTime(%v) since %v = %v, %v; timestamp %d, want %v", at, epoch, id, err, f.Timestamp(id), exact)
		return
	}
	if f.Compare(first, id) > 0 || f.Compare(id, last) > 0 {
		t.Errorf("FromTime(%v) = %v is not within %v and %v", at, id, first, last)
	}
	// Time returns the millisecond, if a time.Time can hold the millisecond.
	if unix := new(big.Int).Add(exact, e); unix.IsInt64() {
		if got := f.Time(id, epoch); got.UnixMilli() != unix.Int64() || got.Nanosecond()%1e6 != 0 || got.Location() != time.UTC {
			t.Errorf("Time of FromTime(%v) since %v is %v", at, epoch, got)
		}
	}
}
