package nanoflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

// IDs made slowly spread over shards by id%n if their sequences start anywhere, and
// do not if they start at 0.
func TestSpread(t *testing.T) {
	spreads := func(start nanoflake.Start) (int, string) {
		return testkit.Spreads(t, func(clock *testkit.Clock) func() (uint64, error) {
			gen := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 5, Start: start, Clock: clock.Now}))
			return func() (uint64, error) {
				id, err := gen.TryNext()
				return uint64(id), err
			}
		}, nil)
	}
	if failed, example := spreads(nanoflake.StartAnywhere); failed > 0 {
		t.Errorf("StartAnywhere: %d intervals and shards do not spread, as %s", failed, example)
	}
	if failed, _ := spreads(nanoflake.StartAtZero); failed < 1000 {
		t.Errorf("StartAtZero: only %d do not spread, so that this test shows little", failed)
	}
}
