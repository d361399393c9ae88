package pglease_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/pglease"
)

// throughProxy returns two stores with the same new table. The connections of the first store go
// through a proxy.
func throughProxy(t *testing.T, settings ...string) (p *proxy, through, direct *pglease.Store) {
	conn := connect(t, given())
	addr := given("table="+schema(t, conn)+".leases", "sslmode=disable")
	direct = storetest.Prepare(t, pglease.Open, addr)
	c := conn.Config()
	p = newProxy(t, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
	return p, storetest.Open(t, pglease.Open, storetest.With(p.address(addr), settings...)), direct
}

// TestBroken has all connections end: at most one call fails.
func TestBroken(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	s := storetest.Prepare(t, pglease.Open, given("table="+schema+".leases", "application_name="+schema))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { storetest.Put(t, s, fmt.Sprint("key-", i), "x", driver.None) })
	}
	all.Wait()
	most, left := 0, 0
	wait.Until(t, "the connections have ended", func() bool {
		testkit.OK(t, conn.QueryRow(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1", schema).Scan(&left))
		most = max(most, left)
		return left == 0
	})
	if most < 2 {
		t.Fatalf("there are %d connections", most)
	}
	failed := 0
	for range most + 1 {
		if _, err := s.Get(t.Context(), "key-0"); err != nil {
			storetest.Fails(t, "a connection that has ended", err, driver.ErrUnavailable)
			failed++
		}
	}
	if failed > 1 {
		t.Errorf("%d calls failed by %d connections that had all ended at once", failed, most)
	}
}

// TestSecondAttempt has the network swallow the first attempt of a call to connect.
func TestSecondAttempt(t *testing.T) {
	t.Parallel()
	p, s, _ := throughProxy(t, "timeout=20s") // an attempt has a quarter
	rev := storetest.Put(t, s, "a", "x", driver.None)
	p.set(func() { p.frozen, p.forgot = true, p.number })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := s.Put(ctx, "a", []byte("y"), "7") // on the one connection that there is
	storetest.Fails(t, "silence", err, driver.ErrUnavailable, "no answer in time")
	var before int
	p.set(func() { before = p.number })
	done := make(chan error, 1)
	go func() {
		_, err := s.Put(t.Context(), "a", []byte("z"), rev)
		done <- err
	}()
	wait.Until(t, "the call tries to connect", func() (tried bool) {
		p.set(func() { tried = p.number > before })
		return tried
	})
	p.set(func() { p.frozen, p.forgot = false, p.number })
	if err, _ := wait.Receive(t, "the result of the call", done); err != nil {
		t.Error(err)
	}
}

// TestCut has connections go silent after any number of bytes of a Put. No transaction of the part
// that has arrived holds up other clients.
func TestCut(t *testing.T) {
	t.Parallel()
	p, s, direct := throughProxy(t)
	value := strings.Repeat("x", driver.MaxValue)
	rev := storetest.Put(t, s, "a", value, driver.None)
	p.set(func() { p.passed = 0 })
	rev = storetest.Put(t, s, "a", value, rev)
	length := p.passed
	if length < 2*driver.MaxValue {
		t.Fatalf("a Put took %d bytes", length)
	}
	made := 0
	// The length is not always the same: the Put says how much time it has left.
	for _, n := range []int{1, 5, length / 3, length - 2000, length - 300, length - 100, length - 60, length - 30, length - 10, length - 5, length - 3, length + 10} {
		if _, err := s.Get(t.Context(), "a"); err != nil { // on the connection that is cut
			t.Fatal(err)
		}
		p.set(func() { p.allow = n })
		limit := 200 * time.Millisecond
		if n > length {
			limit = time.Minute
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		next, err := s.Put(ctx, "a", []byte(value), rev)
		cancel()
		if err == nil { // it went through
			made++
			rev = next
			p.set(func() { p.allow = -1 })
			continue
		}
		storetest.Fails(t, fmt.Sprint("after byte ", n), err, driver.ErrUnavailable)
		next, err = direct.Put(t.Context(), "a", []byte("y"), rev)
		if errors.Is(err, driver.ErrConflict) { // the Put went through, and the reply came too late
			made++
			var e driver.Entry
			e, err = direct.Get(t.Context(), "a")
			next = e.Revision
		}
		if err != nil {
			t.Fatalf("another Put, while one hangs after byte %d of %d: %v", n, length, err)
		}
		rev = next
		p.set(func() { p.allow, p.forgot = -1, p.number })
	}
	if made == 0 || made > 3 {
		t.Errorf("%d Puts were made, want the one that was not cut, and few others", made)
	}
}
