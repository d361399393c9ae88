package entropy

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// A ledger is a stream of 4-byte numbers. All ledgers of one count have different numbers, so a
// number that is handed out twice is found, at any caller and offset.
type ledger struct{ count *atomic.Uint32 }

func (l ledger) fill(block []byte) {
	first := l.count.Add(uint32(len(block)/4)) - uint32(len(block)/4)
	for i := range len(block) / 4 {
		binary.NativeEndian.PutUint32(block[4*i:], first+uint32(i))
	}
}

func ledgers() func() stream {
	count := new(atomic.Uint32)
	return func() stream { return ledger{count} }
}

// repeated lets goroutines take numbers. It returns how many numbers were handed out twice, and how
// many were handed out in all.
func repeated(goroutines, takes int, take func(i int) []uint32) (twice, all int) {
	got := make([][]uint32, goroutines)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for g := range goroutines {
		wg.Go(func() {
			<-start
			for i := range takes {
				got[g] = append(got[g], take(i)...)
				if i%64 == g {
					runtime.Gosched()
				}
			}
		})
	}
	close(start)
	wg.Wait()
	seen := make(map[uint32]bool)
	for _, own := range got {
		for _, v := range own {
			if seen[v] {
				twice++
			}
			seen[v] = true
			all++
		}
	}
	return twice, all
}

// numbers returns the 4-byte numbers in b.
func numbers(b []byte) []uint32 {
	var all []uint32
	for ; len(b) >= 4; b = b[4:] {
		all = append(all, binary.NativeEndian.Uint32(b))
	}
	return all
}

// No number is handed out twice, for any sizes of requests and any number of shards.
func TestNeverTwice(t *testing.T) {
	for _, processors := range []int{1, 2, 16} {
		p := newPool(processors, ledgers())
		if processors == 1 {
			p.shards = p.shards[:1]
		}
		var missed atomic.Int32
		twice, all := repeated(16, 4000, func(i int) []uint32 {
			n := []int{8, 12, 480, blockSize}[i%4*(i/16%2)]
			sh := p.lock(n)
			if sh == nil {
				missed.Add(1)
				return nil
			}
			defer sh.unlock()
			if i%8 == 5 { // as Read does
				b := make([]byte, 2*blockSize+4*(i%100))
				p.read(sh, b)
				return numbers(b)
			}
			return numbers(sh.next(n))
		})
		if twice > 0 || all == 0 {
			t.Errorf("%d processors: %d of %d were handed out twice", processors, twice, all)
		}
		t.Logf("%d processors, %d shards: %d numbers; %d times no shard was free", processors, len(p.shards), all, missed.Load())
	}
}

// The check of repeated fails for a pool without a lock. All accesses of the pool are atomic, so
// the missing lock is its only fault.
func TestNeverTwiceFails(t *testing.T) {
	var mu sync.Mutex
	fill := ledgers()()
	var left atomic.Int32
	var block [blockSize / 4]atomic.Uint32
	twice, all := repeated(16, 4000, func(i int) []uint32 {
		had := left.Load()
		if had < 3 {
			mu.Lock()
			var b [blockSize]byte
			fill.fill(b[:])
			for i, v := range numbers(b[:]) {
				block[i].Store(v)
			}
			had = int32(len(block))
			mu.Unlock()
		}
		if i%5 == 0 {
			runtime.Gosched() // as a goroutine can be descheduled anywhere
		}
		left.Store(had - 3) // whatever others have taken since
		at := len(block) - int(had)
		return []uint32{block[at].Load(), block[at+1].Load(), block[at+2].Load()}
	})
	if twice == 0 {
		t.Errorf("none of %d numbers came twice from a pool without a lock", all)
	}
	t.Logf("%d of %d came twice", twice, all)
}

// Nobody takes a shard that is held. If all shards are held, bits come from the operating system.
func TestAllHeld(t *testing.T) {
	var held []*shard
	for i := range streams.shards {
		if sh := &streams.shards[i]; sh.held.CompareAndSwap(false, true) {
			held = append(held, sh)
		}
	}
	defer func() {
		for _, sh := range held {
			sh.unlock()
		}
	}()
	if sh := streams.lock(8); sh != nil {
		t.Fatal("a shard that is held was locked")
	}
	var s Source
	a, b := s.Uint64(), s.Uint64()
	_, c := s.Uint96()
	var p [8]byte
	s.Read(p[:])
	if d := binary.NativeEndian.Uint64(p[:]); a == b || a == c || c == d || a*b*c*d == 0 {
		t.Errorf("%x, %x, %x, %x with no shard to be had", a, b, c, d)
	}
}

// Each key is replaced after its life, and no key is used twice.
func TestKeyLife(t *testing.T) {
	var k keyed
	var block [blockSize]byte
	seen := make(map[[32]byte]bool)
	for life := range 4 {
		for made := 0; made < keyLife; made += blockSize {
			k.fill(block[:])
			if want := keyLife - made - blockSize; k.left != want {
				t.Fatalf("life %d: %d bytes are left of a key, want %d", life, k.left, want)
			}
			head := [32]byte(block[:])
			if seen[head] {
				t.Fatalf("%x twice", head)
			}
			seen[head] = true
		}
	}
}
