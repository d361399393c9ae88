//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		mustOpen(b, dir, plain)
	}
}

// BenchmarkFirstPut is that of a process that opens a store to change one entry.
func BenchmarkFirstPut(b *testing.B) {
	dir := b.TempDir()
	rev := mustPut(b, mustOpen(b, dir, plain), "pool/0000", string(sample), driver.None)
	for b.Loop() {
		rev = mustPut(b, mustOpen(b, dir, plain), "pool/0000", string(sample), rev)
	}
}

func BenchmarkPut(b *testing.B) {
	s := mustOpen(b, b.TempDir(), plain)
	rev := mustPut(b, s, "pool/0000", string(sample), driver.None)
	for b.Loop() {
		rev = mustPut(b, s, "pool/0000", string(sample), rev)
	}
}

func BenchmarkCreate(b *testing.B) {
	s := mustOpen(b, b.TempDir(), plain)
	for n := 0; b.Loop(); n++ {
		mustPut(b, s, fmt.Sprintf("pool/%d", n), string(sample), driver.None)
	}
}

func BenchmarkCreateStore(b *testing.B) {
	dir := b.TempDir()
	for n := 0; b.Loop(); n++ {
		mustPut(b, mustOpen(b, filepath.Join(dir, fmt.Sprint(n), "firn"), plain), "pool/0000", string(sample), driver.None)
	}
}

func BenchmarkGet(b *testing.B) {
	s := mustOpen(b, b.TempDir(), plain)
	mustPut(b, s, "pool/0000", string(sample), driver.None)
	for b.Loop() {
		testkit.Must(s.Get(b.Context(), "pool/0000"))
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
