package supply_test

import (
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/supply"
)

// A reading by a generator's own epoch comes before the reading by the default epoch only if its time is nearer.
func TestReadRanksByTime(t *testing.T) {
	nanoflake, _ := inspect.Lookup("nanoflake")
	now := time.Now().Truncate(time.Millisecond)
	own := func(epoch time.Time) supply.Generator {
		return supply.Generator{Name: "order", Format: nanoflake, Recipe: shape.Recipe{Settings: shape.Settings{Epoch: epoch}}}
	}
	for name, test := range map[string]struct {
		epoch, made time.Time // of the generator, and of the ID that is read
		first       string    // the generator of the first reading of the format; "" is the default
	}{
		"of the generator": {time.UnixMilli(1577836800000), time.UnixMilli(1577836800000), "order"},
		"of the default":   {time.UnixMilli(1577836800000), time.UnixMilli(1609459200000), ""},
		// Nearly all small numbers have a time shortly after the epoch of the default, and fewer have a time long ago.
		"young": {time.UnixMilli(631152000000), now.AddDate(0, 0, -10), "order"},
	} {
		set, err := supply.New(supply.Config{Generators: []supply.Generator{own(test.epoch)}})
		testkit.OK(t, err)
		form, err := nanoflake.Descriptor().Of(shape.Settings{Epoch: test.made})
		testkit.OK(t, err)
		at, _ := form.Timestamp(now)
		text, err := nanoflake.Descriptor().AppendText(nil, form.First(8, at))
		testkit.OK(t, err)
		readings, err := set.Read(string(text), now)
		testkit.OK(t, err)
		var got []string
		for _, r := range readings {
			if r.Format == nanoflake {
				got = append(got, append(r.Generators, "")[0])
			}
		}
		if len(got) != 2 || got[0] != test.first {
			t.Errorf("%s: %q, want %q first", name, got, test.first)
		}
	}
}

// Workers without a lease would make the same IDs.
func TestWorkersNeedLease(t *testing.T) {
	for _, f := range inspect.Formats() {
		if _, err := supply.New(supply.Config{Generators: []supply.Generator{{Name: "g", Format: f, Workers: 2}}}); err == nil {
			t.Errorf("%s: two workers without a lease", f.Name())
		}
	}
}
