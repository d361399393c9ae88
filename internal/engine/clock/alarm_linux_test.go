package clock

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/firn-id/firn/internal/testing/wait"
)

func TestSleep(t *testing.T) {
	for _, d := range []time.Duration{-1, 0, 1, time.Microsecond, time.Millisecond} {
		began := time.Now()
		sleep(d)
		if slept := time.Since(began); slept < d {
			t.Errorf("sleep(%v) returns after %v", d, slept)
		}
	}
}

// An alarm wakes the poller, even if the alarm was set before or has fired before.
func TestAlarmFires(t *testing.T) {
	a := newAlarm()
	if a == nil {
		t.Fatal("no alarm")
	}
	defer a.file.Close()
	for _, before := range []time.Duration{time.Hour, time.Nanosecond, time.Hour} {
		a.set(before)
		a.set(time.Microsecond)
		// The read is only for the test. Without an event it fails at the deadline.
		a.file.SetReadDeadline(time.Now().Add(wait.Patience))
		var fired uint64
		b := (*[8]byte)(unsafe.Pointer(&fired))[:]
		if _, err := a.file.Read(b); err != nil || fired != 1 {
			t.Errorf("the alarm has fired %d times, %v", fired, err)
		}
	}
}

// A child process does not inherit alarms. A read of an alarm does not block.
func TestFlags(t *testing.T) {
	a := newAlarm()
	if a == nil {
		t.Fatal("no alarm")
	}
	defer a.file.Close()
	for _, v := range []struct{ get, want uintptr }{{syscall.F_GETFD, syscall.FD_CLOEXEC}, {syscall.F_GETFL, syscall.O_NONBLOCK}} {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, a.fd, v.get, 0)
		if errno != 0 || flags&v.want == 0 {
			t.Errorf("fcntl(%d) returns %#x, %v, without %#x", v.get, flags, errno, v.want)
		}
	}
}

// Any number of sleeps share few descriptors, and each alarm serves one sleep at a time.
func TestBound(t *testing.T) {
	var p alarmPool
	p.open = func() *alarm { return new(alarm) }
	used := make(map[*alarm]bool)
	for range maxAlarms {
		a := p.get()
		if a == nil || used[a] {
			t.Fatalf("alarm %d is %p", len(used), a)
		}
		used[a] = true
	}
	if a := p.get(); a != nil {
		t.Errorf("more than %d alarms", maxAlarms)
	}
	for a := range used {
		p.put(a)
	}
	for range maxAlarms {
		delete(used, p.get())
	}
	if len(used) > 0 {
		t.Errorf("%d alarms are lost", len(used))
	}

	var all sync.WaitGroup
	for range 20 * maxAlarms {
		all.Go(func() { sleep(time.Millisecond) })
	}
	all.Wait()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, e := range entries {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(to, "timerfd") {
			open++
		}
	}
	if open == 0 || open > maxAlarms {
		t.Errorf("%d alarms are open", open)
	}
}

// A process without a free descriptor sleeps without an alarm, and has alarms again when there are
// descriptors.
func TestNoDescriptor(t *testing.T) {
	p := alarmPool{open: newAlarm}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, err := os.Open("/")
	a := p.get()
	p.sleep(time.Millisecond)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EMFILE) || a != nil || p.made != 0 {
		t.Errorf("without descriptors: %v, alarm %p, %d made", err, a, p.made)
	}
	if a = p.get(); a == nil {
		t.Fatal("no alarm when there are descriptors again")
	}
	a.file.Close()
}

// An alarm that does not work makes a sleep no shorter.
func TestBrokenAlarm(t *testing.T) {
	a := newAlarm()
	if a == nil {
		t.Fatal("no alarm")
	}
	a.file.Close()
	p := alarmPool{open: func() *alarm { return a }}
	began := time.Now()
	p.sleep(time.Millisecond)
	if slept := time.Since(began); slept < time.Millisecond {
		t.Errorf("slept for %v", slept)
	}
}
