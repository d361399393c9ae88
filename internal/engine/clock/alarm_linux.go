package clock

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// An alarm is a timer of the kernel (timerfd) that the runtime's network poller watches.
//
// No goroutine ever waits for an alarm. An alarm only ends the poller's wait; the runtime then runs
// all due timers, among them the timer of time.Sleep. A missing, early or superfluous alarm
// therefore does no harm: the sleep lasts as long as time.Sleep alone.
//
// Waiting in the kernel instead, in nanosleep(2) or in a blocking read, would keep the P of the
// goroutine for up to 10 ms, and with GOMAXPROCS=1 no other goroutine would run. Waiting for the
// poller alone would wake late without an idle P: the runtime then polls every 10 ms, but looks at
// the timers whenever it picks the next goroutine.
type alarm struct {
	file *os.File // registers the descriptor with the poller
	fd   uintptr
	spec struct{ interval, value syscall.Timespec } // struct itimerspec
}

// slack is how much later than the sleep's end an alarm fires. The timer of time.Sleep starts a
// moment after the alarm, and must be due when the alarm ends the poller's wait.
const slack = 10 * time.Microsecond

// sleep is [time.Sleep] with a precise end. It allocates only memory that later calls use again.
//
// On Linux an idle Go process waits for timers in whole milliseconds: time.Sleep(500µs) returns
// after 1.1 ms. sleep therefore also sets a timer of the kernel, which ends the idle wait when the
// sleep is over.
func sleep(d time.Duration) { alarms.sleep(d) }

func (p *alarmPool) sleep(d time.Duration) {
	a := p.get()
	if a == nil {
		time.Sleep(d)
		return
	}
	a.set(d + slack)
	time.Sleep(d)
	p.put(a)
}

// newAlarm returns an alarm. It returns nil if too many files are open or a sandbox forbids timers.
func newAlarm() *alarm {
	const monotonic = 1 // CLOCK_MONOTONIC
	fd, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil
	}
	file := os.NewFile(fd, "timerfd")
	if file.SetReadDeadline(time.Time{}) != nil { // the poller did not accept the descriptor
		file.Close()
		return nil
	}
	return &alarm{file: file, fd: fd}
}

// set makes the alarm fire once, after d. It replaces an earlier time.
func (a *alarm) set(d time.Duration) {
	a.spec.value = syscall.NsecToTimespec(int64(d))
	_, _, _ = syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, a.fd, 0, uintptr(unsafe.Pointer(&a.spec)), 0, 0, 0)
}

// An alarmPool keeps alarms for later sleeps. Alarms are never closed: their number is bounded.
type alarmPool struct {
	mu     sync.Mutex
	open   func() *alarm
	made   int // number of alarms opened
	free   int // alarms[:free] are not in use
	alarms [maxAlarms]*alarm
}

// maxAlarms is the most descriptors of a process. Further sleeps at the same time have no alarm,
// and are hardly less precise: the alarms of the other sleeps end the poller's wait often enough.
const maxAlarms = 16

var alarms = alarmPool{open: newAlarm}

// get returns a free alarm or a new one. It returns nil if neither is available.
func (p *alarmPool) get() *alarm {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 {
		p.free--
		return p.alarms[p.free]
	}
	if p.made == maxAlarms {
		return nil
	}
	a := p.open()
	if a != nil {
		p.made++
	}
	return a
}

func (p *alarmPool) put(a *alarm) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alarms[p.free] = a
	p.free++
}
