package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// Some IDs are confirmed, as a strictly ordered service does before it answers. Before the call of Confirm,
// the process looks at the logs of the others: an ID of the same worker that is there already must not be
// greater than the confirmed ID. The order of the two looks counts, and no clock.

// A confirmer has the lease of a process confirm some IDs.
type confirmer struct {
	*child
	dir     string
	process int
	slots   chan struct{} // one for each ID under way
	unable  atomic.Bool   // the store cannot confirm
	over    chan struct{}
	all     sync.WaitGroup
}

func newConfirmer(c *child, dir string, process int) *confirmer {
	return &confirmer{child: c, dir: dir, process: process, slots: make(chan struct{}, 3), over: make(chan struct{})}
}

// later may have the lease confirm an ID after a while: a service takes its time, or stands still.
func (c *confirmer) later(l *lease.Lease, v id, number int64) {
	if c.unable.Load() || !c.idle && rand.IntN(8) > 0 {
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		return
	}
	made := time.Now()
	c.all.Go(func() {
		defer func() { <-c.slots }()
		select {
		case <-time.After(rand.N(2 * c.window)):
			c.now(l, v, number, made)
		case <-c.over:
		}
	})
}

// now has the lease confirm an ID.
func (c *confirmer) now(l *lease.Lease, v id, number int64, made time.Time) {
	worker, at := c.format.read(v)
	e := entry{Event: confirmed, IDs: number}
	e.Rival, e.RivalIDs = c.rival(worker, made)
	since, err := l.Confirm(context.Background())
	switch {
	case errors.Is(err, driver.ErrUnconfirmable):
		c.unable.Store(true)
		return
	case err != nil:
		e.Event, e.Error = unconfirmed, err.Error()
	case since.After(at):
		e.Event = unconfirmed
	}
	c.note(e)
}

// rival returns the other process with the greatest last ID of a worker, and how many IDs this process has
// logged. Logs without an ID since a time are left out.
func (c *confirmer) rival(worker int, since time.Time) (process int, ids int64) {
	var greatest id
	files, _ := os.ReadDir(c.dir)
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), idsSuffix)
		number, err := strconv.Atoi(name)
		if !ok || err != nil || number == c.process {
			continue
		}
		info, err := f.Info()
		if err != nil || info.ModTime().Before(since) {
			continue
		}
		n := info.Size() / int64(c.format.Size)
		v, ok := c.read(filepath.Join(c.dir, f.Name()), n-1)
		if w, _ := c.format.read(v); ok && w == worker && (process == 0 || greatest.compare(v) < 0) {
			process, ids, greatest = number, n, v
		}
	}
	return process, ids
}

// read reads an ID of a log.
func (c *confirmer) read(path string, number int64) (v id, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return id{}, false
	}
	defer f.Close()
	b := make([]byte, c.format.Size)
	if _, err := f.ReadAt(b, number*int64(len(b))); number < 0 || err != nil {
		return id{}, false
	}
	return decode(b), true
}

// end waits for the IDs under way.
func (c *confirmer) end() {
	close(c.over)
	c.all.Wait()
}

// A claim is a confirmed ID, and the last ID that another process had logged before.
type claim struct {
	process, rival int
	number, ids    int64
	id, last       id
}

// A want is an ID of a log that the check needs.
type want struct {
	number int64
	to     *id
}

// claim notes a confirmed ID of a process.
func (k *checker) claim(l *log, e entry) {
	if e.Rival == 0 {
		return
	}
	c := &claim{process: l.process, number: e.IDs, rival: e.Rival, ids: e.RivalIDs}
	k.claims = append(k.claims, c)
	l.wanted = append(l.wanted, want{c.number, &c.id})
}

// wantRivals wants the last IDs of the other processes.
func (k *checker) wantRivals() {
	logs := make(map[int]*log)
	for _, l := range k.logs {
		logs[l.process] = l
	}
	k.claims = slices.DeleteFunc(k.claims, func(c *claim) bool { return logs[c.rival] == nil })
	for _, c := range k.claims {
		l := logs[c.rival]
		l.wanted = append(l.wanted, want{c.ids - 1, &c.last})
	}
	for _, l := range k.logs {
		slices.SortFunc(l.wanted, func(a, b want) int { return cmp.Compare(a.number, b.number) })
	}
}

// checkClaims checks that no confirmed ID was smaller than an ID of the worker that was there before the
// call of Confirm.
func (k *checker) checkClaims() {
	for _, c := range k.claims {
		worker, _ := k.format.read(c.id)
		if of, _ := k.format.read(c.last); of == worker && c.last.compare(c.id) >= 0 {
			k.violation(stale, [2]int{c.process, c.rival}, func() string {
				return fmt.Sprintf("%s, when process %d had made %s", k.who(c.id, c.number, &log{process: c.process}), c.rival, k.format.text(c.last))
			})
		}
	}
}
