package natslease

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease/driver"
)

// bucket returns the bucket as a value of package jetstream.
func (s *Store) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	if b := s.kv.Load(); b != nil {
		return *b, nil
	}
	b, err := s.js.KeyValue(ctx, s.options.Bucket)
	if err == nil {
		s.kv.Store(&b)
	}
	return b, err
}

// Watch returns a channel that gets a value after each change of an entry with the prefix, as
// [driver.Watcher] says.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	w := &watch{store: s, prefix: prefix, changed: make(chan struct{}, 1)}
	life, end := driver.UntilClosed(ctx, s.Handle)
	connected := s.conn.StatusChanged(nats.CONNECTED)
	finish := func() {
		end()
		s.conn.RemoveStatusListener(connected)
		close(w.changed)
	}
	updates, err := driver.Call(ctx, s.Handle, "watch", func(limit context.Context) (jetstream.KeyWatcher, error) {
		if _, _, err := s.stream(limit); err != nil {
			return nil, err
		}
		var err error
		if w.bucket, err = s.bucket(limit); err != nil {
			return nil, s.readable(err)
		}
		giveUp := context.AfterFunc(limit, end)
		updates, err := w.begin(life)
		if !giveUp() { // the time was over
			return nil, limit.Err()
		}
		return updates, s.readable(err)
	})
	if err != nil {
		finish()
		return nil, err
	}
	go func() {
		defer finish()
		w.run(life, updates, connected)
	}()
	return w.changed, nil
}

type watch struct {
	store   *Store
	bucket  jetstream.KeyValue
	prefix  string
	changed chan struct{}
}

// begin starts a watch, and returns when the server has sent all present entries. From then on the
// client knows the sequence of the last message, and can continue from there.
func (w *watch) begin(ctx context.Context) (jetstream.KeyWatcher, error) {
	updates, err := w.bucket.Watch(ctx, pattern(w.prefix), jetstream.MetaOnly())
	if err != nil {
		return nil, err
	}
	for {
		select {
		case e, ok := <-updates.Updates():
			switch {
			case !ok:
				return nil, nats.ErrConnectionClosed
			case e == nil:
				return updates, nil
			}
		case <-ctx.Done():
			updates.Stop()
			return nil, ctx.Err()
		}
	}
}

// run signals changes until ctx ends. After each new connection it starts a new watch.
func (w *watch) run(ctx context.Context, updates jetstream.KeyWatcher, connected <-chan nats.Status) {
	for {
		over := false
		for !over {
			select {
			case e, ok := <-updates.Updates():
				if over = !ok; ok && e != nil {
					if key, ours := decode(e.Key()); ours && strings.HasPrefix(key, w.prefix) {
						driver.Signal(w.changed)
					}
				}
			case <-connected:
				over = true
			case <-ctx.Done():
				updates.Stop()
				return
			}
		}
		updates.Stop()
		for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
			var err error
			if updates, err = w.again(ctx); err == nil {
				break
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
		driver.Signal(w.changed) // for changes in the meantime
	}
}

// again is begin within the time-out of a call.
func (w *watch) again(ctx context.Context) (jetstream.KeyWatcher, error) {
	life, end := context.WithCancel(ctx)
	late := time.AfterFunc(w.store.options.Timeout, end)
	updates, err := w.begin(life)
	if err == nil && !late.Stop() {
		err = context.DeadlineExceeded
	}
	if err != nil {
		end()
		return nil, err
	}
	context.AfterFunc(ctx, end)
	return updates, nil
}
