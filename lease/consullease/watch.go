package consullease

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rest"
)

const (
	// wait is how long Consul holds a request that waits for a change; it adds up to a sixteenth. It is how late a watch
	// can notice a restore that comes between two requests.
	wait = 10 * time.Second

	often  = 10 * time.Millisecond // between two requests
	seldom = time.Second           // when each of them tells of a change, or fails
)

// Watch is as [driver.Watcher] says, by requests that Consul answers when the index of the keys has changed.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	w := &watch{store: s, name: s.prefix + escape.Replace(prefix), changed: make(chan struct{}, 1)}
	if driver.CheckPrefix(prefix) != nil { // no key begins so
		w.name = ""
	} else if err := driver.Do(ctx, s.Handle, "watch", w.once); err != nil { // which says why, if there is no watching
		return nil, err
	}
	running, stop := driver.UntilClosed(ctx, s.Handle)
	go func() {
		defer close(w.changed)
		defer stop()
		if w.name == "" {
			<-running.Done()
			return
		}
		w.run(running)
	}()
	return w.changed, nil
}

type watch struct {
	store   *Store
	name    string
	index   uint64 // of the last answer; 0 before the first one
	reset   bool   // the index was set back, and changes may have been missed
	look    bool   // the index may have been set back
	changed chan struct{}
}

// run watches until ctx ends. It asks less often when it is answered at once again and again.
func (w *watch) run(ctx context.Context) {
	pause := often
	for {
		begun := time.Now()
		if w.once(ctx) == nil && time.Since(begun) > seldom {
			pause = often
		}
		if rest.Sleep(ctx, pause) != nil {
			return
		}
		pause = min(pause*2, seldom)
	}
}

// once asks once, and waits for a change unless it is the first time.
//
// An index can be lower than the one before: after the servers were restored from a snapshot, or when the key
// with the highest one was removed. To wait for more than it had been would be to miss what
// comes until then, so the watch begins anew. An index of 0 would not wait at all.
//
// Consul does not say that a restore has set the index back. It answers requests that wait as if nothing had changed, but
// early, and then holds the next one until its time is over. So once asks without waiting after an early answer, and
// after an outage, which other servers may have come out of.
func (w *watch) once(ctx context.Context) error {
	limit := w.store.timeout
	query := url.Values{"keys": {""}}
	waits := w.index > 0 && !w.look
	if waits {
		query.Set("index", strconv.FormatUint(w.index, 10))
		query.Set("wait", wait.String())
		limit += wait + wait/16
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begun := time.Now()
	reply, err := w.store.read(ctx, w.name, query)
	if err != nil {
		w.look = true
		return err
	}
	index, err := strconv.ParseUint(reply.Header.Get("X-Consul-Index"), 10, 64)
	if err != nil {
		return w.store.unexpected("X-Consul-Index is %.30q", reply.Header.Get("X-Consul-Index"))
	}
	w.look = waits && index == w.index && time.Since(begun) < wait
	switch {
	case index < w.index:
		w.index, w.reset = 0, true
		driver.Signal(w.changed)
		return nil
	case w.index > 0 && index > w.index, w.reset:
		w.reset = false
		driver.Signal(w.changed)
	}
	w.index = max(index, 1)
	return nil
}
