package etcdlease

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease/driver"
)

// Watch returns a channel that gets a value after each change of an entry with the prefix, as
// [driver.Watcher] says. It returns when the cluster has started the watch.
//
// After a lost connection, the client resumes a watch where it was, and misses nothing. If the
// client cannot resume the watch, because the history was compacted or the member lost the leader,
// Watch starts another watch, and the channel gets a value: changes may have been missed.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	// If there can be no watch, a read reports the reason. The watch itself would try for ever.
	err := driver.Do(ctx, s.Handle, "watch", func(ctx context.Context) error {
		return s.call(ctx, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
			r, err := s.client.Get(ctx, s.prefix+prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
			if err != nil {
				return nil, err
			}
			return r.Header, nil
		})
	})
	if err != nil {
		return nil, err
	}
	running, stop := driver.UntilClosed(ctx, s.Handle)
	w := &watch{store: s, prefix: s.prefix + prefix, changed: make(chan struct{}, 1), begun: make(chan struct{})}
	go func() {
		defer close(w.changed)
		defer stop()
		w.run(running)
	}()
	err = driver.Do(ctx, s.Handle, "watch", func(limit context.Context) error {
		select {
		case <-w.begun:
			return nil
		case <-limit.Done():
			return limit.Err()
		case <-running.Done():
			return running.Err()
		}
	})
	if err != nil {
		stop()
		return nil, err
	}
	return w.changed, nil
}

type watch struct {
	store   *Store
	prefix  string
	changed chan struct{}
	begun   chan struct{} // is closed when the first watch has started
	again   bool          // the watch is not the first
}

// run watches until ctx ends.
func (w *watch) run(ctx context.Context) {
	wait := shortest
	for {
		if w.once(ctx) {
			wait = shortest
		}
		if pause.For(ctx, wait) != nil {
			return
		}
		wait = min(wait*2, longest)
	}
}

// once watches until the watch ends, and reports whether the watch had started.
func (w *watch) once(ctx context.Context) (created bool) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for r := range w.store.client.Watch(ctx, w.prefix, clientv3.WithPrefix(), clientv3.WithCreatedNotify()) {
		switch {
		case r.Created:
			created = true
			if w.again {
				driver.Signal(w.changed) // for changes since the last watch
			} else {
				w.again = true
				close(w.begun)
			}
		case len(r.Events) > 0:
			driver.Signal(w.changed)
		}
		if r.Err() != nil {
			return created
		}
	}
	return created
}
