package lease

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
)

// A badDesign is a store, a generator or settings with a fault: a value of the package's own interfaces,
// which the leases of a simulation get in place of the right one.
type badDesign struct {
	name   string
	breaks string // this promise, in the words of docs/leases.md

	store     func(c simConn) driver.Store
	generator func(l *simLease, g grant.Grantee) grant.Grantee
	config    func(l *simLease, c *Config)
	recovery  func(c *RecoveryConfig)

	loses bool     // leases may stop for good: the store has lost their changes
	kind  simKind  // of the runs that find it
	check simCheck // finds it
	says  string   // in these words
	first int      // from this seed on
	seeds int      // within so many runs
	twice bool     // only an ID that is made twice counts
}

var simDesigns = flag.String("sim.designs", ".", "a regular expression for the names of the bad designs to try")

var badDesigns = []badDesign{
	{
		name:   "a store that drops a write which it has acknowledged",
		breaks: "as long as the store keeps its acknowledged changes",
		store:  func(c simConn) driver.Store { return droppingStore{c} },
		loses:  true,
		kind:   simBusies, check: checkUnique, says: "where it was allocated nothing", seeds: 3,
	},
	{
		name:   "a store that answers a conflict as a success",
		breaks: "by a compare-and-swap on the whole record",
		store:  func(c simConn) driver.Store { return agreeableStore{c} },
		loses:  true,
		kind:   simFaults, check: checkUnique, says: "where it was allocated nothing", seeds: 3,
	},
	{
		name:   "a store that writes over whatever is there",
		breaks: "A worker in use never goes to another lease",
		store:  func(c simConn) driver.Store { return overwritingStore{c} },
		kind:   simFaults, check: checkUnique, says: "are allocated to", first: 3, seeds: 2,
	},
	{
		name:   "a store that writes over whatever is there, judged by its IDs only",
		breaks: "No two generators of a pool ever make the same ID",
		store:  func(c simConn) driver.Store { return overwritingStore{c} },
		kind:   simFaults, check: checkUnique, says: "the same ID twice", first: 17, seeds: 1, twice: true,
	},
	{
		name:   "a store that goes back in time",
		breaks: "After a restart with the clock set back, no timestamp is used a second time",
		store:  func(c simConn) driver.Store { return forgettingStore{c} },
		loses:  true,
		kind:   simFaults, check: checkUnique, says: "are allocated to", seeds: 1,
	},
	{
		name:   "a store that does a write again later, over newer ones",
		breaks: "No other lease is ever given these timestamps",
		store:  func(c simConn) driver.Store { return repeatingStore{c} },
		loses:  true,
		kind:   simFaults, check: checkUnique, says: "times of worker", seeds: 3,
	},
	{
		name:   "a store that confirms from memory",
		breaks: "An ID is answered only if its lease held the worker at a moment after the ID was made",
		store:  func(c simConn) driver.Store { return &rememberingStore{simConn: c, last: map[string]driver.Entry{}} },
		kind:   simFaults, check: checkConfirmed, says: "which it had lost before the call", first: 14, seeds: 1,
	},
	{
		name:   "a store that confirms by a replica that is behind",
		breaks: "`Confirm` needs a store that can confirm",
		store: func(c simConn) driver.Store {
			return &rememberingStore{simConn: c, last: map[string]driver.Entry{}, behind: true}
		},
		kind: simCalms, check: checkConfirmed, says: "and Confirm says", seeds: 3,
	},
	{
		name:   "a store whose failure passes for a wrong address",
		breaks: "A program can also start during an outage",
		store:  func(c simConn) driver.Store { return lostStore{c} },
		kind:   simFaults, check: checkBackground, says: "ends for good", first: 3, seeds: 4,
	},
	{
		name:   "a store that does not come back after an outage",
		breaks: "minting goes on by itself when the store is back",
		store:  func(c simConn) driver.Store { return &brokenStore{simConn: c} },
		kind:   simLongOutages, check: checkAlive, says: "does not mint in time after an outage", seeds: 3,
	},
	{
		name:      "a generator without a fence",
		breaks:    "can mint within their own intervals or not at all",
		generator: func(l *simLease, g grant.Grantee) grant.Grantee { return unfenced{l, g} },
		kind:      simLongOutages, check: checkUnique, says: "where it was allocated nothing", seeds: 3,
	},
	{
		name:      "a generator that has minted more than it says when it is sealed",
		breaks:    "gives back the unused timestamps",
		generator: func(l *simLease, g grant.Grantee) grant.Grantee { return understating{l, g} },
		kind:      simFaults, check: checkUnique, says: "in which it has minted", seeds: 5,
	},
	{
		name:      "a generator that keeps what it was asked to give back",
		breaks:    "the lease takes its interval back (event `Withdrawn`), and nothing is lost",
		generator: func(l *simLease, g grant.Grantee) grant.Grantee { return clinging{l, g} },
		kind:      simIdles, check: checkUnique, says: "times of worker", seeds: 3,
	},
	{
		name:      "a generator that gives nothing back while the clock is right again",
		breaks:    "A generator mints again within two windows of the last fault",
		generator: func(_ *simLease, g grant.Grantee) grant.Grantee { return &stubborn{Grantee: g} },
		kind:      simIdles, check: checkAlive, says: "is not alive two windows after the last fault", seeds: 3,
	},
	{
		name:      "a generator that goes on after Close",
		breaks:    "`Close` seals the generator",
		generator: func(_ *simLease, g grant.Grantee) grant.Grantee { return &unsealed{Grantee: g} },
		kind:      simFaults, check: checkSealed, says: "mints", seeds: 10,
	},
	{
		name:      "a generator that has used all that it was granted when it is sealed",
		breaks:    "another lease can take the worker at once",
		generator: func(_ *simLease, g grant.Grantee) grant.Grantee { return &wasteful{Grantee: g} },
		kind:      simSpares, check: checkReturned, says: "after Close", seeds: 3,
	},
	{
		name:      "a generator that keeps the reason to itself",
		breaks:    "and then fails with `lease.ErrLeaseExpired`",
		generator: func(_ *simLease, g grant.Grantee) grant.Grantee { return silent{g} },
		kind:      simLongOutages, check: checkTold, says: "callers are not told", seeds: 3,
	},
	{
		name:      "a generator that begins anew with each worker",
		breaks:    "The IDs of a generator increase as without a lease, across renewals and changes of the worker",
		generator: func(l *simLease, g grant.Grantee) grant.Grantee { return &forgetful{Grantee: g, l: l, worker: -1} },
		kind:      simFaults, check: checkIncreasing, says: "not greater than all before", first: 497, seeds: 1,
	},
	{
		name:   "names that repeat",
		breaks: "If a request of the lease wrote the record, the interval is the lease's",
		config: func(_ *simLease, c *Config) { c.newName = func() string { return strings.Repeat("0", 32) } },
		kind:   simFaults, check: checkUnique, says: "where it was allocated nothing", first: 39, seeds: 1,
	},
	{
		name:   "processes that give themselves the same name",
		breaks: "For every ID of a leased generator, the answer names the right holder or nobody",
		config: func(_ *simLease, c *Config) { c.me = holding{Host: "host", Process: 1, Program: "program"} },
		kind:   simCalms, check: checkNamed, says: "is named", seeds: 1,
	},
	{
		name:   "a lease that trusts its clock",
		breaks: "Leases therefore refuse an implausible clock with `ErrClockSkew`",
		config: func(_ *simLease, c *Config) { c.TrustClock = true },
		kind:   simAstrays, check: checkClock, says: "takes a worker by a clock", seeds: 1,
	},
	{
		name:   "time limits that do not end",
		breaks: "The lease abandons a request to the store after `Config.Timeout`",
		config: func(l *simLease, c *Config) { c.world = patientWorld{simWorld{l}} },
		kind:   simHangups, check: checkTold, says: "callers are not told", seeds: 3,
	},
	{
		name:   "a window of another length than the program was told",
		breaks: "a dead process's worker comes free after | at most the window",
		config: func(_ *simLease, c *Config) { c.Window *= 3 },
		kind:   simCrashRuns, check: checkAlive, says: "nobody has the worker of the process that crashed", seeds: 3,
	},
	{
		name:   "a window that is shorter than the program was told",
		breaks: "Without the store, a generator mints to the end of the window",
		config: func(_ *simLease, c *Config) { c.Window /= 4; c.First = min(c.First, c.Window) },
		kind:   simShortOutages, check: checkAlive, says: "though nothing is wrong", seeds: 3,
	},
	{
		name:     "a recovery with too small a skew, which trusts its clock",
		breaks:   "if the window is the longest in use and no clock is further ahead than the skew",
		recovery: func(c *RecoveryConfig) { c.Skew, c.TrustClock = time.Millisecond, true },
		kind:     simRestorations, check: checkUnique, says: "are free from", first: 1, seeds: 1,
	},
}

// Each bad design is found within its seeds, by the check that is named for it, and by no other check.
func TestSimBadDesigns(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of simulated runs take longer than a short test may")
	}
	only := regexp.MustCompile(*simDesigns)
	for _, d := range badDesigns {
		if !only.MatchString(d.name) {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			missed := false
			find := func(without simCheck) (int, *simReport) {
				defer debug.SetGCPercent(debug.SetGCPercent(400)) // as in simAll
				for seed := d.first; seed < d.first+d.seeds; seed++ {
					s := d.kind.runWith(uint64(seed), false, func(s *simulation) { s.design, s.without, s.onlyTwice = d, without, d.twice })
					missed = missed || s.missed
					if s.verdict != nil {
						return seed, s.verdict
					}
				}
				return d.seeds, nil
			}
			seed, found := find("")
			switch {
			case found == nil:
				t.Fatalf("%d runs do not find it", d.seeds)
			case found.check != d.check || !strings.Contains(found.message, d.says):
				t.Errorf("seed %d finds another fault: %s (%s)", seed, found.message, found.check)
			}
			t.Logf("seed %d: %s", seed, found.message)
			if seed, found := find(d.check); found != nil {
				t.Errorf("seed %d: another check finds it, too: %s (%s)", seed, found.message, found.check)
			} else if !missed {
				t.Error("without the check, nothing is missed")
			}
		})
	}
}

// Stores.

// A droppingStore acknowledges some changes that it does not make.
type droppingStore struct{ simConn }

func (s droppingStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if _, ok := workerOf(simPool, key); ok && rev != driver.None && s.l.s.chance(0.05) {
		return "dropped", nil
	}
	return s.simConn.Put(ctx, key, value, rev)
}

// An agreeableStore takes a conflict for a success.
type agreeableStore struct{ simConn }

func (s agreeableStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	now, err := s.simConn.Put(ctx, key, value, rev)
	if errors.Is(err, driver.ErrConflict) && key != poolKey(simPool) && rev != driver.None {
		return "agreed", nil
	}
	return now, err
}

// An overwritingStore does not compare revisions.
type overwritingStore struct{ simConn }

func (s overwritingStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if e, err := s.simConn.Get(ctx, key); err == nil && key != poolKey(simPool) && rev != driver.None {
		rev = e.Revision
	}
	return s.simConn.Put(ctx, key, value, rev)
}

// A forgettingStore loses some changes of workers' records a while after it has acknowledged them.
type forgettingStore struct{ simConn }

func (s forgettingStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	before, missing := s.simConn.Get(ctx, key)
	now, err := s.simConn.Put(ctx, key, value, rev)
	sim := s.l.s
	if _, ok := workerOf(simPool, key); ok && err == nil && missing == nil && sim.chance(0.05) {
		sim.after(sim.exponential(float64(sim.window)), func() { sim.lose(key, before) })
	}
	return now, err
}

// lose puts an earlier entry back. Nobody is told.
func (s *simulation) lose(key string, before driver.Entry) {
	if i, found := s.find(key); found {
		s.note(workerIn(key), "lost", nil, nil)
		s.store.entries[i].Value = before.Value
	}
}

// A repeatingStore does some changes again a while later, at whatever revision is there.
type repeatingStore struct{ simConn }

func (s repeatingStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	now, err := s.simConn.Put(ctx, key, value, rev)
	sim := s.l.s
	if _, ok := workerOf(simPool, key); ok && err == nil && sim.chance(0.05) {
		sim.after(sim.exponential(float64(sim.window)), func() {
			if i, found := sim.find(key); found {
				sim.do(&simRequest{op: simPut, lease: s.l, key: key, value: value, rev: sim.store.entries[i].Revision, sent: sim.now})
			}
		})
	}
	return now, err
}

// A rememberingStore confirms what this process has last written, or what was there before.
type rememberingStore struct {
	simConn
	last   map[string]driver.Entry
	behind bool
}

func (s *rememberingStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	before, known := s.last[key]
	now, err := s.simConn.Put(ctx, key, value, rev)
	if err == nil {
		s.last[key] = driver.Entry{Key: key, Value: value, Revision: now}
		if s.behind && known {
			s.last[key] = before
		}
	}
	return now, err
}

func (s *rememberingStore) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	if e, ok := s.last[key]; ok {
		return e, nil
	}
	return s.simConn.Confirm(ctx, key)
}

// A lostStore takes every failure of a read for a wrong address.
type lostStore struct{ simConn }

func (s lostStore) Get(ctx context.Context, key string) (driver.Entry, error) {
	e, err := s.simConn.Get(ctx, key)
	if errors.Is(err, driver.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", driver.ErrAddress, err)
	}
	return e, err
}

// A brokenStore does nothing more once a request has failed.
type brokenStore struct {
	simConn
	broken error
}

func (s *brokenStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if s.broken != nil {
		return driver.None, s.broken
	}
	now, err := s.simConn.Put(ctx, key, value, rev)
	if errors.Is(err, driver.ErrUnavailable) {
		s.broken = err
	}
	return now, err
}

// Generators.

// An unfenced generator mints beyond its interval.
type unfenced struct {
	l *simLease
	grant.Grantee
}

func (g unfenced) Grant(worker int, from, until time.Time) error {
	return g.Grantee.Grant(worker, from, until.Add(g.l.config.Window/20))
}

// An understating generator has minted nothing lately, it says.
type understating struct {
	l *simLease
	grant.Grantee
}

func (g understating) Seal(why error) time.Time {
	return g.Grantee.Seal(why).Add(-g.l.config.Window / 2)
}

// A clinging generator goes on minting in the interval that the lease takes back.
type clinging struct {
	l *simLease
	grant.Grantee
}

func (g clinging) Withdraw() time.Time { return g.l.time() }

// A stubborn generator keeps the interval, and says so.
type stubborn struct {
	grant.Grantee
	until time.Time
}

func (g *stubborn) Grant(worker int, from, until time.Time) error {
	g.until = until
	return g.Grantee.Grant(worker, from, until)
}

func (g *stubborn) Withdraw() time.Time { return g.until }

// An unsealed generator goes on to the end of its interval, and says so.
type unsealed struct {
	grant.Grantee
	until time.Time
}

func (g *unsealed) Grant(worker int, from, until time.Time) error {
	g.until = until
	return g.Grantee.Grant(worker, from, until)
}

func (g *unsealed) Seal(error) time.Time { return g.until }

// A wasteful generator has used all that it was granted, it says.
type wasteful struct {
	grant.Grantee
	until time.Time
}

func (g *wasteful) Grant(worker int, from, until time.Time) error {
	g.until = until
	return g.Grantee.Grant(worker, from, until)
}

func (g *wasteful) Seal(why error) time.Time {
	g.Grantee.Seal(why)
	return g.until
}

// A silent generator does not tell callers why it has no interval.
type silent struct{ grant.Grantee }

func (silent) Refuse(error) {}

// A forgetful generator forgets its last ID when it gets another worker.
type forgetful struct {
	grant.Grantee
	l      *simLease
	worker int
}

func (g *forgetful) Grant(worker int, from, until time.Time) error {
	if g.worker >= 0 && worker != g.worker && g.l.generator.nano != nil {
		anew, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: g.l.time})
		if err != nil {
			return err
		}
		g.Grantee, g.l.generator.nano = anew.ForLease(), anew
	}
	g.worker = worker
	return g.Grantee.Grant(worker, from, until)
}

// Settings.

// A patientWorld waits for every request.
type patientWorld struct{ simWorld }

func (w patientWorld) timeout(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}
