package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// defects are stores, each with a defect. TestDefects calls the function store for each space, and
// calls the result for each handle.
var defects = []struct {
	name   string
	caught []string // by which tests, all of which have to fail
	store  func() func(b *broken)
}{
	{"Put does not look at the revision", []string{"Create", "Swap", "Revisions", "Handles", "Race", "Counter", "History", "Faults"},
		each(func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, _ driver.Revision) (driver.Revision, error) {
				return blind(ctx, b.Store, key, value)
			}
		})},
	{"Put says conflict and writes", []string{"Missing", "Create", "Swap", "Race", "History"},
		puts(func(s driver.Store, p put) (driver.Revision, error) {
			made, err := p.to(s)
			if errors.Is(err, driver.ErrConflict) {
				blind(p.ctx, s, p.key, p.value)
			}
			return made, err
		})},
	{"Put takes the revision of another key", []string{"OtherRevision"}, func() func(*broken) {
		var mu sync.Mutex
		var last driver.Revision
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (made driver.Revision, err error) {
				mu.Lock()
				defer mu.Unlock()
				if rev != driver.None && rev == last {
					made, err = blind(ctx, b.Store, key, value)
				} else {
					made, err = b.Store.Put(ctx, key, value, rev)
				}
				if err == nil {
					last = made
				}
				return made, err
			}
		}
	}},
	{"Put returns the revision that it replaced", []string{"Swap"}, puts(func(s driver.Store, p put) (driver.Revision, error) {
		made, err := p.to(s)
		if err == nil && p.rev != driver.None {
			return p.rev, nil
		}
		return made, err
	})},
	{"Put compares and then writes", []string{"Race", "Counter", "History"}, func() func(*broken) {
		var mu sync.Mutex
		compared := make(map[string]int)
		others := func(what string, more int) bool {
			mu.Lock()
			defer mu.Unlock()
			compared[what] += more
			return compared[what] > 1
		}
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				if e, _ := b.Store.Get(ctx, key); e.Revision != rev {
					return b.Store.Put(ctx, key, value, rev) // which fails
				}
				what := key + " " + string(rev)
				others(what, 1)
				for n := 0; n < 20 && !others(what, 0); n++ { // lets another one compare, if there is one
					time.Sleep(time.Millisecond)
				}
				return blind(ctx, b.Store, key, value)
			}
		}
	}},
	{"Put drops one change of 40", []string{"Counter", "History"}, func() func(*broken) {
		var mu sync.Mutex
		puts := 0
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				mu.Lock()
				defer mu.Unlock()
				if e, _ := b.Store.Get(ctx, key); e.Revision != rev {
					return b.Store.Put(ctx, key, value, rev) // which fails
				}
				if puts++; puts%40 == 0 {
					return driver.Revision(fmt.Sprint("dropped ", puts)), nil
				}
				return b.Store.Put(ctx, key, value, rev)
			}
		}
	}},
	{"Put writes when the handle is used next", []string{"Handles", "History"}, each(func(b *broken) {
		var mu sync.Mutex
		write := func() {}
		b.get = func(ctx context.Context, key string) (driver.Entry, error) {
			mu.Lock()
			defer mu.Unlock()
			write()
			return b.Store.Get(ctx, key)
		}
		b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
			mu.Lock()
			defer mu.Unlock()
			write()
			if e, _ := b.Store.Get(ctx, key); e.Revision != rev || ctx.Err() != nil {
				return b.Store.Put(ctx, key, value, rev) // which fails
			}
			made := driver.Revision(fmt.Sprint("behind ", key, rev))
			write = func() {
				write = func() {}
				blind(context.Background(), b.Store, key, value)
			}
			return made, nil
		}
	})},
	{"revisions are hashes of values", []string{"Swap", "Revisions", "Reopen"}, func() func(*broken) {
		var mu sync.Mutex
		hash := func(e *driver.Entry) {
			if e.Revision != driver.None {
				h := fnv.New64()
				h.Write(e.Value)
				e.Revision = driver.Revision(fmt.Sprint(h.Sum64()))
			}
		}
		return func(b *broken) {
			onGet(b, hash)
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				for i := range list {
					hash(&list[i])
				}
				return having(prefix, list)
			})
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				mu.Lock()
				defer mu.Unlock()
				e, _ := b.Store.Get(ctx, key)
				inner := e.Revision
				if hash(&e); e.Revision != rev {
					inner = "another"
				}
				made, err := b.Store.Put(ctx, key, value, inner)
				e = driver.Entry{Value: value, Revision: made}
				hash(&e)
				return e.Revision, err
			}
		}
	}},
	{"revisions start afresh with each handle", []string{"Reopen", "History"}, func() func(*broken) {
		outer := make(revisionMap)
		return func(b *broken) {
			count := 0
			outer.rename(b, func() int { count++; return count })
		}
	}},
	{"revisions go round", []string{"Revisions", "Counter", "History"}, func() func(*broken) {
		outer, count := make(revisionMap), 0
		return func(b *broken) {
			outer.rename(b, func() int { count++; return count % 16 })
		}
	}},
	{"Get is from a cache of the handle", []string{"Handles", "Counter", "History"}, each(func(b *broken) {
		var mu sync.Mutex
		cache := make(map[string]driver.Entry)
		b.get = func(ctx context.Context, key string) (driver.Entry, error) {
			mu.Lock()
			defer mu.Unlock()
			if e, ok := cache[key]; ok {
				return e, nil
			}
			e, err := b.Store.Get(ctx, key)
			if err == nil {
				cache[key] = e
			}
			return e, err
		}
		b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
			rev, err := b.Store.Put(ctx, key, value, rev)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				delete(cache, key)
			}
			return rev, err
		}
	})},
	{"Get is one change behind, once in 20", []string{"History"}, func() func(*broken) {
		var mu sync.Mutex
		gets := 0
		before := make(map[string]driver.Entry)
		return func(b *broken) {
			b.get = func(ctx context.Context, key string) (driver.Entry, error) {
				mu.Lock()
				defer mu.Unlock()
				if gets++; gets%20 == 0 && before[key].Revision != driver.None {
					return before[key], nil
				}
				return b.Store.Get(ctx, key)
			}
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				mu.Lock()
				defer mu.Unlock()
				e, _ := b.Store.Get(ctx, key)
				made, err := b.Store.Put(ctx, key, value, rev)
				if err == nil {
					before[key] = e
				}
				return made, err
			}
		}
	}},
	{"Get stops at NUL", []string{"Values"}, gets(func(e *driver.Entry) { e.Value, _, _ = bytes.Cut(e.Value, []byte{0}) })},
	{"Put writes before it refuses a long value", []string{"Values"}, puts(func(s driver.Store, p put) (driver.Revision, error) {
		if len(p.value) > driver.MaxValue {
			s.Put(p.ctx, p.key, p.value[:driver.MaxValue], p.rev)
		}
		return p.to(s)
	})},
	{"keys are of lower case", []string{"Keys"}, puts(func(s driver.Store, p put) (driver.Revision, error) {
		return s.Put(p.ctx, strings.ToLower(p.key), p.value, p.rev)
	})},
	{"a key is an entry's or a folder's", []string{"Nested"}, puts(func(s driver.Store, p put) (driver.Revision, error) {
		list, err := s.List(p.ctx, "")
		for _, e := range list {
			if strings.HasPrefix(e.Key, p.key+"/") || strings.HasPrefix(p.key, e.Key+"/") {
				return driver.None, driver.ErrUnavailable
			}
		}
		if err != nil {
			return driver.None, err
		}
		return p.to(s)
	})},
	{"Put keeps its argument", []string{"Copies"}, func() func(*broken) {
		var mu sync.Mutex
		kept := make(map[driver.Revision][]byte)
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				made, err := b.Store.Put(ctx, key, value, rev)
				mu.Lock()
				defer mu.Unlock()
				kept[made] = value
				return made, err
			}
			onGet(b, func(e *driver.Entry) {
				mu.Lock()
				defer mu.Unlock()
				e.Value = bytes.Clone(kept[e.Revision])
			})
		}
	}},
	{"Get returns what it keeps", []string{"Copies"}, func() func(*broken) {
		var mu sync.Mutex
		kept := make(map[driver.Revision][]byte)
		return func(b *broken) {
			onGet(b, func(e *driver.Entry) {
				mu.Lock()
				defer mu.Unlock()
				if _, ok := kept[e.Revision]; !ok {
					kept[e.Revision] = e.Value
				}
				e.Value = kept[e.Revision]
			})
		}
	}},
	{"CreateAll creates what exists", []string{"Batch"}, each(func(b *broken) {
		b.createAll = func(ctx context.Context, entries []driver.Entry) (revs []driver.Revision, err error) {
			for _, e := range entries {
				rev, err := blind(ctx, b.Store, e.Key, e.Value)
				if err != nil {
					return nil, err
				}
				revs = append(revs, rev)
			}
			return revs, nil
		}
	})},
	{"CreateAll leaves out all if one exists", []string{"Batch"}, each(func(b *broken) {
		createAll := b.createAll
		b.createAll = func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
			for _, e := range entries {
				if _, err := b.Store.Get(ctx, e.Key); err == nil {
					return make([]driver.Revision, len(entries)), nil
				}
			}
			return createAll(ctx, entries)
		}
	})},
	{"List misses the last entry", []string{"List", "ListMany", "Handles", "History"},
		lists(func(prefix string, list []driver.Entry) []driver.Entry {
			list = having(prefix, list)
			return list[:max(0, len(list)-1)]
		})},
	{"List stops at 256 entries", []string{"ListMany"}, lists(func(prefix string, list []driver.Entry) []driver.Entry {
		list = having(prefix, list)
		return list[:min(len(list), 256)]
	})},
	{"List takes the prefix for a pattern", []string{"List"}, lists(func(prefix string, list []driver.Entry) []driver.Entry {
		like := regexp.MustCompile("^" + strings.NewReplacer("_", ".", "%", ".*").Replace(regexp.QuoteMeta(strings.ToValidUTF8(prefix, "?"))))
		return slices.DeleteFunc(list, func(e driver.Entry) bool { return !like.MatchString(e.Key) })
	})},
	{"List has the values of the List before", []string{"Handles", "History"}, each(func(b *broken) {
		var mu sync.Mutex
		before := make(map[string]driver.Entry)
		onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
			mu.Lock()
			defer mu.Unlock()
			for i, e := range list {
				if was, ok := before[e.Key]; ok {
					list[i] = was
				}
				before[e.Key] = e
			}
			return having(prefix, list)
		})
	})},
	{"Put writes before it looks at the context", []string{"Cancelled"},
		puts(func(s driver.Store, p put) (driver.Revision, error) {
			made, err := s.Put(context.WithoutCancel(p.ctx), p.key, p.value, p.rev)
			if p.ctx.Err() != nil {
				return driver.None, p.ctx.Err()
			}
			return made, err
		})},
	{"Close closes all handles", []string{"Close"}, func() func(*broken) {
		var all []driver.Store
		return func(b *broken) {
			all = append(all, b.Store)
			b.close = func() error {
				for _, s := range all {
					s.Close()
				}
				return nil
			}
		}
	}},
	{"Close does nothing", []string{"Close"}, each(func(b *broken) { b.close = func() error { return nil } })},
	{"the place of an entry changes with the entry", []string{"Place"}, gets(func(e *driver.Entry) { e.Place = string(e.Revision) })},
	{"String shows a password", []string{"String"}, each(func(b *broken) { b.string = func() string { return "postgres://me:hunter2@127.0.0.1/leases" } })},
	{"an error shows what is given as secret", []string{"String"}, each(func(b *broken) {
		b.get = func(ctx context.Context, key string) (driver.Entry, error) {
			e, err := b.Store.Get(ctx, key)
			if err != nil {
				err = fmt.Errorf("with key %s: %w", givenSecret, err)
			}
			return e, err
		}
	})},
	{"Confirm answers from a cache", []string{"Confirm", "Regained", "History", "Faults"}, each(func(b *broken) {
		var cache sync.Map
		b.confirm = func(ctx context.Context, key string) (driver.Entry, error) {
			if e, ok := cache.Load(key); ok {
				return e.(driver.Entry), ctx.Err()
			}
			e, err := b.Store.Get(ctx, key)
			if err == nil {
				cache.Store(key, e)
			}
			return e, err
		}
	})},
	{"Confirm answers from what the handle has written", []string{"Confirm", "Regained"}, each(func(b *broken) {
		var written sync.Map
		b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
			made, err := b.Store.Put(ctx, key, value, rev)
			if err == nil {
				written.Store(key, driver.Entry{Key: key, Value: bytes.Clone(value), Revision: made})
			}
			return made, err
		}
		b.confirm = func(ctx context.Context, key string) (driver.Entry, error) {
			if e, ok := written.Load(key); ok {
				return e.(driver.Entry), ctx.Err()
			}
			return b.Store.Get(ctx, key)
		}
	})},
	{"Confirm joins a look under way", []string{"Confirm"}, each(func(b *broken) {
		type look struct {
			done  chan struct{}
			entry driver.Entry
			err   error
		}
		var mu sync.Mutex
		running := make(map[string]*look)
		b.confirm = func(ctx context.Context, key string) (driver.Entry, error) {
			mu.Lock()
			l := running[key]
			if l == nil {
				l = &look{done: make(chan struct{})}
				running[key] = l
				go func() {
					l.entry, l.err = b.Store.Get(context.WithoutCancel(ctx), key)
					for range 100 { // the reply is on its way
						runtime.Gosched()
					}
					mu.Lock()
					delete(running, key)
					mu.Unlock()
					close(l.done)
				}()
			}
			mu.Unlock()
			select {
			case <-l.done:
			case <-ctx.Done():
				return driver.Entry{}, ctx.Err()
			}
			return l.entry, l.err
		}
	})},
	{"Now is zero", []string{"Clock"}, each(func(b *broken) {
		b.now = func(ctx context.Context) (time.Time, error) { return time.Time{}, ctx.Err() }
	})},
	{"Now is an hour ahead", []string{"Skew"}, each(func(b *broken) {
		b.now = func(context.Context) (time.Time, error) { return time.Now().Add(time.Hour), nil }
	})},
	{"each handle has entries of its own", []string{"Handles", "Pool", "Held"}, each(func(b *broken) {
		own := memlease.New()
		b.get, b.list, b.put = own.Get, own.List, own.Put
	})},
	{"each handle has folders of its own", []string{"Held", "Handover", "Nested"}, each(func(b *broken) {
		own := memlease.New()
		at := func(key string) driver.Store {
			if strings.Count(key, "/") > 1 {
				return own
			}
			return b.Store
		}
		b.get = func(ctx context.Context, key string) (driver.Entry, error) { return at(key).Get(ctx, key) }
		b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
			return at(key).Put(ctx, key, value, rev)
		}
	})},
	{"Close undoes the handle's last change", []string{"Reopen", "Handover", "Workers"}, each(func(b *broken) {
		undo := func() {}
		b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
			e, _ := b.Store.Get(ctx, key)
			made, err := b.Store.Put(ctx, key, value, rev)
			if err == nil && e.Revision != driver.None {
				undo = func() { blind(context.Background(), b.Store, key, e.Value) }
			}
			return made, err
		}
		b.close = func() error { undo(); return b.Store.Close() }
	})},
	{"an entry takes three changes", []string{"Swap", "Revisions", "Counter", "Renewal"}, func() func(*broken) {
		var mu sync.Mutex
		changes := make(map[string]int)
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				mu.Lock()
				defer mu.Unlock()
				if changes[key] == 3 {
					return driver.None, driver.ErrUnavailable
				}
				made, err := b.Store.Put(ctx, key, value, rev)
				if err == nil {
					changes[key]++
				}
				return made, err
			}
		}
	}},
}
