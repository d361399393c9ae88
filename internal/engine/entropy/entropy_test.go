package entropy_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// Both kinds of source look random over several keys, and never repeat bits in any of the methods.
func TestSource(t *testing.T) {
	for name, s := range map[string]*entropy.Source{"streams": {}, "direct": {Direct: true}} {
		const n = 1 << 16 // 36 bytes each
		var words, high, low, read []uint64
		many := make([]entropy.Bits96, 0, 200)
		var b [8]byte
		for i := range n {
			words = append(words, s.Uint64())
			hi, lo := s.Uint96()
			if i%2 == 0 {
				if len(many) == 0 {
					many = many[:cap(many)]
					s.Read96(many)
				}
				hi, lo = many[len(many)-1].Words()
				many = many[:len(many)-1]
			}
			high, low = append(high, uint64(hi)), append(low, lo)
			s.Read(b[:])
			read = append(read, binary.NativeEndian.Uint64(b[:]))
		}
		if fault := testkit.Random(high, 32); fault != "" {
			t.Errorf("%s, Uint96 high: %s", name, fault)
		}
		seen := make(map[uint64]bool)
		for part, values := range map[string][]uint64{"Uint64": words, "Uint96 low": low, "Read": read} {
			if fault := testkit.Random(values, 64); fault != "" {
				t.Errorf("%s, %s: %s", name, part, fault)
			}
			for _, v := range values {
				if seen[v] {
					t.Fatalf("%s: %x twice", name, v)
				}
				seen[v] = true
			}
		}
	}
}

// Read fills all bytes, for any length.
func TestRead(t *testing.T) {
	for _, s := range []*entropy.Source{{}, {Direct: true}} {
		for _, n := range []int{0, 1, 11, 1023, 1024, 1025, 5000} {
			var union [5000]byte
			for range 60 {
				b := make([]byte, n+1)
				s.Read(b[:n])
				for i, v := range b {
					union[min(i, 4999)] |= v
				}
				testkit.Same(t, b[n], 0)
			}
			for i, v := range union[:n] {
				if v != 255 {
					t.Fatalf("bits of byte %d of %d were never set: %08b", i, n, v)
				}
			}
		}
	}
}

// Read96 fills its argument and nothing else, for any length.
func TestRead96(t *testing.T) {
	for _, s := range []*entropy.Source{{}, {Direct: true}} {
		for _, n := range []int{0, 1, 84, 85, 86, 128, 1000} {
			bits := make([]entropy.Bits96, n+1)
			s.Read96(bits[:n])
			seen := make(map[uint64]bool)
			for i := range bits[:n] {
				hi, lo := bits[i].Words()
				if seen[lo] || hi == 0 && lo == 0 {
					t.Fatalf("%d of %d: %x twice", i, n, lo)
				}
				seen[lo] = true
			}
			testkit.Same(t, bits[n], (entropy.Bits96{}))
		}
	}
}

// Goroutines share a source without sharing its bits.
func TestConcurrent(t *testing.T) {
	var s entropy.Source
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := make(map[uint64]bool)
	for range 8 {
		wg.Go(func() {
			own := make([]uint64, 0, 20_000)
			for range 10_000 {
				_, lo := s.Uint96()
				own = append(own, s.Uint64(), lo)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, v := range own {
				if seen[v] {
					t.Errorf("%x twice", v)
				}
				seen[v] = true
			}
		})
	}
	wg.Wait()
}

// Two sources have nothing in common.
func TestSources(t *testing.T) {
	var a, b entropy.Source
	for range 100 {
		if a.Uint64() == b.Uint64() {
			t.Fatal("the same bits from two sources")
		}
	}
}
