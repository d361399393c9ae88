package lease_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
)

// TestBusy: another process is stopped while it writes the record of a pool. A first start, which has to write it too,
// waits as for a worker.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	store := testkit.Must(filelease.Open(dir))
	generator := func() *nanoflake.Generator {
		return testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true}))
	}
	testkit.Must(lease.Create(t.Context(), store, "p", testkit.Must(generator().ForLease().Pool()).Layout))
	stopped := testkit.Must(os.Open(filepath.Join(dir, "p", "pool=")))
	defer stopped.Close()
	lock := func(how int) { testkit.OK(t, syscall.Flock(int(stopped.Fd()), how)) }
	lock(syscall.LOCK_EX)
	waits := 0
	c := lease.Config{Pool: "p", Window: time.Second, Timeout: 50 * time.Millisecond, Wait: -1, Notify: func(e lease.Event) {
		if e.Kind == lease.Waiting {
			waits++
		}
	}}
	start := func() (time.Duration, error) {
		began := time.Now()
		l, err := lease.Start(t.Context(), store, generator(), c)
		if err == nil {
			l.Close()
		}
		return time.Since(began), err
	}
	_, err := start()
	testkit.Is(t, err, driver.ErrBusy, "a start that does not wait")
	testkit.Is(t, err, driver.ErrUnavailable, "a start that does not wait")
	c.Wait = 500 * time.Millisecond
	if took, err := start(); err == nil || took < c.Wait || waits != 1 {
		t.Errorf("a start that waits for %v: %v after %v, with %d events", c.Wait, err, took, waits)
	}
	c.Wait = 0
	unlocked := make(chan struct{})
	time.AfterFunc(time.Second, func() {
		lock(syscall.LOCK_UN)
		close(unlocked)
	})
	if took, err := start(); err != nil || took < time.Second {
		t.Errorf("the process goes on: %v after %v", err, took)
	}
	<-unlocked
}
