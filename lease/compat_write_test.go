package lease

import (
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
	"slices"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
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
//	kubernetes.json, postgres.sql, etcd.json, redis.json
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

// compatScenario writes pools of all formats to an empty store, with records in every state.
func compatScenario(t *testing.T, store driver.Store) {
	names := 0
	newName := func() string {
		names++
		return fmt.Sprintf("%032x", names)
	}
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
			Holder: `orders "1" (process 17 on höst.example)`, clock: time.Now, newName: newName, intN: func(int) int { return 0 },
			me: holding{Host: "höst.example", Process: 17, Program: "orders", Name: "orders \"1\""}}))
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
	recovered := testkit.Must(RecoverPool(t.Context(), store, k.pool, RecoveryConfig{newName: newName, lanes: 1}))
	time.Sleep(time.Until(recovered.Floor) + time.Second)
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
	if _, err := RecoverPool(t.Context(), failing, k.pool, RecoveryConfig{newName: newName, lanes: 1}); !errors.Is(err, driver.ErrUnavailable) {
		t.Fatalf("the recovery was not interrupted: %v", err)
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
		store.Get(t.Context(), "none") // gives the store its identity, which is random
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
// the identity of its store: two runs of the scenario at once would exclude each other as copies do. Its entries have no
// place: records with one would be those of a copy, where the files of a release are read.
type unclaimed struct{ driver.Store }

func (s unclaimed) Get(ctx context.Context, key string) (driver.Entry, error) {
	e, err := s.Store.Get(ctx, key)
	e.Place = ""
	return e, err
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
	write("facts.json", append(testkit.Must(json.MarshalIndent(facts, "", "  ")), '\n'))
}
