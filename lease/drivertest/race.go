package drivertest

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/firn-id/firn/lease/driver"
)

// race has many at once try the same change: first to create an entry, then to swap it.
func race(s *space) {
	const racers, rounds = 32, 6
	hs := []driver.Store{s.open(), s.open(), s.open(), s.open()}
	rev := driver.None
	for round := range rounds {
		var (
			all   sync.WaitGroup
			start = make(chan struct{})
			mu    sync.Mutex
			won   = make(map[string]driver.Revision) // by value
		)
		for r := range racers {
			all.Go(func() {
				value := fmt.Sprintf("%d of round %d", r, round)
				<-start
				made, err := hs[r%len(hs)].Put(s.Context(), "a", []byte(value), rev)
				switch {
				case err == nil:
					mu.Lock()
					won[value] = made
					mu.Unlock()
				case !errors.Is(err, driver.ErrConflict):
					s.Errorf("Put: %v, want an error that is ErrConflict", err)
				}
			})
		}
		close(start)
		all.Wait()
		if len(won) != 1 {
			s.Fatalf("%d of %d Puts with revision %q succeeded, want one", len(won), racers, rev)
		}
		for value, made := range won {
			rev = made
			for _, h := range hs {
				s.want(h, "a", value, rev)
			}
		}
	}
}

// counter has several handles, and goroutines on each, count in one entry.
func counter(s *space) {
	const goroutines, increments = 3, 10
	hs := []driver.Store{s.open(), s.open(), s.open()}
	total := goroutines * increments * len(hs)
	s.put(hs[0], "n", "0", driver.None)
	var (
		all, met  sync.WaitGroup
		mu        sync.Mutex
		made      = make(map[driver.Revision]bool)
		conflicts int
	)
	met.Add(goroutines * len(hs))
	for g := range goroutines * len(hs) {
		all.Go(func() {
			h := hs[g%len(hs)]
			meet := sync.OnceFunc(met.Done)
			defer meet()
			for done, failed := 0, 0; done < increments; {
				if failed > total { // each is due to the success of another
					s.Errorf("there are more conflicts than increments")
					return
				}
				e, err := h.Get(s.Context(), "n")
				if err != nil {
					s.Errorf("Get: %v", err)
					return
				}
				n, err := strconv.Atoi(string(e.Value))
				if err != nil {
					s.Errorf("the counter has the value %s: %v", brief(e.Value), err)
					return
				}
				meet()
				met.Wait()        // all have read before the first increment
				runtime.Gosched() // others get in between, even where calls are short
				rev, err := h.Put(s.Context(), "n", strconv.AppendInt(nil, int64(n+1), 10), e.Revision)
				mu.Lock()
				switch {
				case err == nil:
					done++
					if made[rev] {
						s.Errorf("two increments made revision %q", rev)
					}
					made[rev] = true
				case errors.Is(err, driver.ErrConflict):
					failed++
					conflicts++
				default:
					s.Errorf("Put: %v", err)
					done = increments
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	s.Logf("%d increments, %d conflicts", len(made), conflicts)
	if e, err := hs[0].Get(s.Context(), "n"); err != nil || string(e.Value) != strconv.Itoa(total) {
		s.Errorf("the counter is %s after %d increments: %v", e.Value, total, err)
	}
	if conflicts == 0 {
		s.Errorf("the increments did not meet")
	}
}
