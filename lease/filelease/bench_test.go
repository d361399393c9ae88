//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"fmt"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

func BenchmarkPut(b *testing.B) {
	s := mustOpen(b, b.TempDir(), plain)
	rev := mustPut(b, s, "pool/0000", string(sample), driver.None)
	for b.Loop() {
		rev = mustPut(b, s, "pool/0000", string(sample), rev)
	}
}

func BenchmarkList1000(b *testing.B) {
	s := mustOpen(b, b.TempDir(), hooks{filesystem: statfs, here: here, sync: noSync})
	for n := range 1000 {
		mustPut(b, s, fmt.Sprintf("pool/%04d", n), string(sample), driver.None)
	}
	for b.Loop() {
		if list, err := s.List(b.Context(), "pool/"); len(list) != 1000 || err != nil {
			b.Fatal(len(list), err)
		}
	}
}
