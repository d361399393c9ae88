package facts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/vectors"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/usage"
)

// outcomes runs a tester and returns what it writes, by "FORMAT TEST".
func outcomes(t *testing.T, with tester) (map[string]outcome, error) {
	t.Helper()
	var out bytes.Buffer
	s := &cli.Streams{Out: bufio.NewWriter(&out), Err: io.Discard}
	failed := with.run(t.Context(), s, true)
	s.Out.Flush()
	all := make(map[string]outcome)
	for d := json.NewDecoder(&out); ; {
		var o outcome
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all, failed
		} else if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSpace(o.Format+" "+o.Test)] = o
	}
}

func TestSelftestPasses(t *testing.T) {
	with := tester{files: vectors.All(), clock: time.Now, length: time.Millisecond}
	for _, f := range formats.All() {
		with.formats = append(with.formats, f.Descriptor())
	}
	all, err := outcomes(t, with)
	if err != nil || len(all) != 3*len(with.formats)+1 {
		t.Errorf("%d outcomes, %v: %+v", len(all), err, all)
	}
	for name, o := range all {
		if !o.Passed || o.Cases < 2 || o.Error != "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// A double repeats IDs, or makes IDs that descend.
type double struct {
	shape.Generator
	spoil func(ids []byte)
}

func (d double) AppendBinary(ctx context.Context, dst []byte, n int) ([]byte, error) {
	from := len(dst)
	dst, err := d.Generator.AppendBinary(ctx, dst, n)
	if n > 1 && err == nil {
		d.spoil(dst[from:])
	}
	return dst, err
}

func (d double) Share() shape.Generator { return double{d.Generator.Share(), d.spoil} }

func (d double) ForLease() grant.Grantee { return d.Generator.ForLease() }

func (d double) Usage() usage.Usage { return d.Generator.Usage() }

// TestSelftestFails: a fault of the format, of the vectors or of the clock makes the test of its kind fail. Only
// a fault that vectors find may fail other tests, too.
func TestSelftestFails(t *testing.T) {
	const size = 8
	spoiled := func(spoil func(ids []byte)) func(*shape.Format) {
		return func(f *shape.Format) {
			f.New = func(r shape.Recipe) (shape.Generator, error) {
				g, err := nanoflake.Descriptor().New(r)
				return double{g, spoil}, err
			}
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(*shape.Format)
		test  string
		text  string
	}{
		{"a text of another ID", func(f *shape.Format) {
			f.AppendText = func(dst, id []byte) ([]byte, error) {
				text, err := nanoflake.Descriptor().AppendText(dst, id)
				text[len(text)-1] ^= 1
				return text, err
			}
		}, "vectors", "the text is"},
		{"a decimal of another ID", func(f *shape.Format) {
			f.Decimal = func(s string) ([]byte, error) {
				id, err := nanoflake.Descriptor().Decimal(s)
				if err == nil {
					id[2] ^= 4
				}
				return id, err
			}
		}, "vectors", "reads as"},
		{"another width", func(f *shape.Format) {
			f.Of = func(set shape.Settings) (shape.Shape, error) {
				s, err := nanoflake.Descriptor().Of(set)
				s.Fields = shape.Fields(shape.Field{Name: "timestamp", Bits: 41}, shape.Field{Name: "generator_id", Bits: 9}, shape.Field{Name: "sequence", Bits: 13})
				return s, err
			}
		}, "vectors", "is"},
		{"another epoch", func(f *shape.Format) {
			f.Of = func(set shape.Settings) (shape.Shape, error) {
				s, err := nanoflake.Descriptor().Of(set)
				if !set.Epoch.IsZero() {
					s.Epoch++
				}
				return s, err
			}
		}, "vectors", "the time of"},
		{"a text that is no ID", func(f *shape.Format) {
			f.Parse = func(s string) ([]byte, error) {
				if s == "07en9rb30swm" {
					s += "f"
				}
				return nanoflake.Descriptor().Parse(s)
			}
		}, "rejects", "reads as"},
		{"another error", func(f *shape.Format) {
			f.Hex = func(s string) ([]byte, error) {
				id, err := nanoflake.Descriptor().Hex(s)
				if err != nil {
					err = errors.New("no")
				}
				return id, err
			}
		}, "rejects", "the error is not"},
		{"an ID twice", spoiled(func(ids []byte) { copy(ids[size:], ids[:size]) }), "generator", "twice"},
		{"no order", spoiled(func(ids []byte) {
			first := bytes.Clone(ids[:size])
			copy(ids, ids[size:2*size])
			copy(ids[size:], first)
		}), "generator", "after"},
		{"another worker", spoiled(func(ids []byte) { ids[len(ids)-size+6] ^= 0x10 }), "generator", "with worker"},
		{"a time of the past", spoiled(func(ids []byte) { clear(ids[:5]) }), "generator", "an ID of"},
	} {
		f := *nanoflake.Descriptor()
		c.spoil(&f)
		all, err := outcomes(t, tester{formats: []*shape.Format{&f}, files: vectors.All(), clock: time.Now, length: 1})
		if err == nil || len(all) != 4 {
			t.Errorf("%s: %v, %v", c.name, all, err)
		}
		for name, o := range all {
			if strings.Contains(name, c.test) && (o.Passed || !strings.Contains(o.Error, c.text)) || !strings.Contains(name, c.test) && !o.Passed && c.test != "vectors" {
				t.Errorf("%s: %s: %+v", c.name, name, o)
			}
		}
	}
}

// TestSelftestClock: a clock that goes back is found, in the test of the clock.
func TestSelftestClock(t *testing.T) {
	var calls atomic.Int64
	begin := time.Now()
	with := tester{clock: func() time.Time {
		return begin.Add(time.Duration(calls.Add(1)%1000) * time.Microsecond)
	}, length: time.Hour}
	if _, err := with.steady(t.Context()); err == nil || !strings.Contains(err.Error(), "the clock went back by 999µs") {
		t.Error(err)
	}
}
