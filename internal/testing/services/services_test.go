package services

import (
	"fmt"
	"testing"
)

// A record is a test that records how it ends.
type record struct {
	testing.TB
	end string
}

func (r *record) Helper() {}
func (r *record) Skipf(format string, args ...any) {
	r.end = "skipped: " + fmt.Sprintf(format, args...)
}
func (r *record) Fatalf(format string, args ...any) { panic("failed: " + fmt.Sprintf(format, args...)) }

// Without a server a test is skipped, or fails if the servers are required.
func TestMissing(t *testing.T) {
	for required, want := range map[string]string{"": "skipped: no etcd", "1": "failed: no etcd (and FIRN_REQUIRE_SERVICES=1)"} {
		t.Setenv("FIRN_REQUIRE_SERVICES", required)
		var r record
		func() {
			defer func() {
				if failed := recover(); failed != nil {
					r.end = failed.(string)
				}
			}()
			Missing(&r, "no %s", "etcd")
		}()
		if r.end != want {
			t.Errorf("FIRN_REQUIRE_SERVICES=%q: %s, want %s", required, r.end, want)
		}
	}
}
