package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// Some IDs are confirmed, as a strictly ordered service does before it answers. Before the call of Confirm,
// the process looks at the logs of the others: an ID of the same worker that is there already must not be
// greater than the confirmed ID. The order of the two looks counts, and no clock.

// confirmSome may have the lease confirm the latest ID after a while: a service takes its time, or stands still.
func (c *child) confirmSome(ctx context.Context, l *lease.Lease) {
	if c.unable.Load() || !c.Idle && rand.IntN(8) > 0 {
		return
	}
	select {
	case c.confirms <- struct{}{}:
	default:
		return
	}
	v, made := c.latest, time.Now()
	go func() {
		defer func() { <-c.confirms }()
		if pause.For(ctx, rand.N(2*c.Window)) == nil {
			c.confirm(l, v, made)
		}
	}()
}

// confirm has the lease confirm an ID that was made at a time.
func (c *child) confirm(l *lease.Lease, v id, made time.Time) {
	worker, at := c.format.read(v)
	process, rival := c.rival(worker, made)
	since, err := l.Confirm(context.Background())
	switch {
	case errors.Is(err, driver.ErrUnconfirmable):
		c.unable.Store(true)
	case err != nil:
		c.note(entry{Event: unconfirmed, Error: err.Error()})
	case since.UnixMicro() > at:
		c.note(entry{Event: unconfirmed})
	case process > 0 && rival.compare(v) >= 0:
		c.note(entry{Event: stale, Error: fmt.Sprintf("%s of process %d, when process %d had made %s",
			c.format.text(v), c.Process, process, c.format.text(rival))})
	default:
		c.note(entry{Event: confirmed})
	}
}

// rival returns the other process with the greatest last ID of a worker, and the ID; or process 0. Logs
// without an ID since a time are left out.
func (c *child) rival(worker int, since time.Time) (process int, greatest id) {
	files, _ := os.ReadDir(c.Place.Dir)
	for _, f := range files {
		var number int
		if _, err := fmt.Sscanf(f.Name(), "%d"+idsSuffix, &number); err != nil || number == c.Process {
			continue
		}
		info, err := f.Info()
		if err != nil || info.ModTime().Before(since) {
			continue
		}
		v, err := c.format.readID(filepath.Join(c.Place.Dir, f.Name()), info.Size()/int64(c.format.Size)-1)
		if w, _ := c.format.read(v); err == nil && w == worker && (process == 0 || greatest.compare(v) < 0) {
			process, greatest = number, v
		}
	}
	return process, greatest
}

// readID reads an ID of a log.
func (f *format) readID(path string, number int64) (v id, err error) {
	file, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer file.Close()
	_, err = file.ReadAt(v[:f.Size], number*int64(f.Size))
	return v, err
}
