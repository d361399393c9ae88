package door

import (
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// counting counts the deadlines that are set.
type counting struct {
	net.Conn
	mu   sync.Mutex
	sets int
}

func (c *counting) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets++
}

func (c *counting) SetReadDeadline(t time.Time) error  { c.count(); return c.Conn.SetReadDeadline(t) }
func (c *counting) SetWriteDeadline(t time.Time) error { c.count(); return c.Conn.SetWriteDeadline(t) }

// pipe returns a connection whose other end neither reads nor writes, and whose deadlines are swept.
func pipe(t *testing.T) (*conn, *counting) {
	near, far := net.Pipe()
	c := &counting{Conn: near}
	d := New(Config{})
	given := &conn{Conn: c, deadlines: newDeadlines(c, d), door: d}
	d.given[given] = struct{}{}
	go d.sweep()
	t.Cleanup(func() { near.Close(); far.Close(); close(d.swept) })
	return given, c
}

// Reads and writes end at the deadline that was set last, or up to a second later, however often the deadline moved.
func TestDeadlines(t *testing.T) {
	for name, call := range map[string]func(*conn) (int, error){
		"read":  func(c *conn) (int, error) { return c.Read(make([]byte, 8)) },
		"write": func(c *conn) (int, error) { return c.Write(make([]byte, 8)) },
	} {
		for _, test := range []struct {
			moves []time.Duration // seconds from the start; 0 is no deadline
			want  time.Duration
		}{
			{[]time.Duration{5}, 5}, {[]time.Duration{5, 8}, 8}, {[]time.Duration{8, 5}, 5}, {[]time.Duration{5, 0, 9}, 9},
			{[]time.Duration{9, 4, 6}, 6}, {[]time.Duration{-1}, 0}, {[]time.Duration{-1, 4}, 4}, {[]time.Duration{-1, 0, 5}, 5}, {[]time.Duration{4, -1}, 0},
		} {
			synctest.Test(t, func(t *testing.T) {
				c, _ := pipe(t)
				began := time.Now()
				for _, m := range test.moves {
					at := began.Add(m * time.Second)
					if m == 0 {
						at = time.Time{}
					}
					if err := errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at)); err != nil {
						t.Fatal(err)
					}
				}
				n, err := call(c)
				late := time.Since(began) - test.want*time.Second
				if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || late < 0 || late > every {
					t.Errorf("%s after %v: %d bytes, %v, %v late", name, test.moves, n, err, late)
				}
			})
		}
	}
}

// Deadlines that were set before the clock of the machine jumped, by an hour forward or back: they end calls when their time
// has come, not earlier and not later.
func TestDeadlinesWhenTheClockJumps(t *testing.T) {
	const wait = 100 * time.Millisecond
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		c, _ := pipe(t) // outside of a bubble, whose times have no reading of the monotonic clock
		rescue := time.AfterFunc(10*time.Second, func() { c.Conn.Close() })
		began := time.Now()
		c.SetDeadline(withWall(began.Add(wait), -jump))
		_, err := c.Read(make([]byte, 1))
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took < wait {
			t.Errorf("the clock went %v: %v after %v", jump, err, took)
		}
		rescue.Stop()
	}
}

// withWall returns a time with another reading of the wall clock, and the same reading of the monotonic clock.
func withWall(t time.Time, by time.Duration) time.Time {
	const monotonic, seconds = 1 << 63, 30 // the bit and the place in time.Time
	wall := (*uint64)(unsafe.Pointer(&t))
	if *wall&monotonic == 0 {
		panic("the time has no reading of the monotonic clock")
	}
	*wall += uint64(int64(by/time.Second)) << seconds
	return t
}

// Another goroutine can move the deadline of a call, to an earlier or a later time. A deadline in the past ends the call at
// once: net/http ends its own reads by such deadlines.
func TestDeadlineMovesDuringCalls(t *testing.T) {
	for _, test := range []struct {
		first, at, moved, want time.Duration
		exact                  bool
	}{
		{10, 1, 5, 5, false}, {10, 4, 1, 4, true}, {5, 1, 10, 10, false}, {0, 1, 6, 6, false}, {10, 3, -1, 3, true},
	} {
		for _, call := range []func(*conn) (int, error){
			func(c *conn) (int, error) { return c.Read(make([]byte, 1)) },
			func(c *conn) (int, error) { return c.Write(make([]byte, 1)) },
		} {
			synctest.Test(t, func(t *testing.T) {
				c, _ := pipe(t)
				began := time.Now()
				if test.first > 0 {
					c.SetDeadline(began.Add(test.first * time.Second))
				}
				go func() {
					time.Sleep(test.at * time.Second)
					c.SetDeadline(began.Add(test.moved * time.Second))
				}()
				_, err := call(c)
				late := time.Since(began) - test.want*time.Second
				if !errors.Is(err, os.ErrDeadlineExceeded) || late < 0 || late > every || test.exact && late > 0 {
					t.Errorf("%+v: %v, %v late", test, err, late)
				}
			})
		}
	}
}

// A move sets no deadline of the connection, except a move that ends a read at once.
func TestDeadlinesAreRarelySet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, counts := pipe(t)
		for i := range 100 {
			for _, after := range []time.Duration{10, 20, 180} {
				c.SetDeadline(time.Now().Add(after * time.Second))
			}
			// net/http reads beside a handler, and ends the read. Most of these reads have not begun.
			under := i%10 == 0
			ended := make(chan error)
			read := func() { _, err := c.Read(make([]byte, 1)); ended <- err }
			if under {
				go read()
				synctest.Wait()
			}
			c.SetReadDeadline(time.Unix(1, 0))
			if !under {
				go read()
			}
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Time{})
			if want := 2 * (i/10 + 1); counts.sets != want {
				t.Fatalf("%d calls, want %d", counts.sets, want)
			}
		}
	})
}
