package serve

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// The server collects less often than by Go's default, unless the environment says how often.
func TestCollectLess(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	for _, test := range []struct {
		environment string
		want        uint64
	}{{"100", 100}, {"", 200}} {
		t.Setenv("GOGC", test.environment)
		if collectLess(); percent() != test.want {
			t.Errorf("GOGC=%q: %d percent, want %d", test.environment, percent(), test.want)
		}
	}
}
