package stats

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// reports returns reports of all formats: of no ID, one ID and many, in several settings.
func reports(t *testing.T) (all []*report) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, f := range formats.All() {
		for _, set := range settings(f) {
			s, err := f.Descriptor().Of(set)
			testkit.OK(t, err)
			ids := made(t, f, set, random, 2000)
			for _, n := range []int{0, 1, 2, len(ids)} {
				c := newCounter(s)
				for _, id := range ids[:n] {
					c.add(id)
				}
				c.close()
				all = append(all, c.report(f.Name(), f.Worker(), uint64(n/2), 2))
			}
		}
	}
	return all
}

// TestText: a report fits the terminal.
func TestText(t *testing.T) {
	for _, columns := range []int{60, 80, 120} {
		for _, r := range reports(t) {
			p := newPage(&cli.Streams{Width: columns})
			p.write(r, r.Time)
			for line := range strings.Lines(p.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns || strings.Contains(line, "NaN") {
					t.Fatalf("%s, %d IDs: %d columns of %d: %s", r.Format, r.IDs, n, columns, p.String())
				}
			}
		}
	}
}

// TestJSON: the numbers of a report can be written, and are those of all IDs.
func TestJSON(t *testing.T) {
	for _, r := range reports(t) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%s, %d IDs: %v", r.Format, r.IDs, err)
		}
		var read struct {
			IDs  uint64
			Time struct {
				Bars          []struct{ IDs uint64 }
				Before, After uint64
			}
			Workers *struct {
				Top    []struct{ IDs uint64 }
				Others uint64
			}
			Fill *struct{ Shares []struct{ Ticks int64 } }
		}
		testkit.OK(t, json.Unmarshal(text, &read))
		sum := func(name string, more uint64, numbers []uint64) {
			for _, n := range numbers {
				more += n
			}
			if more != read.IDs {
				t.Errorf("%s: %s are of %d IDs, want %d", r.Format, name, more, read.IDs)
			}
		}
		var bars, top []uint64
		for _, b := range read.Time.Bars {
			bars = append(bars, b.IDs)
		}
		sum("bars", read.Time.Before+read.Time.After, bars)
		if read.Workers != nil {
			for _, w := range read.Workers.Top {
				top = append(top, w.IDs)
			}
			sum("workers", read.Workers.Others, top)
		}
	}
}

// TestUnits: bars are of whole units, one after another, and few IDs far away do not make them long.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		first, last string
		most        int
		unit, start string
		bars        int
	}{
		{"2025-03-01T10:00:00.001Z", "2025-03-01T10:00:00.001Z", 120, "millisecond", "2025-03-01T10:00:00.001Z", 1},
		{"2025-03-01T10:00:00.001Z", "2025-03-01T10:01:59.001Z", 120, "second", "2025-03-01T10:00:00Z", 120},
		{"2025-03-01T10:30:00Z", "2025-03-05T10:30:00Z", 120, "hour", "2025-03-01T10:00:00Z", 97},
		{"2025-03-05T10:30:00Z", "2025-11-05T10:30:00Z", 60, "week", "2025-03-03T00:00:00Z", 36},
		{"2021-03-05T10:30:00Z", "2025-02-28T10:30:00Z", 60, "month", "2021-03-01T00:00:00Z", 48},
		{"2021-03-05T10:30:00Z", "2025-02-28T10:30:00Z", 20, "quarter", "2021-01-01T00:00:00Z", 17},
		{"1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", 20, "millisecond", "1969-12-31T23:59:59.999Z", 2},
		{"1999-12-31T23:59:59.999Z", "2300-01-01T00:00:00Z", 60, "10 years", "1990-01-01T00:00:00Z", 32},
	} {
		first, err1 := time.Parse(time.RFC3339, c.first)
		last, err2 := time.Parse(time.RFC3339, c.last)
		testkit.OK(t, errors.Join(err1, err2))
		var l timeline
		l.add(first.UnixMilli(), 5)
		l.add(last.UnixMilli(), 5)
		h := l.histogram(c.most, 1)
		if h.unit.text != c.unit || len(h.Bars) != c.bars || h.Bars[0].Time.Format(time.RFC3339Nano) != c.start || h.Bars[0].IDs != 5 && c.bars > 1 || h.Bars[len(h.Bars)-1].IDs < 5 {
			t.Errorf("%s to %s: %d bars of a %s from %v, want %d of a %s from %s", c.first, c.last, len(h.Bars), h.unit.text, h.Bars[0], c.bars, c.unit, c.start)
		}
	}
	var l timeline
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for i := range int64(10_000) {
		l.add(at+i, 1)
	}
	l.add(0, 3)
	l.add(at*2, 4)
	if h := l.histogram(100, 1); h.Before != 3 || h.After != 4 || h.unit.ms > 200 || len(h.Bars) < 50 || h.rate < 950 || h.rate > 1050 {
		t.Errorf("%d before, %d after, %d bars of a %s, %v IDs a second", h.Before, h.After, len(h.Bars), h.unit.text, h.rate)
	}
}

// TestExtremes: the first and the last ID of each format have reports, too, whatever the epoch.
func TestExtremes(t *testing.T) {
	for _, f := range formats.All() {
		sets := []shape.Settings{{}}
		if f.Has("epoch") {
			sets = append(sets, shape.Settings{Epoch: time.Date(1, 1, 1, 0, 0, 0, 1e6, time.UTC)}, shape.Settings{Epoch: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)})
		}
		for _, set := range sets {
			s, err := f.Descriptor().Of(set)
			testkit.OK(t, err)
			size := f.Descriptor().Size
			first, last := make([]byte, size), bytes.Repeat([]byte{0xff}, size)
			for bit := s.Bits(); bit < 8*size; bit++ { // bits above the fields are 0
				last[size-1-bit/8] &^= 1 << (bit % 8)
			}
			for _, ids := range [][][]byte{{first}, {last}, {first, last}} {
				c := newCounter(s)
				for _, id := range ids {
					c.add(id)
				}
				c.close()
				r := c.report(f.Name(), f.Worker(), 0, 1<<40)
				testkit.OK(t, testkit.Err(json.Marshal(r)))
				p := newPage(&cli.Streams{Width: 60})
				p.write(r, c.timeReport(40))
				var shown uint64
				for _, b := range r.Time.Bars {
					shown += b.IDs
				}
				if shown != uint64(len(ids)) || !r.First.Equal(s.Time(ids[0])) || !r.Last.Equal(s.Time(ids[len(ids)-1])) || strings.Contains(p.String(), "NaN") {
					t.Errorf("%s: %d IDs in bars, %v to %v\n%s", f.Name(), shown, r.First, r.Last, p.String())
				}
			}
		}
	}
}
