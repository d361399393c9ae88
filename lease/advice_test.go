package lease_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/testkit"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	remedies "github.com/firn-id/firn/lease/internal/advice"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/snowflakesi"
)

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"use the version of this program that wrote it": "takes another version of this program",
	"look for programs without a lease":             "people look",
}

// TestAdvice follows the advice in the errors of leases, pools, rescues and addresses, and the advice that all stores have.
func TestAdvice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	of := []string{".", "address", filepath.Join("internal", "advice"), "memlease"}
	texts := slices.DeleteFunc(sources.Texts(t, "."), func(s sources.Text) bool { return !slices.Contains(of, filepath.Dir(s.Where)) })
	advice.Check(t, advice.Test{Tables: [][]advice.Fault{leases(), pools(), rescues(), places(), addresses()}, Texts: texts, Least: 29, Unfollowed: unfollowed})
}

// A site is a store with the pool p, and the programs that use the store. No two programs make the same ID.
type site struct {
	*testing.T
	store  driver.Store
	bits   int // of the worker
	layout grant.Layout
	off    atomic.Int64 // how far the clocks of generators are from the time, as a duration
	bubble bool         // the time is that of a bubble
	notify func(lease.Event)
	dir    string // of a store of files
	made   map[snowflakesi.ID]bool
	err    error // that was met
}

// epoch is before the time of a bubble.
var epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)

func newSite(t *testing.T, store driver.Store, bubble bool) *site {
	s := &site{T: t, store: store, bits: 1, bubble: bubble, made: map[snowflakesi.ID]bool{}}
	if !bubble { // another test of the machine may use workers
		s.bits = 8
	}
	s.layout = s.layoutOf(s.bits)
	testkit.Must(lease.Create(t.Context(), store, "p", s.layout))
	return s
}

func (s *site) now() time.Time { return time.Now().Add(time.Duration(s.off.Load())) }

// pass lets time pass, until the clocks of generators show the time at.
func (s *site) pass(at time.Time) {
	if s.bubble {
		time.Sleep(at.Sub(s.now()))
	} else {
		s.off.Store(int64(time.Until(at)))
	}
}

// generator returns a generator of a layout with so many bits for the worker.
func (s *site) generator(bits int) *snowflakesi.Generator {
	c := snowflakesi.Config{Layout: snowflakesi.Layout{ClockBits: 41, MachineBits: bits}, Epoch: epoch, Leased: true, Clock: s.now}
	return testkit.Must(snowflakesi.NewGenerator(c))
}

func (s *site) layoutOf(bits int) grant.Layout {
	return testkit.Must(s.generator(bits).ForLease().Pool()).Layout
}

// start starts a program with a generator, which goes on until the test ends. The program makes an ID.
func (s *site) start(g *snowflakesi.Generator, c lease.Config) (*lease.Lease, error) {
	c.Pool, c.Wait, c.Notify = cmp.Or(c.Pool, "p"), cmp.Or(c.Wait, -1), s.notify
	if !s.bubble { // the disk may be slow
		c.First, c.Timeout = lease.DefaultWindow, time.Minute
	}
	l, err := lease.Start(s.Context(), s.store, g, c)
	if err != nil {
		return nil, err
	}
	s.Cleanup(func() { l.Close() })
	return l, s.mint(g.TryNext())
}

func (s *site) mint(id snowflakesi.ID, err error) error {
	if err == nil && s.made[id] {
		err = fmt.Errorf("%v is made twice", id)
	}
	s.made[id] = true
	return err
}

// lease is start with a new generator for the pool p.
func (s *site) lease(c lease.Config) error { return testkit.Err(s.start(s.generator(s.bits), c)) }

// must is start of a program that has to start.
func (s *site) must(c lease.Config) *lease.Lease {
	return testkit.Must(s.start(s.generator(s.bits), c))
}

// used starts and stops a program with the worker of a number.
func (s *site) used(worker int) {
	s.Helper()
	testkit.OK(s, s.must(lease.Config{Worker: lease.Number(worker)}).Close())
}

// rescue rescues the pool p, and starts a program after the floor.
func (s *site) rescue(c lease.RescueConfig) error {
	done, err := lease.Rescue(s.Context(), s.store, "p", c)
	if err != nil {
		return err
	}
	s.pass(done.Floor)
	return s.lease(lease.Config{})
}

// put writes a value over an entry.
func (s *site) put(key, value string) {
	s.Helper()
	e := testkit.Must(s.store.Get(s.Context(), key))
	testkit.Must(s.store.Put(s.Context(), key, []byte(value), e.Revision))
}

// copied returns another store with the entries of this one, except the entry of a key.
func (s *site) copied(except string) driver.Store {
	other := memlease.New()
	for _, e := range testkit.Must(s.store.List(s.Context(), "")) {
		if e.Key != except {
			testkit.Must(other.Put(s.Context(), e.Key, e.Value, driver.None))
		}
	}
	return other
}

// steps are what readers of an advice do, by parts of the advice.
type steps map[string]func(*site) error

// fault is a fault in a bubble with a store in memory. Each way begins where the fault was met.
func fault(name string, meet func(*site) error, ways steps) advice.Fault {
	return staged(name, meet, ways, func(t *testing.T, f func(*site)) {
		synctest.Test(t, func(t *testing.T) { f(newSite(t, memlease.New(), true)) })
	})
}

func staged(name string, meet func(*site) error, ways steps, stage func(*testing.T, func(*site))) advice.Fault {
	met := func(s *site) {
		if s.err = meet(s); s.err == nil {
			s.Fatal("there is no error")
		}
	}
	fault := advice.Fault{Name: name, Ways: advice.Ways{}, Meet: func(t *testing.T) (text string) {
		stage(t, func(s *site) {
			met(s)
			text = s.err.Error()
		})
		return text
	}}
	for says, way := range ways {
		fault.Ways[says] = func(t *testing.T) (err error) {
			stage(t, func(s *site) {
				met(s)
				err = way(s)
			})
			return err
		}
	}
	return fault
}

// again leases any free worker.
func again(s *site) error { return s.lease(lease.Config{}) }

// with leases a worker with another Config.
func with(c lease.Config) func(*site) error { return func(s *site) error { return s.lease(c) } }

// rescued rescues the pool, and leases a worker.
func rescued(s *site) error { return s.rescue(lease.RescueConfig{}) }

// rescuedWith is rescued with the layout, and with or without Create.
func rescuedWith(create bool) func(*site) error {
	return func(s *site) error {
		return s.rescue(lease.RescueConfig{Layouts: []grant.Layout{s.layout}, Create: create})
	}
}

// A crowd is a store of a machine. A process with another store uses some workers, until the process ends.
type crowd struct {
	driver.Store
	workers string // the last digits
	end     time.Time
}

func (c crowd) Exclude(resource, _ string) (func(), error) {
	if time.Now().Before(c.end) && strings.ContainsAny(resource[len(resource)-1:], c.workers) {
		return nil, &driver.ExcludedError{Holder: func() string { return "process 7" }}
	}
	return func() {}, nil
}

// A gate is a store whose requests wait until the gate is open.
type gate struct {
	driver.Store
	open chan struct{}
}

func (g gate) Get(ctx context.Context, key string) (driver.Entry, error) {
	select {
	case <-g.open:
		return g.Store.Get(ctx, key)
	case <-ctx.Done():
		return driver.Entry{}, context.Cause(ctx)
	}
}

// A hooked is a store that calls put before each change, and does not make the change if put returns an error.
type hooked struct {
	driver.Store
	put func(key string) error
}

func (h *hooked) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if err := h.put(key); err != nil {
		return driver.None, err
	}
	return h.Store.Put(ctx, key, value, rev)
}

// A box is a store that can become another one.
type box struct {
	driver.Store // at first
	now          atomic.Pointer[driver.Store]
}

func newBox(store driver.Store) *box {
	b := &box{Store: store}
	b.now.Store(&store)
	return b
}

func (b *box) Get(ctx context.Context, key string) (driver.Entry, error) {
	return (*b.now.Load()).Get(ctx, key)
}

func (b *box) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return (*b.now.Load()).List(ctx, prefix)
}

func (b *box) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	return (*b.now.Load()).Put(ctx, key, value, rev)
}

func leases() []advice.Fault {
	first := lease.Config{Worker: lease.Number(0)}
	apart := func(s *site) error { // the clock goes back after both workers were used
		s.used(0)
		s.used(1)
		s.off.Store(int64(-40 * time.Second))
		return again(s)
	}
	crowded := func(workers string, c lease.Config) func(*site) error {
		return func(s *site) error {
			s.store = crowd{s.store, workers, time.Now().Add(10 * time.Second)}
			return s.lease(c)
		}
	}
	behind := func(s *site) error {
		s.off.Store(int64(-2 * time.Minute))
		return again(s)
	}
	right := func(s *site) error {
		s.off.Store(0)
		return again(s)
	}
	trusting := with(lease.Config{TrustClock: true})

	// The second of two programs whose generators have both workers. The first has crashed.
	var second *lease.Lease
	taken := func(s *site) error {
		crashed := s.store.(*memlease.Store).Open()
		l := testkit.Must(lease.Start(s.Context(), crashed, s.generator(s.bits), lease.Config{Pool: "p"}))
		s.Cleanup(func() { l.Close() })
		crashed.Close()
		second = s.must(lease.Config{})
		return again(s)
	}

	var started *snowflakesi.Generator // by starting
	starting := func(s *site) error {
		g := gate{s.store, make(chan struct{})}
		started = s.generator(s.bits)
		l := testkit.Must(lease.Start(s.Context(), g, started, lease.Config{Pool: "p", Background: true}))
		s.Cleanup(func() { l.Close() })
		time.AfterFunc(time.Second, func() { close(g.open) })
		return testkit.Err(started.TryNext())
	}

	return []advice.Fault{
		fault("two leases of a generator", func(s *site) error {
			g := s.generator(s.bits)
			testkit.Must(s.start(g, lease.Config{}))
			return testkit.Err(s.start(g, lease.Config{}))
		}, steps{"make another generator": again}),
		fault("all are taken", taken, steps{
			"wait": with(lease.Config{Wait: 10 * time.Second}),
			"or stop a process that holds a worker": func(s *site) error {
				testkit.OK(s, second.Close())
				return again(s)
			},
		}),
		fault("the clock was ahead", apart, steps{"set the clock": right, "or wait until then": func(s *site) error {
			none, _ := errors.AsType[*lease.NoWorkerError](s.err)
			s.pass(none.Soonest)
			return again(s)
		}}),
		fault("others use all", crowded("01", lease.Config{}), steps{"use the free ones (process 7): wait until such a process ends": with(lease.Config{Wait: time.Minute})}),
		fault("another one uses the worker", crowded("0", first), steps{"ask for another one": with(lease.Config{Worker: lease.Number(1)}), "or for none": again}),
		fault("the worker is held", func(s *site) error {
			s.must(first)
			return s.lease(first)
		}, steps{"ask for another one": with(lease.Config{Worker: lease.Number(1)}), "or for none": again}),
		fault("the worker was used ahead", func(s *site) error {
			s.used(0)
			s.off.Store(int64(-40 * time.Second))
			return s.lease(first)
		}, steps{"ask for another one": with(lease.Config{Worker: lease.Number(1)}), "or for none": again}),
		fault("starting", starting, steps{
			"wait": func(s *site) error { return s.mint(started.Next(s.Context())) },
			"or try again": func(s *site) error {
				time.Sleep(10 * time.Second)
				return s.mint(started.TryNext())
			},
		}),
		fault("behind the records", func(s *site) error {
			s.used(0)
			s.must(lease.Config{})
			return behind(s)
		}, steps{"set the clock": right, "trust it (TrustClock)": trusting}),
		fault("behind the store", func(s *site) error {
			s.store = faults.Clocked{Store: s.store, Time: time.Now}
			return behind(s)
		}, steps{"set the clock": right, "trust it (TrustClock)": trusting}),
		fault("other IDs", func(s *site) error { return testkit.Err(s.start(s.generator(2), lease.Config{})) }, steps{
			"name the pool of these IDs": func(s *site) error {
				testkit.Must(lease.Create(s.Context(), s.store, "q", s.layoutOf(2)))
				return testkit.Err(s.start(s.generator(2), lease.Config{Pool: "q"}))
			},
			"use the settings of this pool": again,
		}),
		unrecorded(),
	}
}

// unrecorded is an ID of a lease that the history of the worker does not name any more.
func unrecorded() advice.Fault {
	const programs = 12 // the history has the last eight
	var logs [programs]bytes.Buffer
	var at time.Time // of the second program
	meet := func(s *site) error {
		for i := range logs {
			logs[i].Reset()
			log := slog.New(slog.NewTextHandler(&logs[i], nil))
			s.notify = func(e lease.Event) { log.Info("lease", "lease", e) }
			l := s.must(lease.Config{Worker: lease.Number(0)})
			if i == 1 {
				at = s.now()
			}
			time.Sleep(2 * time.Minute)
			testkit.OK(s, l.Close())
		}
		return testkit.Err(testkit.Must(lease.Lookup(s.Context(), s.store, "p")).HolderAt(s.Context(), 0, at))
	}
	return fault("nobody is recorded", meet, steps{"search the logs of programs for the worker": func(s *site) error {
		_, event, _ := strings.Cut(s.err.Error(), "(event ")
		event, _, _ = strings.Cut(event, ")")
		found := -1
		for i := range logs {
			for line := range strings.Lines(logs[i].String()) {
				stamp, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
				if strings.Contains(line, "event="+event) && strings.Contains(line, "worker=0") && !testkit.Must(time.Parse(time.RFC3339, stamp)).After(at) {
					found = i
				}
			}
		}
		if found != 1 {
			return fmt.Errorf("the logs lead to program %d", found)
		}
		return nil
	}})
}

func pools() []advice.Fault {
	damaged := func(key string) func(*site) error {
		return func(s *site) error {
			s.used(0)
			s.put(key, "{")
			return again(s)
		}
	}
	missing := func(key string) func(*site) error {
		return func(s *site) error {
			s.used(0)
			s.store = s.copied(key)
			return again(s)
		}
	}
	const record = "rescue the pool (lease.Rescue), which makes the entry again; do not repair, move or delete entries"
	const own = "rescue the pool (lease.Rescue, with Layouts), which makes the entry again; do not repair, move or delete entries"
	create := func(name string) func(*site) error {
		return func(s *site) error { return testkit.Err(lease.Create(s.Context(), s.store, name, s.layout)) }
	}

	// handled looks at a pool that was opened, after the store has become another one.
	handled := func(s *site, p *lease.Pool, store *box, other driver.Store) error {
		store.now.Store(&other)
		_, _, err := p.Workers(s.Context())
		return err
	}
	return []advice.Fault{
		fault("a name", create("Orders"), steps{"want up to 100 lower-case letters, digits, '.', '_', '@' and '-'": create("orders-1.a_b@c")}),
		fault("no pool", func(s *site) error {
			s.store = memlease.New()
			return again(s)
		}, steps{
			"see that the name and the store are right": func(s *site) error {
				s.store = newSite(s.T, memlease.New(), true).store
				return again(s)
			},
			"create it (lease.Create)":                          func(s *site) error { return errors.Join(create("p")(s), again(s)) },
			"rescue it (lease.Rescue, with Layouts and Create)": rescuedWith(true),
		}),
		fault("a worker's record is damaged", damaged("p/workers/00000"), steps{record: rescued}),
		fault("a worker's record is missing", missing("p/workers/00000"), steps{record: rescued}),
		fault("the pool's record is damaged", damaged("p/pool"), steps{own: rescuedWith(false)}),
		fault("the pool's record is missing", missing("p/pool"), steps{own: rescuedWith(false)}),
		fault("made again", func(s *site) error {
			store := newBox(s.store)
			s.store = store
			return handled(s, s.must(lease.Config{}).Pool(), store, newSite(s.T, memlease.New(), true).store)
		}, steps{"rescue the pool (lease.Rescue), then start this program again": rescued}),
		fault("gone back", func(s *site) error {
			s.used(0)
			store := newBox(s.store)
			backup := s.copied("")
			s.store = store
			return handled(s, testkit.Must(lease.Rescue(s.Context(), store, "p", lease.RescueConfig{})).Pool, store, backup)
		}, steps{"rescue the pool (lease.Rescue)": rescued}),
	}
}

func rescues() []advice.Fault {
	// begin begins a rescue, and returns when the rescue raises a worker. The change then waits for an error from proceed.
	var proceed, ended chan error
	begin := func(s *site) error {
		s.used(0)
		store, reached := s.store, make(chan struct{})
		ended, proceed = make(chan error, 1), make(chan error, 2)
		go func() {
			_, err := lease.Rescue(s.Context(), &hooked{store, func(key string) error {
				if !strings.Contains(key, "/workers/") {
					return nil
				}
				close(reached)
				return <-proceed
			}}, "p", lease.RescueConfig{})
			ended <- err
		}()
		s.Cleanup(func() { proceed <- driver.ErrUnavailable }) // nobody may wait
		<-reached
		return again(s)
	}
	interrupt := func(s *site) error {
		begin(s)
		proceed <- driver.ErrUnavailable
		return <-ended
	}

	lost := func(layouts ...int) func(*site) error {
		return func(s *site) error {
			c := lease.RescueConfig{}
			for _, bits := range layouts {
				c.Layouts = append(c.Layouts, s.layoutOf(bits))
			}
			s.used(0)
			if len(layouts) > 1 {
				s.put("p/workers/00000", "{")
			}
			s.put("p/pool", "{")
			return s.rescue(c)
		}
	}
	give := steps{"give the format, the epoch and the widths of the pool": rescuedWith(false)}

	// A program's clock was an hour ahead. The rescue has the time of the bubble.
	ahead := func(s *site) error {
		s.off.Store(int64(time.Hour))
		testkit.OK(s, s.must(lease.Config{Worker: lease.Number(0), TrustClock: true}).Close())
		s.off.Store(0)
		return rescued(s)
	}
	trusting := func(s *site) error { return s.rescue(lease.RescueConfig{TrustClock: true}) }
	var off time.Duration // of the clock of a store
	return []advice.Fault{
		fault("a rescue goes on", begin, steps{
			"wait for its end": func(s *site) error {
				proceed <- nil
				testkit.OK(s, <-ended)
				time.Sleep(2 * time.Minute)
				return again(s)
			},
			"if it was interrupted, run it again (lease.Rescue)": func(s *site) error {
				proceed <- driver.ErrUnavailable
				<-ended
				return rescued(s)
			},
		}),
		fault("an interrupted rescue", interrupt, steps{"run it again": rescued}),
		fault("after a rescue", func(s *site) error {
			testkit.Must(lease.Rescue(s.Context(), s.store, "p", lease.RescueConfig{}))
			return again(s)
		}, steps{"try again then": func(s *site) error {
			none, _ := errors.AsType[*lease.NoWorkerError](s.err)
			s.pass(none.Soonest)
			return again(s)
		}}),
		fault("another layout", lost(2), give),
		fault("two layouts", lost(1, 2), give),
		fault("a clock was ahead", ahead, steps{
			"set the clock": func(s *site) error {
				time.Sleep(time.Hour) // the clock of the bubble is the clock that was behind
				return rescued(s)
			},
			"or give a skew that covers the difference": func(s *site) error { return s.rescue(lease.RescueConfig{Skew: time.Hour}) },
			"or trust the clock":                        trusting,
		}),
		fault("the clock of a rescue", func(s *site) error {
			off = time.Hour
			s.store = faults.Clocked{Store: s.store, Time: func() time.Time { return time.Now().Add(off) }}
			return rescued(s)
		}, steps{
			"set the clock": func(s *site) error {
				off = 0
				return rescued(s)
			},
			"trust it (TrustClock)": func(s *site) error {
				done, err := lease.Rescue(s.Context(), s.store, "p", lease.RescueConfig{TrustClock: true})
				if err != nil {
					return err
				}
				s.pass(done.Floor)
				return s.lease(lease.Config{TrustClock: true})
			},
		}),
	}
}

// places are faults of stores, with the advice that all stores have.
func places() []advice.Fault {
	inFiles := func(t *testing.T, f func(*site)) { // in the real time
		dir := filepath.Join(t.TempDir(), "state")
		s := newSite(t, files(t, dir), false)
		s.dir = dir
		f(s)
	}
	var program *lease.Lease
	gone := func(s *site) error {
		program = s.must(lease.Config{})
		testkit.OK(s, os.Rename(s.dir, s.dir+"-gone"))
		return again(s)
	}
	never := func(s *site) error {
		s.dir += "-other"
		return testkit.Err(filelease.Open(s.dir, filelease.Existing))
	}
	moving := func(s *site) error {
		program = s.must(lease.Config{})
		s.store = &hooked{s.store, func(string) error {
			return &driver.Error{Store: "a store", Op: "put", Err: driver.ErrUnsafe, Advice: remedies.Move("in another store")}
		}}
		return again(s)
	}
	return []advice.Fault{
		staged("the directory is away", gone, steps{
			"put back the directory that was there": func(s *site) error {
				testkit.OK(s, os.Rename(s.dir+"-gone", s.dir))
				return again(s)
			},
			"stop all processes that use its pools, and rescue the pools before any of them is started again (lease.Rescue, with Layouts and Create if a pool is gone)": func(s *site) error {
				program.Close()
				s.store = files(s, s.dir)
				return rescuedWith(true)(s)
			},
		}, inFiles),
		staged("no directory", never, steps{
			"see that the path is right and its filesystem mounted": func(s *site) error {
				s.store = testkit.Must(filelease.Open(strings.TrimSuffix(s.dir, "-other"), filelease.Existing))
				return again(s)
			},
			"create one once (lease.Create)": func(s *site) error {
				s.store = files(s, s.dir)
				testkit.Must(lease.Create(s.Context(), s.store, "p", s.layout))
				return again(s)
			},
			"rescue each instead of creating it (lease.Rescue, with Layouts and Create)": func(s *site) error {
				s.must(lease.Config{})
				s.store = files(s, s.dir)
				return rescuedWith(true)(s)
			},
		}, inFiles),
		fault("to another store", moving, steps{
			"stop all processes that use this one, and rescue its pools there before any of them is started again (lease.Rescue there, with Layouts and Create)": func(s *site) error {
				program.Close()
				s.store = memlease.New()
				return rescuedWith(true)(s)
			},
		}),
	}
}

// mended is an address without a fault, and what is wanted of the address.
type mended struct {
	address string
	get     func(*address.Address) string
	want    string
}

// parsed is a fault of an address. The ways are mended addresses.
func parsed(s string, ways map[string]mended) advice.Fault {
	f := advice.Fault{Name: s, Meet: func(*testing.T) string { return testkit.Err(address.Parse(s)).Error() }, Ways: advice.Ways{}}
	for says, m := range ways {
		f.Ways[says] = func(*testing.T) error {
			a, err := address.Parse(m.address)
			if err != nil {
				return err
			}
			if got := m.get(a); got != m.want {
				return fmt.Errorf("%s has %q, not %q", m.address, got, m.want)
			}
			return a.Err()
		}
	}
	return f
}

func addresses() []advice.Fault {
	password := func(a *address.Address) string { return a.Secret("password") }
	path := func(a *address.Address) string { return a.Path }
	x := func(a *address.Address) string { return a.Text("x", "") }
	return []advice.Fault{
		parsed("redis://:a#b@host/0", map[string]mended{"write %23 for a # that belongs to it": {"redis://:a%23b@host/0", password, "a#b"}}),
		parsed("redis://u:a?b@host:1", map[string]mended{
			"write %3F for a ? in a user or a password": {"redis://u:a%3Fb@host:1", password, "a?b"},
			"and %40 for an @ in a setting":             {"redis://host:1?x=a%40b", x, "a@b"},
		}),
		parsed("file:///what?/then", map[string]mended{"write %3F for a ? before the settings": {"file:///what%3F/then", path, "what?/then"}}),
		parsed("redis://u:a/b@host", map[string]mended{"write %2F for a / in a user or a password": {"redis://u:a%2Fb@host", password, "a/b"}}),
	}
}
