package ulidflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

// IDs made slowly spread over shards by id%n. Scalable IDs end in 5 bits that do not
// change, and so do it after these are shifted out, or for an odd n.
func TestSpread(t *testing.T) {
	failed, example := testkit.Spreads(t, func(clock *testkit.Clock) func() (uint64, error) {
		gen := testkit.Must(ulidflake.NewGenerator(ulidflake.Config{Clock: clock.Now}))
		return func() (uint64, error) {
			id, err := gen.TryNext()
			return uint64(id), err
		}
	}, nil)
	if failed > 0 {
		t.Errorf("%d intervals and shards do not spread, as %s", failed, example)
	}
	scaled := func(shift int) func(clock *testkit.Clock) func() (uint64, error) {
		return func(clock *testkit.Clock) func() (uint64, error) {
			gen, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: 6, Clock: clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			return func() (uint64, error) {
				id, err := gen.TryNext()
				return uint64(id) >> shift, err
			}
		}
	}
	if failed, example := testkit.Spreads(t, scaled(5), nil); failed > 0 {
		t.Errorf("scalable, shifted: %d intervals and shards do not spread, as %s", failed, example)
	}
	if failed, example := testkit.Spreads(t, scaled(0), func(_, shards int) bool { return shards%2 == 0 }); failed > 0 {
		t.Errorf("scalable: %d intervals and odd shards do not spread, as %s", failed, example)
	}
	if failed, _ := testkit.Spreads(t, scaled(0), nil); failed < 1000 {
		t.Errorf("scalable: only %d intervals and shards do not spread, so that this test shows little", failed)
	}
}
