package formats

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TryAppendBinary appends the IDs that a generator has now, in the order of the IDs, and keeps what dst has.
func TestTryAppendBinary(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, f := range All() {
		d := f.Descriptor()
		g := testkit.Must(d.New(shape.Recipe{Clock: func() time.Time { return now }}))
		got := []byte("before")
		for _, n := range []int{0, 1, 1 << 21} {
			var err error
			got, err = g.TryAppendBinary(got, n)
			if ids, ok := bytes.CutPrefix(got, []byte("before")); !ok || len(ids)%d.Size != 0 || n < 2 && len(ids) != n*d.Size {
				t.Fatalf("%s: %d IDs are %d bytes", f.Name(), n, len(got))
			}
			if n < 2 {
				testkit.OK(t, err)
			} else {
				testkit.Is(t, err, iderr.ErrExhausted, "%s: more IDs than a tick has", f.Name())
			}
		}
		made := uint64(len(got)-len("before")) / uint64(d.Size)
		if u := g.Usage(); u.IDs != made || u.Waits != 0 {
			t.Errorf("%s: %d IDs, and %+v", f.Name(), made, u)
		}
		for ids := got[len("before"):]; len(ids) > d.Size; ids = ids[d.Size:] {
			if bytes.Compare(ids[:d.Size], ids[d.Size:2*d.Size]) >= 0 {
				t.Fatalf("%s: %x follows %x", f.Name(), ids[d.Size:2*d.Size], ids[:d.Size])
			}
		}
	}
}

// A Recipe's MaxBackward reaches the generator of each format: the default would change both results.
func TestMaxBackward(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range All() {
		for _, c := range []struct {
			max, step time.Duration
			backwards bool
		}{{-1, time.Second, true}, {time.Minute, 10 * time.Second, false}} {
			now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
			g := testkit.Must(f.Descriptor().New(shape.Recipe{MaxBackward: c.max, Clock: func() time.Time { return now }}))
			var err error
			for range 3 { // back to a time that both time lines of a sno have used
				_, err = g.AppendBinary(ended, nil, 1)
				now = now.Add(-c.step)
			}
			if errors.Is(err, iderr.ErrClockBackwards) != c.backwards {
				t.Errorf("%s with MaxBackward %v and a clock %v behind: %v", f.Name(), c.max, 2*c.step, err)
			}
		}
	}
}

func TestMisspelled(t *testing.T) {
	for word, want := range map[string]string{
		"sno": "sno", "SNO": "sno", "sn": "sno", "so": "sno", "no": "sno", "snoo": "sno", "ssno": "sno", "sna": "sno", "son": "sno", "nso": "sno",
		"scru16": "scru160", "SCRU-160": "scru160", "scru106": "scru160", "scrul60": "scru160",
		"ulid-flake": "ulidflake", "ulidflake-Scalable": "ulidflake-scalable", "ulidflake_scalable": "ulidflake-scalable", "snowflakesl": "snowflakesi", "snowflake-si": "snowflakesi",
		"": "", "s": "", "ns": "", "snooo": "", "ons": "", "snaa": "", "xsnox": "", "osn": "", "nanofla": "", "ulidflake-": "ulidflake", "ulid": "", "snowflake": "", "07en9rb30swmf": "",
	} {
		if got := cli.Misspelt(word, Names()); got != want {
			t.Errorf("%q is meant to be %q, want %q", word, got, want)
		}
	}
	for word, want := range map[string]string{
		"nanofla": "nanoflake", "ulid": "ulidflake", "snowflake": "snowflakesi", "nanofalek": "nanoflake", "nanofalekx": "", "na": "", "": "", "snooo": "",
	} {
		if got := cli.Near(word, Names()); got != want {
			t.Errorf("%q is near %q, want %q", word, got, want)
		}
	}
}
