package scru160_test

import (
	"encoding/binary"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

// IDs made slowly spread over shards by their low bits.
func TestSpread(t *testing.T) {
	failed, example := testkit.Spreads(t, func(clock *testkit.Clock) func() (uint64, error) {
		gen := testkit.Must(scru160.NewGenerator(scru160.Config{Clock: clock.Now}))
		return func() (uint64, error) {
			id, err := gen.TryNext()
			return binary.BigEndian.Uint64(id[12:]), err
		}
	}, nil)
	if failed > 0 {
		t.Errorf("%d intervals and shards do not spread, as %s", failed, example)
	}
}
