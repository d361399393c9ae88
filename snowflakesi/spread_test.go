package snowflakesi_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// IDs made slowly spread over shards by id%n if the sequence continues and has all 13
// low bits, and do not if it resets.
//
// At perfectly regular intervals of d ms each ID is d<<13 + 1 after the last ID. If this distance and n
// share a factor, the IDs stay in a few residues until the sequence wraps: modulo 3 at one ID per
// millisecond, since 8193 = 3*2731. The test leaves out such n: requests do not come so regularly.
func TestSpread(t *testing.T) {
	spreads := func(c snowflakesi.Config, except func(interval, shards int) bool) (int, string) {
		return testkit.Spreads(t, func(clock *testkit.Clock) func() (uint64, error) {
			c.Clock = clock.Now
			gen := testkit.Must(snowflakesi.NewGenerator(c))
			return func() (uint64, error) {
				id, err := gen.TryNext()
				return uint64(id), err
			}
		}, except)
	}
	wide := snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}
	resonates := func(interval, shards int) bool { return gcd(interval<<13+1, shards) > 1 }
	if failed, example := spreads(snowflakesi.Config{Layout: wide}, resonates); failed > 0 {
		t.Errorf("13 bits: %d intervals and shards do not spread, as %s", failed, example)
	}
	if failed, _ := spreads(snowflakesi.Config{Layout: wide, Sequence: snowflakesi.SequenceResets}, resonates); failed < 1000 {
		t.Errorf("resetting: only %d do not spread, so that this test shows little", failed)
	}
	// The default layout has 8 bits of sequence. Slow IDs use half of the numbers, so they spread over powers
	// of two up to 128.
	power := func(up int) func(int, int) bool {
		return func(_, shards int) bool { return shards&(shards-1) != 0 || shards > up }
	}
	if failed, example := spreads(snowflakesi.Config{MachineID: 9}, power(128)); failed > 0 {
		t.Errorf("8 bits: %d intervals and shards do not spread, as %s", failed, example)
	}
	if failed, _ := spreads(snowflakesi.Config{MachineID: 9}, power(1024)); failed != 24 { // 256, 512 and 1024, each interval
		t.Errorf("8 bits: %d of the larger powers of two do not spread, want 24", failed)
	}
}
