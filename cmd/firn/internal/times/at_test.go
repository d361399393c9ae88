package times

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

func newMaker(t *testing.T, format string, set shape.Settings) *maker {
	t.Helper()
	f, err := formats.Named(format)
	testkit.OK(t, err)
	s, err := f.Descriptor().Of(set)
	testkit.OK(t, err)
	return &maker{layout: layout{Format: f, settings: set, shape: s}, next: make(map[int64]int)}
}

func of[T interface {
	AppendBinary([]byte) ([]byte, error)
}](id T, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return id.AppendBinary(nil)
}

// TestFromTime: the IDs are those of the library's FromTime. Formats with random bits have the same time and
// the same worker.
func TestFromTime(t *testing.T) {
	epoch := time.Date(2020, 2, 29, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		at := epoch.Add(time.Duration(random.Int64N(30 * 365 * 24 * int64(time.Hour))))
		worker, sequence, meta := random.IntN(32), random.IntN(256), random.IntN(256)
		var p sno.Partition
		p.PutUint16(uint16(worker))
		l := snowflakesi.Layout{ClockBits: 41, MachineBits: 6}
		for _, c := range []struct {
			format string
			set    shape.Settings
			want   func() ([]byte, error)
			mask   int // the last bytes that are not compared
		}{
			{"nanoflake", shape.Settings{Epoch: epoch}, func() ([]byte, error) { return of(nanoflake.FromTime(at, epoch, worker, sequence)) }, 0},
			{"snowflakesi", shape.Settings{Epoch: epoch, ClockBits: 41, MachineBits: 6}, func() ([]byte, error) {
				return of(snowflakesi.FromTime(l, at, epoch, worker, sequence%64))
			}, 0},
			{"sno", shape.Settings{}, func() ([]byte, error) { return of(sno.FromTime(at, byte(meta), p, uint16(sequence))) }, 0},
			{"ulidflake", shape.Settings{Epoch: epoch}, func() ([]byte, error) { return of(ulidflake.First(at, epoch)) }, 3},
			{"scru160", shape.Settings{}, func() ([]byte, error) { return of(scru160.FromTime(at)) }, 14},
		} {
			m := newMaker(t, c.format, c.set)
			m.worker, m.sequence = worker, min(sequence, m.shape.Capacity()-1)
			if c.format == "snowflakesi" {
				m.sequence = sequence % 64
			}
			if m.shape.Meta > 0 {
				m.meta = meta
			}
			got, err := m.id(cli.Time{Value: at})
			want, bad := c.want()
			if err != nil || bad != nil || !bytes.Equal(got[:len(got)-c.mask], want[:len(want)-c.mask]) || !m.shape.Time(got).Equal(m.shape.Time(want)) {
				t.Fatalf("%s at %v: %x, %v, want %x, %v", c.format, at, got, err, want, bad)
			}
		}
	}
}

// TestUnique: the IDs of a run are distinct and have their times, whatever the order of the times.
func TestUnique(t *testing.T) {
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(3, 4))
	for _, f := range formats.All() {
		for _, set := range []shape.Settings{{}, {CounterBits: 3, NodeBits: 7, Microseconds: true}, {CounterBits: 16}} {
			m := newMaker(t, f.Name(), set)
			if last, ok := m.shape.LastWorker(); ok {
				m.worker = last
			}
			seen := make(map[string]bool)
			for range 50_000 {
				at := begin.Add(time.Duration(random.IntN(int(time.Second))))
				id, err := m.id(cli.Time{Value: at})
				if err != nil {
					t.Fatal(f.Name(), err)
				}
				if seen[string(id)] {
					t.Fatalf("%s: %x twice", f.Name(), id)
				}
				seen[string(id)] = true
				resolution := m.shape.Unit
				if m.shape.Micro > 0 {
					resolution = time.Microsecond
				}
				if got := m.shape.Time(id); got.After(at) || at.Sub(got) >= resolution {
					t.Fatalf("%s: %x has the time %v, not %v", f.Name(), id, got, at)
				}
				if i := m.shape.Worker; i > 0 && int(m.shape.Fields[i].Of(id)) != m.worker {
					t.Fatalf("%s: %x has not the worker %d", f.Name(), id, m.worker)
				}
			}
		}
	}
}

// TestRoom: a tick has room for all sequences, or for half of the sequences if they begin at random. No ID comes
// twice.
func TestRoom(t *testing.T) {
	at := cli.Time{Value: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	for _, f := range formats.All() {
		m := newMaker(t, f.Name(), shape.Settings{})
		least := m.shape.Capacity()
		if m.random() {
			least /= 2
		}
		seen := make(map[string]bool)
		for {
			id, err := m.id(at)
			if errors.Is(err, iderr.ErrExhausted) {
				break
			}
			if err != nil || seen[string(id)] {
				t.Fatal(f.Name(), id, err)
			}
			seen[string(id)] = true
		}
		if len(seen) < least || len(seen) > m.shape.Capacity() {
			t.Errorf("%s: %d IDs, want at least %d", f.Name(), len(seen), least)
		}
	}
}

// TestForgets: random bits keep SCRU160s apart, and a run takes no memory for earlier ticks.
func TestForgets(t *testing.T) {
	for format, want := range map[string]int{"scru160": 1, "nanoflake": 1000} {
		m := newMaker(t, format, shape.Settings{})
		for i := range 1000 {
			testkit.OK(t, testkit.Err(m.id(cli.Time{Value: time.UnixMilli(1782864000000 + int64(i))})))
		}
		if len(m.next) != want {
			t.Errorf("%s: %d ticks in memory, not %d", format, len(m.next), want)
		}
	}
}

// TestBounds: times out of range are a TimeError with the format's bounds, which are themselves in range.
func TestBounds(t *testing.T) {
	for _, f := range formats.All() {
		m := newMaker(t, f.Name(), shape.Settings{})
		for _, at := range []time.Time{m.shape.Start().Add(-1), m.shape.End(), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)} {
			_, err := m.id(cli.Time{Value: at})
			e, ok := errors.AsType[*iderr.TimeError](err)
			if !ok || !errors.Is(err, iderr.ErrTimeRange) || e.Format != f.Name() {
				t.Errorf("%s at %v: %v", f.Name(), at, err)
				continue
			}
			for _, in := range []time.Time{e.First, e.Last} {
				if _, err := m.id(cli.Time{Value: in}); err != nil {
					t.Errorf("%s at %v: %v", f.Name(), in, err)
				}
			}
			for _, out := range []time.Time{e.First.Add(-1), e.Last.Add(time.Millisecond)} {
				if _, err := m.id(cli.Time{Value: out}); err == nil {
					t.Errorf("%s at %v: no error", f.Name(), out)
				}
			}
		}
	}
}
