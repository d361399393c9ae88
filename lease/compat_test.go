package lease

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/internal/frozen"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

const compatAdvice = `if an older version would misread the new form, raise the version of the form;
then write the stores of the next release, as VERSIONING.md says ("For contributors")`

// compatVersions returns the folders of testdata, the oldest version first.
func compatVersions(t *testing.T) []string {
	t.Helper()
	return testkit.Must(frozen.Folders("testdata"))
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
	Name      string         `json:"name"`
	UUID      string         `json:"uuid"`
	Layout    grant.Layout   `json:"layout"`
	Created   time.Time      `json:"created"`
	Recovered time.Time      `json:"rescued,omitzero"`
	Floor     time.Time      `json:"floor,omitzero"`
	Made      int            `json:"made"`
	Error     string         `json:"error,omitempty"` // "rescuing" during a recovery
	Workers   []compatWorker `json:"workers"`
}

type compatWorker struct {
	Number int       `json:"number"`
	From   time.Time `json:"from,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Holder string    `json:"holder,omitempty"`
	Held   bool      `json:"held,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Back   time.Time `json:"back,omitzero"`
	Before []Holder  `json:"holders,omitempty"`
	Error  string    `json:"error,omitempty"`
}

// compatRead returns the facts in a store, but At.
func compatRead(ctx context.Context, store driver.Store) (facts compatFacts, err error) {
	name := func(err error) string {
		switch {
		case err == nil:
			return ""
		case errors.Is(err, ErrRecovering):
			return "rescuing"
		}
		return err.Error()
	}
	found, err := Survey(ctx, store)
	for _, f := range found {
		p := compatPool{Name: f.Name, Made: f.Made, Error: name(f.Err), Workers: []compatWorker{}}
		if f.Pool != nil {
			p.UUID, p.Layout, p.Created = f.Pool.UUID(), f.Pool.Layout(), f.Pool.Created()
			p.Recovered, p.Floor = f.Pool.Recovered()
		}
		for _, w := range f.Workers {
			p.Workers = append(p.Workers, compatWorker{w.Number, w.From, w.Until, w.Holder, w.Held, w.Since, w.Back, w.Holders, name(w.Err)})
		}
		facts.Pools = append(facts.Pools, p)
	}
	return facts, err
}

// openFiles is filelease.Open, without options.
func openFiles(dir string) (*filelease.Store, error) { return filelease.Open(dir) }

func compatOpen(t *testing.T, open func(string) (*filelease.Store, error), dir string) *filelease.Store {
	t.Helper()
	store, err := open(dir)
	if err != nil && strings.Contains(err.Error(), "files are not supported on "+runtime.GOOS) {
		t.Skipf("the store of this version is a directory, which this system does not have: %v", err)
	}
	testkit.OK(t, err)
	return store
}

// compatCopy copies the files of a version into a new directory, as an operator would who moves a
// store.
func compatCopy(t *testing.T, version string, place bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	testkit.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join(version, "files"))))
	if place {
		return dir
	}
	testkit.OK(t, os.Remove(filepath.Join(dir, ".place")))
	store := compatOpen(t, filelease.OpenCopy, dir) // as a backup that was restored and recovered
	defer store.Close()
	testkit.OK(t, store.Adopt())
	return dir
}

func compatFactsOf(t *testing.T, version string) (facts compatFacts) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(version, "facts.json"))
	if err == nil {
		err = json.Unmarshal(content, &facts)
	}
	testkit.OK(t, err)
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

// compatCheckFacts compares what this version reads with what the old version read.
func compatCheckFacts(t *testing.T, store driver.Store, want compatFacts) {
	t.Helper()
	got, err := compatRead(t.Context(), store)
	if err != nil {
		t.Errorf("reading the pools: %v", err)
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
			t.Errorf("pool %s reads as\n%+v, want\n%+v", name, has[name], p)
		}
	}
	if len(has) != len(had) {
		t.Errorf("%d pools, want %d", len(has), len(had))
	}
}

// compatCheckForm fails the test unless this version writes the records as they are.
func compatCheckForm(t *testing.T, entries compatEntries) {
	for key, value := range entries {
		var r any = new(record)
		if _, ok := poolOf(key); ok {
			r = new(poolRecord)
		}
		if err := decode(value, r); err != nil {
			t.Errorf("%s: %v", key, err)
		} else if again := encode(r); !bytes.Equal(again, value) {
			t.Errorf("%s is written as\n%s, want\n%s", key, again, value)
		}
	}
}

// compatCheckLeases takes workers of an old store's pools, mints, and gives the workers back. The
// test fails at timestamps that the old version had allocated.
func compatCheckLeases(t *testing.T, store driver.Store, facts compatFacts, choose func(compatPool) []Choice, c Config) {
	t.Helper()
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
				if !errors.Is(err, ErrRecovering) {
					t.Errorf("pool %s, whose recover was interrupted: %v", k.pool, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("pool %s, worker %+v: %v", k.pool, choice, err)
				continue
			}
			for range 60 {
				id, err := mint()
				switch before := maxTime(used[id.worker], p.Floor).Truncate(k.unit); {
				case err != nil:
					t.Errorf("pool %s, worker %d: %v", k.pool, l.Worker(), err)
				case id.worker != l.Worker() || choice.named && id.worker != choice.number:
					t.Errorf("pool %s: an ID of worker %d, and the lease has %d", k.pool, id.worker, l.Worker())
				case id.at.Before(before):
					t.Errorf("pool %s: worker %d has an ID of %s, and its timestamps were used up to %s", k.pool, id.worker, timeText(id.at), timeText(before))
				}
				time.Sleep(257 * time.Millisecond)
			}
			if err := l.Close(); err != nil {
				t.Errorf("pool %s, worker %d: %v", k.pool, l.Worker(), err)
			}
		}
	}
	// Meanwhile nothing else has changed.
	after, err := compatRead(t.Context(), store)
	if err != nil {
		t.Errorf("reading the pools: %v", err)
	}
	for _, p := range after.Pools {
		i := slices.IndexFunc(facts.Pools, func(old compatPool) bool { return old.Name == p.Name })
		if i < 0 {
			t.Errorf("there is a pool %s", p.Name)
			continue
		}
		old := facts.Pools[i]
		for _, w := range old.Workers {
			j := slices.IndexFunc(p.Workers, func(now compatWorker) bool { return now.Number == w.Number })
			switch {
			case j < 0:
				t.Errorf("pool %s: worker %d was used, and is not", p.Name, w.Number)
			case p.Workers[j].Until.Before(w.Until):
				t.Errorf("pool %s: worker %d was used up to %s, and is up to %s", p.Name, w.Number, timeText(w.Until), timeText(p.Workers[j].Until))
			}
		}
		old.Workers, p.Workers, old.Made, p.Made = nil, nil, 0, 0
		if !reflect.DeepEqual(old, p) {
			t.Errorf("pool %s has become\n%+v, and was\n%+v", p.Name, p, old)
		}
	}
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

// compatCheckRecovery recovers the pools of an old store, and takes each worker.
func compatCheckRecovery(t *testing.T, store driver.Store, facts compatFacts) {
	t.Helper()
	for _, p := range facts.Pools {
		last := p.Created
		for _, w := range p.Workers {
			last = maxTime(last, w.Until)
		}
		r, err := RecoverPool(t.Context(), store, p.Name, RecoveryConfig{Layouts: compatLayouts(t)})
		if err != nil {
			t.Errorf("the recovery of pool %s: %v", p.Name, err)
			continue
		}
		if r.Pool.UUID() != p.UUID || !reflect.DeepEqual(r.Pool.Layout(), p.Layout) {
			t.Errorf("pool %s was recovered as %s of %+v, want %s of %+v", p.Name, r.Pool.UUID(), r.Pool.Layout(), p.UUID, p.Layout)
		}
		if !r.Floor.After(last) || !r.Floor.After(p.Floor) {
			t.Errorf("pool %s has its floor at %s, and its timestamps were used up to %s", p.Name, timeText(r.Floor), timeText(last))
		}
		time.Sleep(max(time.Until(r.Floor), 0))
	}
	after, err := compatRead(t.Context(), store)
	if err != nil {
		t.Errorf("reading the pools: %v", err)
	}
	compatCheckLeases(t, store, after, compatAny, Config{})
}

// compatAt runs f in a bubble, at a time after the end of a version's scenario.
func compatAt(t *testing.T, name string, facts compatFacts, after time.Duration, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(facts.At.Add(after)))
			f(t)
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

			compatAt(t, "Facts", facts, 0, func(t *testing.T) {
				compatCheckFacts(t, load(t), facts)
			})
			compatAt(t, "Form", facts, 0, func(t *testing.T) {
				compatCheckForm(t, entries)
			})
			for _, after := range []time.Duration{0, 4 * time.Second, time.Hour, 300 * 24 * time.Hour} {
				compatAt(t, "Any/"+after.String(), facts, after, func(t *testing.T) {
					compatCheckLeases(t, load(t), facts, compatAny, Config{})
				})
				compatAt(t, "Each/"+after.String(), facts, after, func(t *testing.T) {
					compatCheckLeases(t, load(t), facts, compatEach, Config{})
				})
			}
			// With the clock set back to before the scenario, each worker waits for its interval.
			back := compatBegin.Add(-time.Minute).Sub(facts.At)
			compatAt(t, "Back", facts, back, func(t *testing.T) {
				compatCheckLeases(t, load(t), facts, compatEach, Config{TrustClock: true, Wait: time.Hour})
			})
			compatAt(t, "Recover", facts, 0, func(t *testing.T) {
				compatCheckRecovery(t, load(t), facts)
			})
			compatAt(t, "RecoverWithoutPools", facts, 0, func(t *testing.T) {
				orphans := make(compatEntries)
				for key, value := range entries {
					if _, ok := poolOf(key); !ok {
						orphans[key] = value
					}
				}
				compatCheckRecovery(t, orphans.load(t), facts)
			})
			compatAt(t, "Files", facts, 0, func(t *testing.T) {
				store := compatOpen(t, openFiles, compatCopy(t, version, false))
				defer store.Close()
				compatCheckFacts(t, store, facts)
				compatCheckLeases(t, store, facts, compatAny, Config{})
				after, err := compatRead(t.Context(), store)
				if err != nil {
					t.Errorf("reading the pools: %v", err)
				}
				compatCheckRecovery(t, store, after)
			})
			// The copy of a directory is a copy for this version, too.
			compatAt(t, "CopiedFiles", facts, 0, func(t *testing.T) {
				dir := compatCopy(t, version, true)
				if _, err := filelease.Open(dir); !errors.Is(err, driver.ErrCopied) {
					if err != nil && strings.Contains(err.Error(), "not supported") {
						t.Skipf("only a directory can be a copy, and this system has no such stores: %v", err)
					}
					t.Errorf("opening a copy: %v", err)
				}
				store := compatOpen(t, filelease.OpenCopy, dir)
				if err := store.Adopt(); err != nil {
					t.Errorf("adopting a copy: %v", err)
				}
				compatCheckRecovery(t, store, facts)
				store.Close()
				store = compatOpen(t, openFiles, dir)
				defer store.Close()
			})
		})
	}
}

// A record, a file or a directory of a later version is refused, also by a recovery, and stays as it
// is.
func TestCompatLater(t *testing.T) {
	versions := compatVersions(t)
	newest := versions[len(versions)-1]
	facts, entries := compatFactsOf(t, newest), compatEntriesOf(t, newest)
	later := make(compatEntries)
	for key, value := range entries {
		version := workerVersion
		if _, ok := poolOf(key); ok {
			version = placeVersion
		}
		later[key] = regexp.MustCompile(`^\{"v":\d+`).ReplaceAll(value, fmt.Appendf(nil, `{"v":%d,"new":[]`, version+1))
	}
	refused := func(t *testing.T, store driver.Store, want error) {
		t.Helper()
		before, _ := store.List(t.Context(), "")
		for _, k := range compatKinds {
			g, _ := k.make()
			if _, err := Start(t.Context(), store, g, Config{Pool: k.pool}); !errors.Is(err, want) {
				t.Errorf("a lease of pool %s: %v", k.pool, err)
			}
			if _, err := RecoverPool(t.Context(), store, k.pool, RecoveryConfig{Layouts: compatLayouts(t)}); !errors.Is(err, want) {
				t.Errorf("a recovery of pool %s: %v", k.pool, err)
			}
		}
		if after, _ := store.List(t.Context(), ""); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the store has changed")
		}
	}
	compatAt(t, "AllRecords", facts, time.Hour, func(t *testing.T) {
		refused(t, later.load(t), ErrVersion)
	})
	compatAt(t, "WorkersRecords", facts, time.Hour, func(t *testing.T) {
		workers := make(compatEntries)
		for key, value := range later {
			workers[key] = value
			if _, ok := poolOf(key); ok {
				workers[key] = entries[key]
			}
		}
		refused(t, workers.load(t), ErrVersion)
	})
	compatAt(t, "Files", facts, time.Hour, func(t *testing.T) {
		dir := compatCopy(t, newest, false)
		for name, content := range compatTree(t, dir) {
			next := strings.Replace(content, "firn 1 ", "firn 2 ", 1)
			if next == content {
				continue // the place is not an entry
			}
			testkit.OK(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(next), 0o600))
		}
		store := compatOpen(t, openFiles, dir)
		defer store.Close()
		refused(t, store, driver.ErrVersion)
	})
	compatAt(t, "Place", facts, time.Hour, func(t *testing.T) {
		dir := compatCopy(t, newest, false)
		compatOpen(t, openFiles, dir).Close()
		testkit.OK(t, os.WriteFile(filepath.Join(dir, ".place"), []byte(`{"v":3,"new":[]}`), 0o600))
		testkit.Is(t, testkit.Err(filelease.Open(dir)), driver.ErrVersion, "opening the directory")
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

// The folder of a released version is what the tag has.
func TestCompatUnchanged(t *testing.T) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
		return string(out), err
	}
	for _, version := range compatVersions(t) {
		tag := "refs/tags/" + filepath.Base(version)
		if _, err := git("rev-parse", "--quiet", "--verify", tag); err != nil {
			t.Logf("%s is not released, or this clone does not have its tag", filepath.Base(version))
			continue
		}
		if out, err := git("diff", "--stat", "--exit-code", tag, "--", version); err != nil {
			t.Errorf("%s has changed since its release: %v\n%s", version, err, out)
		}
	}
}
