package queue_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/engine/queue"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A tap is a Source of the words from 1 to the number for which the tap was opened. Before each try
// the tap calls fault with the number of tries so far, this try included.
type tap struct {
	mu    sync.Mutex
	word  uint64
	left  int
	tries int
	fault func(try int)
	pause time.Duration // 0 means a millisecond

	delayed error
}

// open allows n more words.
func (s *tap) open(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += n
}

// end makes the source end its caller at a later try.
func (s *tap) end(tries int, fault func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tries += s.tries
	s.fault = func(try int) {
		if try == tries {
			fault()
		}
	}
}

func (s *tap) Delayed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delayed
}

func (s *tap) Try(n int) (uint64, int, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
	if s.fault != nil {
		s.fault(s.tries)
	}
	if s.left == 0 {
		return 0, 0, cmp.Or(s.pause, time.Millisecond), nil
	}
	run := min(n, s.left)
	s.left -= run
	first := s.word + 1
	s.word += uint64(run)
	return first, run, 0, nil
}

// A caller stands in the queue, or has returned from Stand.
type caller struct{ outcome atomic.Pointer[outcome] }

// outcome is the result of a call of Stand.
type outcome struct {
	word  uint64
	run   int
	err   error
	panic any // the value of a panic
}

// is reports whether the call has ended with this word.
func (c *caller) is(word uint64) bool {
	o := c.outcome.Load()
	return o != nil && *o == outcome{word: word, run: 1}
}

func (c *caller) done() bool { return c.outcome.Load() != nil }

func (c *caller) String() string {
	if o := c.outcome.Load(); o != nil {
		return fmt.Sprintf("%+v", *o)
	}
	return "in the queue"
}

// stand makes callers stand in the queue one after the other. The first caller leads. Call stand in a
// bubble.
func stand(q *queue.Queue, s queue.Source, contexts ...context.Context) []*caller {
	all := make([]*caller, len(contexts))
	for i, ctx := range contexts {
		c := new(caller)
		all[i] = c
		go func() {
			var o outcome
			defer func() {
				o.panic = recover()
				c.outcome.Store(&o)
			}()
			o.word, o.run, o.err = q.Stand(ctx, 1, s)
		}()
		synctest.Wait()
	}
	return all
}

// pass lets time pass, and waits until all callers are blocked again.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// empty checks that nobody stands in the queue.
func empty(t *testing.T, q *queue.Queue) {
	t.Helper()
	if q.Busy() || q.Len() != 0 {
		t.Errorf("the queue is busy: %v, of %d", q.Busy(), q.Len())
	}
}

// Callers are served in turn, as many in a tick as the tick has words. The queue ends when the last
// caller has left.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue.Queue
		s := new(tap)
		ctx := t.Context()
		all := stand(&q, s, ctx, ctx, ctx, ctx, ctx)
		if !q.Busy() || q.Len() != 5 || q.Formed() != 1 {
			t.Errorf("a queue of %d, the %dth", q.Len(), q.Formed())
		}
		for tick, want := range []int{2, 4, 5} {
			s.open(min(2, want-2*tick))
			pass(10 * time.Millisecond)
			for i, c := range all {
				if got := c.is(uint64(i + 1)); got != (i < want) || got != c.done() {
					t.Errorf("after tick %d, caller %d: %v", tick+1, i, c)
				}
			}
		}
		empty(t, &q)
		//lint:ignore SA1012 nil stands for a context that never ends
		if word, run, err := q.Stand(nil, 4, &tap{left: 3}); word != 1 || run != 3 || err != nil || q.Formed() != 2 {
			t.Errorf("a caller alone got %d words from %d, %v, in the queue %d", run, word, err, q.Formed())
		}
		empty(t, &q)
	})
}

// A caller whose context ends is told why words take long, in any place of the queue.
func TestDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.Queue{Name: "name"}
		ctx, cancel := context.WithCancel(t.Context())
		why := errors.New("why")
		s := &tap{delayed: why}
		all := stand(&q, s, ctx, ctx)
		cancel()
		pass(20 * time.Millisecond)
		for i, c := range all {
			if err := c.outcome.Load().err; !errors.Is(err, why) || !errors.Is(err, context.Canceled) ||
				err.Error() != "name: waiting for the first ID: context canceled: why" {
				t.Errorf("caller %d: %v", i, c)
			}
		}
		empty(t, &q)
	})
}

// A caller whose context ends returns within 5 ms from any place in the queue. All other callers
// stay.
func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.Queue{Name: "name"}
		s := new(tap)
		contexts := make([]context.Context, 6)
		cancels := make([]context.CancelFunc, len(contexts))
		for i := range contexts {
			contexts[i], cancels[i] = context.WithCancel(t.Context())
			defer cancels[i]()
		}
		all := stand(&q, s, contexts...)
		gone := make(map[int]bool)
		for _, i := range []int{3, 5, 0, 1} { // in the middle, last, leading twice
			cancels[i]()
			gone[i] = true
			pass(5 * time.Millisecond)
			for j, c := range all {
				testkit.Same(t, c.done(), gone[j])
			}
			if err := all[i].outcome.Load().err; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "name: ") {
				t.Errorf("caller %d: %v", i, err)
			}
			testkit.Same(t, q.Len(), len(all)-len(gone))
		}
		all = append(all, stand(&q, s, t.Context())...)
		s.open(3)
		pass(5 * time.Millisecond)
		for n, i := range []int{2, 4, 6} {
			if c := all[i]; !c.is(uint64(n + 1)) {
				t.Errorf("caller %d: %v", i, c)
			}
		}
		empty(t, &q)
	})
}

// A caller whose context has ended gets no word in its turn. The word goes to the next caller.
func TestContextsAtTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue.Queue
		s := new(tap)
		ctx, cancel := context.WithCancel(t.Context())
		all := stand(&q, s, t.Context(), ctx, t.Context(), ctx, t.Context())
		cancel()
		s.open(3) // before the leader looks again
		pass(time.Millisecond)
		for i, word := range []uint64{1, 0, 2, 0, 3} {
			c := all[i]
			if word > 0 && !c.is(word) || word == 0 && (!c.done() || !errors.Is(c.outcome.Load().err, context.Canceled)) {
				t.Errorf("caller %d: %v, want word %d", i, c, word)
			}
		}
		empty(t, &q)
	})
}

// A counted context counts the calls of Err.
type counted struct {
	context.Context
	looks *atomic.Int64
}

func (c counted) Err() error {
	c.looks.Add(1)
	return c.Context.Err()
}

// The leader of a long queue looks at a bounded number of contexts before each pause. A caller whose
// context ends still returns soon from any place, and all other callers stay in the queue.
func TestLongLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 5000
		var q queue.Queue
		s := new(tap)
		var looks atomic.Int64
		contexts := make([]context.Context, callers)
		cancels := make([]context.CancelFunc, callers)
		for i := range contexts {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			contexts[i], cancels[i] = counted{ctx, &looks}, cancel
		}
		all := stand(&q, s, contexts...)
		looks.Store(0)
		pass(100 * time.Millisecond)
		if n, most := looks.Load(), int64(100*(1000+2)); n > most || n < most/2 { // each pause lasts 1 ms
			t.Errorf("the leader has looked %d times at a context in 100 pauses", n)
		}
		left := callers
		for _, i := range []int{0, 1, callers - 1, callers / 2, callers - 2, 2, 999, 1000, 1001} {
			cancels[i]()
			pass((callers/1000 + 2) * time.Millisecond)
			if o := all[i].outcome.Load(); o == nil || !errors.Is(o.err, context.Canceled) {
				t.Errorf("caller %d: %v", i, all[i])
			}
			if left--; q.Len() != left {
				t.Errorf("%d callers wait, want %d", q.Len(), left)
			}
		}

		// All contexts but three end at once. The leader looks to the end of the queue, then from
		// its start.
		stay := map[int]bool{3: true, 2600: true, callers - 3: true}
		for i, cancel := range cancels {
			if !stay[i] {
				cancel()
			}
		}
		pass(2 * time.Millisecond)
		for i, c := range all {
			if c.done() == stay[i] {
				t.Fatalf("with the contexts of all but three ended, caller %d: %v", i, c)
			}
		}
		s.open(3)
		pass(time.Millisecond)
		for n, i := range []int{3, 2600, callers - 3} {
			if !all[i].is(uint64(n + 1)) {
				t.Errorf("caller %d: %v, want word %d", i, all[i], n+1)
			}
		}
		empty(t, &q)
	})
}

// Callers arrive, contexts end and words come in any order. No caller and no word is lost, and
// callers are served in turn.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			var q queue.Queue
			s := &tap{pause: 3 * time.Microsecond} // long enough for a few looks
			var all []*caller
			var cancels []context.CancelFunc
			ended := make(map[int]bool)
			for range 300 {
				switch random.IntN(8) {
				default:
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					all, cancels = append(all, stand(&q, s, ctx)...), append(cancels, cancel)
				case 4, 5:
					if len(all) > 0 {
						i := len(all) - 1 - random.IntN(min(len(all), 50))
						cancels[i]()
						ended[i] = true
					}
				case 6:
					s.open(random.IntN(6))
				case 7:
					pass(time.Duration(random.IntN(10)) * time.Microsecond)
				}
			}
			s.open(len(all))
			pass(time.Millisecond)
			var last uint64
			for i, c := range all {
				o := c.outcome.Load()
				switch {
				case o != nil && c.is(last+1):
					last++
				case o == nil || !ended[i] || o.word != 0 || !errors.Is(o.err, context.Canceled):
					t.Fatalf("seed %d, caller %d of %d: %v after word %d", seed, i, len(all), c, last)
				}
			}
			if last != s.word {
				t.Errorf("seed %d: of %d words, %d were handed out", seed, s.word, last)
			}
			empty(t, &q)
		})
	}
}

// Many callers on several threads, by the system's clock, get each word once.
func TestManyThreads(t *testing.T) {
	const callers, each = 200, 20
	var q queue.Queue
	s := new(counter)
	words := make([][]uint64, callers)
	var gone atomic.Int64
	var all sync.WaitGroup
	for i := range words {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for len(words[i]) < each {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(5000))*time.Microsecond)
				if random.IntN(2) == 0 {
					cancel()
					ctx, cancel = context.WithCancel(context.Background())
				}
				word, run, err := q.Stand(ctx, 1, s)
				cancel()
				switch {
				case err == nil && run == 1:
					words[i] = append(words[i], word)
				case errors.Is(err, context.DeadlineExceeded):
					gone.Add(1)
				default:
					t.Errorf("caller %d got %d words, %v", i, run, err)
					return
				}
			}
		})
	}
	all.Wait()
	made := slices.Concat(words...)
	slices.Sort(made)
	for i, word := range made {
		testkit.Same(t, word, uint64(i+1))
	}
	t.Logf("%d words, %d contexts ended", len(made), gone.Load())
	empty(t, &q)
}

// A counter is a Source of a few words a pause. It needs no lock, since a queue has one leader at a
// time.
type counter struct{ word, tries uint64 }

func (s *counter) Delayed() error { return nil }

func (s *counter) Try(int) (uint64, int, time.Duration, error) {
	if s.tries++; s.tries%40 == 0 {
		return 0, 0, 200 * time.Microsecond, nil
	}
	s.word++
	return s.word, 1, 0, nil
}

// A source's error goes to the leader. Each waiter behind the leader tries for itself.
func TestError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue.Queue
		s := &failing{}
		all := stand(&q, s, t.Context(), t.Context(), t.Context())
		s.failed.Store(true)
		pass(10 * time.Millisecond)
		for i, c := range all {
			if o := c.outcome.Load(); o == nil || *o != (outcome{err: errFailed}) {
				t.Errorf("caller %d: %v", i, c)
			}
		}
		empty(t, &q)
	})
}

var errFailed = errors.New("failed")

type failing struct{ failed atomic.Bool }

func (*failing) Delayed() error { return nil }

func (s *failing) Try(int) (uint64, int, time.Duration, error) {
	if s.failed.Load() {
		return 0, 0, 0, errFailed
	}
	return 0, 0, time.Millisecond, nil
}

// faults are the ways in which a program's code can end a caller, and what the caller recovers.
var faults = map[string]struct {
	end  func()
	want any
}{
	"panic":  {func() { panic("fault") }, "fault"},
	"Goexit": {runtime.Goexit, nil},
}

// A caller that ends in the source ends alone. All callers in the queue are served in turn, and so are
// later callers.
func TestSourceEnds(t *testing.T) {
	for name, fault := range faults {
		// The caller ends alone, as the leader of a queue, and as a leader that serves the queue.
		for _, v := range []struct{ callers, served int }{{1, 0}, {4, 0}, {4, 1}, {4, 2}} {
			t.Run(fmt.Sprintf("%s of one of %d with %d served", name, v.callers, v.served), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var q queue.Queue
					s := new(tap)
					contexts := make([]context.Context, v.callers)
					for i := range contexts {
						contexts[i] = t.Context()
					}
					all := stand(&q, s, contexts...)
					s.end(1+v.served, fault.end)
					s.open(100)
					pass(20 * time.Millisecond)
					if o := all[0].outcome.Load(); o == nil || *o != (outcome{panic: fault.want}) {
						t.Errorf("the leader: %v", all[0])
					}
					first := uint64(1) // the next leader gets this word
					if v.served > 0 {
						first++ // the leader had the first word
					}
					for i, c := range all[1:] {
						if !c.is(first + uint64(i)) {
							t.Errorf("caller %d behind: %v", i+1, c)
						}
					}
					empty(t, &q)
					if _, run, err := q.Stand(t.Context(), 1, s); run != 1 || err != nil {
						t.Errorf("a later caller gets %d, %v", run, err)
					}
					empty(t, &q)
				})
			})
		}
	}
}

// A broken context ends the goroutine that calls its Err, once the context is broken.
type broken struct {
	context.Context
	now atomic.Bool
	end func()
}

func (c *broken) Err() error {
	if c.now.Load() {
		c.end()
	}
	return nil
}

// A context that panics ends its own caller only, in any place of the queue.
func TestContextEnds(t *testing.T) {
	for name, fault := range faults {
		for at := range 4 {
			if at > 0 && fault.want == nil {
				continue // the leader looks at the contexts, and nothing stops a Goexit
			}
			t.Run(fmt.Sprintf("%s at %d", name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var q queue.Queue
					s := new(tap)
					bad := &broken{Context: t.Context(), end: fault.end}
					contexts := []context.Context{t.Context(), t.Context(), t.Context(), t.Context()}
					contexts[at] = bad
					all := stand(&q, s, contexts...)
					bad.now.Store(true)
					pass(10 * time.Millisecond)
					for i, c := range all {
						if o := c.outcome.Load(); (o != nil) != (i == at) || o != nil && *o != (outcome{panic: fault.want}) {
							t.Errorf("caller %d: %v", i, c)
						}
					}
					all = slices.Delete(all, at, at+1)
					all = append(all, stand(&q, s, t.Context())...)
					s.open(100)
					pass(10 * time.Millisecond)
					for i, c := range all {
						if !c.is(uint64(i + 1)) {
							t.Errorf("of the other callers, caller %d: %v", i, c)
						}
					}
					empty(t, &q)
				})
			})
		}
	}
}
