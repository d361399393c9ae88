package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// A broken store is a handle on a good store, with some methods replaced.
type broken struct {
	driver.Store
	get    func(ctx context.Context, key string) (driver.Entry, error)
	list   func(ctx context.Context, prefix string) ([]driver.Entry, error)
	put    func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error)
	string func() string
	close  func() error
	now    func(ctx context.Context) (time.Time, error)
}

func (b *broken) Get(ctx context.Context, key string) (driver.Entry, error) { return b.get(ctx, key) }
func (b *broken) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return b.list(ctx, prefix)
}
func (b *broken) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	return b.put(ctx, key, value, rev)
}
func (b *broken) String() string                             { return b.string() }
func (b *broken) Close() error                               { return b.close() }
func (b *broken) Now(ctx context.Context) (time.Time, error) { return b.now(ctx) }

// blind puts a value at any revision.
func blind(ctx context.Context, s driver.Store, key string, value []byte) (driver.Revision, error) {
	for {
		e, err := s.Get(ctx, key)
		if err != nil && !errors.Is(err, driver.ErrNotFound) {
			return driver.None, err
		}
		if rev, err := s.Put(ctx, key, value, e.Revision); !errors.Is(err, driver.ErrConflict) {
			return rev, err
		}
	}
}

// onGet and onList change the results of Get and of List.
func onGet(b *broken, change func(*driver.Entry)) {
	b.get = func(ctx context.Context, key string) (driver.Entry, error) {
		e, err := b.Store.Get(ctx, key)
		change(&e)
		return e, err
	}
}

func onList(b *broken, change func(prefix string, list []driver.Entry) []driver.Entry) {
	b.list = func(ctx context.Context, prefix string) ([]driver.Entry, error) {
		list, err := b.Store.List(ctx, "")
		if err != nil {
			return nil, err
		}
		return change(prefix, list), nil
	}
}

func having(prefix string, list []driver.Entry) []driver.Entry {
	return slices.DeleteFunc(list, func(e driver.Entry) bool { return !strings.HasPrefix(e.Key, prefix) })
}

// A revisionMap maps the revisions of a store to other revisions.
type revisionMap map[driver.Revision]driver.Revision

// rename numbers the revisions that a handle makes. The function next returns the numbers.
func (outer revisionMap) rename(b *broken, next func() int) {
	onGet(b, func(e *driver.Entry) { e.Revision = outer[e.Revision] })
	onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
		for i := range list {
			list[i].Revision = outer[list[i].Revision]
		}
		return having(prefix, list)
	})
	get, list := b.get, b.list
	b.get = func(ctx context.Context, key string) (driver.Entry, error) {
		renaming.Lock()
		defer renaming.Unlock()
		return get(ctx, key)
	}
	b.list = func(ctx context.Context, prefix string) ([]driver.Entry, error) {
		renaming.Lock()
		defer renaming.Unlock()
		return list(ctx, prefix)
	}
	b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
		renaming.Lock()
		defer renaming.Unlock()
		e, _ := b.Store.Get(ctx, key)
		inner := e.Revision
		if outer[inner] != rev {
			inner = "another"
		}
		made, err := b.Store.Put(ctx, key, value, inner)
		if err != nil {
			return driver.None, err
		}
		outer[made] = driver.Revision(fmt.Sprint(next()))
		return outer[made], nil
	}
}

var renaming sync.Mutex // of all revisionMaps

// defects are stores, each with a defect. TestDefect calls the function store for each space, and
// calls the result for each handle.
var defects = []struct {
	name   string
	caught []string // by which tests, all of which have to fail
	store  func() func(b *broken)
}{
	{"Put does not look at the revision", []string{"Create", "Swap", "Revisions", "Handles", "Race", "Counter", "History", "Faults"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, _ driver.Revision) (driver.Revision, error) {
				return blind(ctx, b.Store, key, value)
			}
		}
	}},
	{"Put says conflict and writes", []string{"Missing", "Create", "Swap", "Race", "History"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				rev, err := b.Store.Put(ctx, key, value, rev)
				if errors.Is(err, driver.ErrConflict) {
					blind(ctx, b.Store, key, value)
				}
				return rev, err
			}
		}
	}},
	{"Put overwrites when it creates", []string{"Create", "Race", "History"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				if rev == driver.None {
					return blind(ctx, b.Store, key, value)
				}
				return b.Store.Put(ctx, key, value, rev)
			}
		}
	}},
	{"Put creates with a revision", []string{"Missing"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				if _, err := b.Store.Get(ctx, key); errors.Is(err, driver.ErrNotFound) {
					rev = driver.None
				}
				return b.Store.Put(ctx, key, value, rev)
			}
		}
	}},
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
	{"Put returns the revision that it replaced", []string{"Swap"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				made, err := b.Store.Put(ctx, key, value, rev)
				if err == nil && rev != driver.None {
					return rev, nil
				}
				return made, err
			}
		}
	}},
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
	{"Put writes when the handle is used next", []string{"Handles", "History"}, func() func(*broken) {
		return func(b *broken) {
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
		}
	}},
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
	{"Get is from a cache of the handle", []string{"Handles", "Counter", "History"}, func() func(*broken) {
		return func(b *broken) {
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
		}
	}},
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
	{"Get finds what is missing", []string{"Missing"}, func() func(*broken) {
		return func(b *broken) {
			b.get = func(ctx context.Context, key string) (driver.Entry, error) {
				e, err := b.Store.Get(ctx, key)
				if errors.Is(err, driver.ErrNotFound) {
					return driver.Entry{Key: key}, nil
				}
				return e, err
			}
		}
	}},
	{"Get does not find an empty value", []string{"Values"}, func() func(*broken) {
		return func(b *broken) {
			b.get = func(ctx context.Context, key string) (driver.Entry, error) {
				e, err := b.Store.Get(ctx, key)
				if err == nil && len(e.Value) == 0 {
					return driver.Entry{}, driver.ErrNotFound
				}
				return e, err
			}
		}
	}},
	{"Get stops at NUL", []string{"Values"}, func() func(*broken) {
		return func(b *broken) {
			onGet(b, func(e *driver.Entry) { e.Value, _, _ = bytes.Cut(e.Value, []byte{0}) })
		}
	}},
	{"Get trims the end of the line", []string{"Values"}, func() func(*broken) {
		return func(b *broken) {
			onGet(b, func(e *driver.Entry) { e.Value = bytes.TrimSuffix(e.Value, []byte("\n")) })
		}
	}},
	{"Put takes long values", []string{"Values"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				return b.Store.Put(ctx, key, value[:min(len(value), driver.MaxValue)], rev)
			}
		}
	}},
	{"Put writes before it refuses a long value", []string{"Values"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				if len(value) > driver.MaxValue {
					b.Store.Put(ctx, key, value[:driver.MaxValue], rev)
				}
				return b.Store.Put(ctx, key, value, rev)
			}
		}
	}},
	{"keys are of lower case", []string{"Keys"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				return b.Store.Put(ctx, strings.ToLower(key), value, rev)
			}
		}
	}},
	{"Put writes before it refuses a key", []string{"Keys"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				if driver.CheckKey(key) != nil {
					b.Store.Put(ctx, "invalid", value, driver.None)
				}
				return b.Store.Put(ctx, key, value, rev)
			}
		}
	}},
	{"a key is an entry's or a folder's", []string{"Nested"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				list, err := b.Store.List(ctx, "")
				for _, e := range list {
					if strings.HasPrefix(e.Key, key+"/") || strings.HasPrefix(key, e.Key+"/") {
						return driver.None, driver.ErrUnavailable
					}
				}
				if err != nil {
					return driver.None, err
				}
				return b.Store.Put(ctx, key, value, rev)
			}
		}
	}},
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
	{"Put spoils its argument", []string{"Copies"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				made, err := b.Store.Put(ctx, key, value, rev)
				clear(value)
				return made, err
			}
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
	{"List returns what it keeps", []string{"Copies"}, func() func(*broken) {
		return func(b *broken) {
			kept := make(map[driver.Revision][]byte)
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				for i, e := range list {
					if _, ok := kept[e.Revision]; !ok {
						kept[e.Revision] = e.Value
					}
					list[i].Value = kept[e.Revision]
				}
				return having(prefix, list)
			})
		}
	}},
	{"List misses the last entry", []string{"List", "ListMany", "Handles", "History"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				list = having(prefix, list)
				return list[:max(0, len(list)-1)]
			})
		}
	}},
	{"List stops at 256 entries", []string{"ListMany"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				list = having(prefix, list)
				return list[:min(len(list), 256)]
			})
		}
	}},
	{"List goes backwards", []string{"List", "ListMany"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				list = having(prefix, list)
				slices.Reverse(list)
				return list
			})
		}
	}},
	{"List goes folder by folder", []string{"List"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				list = having(prefix, list)
				slices.SortFunc(list, func(a, b driver.Entry) int {
					return slices.Compare(strings.Split(a.Key, "/"), strings.Split(b.Key, "/"))
				})
				return list
			})
		}
	}},
	{"List takes the prefix for a folder", []string{"List"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				return slices.DeleteFunc(list, func(e driver.Entry) bool {
					prefix := strings.TrimSuffix(prefix, "/")
					return prefix != "" && e.Key != prefix && !strings.HasPrefix(e.Key, prefix+"/")
				})
			})
		}
	}},
	{"List takes the prefix for a pattern", []string{"List"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				like := regexp.MustCompile("^" + strings.NewReplacer("_", ".", "%", ".*").Replace(regexp.QuoteMeta(strings.ToValidUTF8(prefix, "?"))))
				return slices.DeleteFunc(list, func(e driver.Entry) bool { return !like.MatchString(e.Key) })
			})
		}
	}},
	{"List cleans the prefix", []string{"List"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				clean := strings.TrimPrefix(path.Clean("/"+prefix), "/")
				if strings.HasSuffix(prefix, "/") && clean != "" {
					clean += "/"
				}
				return having(clean, list)
			})
		}
	}},
	{"List has the values of the List before", []string{"Handles", "History"}, func() func(*broken) {
		return func(b *broken) {
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
		}
	}},
	{"List has no revisions", []string{"List", "Handles"}, func() func(*broken) {
		return func(b *broken) {
			onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
				for i := range list {
					list[i].Revision = driver.None
				}
				return having(prefix, list)
			})
		}
	}},
	{"a cancelled context does not matter", []string{"Cancelled"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				return b.Store.Put(context.WithoutCancel(ctx), key, value, rev)
			}
		}
	}},
	{"Put writes before it looks at the context", []string{"Cancelled"}, func() func(*broken) {
		return func(b *broken) {
			b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
				made, err := b.Store.Put(context.WithoutCancel(ctx), key, value, rev)
				if ctx.Err() != nil {
					return driver.None, ctx.Err()
				}
				return made, err
			}
		}
	}},
	{"Get and List do not look at the context", []string{"Cancelled"}, func() func(*broken) {
		return func(b *broken) {
			b.get = func(ctx context.Context, key string) (driver.Entry, error) {
				return b.Store.Get(context.WithoutCancel(ctx), key)
			}
			b.list = func(ctx context.Context, prefix string) ([]driver.Entry, error) {
				return b.Store.List(context.WithoutCancel(ctx), prefix)
			}
		}
	}},
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
	{"Close does nothing", []string{"Close"}, func() func(*broken) {
		return func(b *broken) { b.close = func() error { return nil } }
	}},
	{"a closed handle finds nothing", []string{"Close"}, func() func(*broken) {
		return func(b *broken) {
			closed := false
			b.close = func() error { closed = true; return nil }
			b.get = func(ctx context.Context, key string) (driver.Entry, error) {
				if closed {
					return driver.Entry{}, driver.ErrNotFound
				}
				return b.Store.Get(ctx, key)
			}
		}
	}},
	{"the last Close deletes the entries", []string{"Reopen"}, func() func(*broken) {
		var mu sync.Mutex
		handles, age := 0, 0
		return func(b *broken) {
			mu.Lock()
			defer mu.Unlock()
			handles++
			key := func(key string) string { return fmt.Sprintf("%s@%d", key, age) }
			b.get = func(ctx context.Context, k string) (driver.Entry, error) {
				e, err := b.Store.Get(ctx, key(k))
				e.Key = k
				return e, err
			}
			b.put = func(ctx context.Context, k string, value []byte, rev driver.Revision) (driver.Revision, error) {
				return b.Store.Put(ctx, key(k), value, rev)
			}
			b.close = func() error {
				mu.Lock()
				defer mu.Unlock()
				if handles--; handles == 0 {
					age++
				}
				return nil
			}
		}
	}},
	{"String shows a password", []string{"String"}, func() func(*broken) {
		return func(b *broken) { b.string = func() string { return "postgres://me:hunter2@127.0.0.1/leases" } }
	}},
	{"String shows a password that is a setting", []string{"String"}, func() func(*broken) {
		return func(b *broken) { b.string = func() string { return "host=127.0.0.1 password=hunter2" } }
	}},
	{"an error shows what is given as secret", []string{"String"}, func() func(*broken) {
		return func(b *broken) {
			b.get = func(ctx context.Context, key string) (driver.Entry, error) {
				e, err := b.Store.Get(ctx, key)
				if err != nil {
					err = fmt.Errorf("with key %s: %w", givenSecret, err)
				}
				return e, err
			}
		}
	}},
	{"String changes", []string{"String"}, func() func(*broken) {
		return func(b *broken) {
			calls := 0
			b.string = func() string { calls++; return fmt.Sprint("call ", calls) }
		}
	}},
	{"Now is zero", []string{"Clock"}, func() func(*broken) {
		return func(b *broken) {
			b.now = func(ctx context.Context) (time.Time, error) { return time.Time{}, ctx.Err() }
		}
	}},
	{"Now does not look at the context", []string{"Clock"}, func() func(*broken) {
		return func(b *broken) {
			b.now = func(context.Context) (time.Time, error) { return time.Unix(1, 0), nil }
		}
	}},
	{"Now is an hour ahead", []string{"Skew"}, func() func(*broken) {
		return func(b *broken) {
			b.now = func(context.Context) (time.Time, error) { return time.Now().Add(time.Hour), nil }
		}
	}},
	{"each handle has entries of its own", []string{"Handles", "Pool", "Held"}, func() func(*broken) {
		return func(b *broken) {
			own := memlease.New()
			b.get, b.list, b.put = own.Get, own.List, own.Put
		}
	}},
	{"each handle has folders of its own", []string{"Held", "Handover", "Nested"}, func() func(*broken) {
		return func(b *broken) {
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
		}
	}},
	{"Close undoes the handle's last change", []string{"Reopen", "Handover", "Workers"}, func() func(*broken) {
		return func(b *broken) {
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
		}
	}},
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

const givenSecret = "XYZZY"

// brokenSpace returns a newSpace for the suites. The stores are in memory, and have a defect.
func brokenSpace(store func() func(*broken)) func(*testing.T) func() driver.Store {
	return func(*testing.T) func() driver.Store {
		inner, change := memlease.New(), store()
		return func() driver.Store {
			h := faults.Clocked{Store: inner.Open(), Time: time.Now}
			b := &broken{Store: h, get: h.Get, list: h.List, put: h.Put, string: h.String, close: h.Close, now: h.Now}
			change(b)
			return b
		}
	}
}

const defectVariable = "FIRN_DRIVERTEST_DEFECT"

// TestDefect tests the store with the defect in the environment. TestDefects runs TestDefect in
// processes of their own, and sees TestDefect fail.
func TestDefect(t *testing.T) {
	name, ok := os.LookupEnv(defectVariable)
	if !ok {
		t.Skip("run by TestDefects")
	}
	store := func() func(*broken) { return func(*broken) {} }
	for _, d := range defects {
		if d.name == name {
			store = d.store
		}
	}
	newSpace := brokenSpace(store)
	Run(t, newSpace, givenSecret)
	RunLeases(t, newSpace)
	t.Run("Faults", func(t *testing.T) { historyWithFaults(t, newSpace(t), 1) })
}

// TestDefects shows that the suites find each defect, and that each check finds a defect.
func TestDefects(t *testing.T) {
	turn.Take(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, name string, tests []string) (output string, code int) {
		cmd := exec.CommandContext(t.Context(), exe, "-test.v", "-test.run=^TestDefect$/^("+strings.Join(tests, "|")+")$")
		cmd.Env = append(os.Environ(), defectVariable+"="+name)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	finds := make(map[string]bool)
	for _, d := range defects {
		for _, test := range d.caught {
			finds[test] = true
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			out, code := run(t, d.name, d.caught)
			if code != 1 {
				t.Errorf("the exit status is %d, want 1", code)
			}
			for _, test := range d.caught {
				if !strings.Contains(out, "--- FAIL: TestDefect/"+test+" ") {
					t.Errorf("%s does not find it", test)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	for _, c := range slices.Concat(checks, leaseChecks) {
		if !finds[c.name] {
			t.Errorf("%s is not known to find any defect", c.name)
		}
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if out, code := run(t, "", []string{".*"}); code != 0 || strings.Contains(out, "--- SKIP") {
			t.Errorf("the exit status of a store without defects is %d, want 0, and nothing skipped:\n%s", code, out)
		}
	})
}
