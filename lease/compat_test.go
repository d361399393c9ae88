package lease

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/internal/frozen"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// Stores that released versions have written: VERSIONING.md promises that later versions read them.
//
// The folder testdata/vX.Y.Z was written by version X.Y.Z, and is never changed after the release:
//
//	files/           the directory of a store of files, with pools of all formats
//	facts.json       what version X.Y.Z read there
//	consul.json, kubernetes.json, postgres.sql, etcd.json, redis.json, nats.json
//	                 two of the pools as a store in such a server has them
//
// The folder of the version under development is written by
//
//	go test ./lease -run TestWriteCompat -compat.write vX.Y.Z
//	go test ./lease/internal/tests/... -run TestReleased -compat.write vX.Y.Z
//
// from a scenario in which all clocks and random numbers are given, and so always the same. The
// second command needs servers.
var compatWrite = flag.String("compat.write", "", "write testdata/`VERSION`, the stores of a version that is not released yet")

const compatAdvice = `if an older version would misread the new form, raise the version of the form;
then write the stores of the next release, as VERSIONING.md says ("For contributors")`

// compatVersions returns the folders of testdata, the oldest version first.
func compatVersions(t *testing.T) []string {
	t.Helper()
	return testkit.Must(frozen.Folders("testdata"))
}

// A compatID is the text of an ID, and the worker and the time in it.
type compatID struct {
	text   string
	worker int
	at     time.Time
}

// A compatMaker makes a generator, and a function that makes an ID.
type compatMaker func() (Generator, func() (compatID, error))

// compatMake returns the maker of a generator.
func compatMake[G Generator](newGenerator func() (G, error), mint func(G) (compatID, error)) compatMaker {
	return func() (Generator, func() (compatID, error)) {
		g := testkit.Must(newGenerator())
		return g, func() (compatID, error) { return mint(g) }
	}
}

// A compatKind is a kind of generator, by the name of its pool.
type compatKind struct {
	pool string
	unit time.Duration // to which mint returns the time
	make compatMaker
}

var compatKinds = []compatKind{
	{"nanoflake", time.Millisecond, compatNanoflake(time.Time{})},
	// A name with all characters that stores write differently.
	{"-z.eu_1@b-", time.Millisecond, compatNanoflake(time.Date(2025, 2, 3, 4, 5, 6, 789e6, time.UTC))},
	{"rescued", time.Millisecond, compatNanoflake(time.Time{})},
	{"interrupted", time.Millisecond, compatNanoflake(time.Time{})},
	{"ulidflake", time.Millisecond, compatMake(
		func() (*ulidflake.Generator, error) { return ulidflake.NewGenerator(ulidflake.Config{Leased: true}) },
		func(g *ulidflake.Generator) (compatID, error) {
			id, err := g.TryNext()
			return compatID{id.String(), 0, g.Time(id)}, err
		})},
	{"ulidflake-scalable", time.Millisecond, compatMake(
		func() (*ulidflake.ScalableGenerator, error) {
			return ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true})
		},
		func(g *ulidflake.ScalableGenerator) (compatID, error) {
			id, err := g.TryNext()
			return compatID{id.String(), id.Scalability(), g.Time(id)}, err
		})},
	{"snowflakesi", time.Millisecond, compatSnowflake(snowflakesi.Layout{})},
	{"snowflakesi-40-1", time.Millisecond, compatSnowflake(snowflakesi.Layout{ClockBits: 40, MachineBits: 1})},
	{"scru160", time.Millisecond, compatScru(0)},
	{"scru160-2-6-us", time.Millisecond, compatScru(6)}, // its times have microseconds beside
	{"sno", 4 * time.Millisecond, compatMake(
		func() (*sno.Generator, error) { return sno.NewGeneratorWith(sno.Config{Leased: true}) },
		func(g *sno.Generator) (compatID, error) {
			id, err := g.TryNext(7)
			p := id.Partition()
			return compatID{id.String(), int(p[0])<<8 | int(p[1]), id.Time()}, err
		})},
}

func compatNanoflake(epoch time.Time) compatMaker {
	return compatMake(
		func() (*nanoflake.Generator, error) {
			return nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: epoch})
		},
		func(g *nanoflake.Generator) (compatID, error) {
			id, err := g.TryNext()
			return compatID{id.String(), id.GeneratorID(), g.Time(id)}, err
		})
}

func compatSnowflake(l snowflakesi.Layout) compatMaker {
	return compatMake(
		func() (*snowflakesi.Generator, error) {
			return snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: l})
		},
		func(g *snowflakesi.Generator) (compatID, error) {
			id, err := g.TryNext()
			return compatID{id.String(), id.MachineID(g.Layout()), g.Time(id)}, err
		})
}

func compatScru(nodeBits int) compatMaker {
	c := scru160.Config{Leased: true, NodeBits: nodeBits}
	if nodeBits > 0 {
		c.ExtraCounterBits, c.Counter = 2, scru160.CounterMicroseconds
	}
	return compatMake(
		func() (*scru160.Generator, error) { return scru160.NewGenerator(c) },
		func(g *scru160.Generator) (compatID, error) {
			id, err := g.TryNext()
			return compatID{id.String(), id.NodeID(c.ExtraCounterBits, c.NodeBits), id.Time()}, err
		})
}

// Generators of every format, with leases from one store of files, work over renewals, and end with
// their leases.
func TestEveryFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(compatBegin)) // a bubble begins in 2000, before epochs
		store := compatOpen(t, openFiles, t.TempDir())
		leases, mints, logs := make([]*Lease, len(compatKinds)), make([]func() (compatID, error), len(compatKinds)), make([]testLog, len(compatKinds))
		for i, k := range compatKinds {
			var g Generator
			g, mints[i] = k.make()
			leases[i] = testkit.Must(Start(t.Context(), store, g, Config{Pool: k.pool, Create: true, Notify: logs[i].add}))
		}
		seen := make(map[string]bool)
		for range 100 {
			for i, k := range compatKinds {
				id, err := mints[i]()
				if text := k.pool + " " + id.text; err != nil || id.worker != leases[i].Worker() || seen[text] {
					t.Errorf("%s of worker %d, not %d (seen before: %t): %v", text, id.worker, leases[i].Worker(), seen[text], err)
				} else {
					seen[text] = true
				}
			}
			time.Sleep(97 * time.Millisecond)
		}
		for i, k := range compatKinds {
			testkit.OK(t, leases[i].Close())
			testkit.Is(t, testkit.Err(mints[i]()), ErrClosed, "%s: after Close", k.pool)
			logs[i].want(t, "created acquired renewed released")
		}
	})
}

// compatLayouts returns the layouts of all kinds.
func compatLayouts(t *testing.T) (all []grant.Layout) {
	for _, k := range compatKinds {
		g, _ := k.make()
		p := testkit.Must(g.ForLease().Pool())
		all = append(all, p.Layout)
	}
	return all
}

// compatFacts are what a version reads in a store.
type compatFacts struct {
	At    time.Time    `json:"at"` // the end of the scenario
	Pools []compatPool `json:"pools"`
}

type compatPool struct {
	Name    string         `json:"name"`
	UUID    string         `json:"uuid"`
	Layout  grant.Layout   `json:"layout"`
	Created time.Time      `json:"created"`
	Rescued time.Time      `json:"rescued,omitzero"`
	Floor   time.Time      `json:"floor,omitzero"`
	Made    int            `json:"made"`
	Error   string         `json:"error,omitempty"` // "rescuing" during a rescue
	Workers []compatWorker `json:"workers"`
}

type compatWorker struct {
	Number int       `json:"number"`
	From   time.Time `json:"from,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Holder string    `json:"holder,omitempty"`
	Held   bool      `json:"held,omitempty"`
	Error  string    `json:"error,omitempty"`
}

// compatRead returns the facts in a store, but At.
func compatRead(ctx context.Context, store driver.Store) (facts compatFacts, err error) {
	name := func(err error) string {
		switch {
		case err == nil:
			return ""
		case errors.Is(err, ErrRescuing):
			return "rescuing"
		}
		return err.Error()
	}
	found, err := Survey(ctx, store)
	for _, f := range found {
		p := compatPool{Name: f.Name, Made: f.Made, Error: name(f.Err), Workers: []compatWorker{}}
		if f.Pool != nil {
			p.UUID, p.Layout, p.Created = f.Pool.UUID(), f.Pool.Layout(), f.Pool.Created()
			p.Rescued, p.Floor = f.Pool.Rescued()
		}
		for _, w := range f.Workers {
			p.Workers = append(p.Workers, compatWorker{w.Number, w.From, w.Until, w.Holder, w.Held, name(w.Err)})
		}
		facts.Pools = append(facts.Pools, p)
	}
	return facts, err
}

// A compatWorld has the clock of the test's bubble, and no randomness.
type compatWorld struct {
	realWorld
	count *int
}

func (w compatWorld) random(bits int) string {
	*w.count++
	return fmt.Sprintf("%0*x", bits/4, *w.count)
}

func (compatWorld) intN(int) int { return 0 }

// compatScenario writes pools of all formats to an empty store, with records in every state.
func compatScenario(t *testing.T, store driver.Store) {
	world := compatWorld{count: new(int)}
	add := func(k compatKind) {
		t.Helper()
		g, _ := k.make()
		p := testkit.Must(g.ForLease().Pool())
		cryptotest.SetGlobalRandom(t, uint64(time.Now().UnixNano())) // of the UUID
		testkit.Must(create(t.Context(), store, k.pool, p.Layout, max(p.Layout.Workers-2, 0), time.Now()))
	}
	mint := func() {} // by the generator that was started last
	start := func(k compatKind, worker Choice) *Lease {
		t.Helper()
		g, next := k.make()
		l := testkit.Must(Start(t.Context(), store, g, Config{Pool: k.pool, Worker: worker, Window: 10 * time.Second, First: time.Second,
			Holder: `orders "1" (process 17 on höst.example)`, world: world}))
		mint = func() {
			t.Helper()
			testkit.Must(next())
		}
		mint()
		return l
	}
	closed := func(l *Lease) {
		t.Helper()
		testkit.OK(t, l.Close())
	}
	kind := func(pool string) compatKind {
		return compatKinds[slices.IndexFunc(compatKinds, func(k compatKind) bool { return k.pool == pool })]
	}

	for _, k := range compatKinds {
		add(k)
		time.Sleep(1234567 * time.Microsecond)
		l := start(k, Choice{}) // makes records of some workers
		time.Sleep(7321 * time.Millisecond)
		mint()
		closed(l) // given back
	}
	for _, crash := range []struct {
		pool   string
		worker int
	}{{"nanoflake", 7}, {"scru160-2-6-us", 1}, {"ulidflake-scalable", 31}, {"sno", 513}, {"-z.eu_1@b-", 3}} {
		l := start(kind(crash.pool), Number(crash.worker))
		time.Sleep(25 * time.Second)
		die(l) // the interval ends before the scenario does
	}
	k := kind("nanoflake") // a worker that another lease has taken over
	die(start(k, Number(500)))
	time.Sleep(3 * time.Second)
	closed(start(k, Number(500)))

	k = kind("rescued")
	die(start(k, Choice{}))
	die(start(k, Number(2)))
	time.Sleep(10 * time.Second)
	rescued := testkit.Must(Rescue(t.Context(), store, k.pool, RescueConfig{world: world, lanes: 1}))
	time.Sleep(time.Until(rescued.Floor) + time.Second)
	l := start(k, Number(3))
	time.Sleep(5 * time.Second)
	closed(l)

	k = kind("interrupted")
	die(start(k, Number(9)))
	failing := &hooked{Store: store, before: func(op, key string) error {
		if op == "put" && key == workerKey(k.pool, 9) {
			return driver.ErrUnavailable
		}
		return nil
	}}
	if _, err := Rescue(t.Context(), failing, k.pool, RescueConfig{world: world, lanes: 1}); !errors.Is(err, driver.ErrUnavailable) {
		t.Fatalf("the rescue was not interrupted: %v", err)
	}

	for _, crash := range []struct {
		pool   string
		worker int
	}{{"nanoflake", 8}, {"snowflakesi-40-1", 0}, {"snowflakesi-40-1", 1}, {"ulidflake", 0}, {"sno", 65535}} {
		l := start(kind(crash.pool), Number(crash.worker))
		time.Sleep(1500 * time.Millisecond)
		die(l) // held at the end of the scenario
	}
}

// compatBegin is when the scenario begins.
var compatBegin = time.Date(2026, 3, 1, 12, 0, 0, 345678e3, time.UTC)

// compatFiles writes the scenario into a new directory, and returns the directory and the facts.
func compatFiles(t *testing.T) (dir string, facts compatFacts) {
	dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(compatBegin))
		store := compatOpen(t, openFiles, dir)
		defer store.Close()
		compatScenario(t, unclaimed{store})
		var err error
		if facts, err = compatRead(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		facts.At = time.Now().UTC()
	})
	return dir, facts
}

// An unclaimed store makes no claims on the machine. The scenario's random numbers are given, and so is
// the identity of its store: two runs of the scenario at once would exclude each other as copies do.
type unclaimed struct{ driver.Store }

// openFiles is filelease.Open, without options.
func openFiles(dir string) (*filelease.Store, error) { return filelease.Open(dir) }

func compatOpen(t *testing.T, open func(string) (*filelease.Store, error), dir string) *filelease.Store {
	t.Helper()
	store, err := open(dir)
	if err != nil && strings.Contains(err.Error(), "files are not supported on "+runtime.GOOS) {
		t.Skipf("the store of this version is a directory, and there are none here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// The file of a directory's place has numbers of the machine and of chance. In testdata it has these.
const compatPlace = `{"v":2,"store":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","inode":1,"born_ns":2,"machine":"0123456789abcdef"}` + "\n"

var compatPlaceForm = regexp.MustCompile(`^\{"v":2,"store":"[A-Z2-7]{26}","inode":\d+(,"born_ns":\d+)?(,"volume":"[0-9a-f]{16}")?(,"machine":"[0-9a-f]{16}")?\}\n$`)

// compatTree returns the files below a directory, with the place as in testdata.
func compatTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	testkit.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	if compatPlaceForm.MatchString(files[".place"]) {
		files[".place"] = compatPlace
	}
	return files
}

// compatCopy copies the files of a version into a new directory, as an operator would who moves a
// store.
func compatCopy(t *testing.T, version string, place bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range compatTree(t, filepath.Join(version, "files")) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if name == ".place" && !place {
			continue
		}
		testkit.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.OK(t, os.WriteFile(path, []byte(content), 0o600))
	}
	if !place { // as a backup that was restored and rescued
		store := compatOpen(t, filelease.OpenCopy, dir)
		defer store.Close()
		testkit.OK(t, store.Adopt())
	}
	return dir
}

func compatFactsOf(t *testing.T, version string) (facts compatFacts) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(version, "facts.json"))
	if err == nil {
		err = json.Unmarshal(content, &facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// compatEntries are the values of a store by their keys.
type compatEntries map[string][]byte

// compatEntriesOf returns the entries of a version.
func compatEntriesOf(t *testing.T, version string) compatEntries {
	t.Helper()
	store := compatOpen(t, openFiles, compatCopy(t, version, false))
	defer store.Close()
	all := testkit.Must(store.List(t.Context(), ""))
	entries := make(compatEntries)
	for _, e := range all {
		entries[e.Key] = e.Value
	}
	return entries
}

// load returns a store with the entries.
func (entries compatEntries) load(t *testing.T) driver.Store {
	t.Helper()
	store := memlease.New()
	for key, value := range entries {
		put(t, store, key, value)
	}
	return store
}

// compatComplaints collects what is wrong.
type compatComplaints []string

func (c *compatComplaints) add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// compatCheckFacts compares what this version reads with what the old version read.
func compatCheckFacts(ctx context.Context, store driver.Store, want compatFacts) (wrong compatComplaints) {
	got, err := compatRead(ctx, store)
	if err != nil {
		wrong.add("reading the pools: %v", err)
	}
	byName := func(facts compatFacts) map[string]compatPool {
		m := make(map[string]compatPool)
		for _, p := range facts.Pools {
			m[p.Name] = p
		}
		return m
	}
	had, has := byName(want), byName(got)
	for name, p := range had {
		if !reflect.DeepEqual(p, has[name]) {
			wrong.add("pool %s reads as\n%+v, want\n%+v", name, has[name], p)
		}
	}
	if len(has) != len(had) {
		wrong.add("%d pools, want %d", len(has), len(had))
	}
	return wrong
}

// compatCheckForm returns complaints unless this version writes the records as they are. The
// functions are the codec.
func compatCheckForm(entries compatEntries, decode func([]byte, any) error, encode func(any) []byte) (wrong compatComplaints) {
	for key, value := range entries {
		var r any = new(record)
		if _, ok := poolOf(key); ok {
			r = new(poolRecord)
		}
		if err := decode(value, r); err != nil {
			wrong.add("%s: %v", key, err)
		} else if again := encode(r); !bytes.Equal(again, value) {
			wrong.add("%s is written as\n%s, want\n%s", key, again, value)
		}
	}
	return wrong
}

// compatCheckLeases takes workers of an old store's pools, mints, and gives the workers back. The
// complaints are about timestamps that the old version had allocated.
func compatCheckLeases(t *testing.T, store driver.Store, facts compatFacts, choose func(compatPool) []Choice, c Config) (wrong compatComplaints) {
	for _, k := range compatKinds {
		i := slices.IndexFunc(facts.Pools, func(p compatPool) bool { return p.Name == k.pool })
		if i < 0 {
			continue // the version had no such kind
		}
		p := facts.Pools[i]
		used := make(map[int]time.Time)
		for _, w := range p.Workers {
			used[w.Number] = w.Until
		}
		for _, choice := range choose(p) {
			g, mint := k.make()
			c.Pool, c.Worker = k.pool, choice
			l, err := Start(t.Context(), store, g, c)
			if p.Error != "" {
				if !errors.Is(err, ErrRescuing) {
					wrong.add("pool %s, whose rescue was interrupted: %v", k.pool, err)
				}
				continue
			}
			if err != nil {
				wrong.add("pool %s, worker %+v: %v", k.pool, choice, err)
				continue
			}
			for range 60 {
				id, err := mint()
				switch before := maxTime(used[id.worker], p.Floor).Truncate(k.unit); {
				case err != nil:
					wrong.add("pool %s, worker %d: %v", k.pool, l.Worker(), err)
				case id.worker != l.Worker() || choice.named && id.worker != choice.number:
					wrong.add("pool %s: an ID of worker %d, and the lease has %d", k.pool, id.worker, l.Worker())
				case id.at.Before(before):
					wrong.add("pool %s: worker %d has an ID of %s, and its timestamps were used up to %s", k.pool, id.worker, timeText(id.at), timeText(before))
				}
				time.Sleep(257 * time.Millisecond)
			}
			if err := l.Close(); err != nil {
				wrong.add("pool %s, worker %d: %v", k.pool, l.Worker(), err)
			}
		}
	}
	// Meanwhile nothing else has changed.
	after, err := compatRead(t.Context(), store)
	if err != nil {
		wrong.add("reading the pools: %v", err)
	}
	for _, p := range after.Pools {
		i := slices.IndexFunc(facts.Pools, func(old compatPool) bool { return old.Name == p.Name })
		if i < 0 {
			wrong.add("there is a pool %s", p.Name)
			continue
		}
		old := facts.Pools[i]
		for _, w := range old.Workers {
			j := slices.IndexFunc(p.Workers, func(now compatWorker) bool { return now.Number == w.Number })
			switch {
			case j < 0:
				wrong.add("pool %s: worker %d was used, and is not", p.Name, w.Number)
			case p.Workers[j].Until.Before(w.Until):
				wrong.add("pool %s: worker %d was used up to %s, and is up to %s", p.Name, w.Number, timeText(w.Until), timeText(p.Workers[j].Until))
			}
		}
		old.Workers, p.Workers, old.Made, p.Made = nil, nil, 0, 0
		if !reflect.DeepEqual(old, p) {
			wrong.add("pool %s has become\n%+v, and was\n%+v", p.Name, p, old)
		}
	}
	return wrong
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// compatAny chooses any worker, and compatEach each used worker.
func compatAny(compatPool) []Choice { return []Choice{{}} }

func compatEach(p compatPool) (all []Choice) {
	for _, w := range p.Workers {
		all = append(all, Number(w.Number))
	}
	return all
}

// compatCheckRescue rescues the pools of an old store, and takes each worker.
func compatCheckRescue(t *testing.T, store driver.Store, facts compatFacts) (wrong compatComplaints) {
	for _, p := range facts.Pools {
		last := p.Created
		for _, w := range p.Workers {
			last = maxTime(last, w.Until)
		}
		r, err := Rescue(t.Context(), store, p.Name, RescueConfig{Layouts: compatLayouts(t)})
		if err != nil {
			wrong.add("the rescue of pool %s: %v", p.Name, err)
			continue
		}
		if r.Pool.UUID() != p.UUID || !reflect.DeepEqual(r.Pool.Layout(), p.Layout) {
			wrong.add("pool %s was rescued as %s of %+v, want %s of %+v", p.Name, r.Pool.UUID(), r.Pool.Layout(), p.UUID, p.Layout)
		}
		if !r.Floor.After(last) || !r.Floor.After(p.Floor) {
			wrong.add("pool %s has its floor at %s, and its timestamps were used up to %s", p.Name, timeText(r.Floor), timeText(last))
		}
		time.Sleep(max(time.Until(r.Floor), 0))
	}
	after, err := compatRead(t.Context(), store)
	if err != nil {
		wrong.add("reading the pools: %v", err)
	}
	return append(wrong, compatCheckLeases(t, store, after, compatAny, Config{})...)
}

// compatAt runs f in a bubble, at a time after the end of a version's scenario.
func compatAt(t *testing.T, name string, facts compatFacts, after time.Duration, f func(t *testing.T) compatComplaints) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(facts.At.Add(after)))
			for _, w := range f(t) {
				t.Error(w)
			}
		})
	})
}

// This version reads and uses the stores of released versions.
func TestCompat(t *testing.T) {
	for _, version := range compatVersions(t) {
		t.Run(filepath.Base(version), func(t *testing.T) {
			facts, entries := compatFactsOf(t, version), compatEntriesOf(t, version)
			states := make(map[string]bool) // what the scenario is there for
			for _, p := range facts.Pools {
				states["rescued"] = states["rescued"] || !p.Floor.IsZero()
				states["interrupted"] = states["interrupted"] || p.Error == "rescuing"
				for _, w := range p.Workers {
					states["held"] = states["held"] || w.Held && w.Until.After(facts.At)
					states["expired"] = states["expired"] || w.Held && w.Until.Before(facts.At)
					states["given back"] = states["given back"] || !w.Held && w.Holder == "" && w.From.Before(w.Until)
				}
			}
			for _, state := range []string{"rescued", "interrupted", "held", "expired", "given back"} {
				if !states[state] {
					t.Errorf("no record is %s", state)
				}
			}
			load := func(t *testing.T) driver.Store { return entries.load(t) }

			compatAt(t, "Facts", facts, 0, func(t *testing.T) compatComplaints {
				return compatCheckFacts(t.Context(), load(t), facts)
			})
			compatAt(t, "Form", facts, 0, func(*testing.T) compatComplaints {
				return compatCheckForm(entries, decode, encode)
			})
			for _, after := range []time.Duration{0, 4 * time.Second, time.Hour, 300 * 24 * time.Hour} {
				compatAt(t, "Any/"+after.String(), facts, after, func(t *testing.T) compatComplaints {
					return compatCheckLeases(t, load(t), facts, compatAny, Config{})
				})
				compatAt(t, "Each/"+after.String(), facts, after, func(t *testing.T) compatComplaints {
					return compatCheckLeases(t, load(t), facts, compatEach, Config{})
				})
			}
			// With the clock set back to before the scenario, each worker waits for its interval.
			back := compatBegin.Add(-time.Minute).Sub(facts.At)
			compatAt(t, "Back", facts, back, func(t *testing.T) compatComplaints {
				return compatCheckLeases(t, load(t), facts, compatEach, Config{TrustClock: true, Wait: time.Hour})
			})
			compatAt(t, "Rescue", facts, 0, func(t *testing.T) compatComplaints {
				return compatCheckRescue(t, load(t), facts)
			})
			compatAt(t, "RescueWithoutPools", facts, 0, func(t *testing.T) compatComplaints {
				orphans := make(compatEntries)
				for key, value := range entries {
					if _, ok := poolOf(key); !ok {
						orphans[key] = value
					}
				}
				return compatCheckRescue(t, orphans.load(t), facts)
			})
			compatAt(t, "Files", facts, 0, func(t *testing.T) (wrong compatComplaints) {
				store := compatOpen(t, openFiles, compatCopy(t, version, false))
				defer store.Close()
				wrong = compatCheckFacts(t.Context(), store, facts)
				wrong = append(wrong, compatCheckLeases(t, store, facts, compatAny, Config{})...)
				after, err := compatRead(t.Context(), store)
				if err != nil {
					wrong.add("reading the pools: %v", err)
				}
				return append(wrong, compatCheckRescue(t, store, after)...)
			})
			// The copy of a directory is a copy for this version, too.
			compatAt(t, "CopiedFiles", facts, 0, func(t *testing.T) (wrong compatComplaints) {
				dir := compatCopy(t, version, true)
				if _, err := filelease.Open(dir); !errors.Is(err, filelease.ErrCopied) {
					if err != nil && strings.Contains(err.Error(), "not supported") {
						t.Skipf("only a directory can be a copy, and there are none here: %v", err)
					}
					wrong.add("opening a copy: %v", err)
				}
				store := compatOpen(t, filelease.OpenCopy, dir)
				wrong = append(wrong, compatCheckRescue(t, store, facts)...)
				if err := store.Adopt(); err != nil {
					wrong.add("adopting a copy: %v", err)
				}
				store.Close()
				store = compatOpen(t, openFiles, dir)
				defer store.Close()
				return wrong
			})
		})
	}
}

// This version writes what the newest folder has: a program of that version can share the store.
func TestCompatForm(t *testing.T) {
	versions := compatVersions(t)
	newest := versions[len(versions)-1]
	dir, facts := compatFiles(t)
	got, want := compatTree(t, dir), compatTree(t, filepath.Join(newest, "files"))
	differ := false
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is\n%s, and %s has\n%s", name, got[name], newest, want[name])
			differ = true
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new:\n%s", name, got[name])
			differ = true
		}
	}
	if had := compatFactsOf(t, newest); !reflect.DeepEqual(facts, had) {
		t.Errorf("the facts are\n%+v, and %s has\n%+v", facts, newest, had)
		differ = true
	}
	if differ {
		t.Log(compatAdvice)
	}
}

// A record, a file or a directory of a later version is refused, also by a rescue, and stays as it
// is.
func TestCompatLater(t *testing.T) {
	versions := compatVersions(t)
	newest := versions[len(versions)-1]
	facts, entries := compatFactsOf(t, newest), compatEntriesOf(t, newest)
	later := make(compatEntries)
	for key, value := range entries {
		version := workerVersion
		if _, ok := poolOf(key); ok {
			version = rescuedVersion
		}
		later[key] = regexp.MustCompile(`^\{"v":\d+`).ReplaceAll(value, fmt.Appendf(nil, `{"v":%d,"new":[]`, version+1))
	}
	refused := func(t *testing.T, store driver.Store, want error) (wrong compatComplaints) {
		before, _ := store.List(t.Context(), "")
		for _, k := range compatKinds {
			g, _ := k.make()
			if _, err := Start(t.Context(), store, g, Config{Pool: k.pool}); !errors.Is(err, want) {
				wrong.add("a lease of pool %s: %v", k.pool, err)
			}
			if _, err := Rescue(t.Context(), store, k.pool, RescueConfig{Layouts: compatLayouts(t)}); !errors.Is(err, want) {
				wrong.add("a rescue of pool %s: %v", k.pool, err)
			}
		}
		if after, _ := store.List(t.Context(), ""); fmt.Sprint(after) != fmt.Sprint(before) {
			wrong.add("the store has changed")
		}
		return wrong
	}
	compatAt(t, "AllRecords", facts, time.Hour, func(t *testing.T) compatComplaints {
		return refused(t, later.load(t), ErrVersion)
	})
	compatAt(t, "WorkersRecords", facts, time.Hour, func(t *testing.T) compatComplaints {
		workers := make(compatEntries)
		for key, value := range later {
			workers[key] = value
			if _, ok := poolOf(key); ok {
				workers[key] = entries[key]
			}
		}
		return refused(t, workers.load(t), ErrVersion)
	})
	compatAt(t, "Files", facts, time.Hour, func(t *testing.T) compatComplaints {
		dir := compatCopy(t, newest, false)
		for name, content := range compatTree(t, dir) {
			next := strings.Replace(content, "firn 1 ", "firn 2 ", 1)
			if next == content {
				continue // the place, which is no entry
			}
			testkit.OK(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(next), 0o600))
		}
		store := compatOpen(t, openFiles, dir)
		defer store.Close()
		return refused(t, store, driver.ErrVersion)
	})
	compatAt(t, "Place", facts, time.Hour, func(t *testing.T) (wrong compatComplaints) {
		dir := compatCopy(t, newest, false)
		compatOpen(t, openFiles, dir).Close()
		testkit.OK(t, os.WriteFile(filepath.Join(dir, ".place"), []byte(`{"v":3,"new":[]}`), 0o600))
		if _, err := filelease.Open(dir); !errors.Is(err, driver.ErrVersion) {
			wrong.add("opening the directory: %v", err)
		}
		return wrong
	})
}

// A lease whose worker's record has the form of this version keeps minting while a later version
// writes the other records of the pool.
func TestCompatLaterBesideLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlease.New()
		p := mustCreate(t, store, 8)
		g := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: testLayout(8).Epoch, Clock: compatNow}))
		l := testkit.Must(p.start(t.Context(), g.ForLease(), Config{clock: compatNow}))
		defer l.Close()
		entries := testkit.Must(store.List(t.Context(), ""))
		for _, e := range entries {
			if e.Key == workerKey("p", l.Worker()) {
				continue
			}
			later := regexp.MustCompile(`^\{"v":\d+`).ReplaceAll(e.Value, []byte(`{"v":9,"new":[]`))
			testkit.Must(store.Put(t.Context(), e.Key, later, e.Revision))
		}
		for range 60 {
			time.Sleep(time.Second)
			mints(t, g, l)
		}
		testkit.OK(t, l.Err())
	})
}

// compatNow is a clock for epochs later than the time in a bubble.
func compatNow() time.Time { return time.Now().Add(30 * 365 * 24 * time.Hour) }

// Leases of all versions claim a worker on the machine by the same name: pools of two versions
// would not exclude each other otherwise.
func TestCompatClaims(t *testing.T) {
	claimed := make(map[string]string)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(compatBegin))
		g := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true}))
		store := excluding{memlease.New(), func(resource, group string) (func(), error) {
			claimed[resource] = group
			return func() {}, nil
		}}
		l := testkit.Must(Start(t.Context(), store, g, Config{Worker: Number(7), Create: true}))
		defer l.Close()
		if pool := claimed["6d1d181e362ee12f 7"]; pool != l.Pool().UUID() || len(claimed) != 1 {
			t.Errorf("the lease has claimed %v", claimed)
		}
	})
}

// The checks find a version that reads or writes another form.
func TestCompatMutants(t *testing.T) {
	versions := compatVersions(t)
	newest := versions[len(versions)-1]
	facts, entries := compatFactsOf(t, newest), compatEntriesOf(t, newest)
	// To read the old records by mutated code is to read mutated records by the old code.
	number := func(field string, change func(int64) int64) func(string, string) (string, string) {
		form := regexp.MustCompile(`"` + field + `":(\d+)`)
		return func(key, value string) (string, string) {
			return key, form.ReplaceAllStringFunc(value, func(s string) string {
				n := testkit.Must(strconv.ParseInt(form.FindStringSubmatch(s)[1], 10, 64))
				return fmt.Sprintf(`"%s":%d`, field, change(n))
			})
		}
	}
	replace := func(old, with string) func(string, string) (string, string) {
		form := regexp.MustCompile(old)
		return func(key, value string) (string, string) { return key, form.ReplaceAllString(value, with) }
	}
	reads := func(t *testing.T, e compatEntries) compatComplaints {
		return compatCheckFacts(t.Context(), e.load(t), facts)
	}
	form := func(t *testing.T, e compatEntries) compatComplaints { return compatCheckForm(e, decode, encode) }
	leases := func(t *testing.T, e compatEntries) compatComplaints {
		return compatCheckLeases(t, e.load(t), facts, compatEach, Config{})
	}
	type check = func(*testing.T, compatEntries) compatComplaints
	for name, mutant := range map[string]struct {
		change func(key, value string) (string, string)
		checks []check // each must complain
	}{
		"until has another name":      {replace(`"until_us"`, `"end_us"`), []check{reads, form, leases}},
		"from and until change order": {replace(`("from_us":\d+),("until_us":\d+)`, `$2,$1`), []check{form}},
		"until is in milliseconds":    {number("until_us", func(n int64) int64 { return n / 1000 }), []check{reads, leases}},
		"until is a millisecond less": {number("until_us", func(n int64) int64 { return n - 1000 }), []check{reads}},
		"until is a window less":      {number("until_us", func(n int64) int64 { return n - 10e6 }), []check{reads, leases}},
		"the floor is forgotten":      {replace(`"v":2(.*),"floor_us":\d+`, `"v":1$1`), []check{reads}},
		"the generation starts at 0":  {number("generation", func(n int64) int64 { return n - 1 }), []check{reads, leases}},
		"the hash of layouts differs": {replace(`"layout":"(.)(.*?)"`, `"layout":"$2$1"`), []check{reads, leases}},
		"ranges are closed":           {replace(`(\[\d+,)(\d+)\](.*"made":|[,\]])`, `${1}1$2]$3`), []check{reads}},
		"the holder is left out":      {replace(`"holder":".*?[^\\]",`, ``), []check{reads}},
		"the epoch is in milliseconds": {number("epoch_us", func(n int64) int64 { return n / 1000 }),
			[]check{reads, leases}},
		"workers have four digits": {func(key, value string) (string, string) {
			return strings.Replace(key, "/workers/0", "/workers/", 1), value
		}, []check{reads, leases}},
		"the pool's key is another": {func(key, value string) (string, string) {
			if name, ok := poolOf(key); ok {
				key = name + "/about"
			}
			return key, value
		}, []check{reads, leases}},
	} {
		t.Run(name, func(t *testing.T) {
			mutated, differ := make(compatEntries), 0
			for key, value := range entries {
				k, v := mutant.change(key, string(value))
				if mutated[k] = []byte(v); k != key || v != string(value) {
					differ++
				}
			}
			if differ == 0 {
				t.Error("the mutant changes nothing")
			}
			for i, check := range mutant.checks {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(facts.At))
					if len(check(t, mutated)) == 0 {
						t.Errorf("check %d does not find it", i+1)
					}
				})
			}
		})
	}
}

// The folder of a released version is what the tag has.
func TestCompatUnchanged(t *testing.T) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
		return string(out), err
	}
	for _, version := range compatVersions(t) {
		tag := "refs/tags/" + filepath.Base(version)
		if _, err := git("rev-parse", "--quiet", "--verify", tag); err != nil {
			t.Logf("%s is not released, or this is no clone with its tag", filepath.Base(version))
			continue
		}
		if out, err := git("diff", "--stat", "--exit-code", tag, "--", version); err != nil {
			t.Errorf("%s has changed since its release: %v\n%s", version, err, out)
		}
	}
}

// TestWriteCompat writes the folder of the version under development.
func TestWriteCompat(t *testing.T) {
	if *compatWrite == "" {
		t.Skip("the test writes testdata, and only if -compat.write names a version")
	}
	testkit.OK(t, frozen.Writable(*compatWrite, exec.CommandContext(t.Context(), "git", "tag", "--list").Output))
	folder := filepath.Join("testdata", *compatWrite)
	testkit.OK(t, os.RemoveAll(filepath.Join(folder, "files")))
	write := func(name string, content []byte) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		testkit.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testkit.OK(t, os.WriteFile(path, content, 0o644))
	}
	dir, facts := compatFiles(t)
	for name, content := range compatTree(t, dir) {
		write("files/"+name, []byte(content))
	}
	write("facts.json", compatJSON(t, facts))
	entries, _ := compatSome(compatEntriesOf(t, folder), facts)
	for file, start := range compatServers {
		server := start(t)
		server.write(t, entries)
		write(file, compatJSON(t, server.dump()))
	}
}

func compatJSON(t *testing.T, v any) []byte {
	t.Helper()
	b := testkit.Must(json.MarshalIndent(v, "", "  "))
	return append(b, '\n')
}
