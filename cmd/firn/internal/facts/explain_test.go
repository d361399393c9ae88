package facts

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestFacts: each format has its facts, and each fact its format.
func TestFacts(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range formats.All() {
		names[f.Name()] = true
		if fact := facts[f.Name()]; fact.about == "" || len(fact.suits) == 0 || len(fact.beware) == 0 {
			t.Errorf("%s: write in facts what the format suits, and what to beware of", f.Name())
		}
	}
	for name := range facts {
		if !names[name] {
			t.Errorf("no format %s", name)
		}
	}
}

// TestRoom fills ticks: a generator makes as many IDs as its room says.
func TestRoom(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	zero, three := 0, 3
	for _, c := range []struct {
		format string
		recipe shape.Recipe
		ticks  int
	}{
		{"nanoflake", shape.Recipe{}, 2},
		{"ulidflake", shape.Recipe{}, 600},
		{"ulidflake", shape.Recipe{IncrementBits: 12}, 600},
		{"ulidflake", shape.Recipe{IncrementBits: 1}, 3},
		{"ulidflake-scalable", shape.Recipe{}, 2000},
		{"snowflakesi", shape.Recipe{}, 50},
		{"snowflakesi", shape.Recipe{Reset: true}, 50},
		{"snowflakesi", shape.Recipe{Settings: shape.Settings{ClockBits: 41, MachineBits: 11}}, 50},
		{"scru160", shape.Recipe{}, 60},
		{"scru160", shape.Recipe{StartBits: &zero}, 3},
		{"scru160", shape.Recipe{StartBits: &three}, 3},
		{"scru160", shape.Recipe{Settings: shape.Settings{Microseconds: true, NodeBits: 3}}, 1000},
		{"scru160", shape.Recipe{Settings: shape.Settings{CounterBits: 3}}, 3},
		{"scru160", shape.Recipe{Settings: shape.Settings{CounterBits: 8}}, 2},
		{"scru160", shape.Recipe{Settings: shape.Settings{CounterBits: 16}}, 2},
		{"sno", shape.Recipe{}, 2},
		{"sno", shape.Recipe{SequenceMin: 100, SequenceMax: 300}, 2},
	} {
		f, _ := formats.Lookup(c.format)
		d := f.Descriptor()
		s, err := d.Of(c.recipe.Settings)
		testkit.OK(t, err)
		want := explain(f, s, c.recipe).PerTick
		sum := 0
		for range c.ticks {
			c.recipe.Clock = func() time.Time { return at }
			g, err := d.New(c.recipe)
			if err != nil {
				t.Fatal(c.format, err)
			}
			n := 0
			for id := make([]byte, 0, d.Size); ; n++ {
				if _, err := g.TryAppendBinary(id, 1); errors.Is(err, iderr.ErrExhausted) {
					break
				} else if err != nil {
					t.Fatal(c.format, err)
				}
			}
			if n < want.Least || n > want.Most {
				t.Errorf("%s %+v: %d IDs in a tick, not %v", c.format, c.recipe, n, want)
			}
			sum += n
		}
		const many = 60 // ticks, whose mean is near the mean of all
		if mean := sum / c.ticks; c.ticks > many && (mean < want.Mean*4/5 || mean > want.Mean*6/5+1) {
			t.Errorf("%s %+v: %d IDs in a tick on average, not %v", c.format, c.recipe, mean, want)
		}
	}
}

// TestWidths: no line is wider than the terminal, and each fact is there.
func TestWidths(t *testing.T) {
	for _, f := range formats.All() {
		for _, width := range []int{60, 70, 80, 125} {
			for _, set := range []shape.Settings{{}, {CounterBits: 2, NodeBits: 9, Microseconds: true}} {
				s, err := f.Descriptor().Of(set)
				testkit.OK(t, err)
				var out bytes.Buffer
				streams := &cli.Streams{Out: bufio.NewWriter(&out), Width: width}
				explain(f, s, shape.Recipe{Settings: set}).show(streams, time.Now())
				streams.Out.Flush()
				for line := range strings.Lines(out.String()) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%s, %d columns: %d in %q", f.Name(), width, n, line)
					}
				}
				for _, field := range s.Fields {
					if field.Bits > 0 && !strings.Contains(out.String(), "\n"+field.Name+" ") {
						t.Errorf("%s, %d columns: no %s in %s", f.Name(), width, field.Name, out.String())
					}
				}
				if bars := strings.Contains(out.String(), "└"); !bars {
					t.Errorf("%s, %d columns: no diagram in %s", f.Name(), width, out.String())
				}
			}
		}
	}
}
