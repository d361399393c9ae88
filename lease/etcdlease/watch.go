package etcdlease

import (
	"cmp"
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/lease/driver"
)

// Watch returns a channel that gets a value after each change of an entry with the prefix, as
// [driver.Watcher] says. It returns when the cluster has started the watch.
//
// After a lost connection, the client resumes a watch where it was, and misses nothing. The client cannot resume a watch
// if the history was compacted or the member lost the leader.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	return driver.Watch(ctx, s.Handle, func(ctx, limit context.Context) (func(func()), error) {
		// If there can be no watch, a read reports the reason. The watch itself would try for ever.
		if _, err := s.get(limit, "any"); err != nil && !errors.Is(err, driver.ErrNotFound) {
			return nil, err
		}
		ctx, end := context.WithCancel(clientv3.WithRequireLeader(ctx))
		watch := s.client.Watch(ctx, s.prefix+prefix, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		select {
		case r := <-watch:
			if !r.Created {
				end()
				return nil, readable(limit, cmp.Or(r.Err(), errors.New("the watch has ended")))
			}
		case <-limit.Done():
			end()
			return nil, limit.Err()
		}
		return func(changed func()) {
			defer end()
			for r := range watch {
				if len(r.Events) > 0 {
					changed()
				}
				if r.Err() != nil {
					return
				}
			}
		}, nil
	})
}
