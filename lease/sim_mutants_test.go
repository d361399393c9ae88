package lease

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
)

var simOnly = flag.String("sim.mutants", ".", "a regular expression for the names of the mutants to try")

// A simMutant is the code of leases with a fault, or with several faults if a single fault would not show.
type simMutant struct {
	name  string
	fault string
	edits []simEdit
	finds []string // what the simulation may say of it
	twice bool     // it makes IDs twice in the runs of the test: it does not only break the rules
}

// A simEdit replaces text that occurs exactly once. If the code of leases changes and an edit no longer
// fits, the test fails.
type simEdit struct{ old, new string }

// simUnseen removes a lease's check for a store that has lost changes. The check would stop some
// mutants.
var simUnseen = simEdit{"case got.Until < l.least || got.Incarnation == l.incarnation:", "case false:"}

const (
	saysTwice   = "times of worker" // allocated, that were allocated before
	saysNothing = "where it was allocated nothing"
	saysMinted  = "in which it has minted"
	saysForeign = "that are not its own"
	saysHolder  = "who does not have it"
	saysSameID  = "the same ID twice"
	saysStill   = "a while after the last fault"
	saysAlive   = "is not alive two windows after the last fault"
	saysLate    = "callers are not told"
	saysFree    = "are free from"           // that were given to somebody
	saysRaised  = "is raised to generation" // an earlier one, by a lease that writes over the record of a rescue
	saysNoLease = "gets no lease"           // though nothing is wrong
	saysAhead   = "a clock was ahead by more than"
	saysNamed   = "is named" // an ID another lease's
	saysLost    = "which it had lost before the call"
	saysTurn    = "wait for a request that is no look"
	saysEnds    = "ends for good"
	saysGoesOn  = "goes on after an error that no retry can mend"
	saysWaits   = "for the end of its search"
	saysKeeps   = "was closed before it had worker"
)

// simHasty removes the wait for the floor of a rescue. With the wait, some mutants would show only
// after a clock has gone back.
var simHasty = simEdit{"	if l.now() >= floor {", "	if true {"}

var simMutants = []simMutant{
	{"unread", "a request that failed is taken for done, unread", []simEdit{{
		"	got, unread := l.pool.get(ctx, r.Worker)\n	switch {",
		"	if err != nil {\n		return stored{r, s.rev}, true, nil\n	}\n	got, unread := l.pool.get(ctx, r.Worker)\n	switch {",
	}}, []string{saysNothing}, true},
	{"asked", "what was asked for is adopted, not what is stored", []simEdit{{
		"l.attempted(got) {\n		return got, true, nil",
		"l.attempted(got) {\n		return stored{r, got.rev}, true, nil",
	}}, []string{saysNothing}, true},
	{"enough", "any record that reaches as far as was asked is adopted", []simEdit{{
		"if got.Incarnation == l.incarnation && l.attempted(got) {",
		"if got.Until >= r.Until {",
	}, simUnseen}, []string{saysNothing}, true},
	{"blind", "the revision is that of whatever is there", []simEdit{{
		"	return l.pool.store.Put(ctx, workerKey(l.pool.name, r.Worker), encode(r), rev)",
		"	if e, err := l.pool.store.Get(ctx, workerKey(l.pool.name, r.Worker)); err == nil {\n		rev = e.Revision\n	}\n" +
			"	return l.pool.store.Put(ctx, workerKey(l.pool.name, r.Worker), encode(r), rev)",
	}}, []string{saysTwice, saysForeign, saysHolder}, true},
	{"conflict", "a conflict is taken for success", []simEdit{{
		"	got, unread := l.pool.get(ctx, r.Worker)\n	switch {",
		"	got, unread := l.pool.get(ctx, r.Worker)\n	if unread == nil && got.rev != s.rev {\n		return stored{r, got.rev}, true, nil\n	}\n	switch {",
	}}, []string{saysNothing}, true},
	{"host", "all leases call themselves the same", []simEdit{{
		"incarnation: c.world.random(128),", "incarnation: \"host\",",
	}, simUnseen, {"case !l.attempted(got):", "case false:"}}, []string{saysForeign, saysHolder, saysNamed}, true},
	{"nonce", "all leases and all requests call themselves the same", []simEdit{
		{"incarnation: c.world.random(128),", "incarnation: \"host\","},
		{"prefix: l.config.world.random(128) + \"-\"}", "prefix: \"1\"}"},
		{"	return a.prefix + strconv.Itoa(a.count)\n", "	return a.prefix + strconv.Itoa(a.count)[:0]\n"},
	}, []string{saysNothing, saysForeign, saysHolder, saysNamed}, true},
	{"now", "times are allocated from now on, whatever was allocated", []simEdit{{
		"	r.From = l.roundUp(max(l.now(), from))", "	r.From = l.roundUp(l.now())",
	}}, []string{saysTwice}, true},
	{"latest", "a worker is given back at whatever revision is there", []simEdit{{
		"		if _, err = l.put(ctx, r, l.held.rev); err == nil {",
		"		if s, err := l.pool.get(ctx, r.Worker); err == nil {\n			l.held.rev = s.rev\n		}\n		if _, err = l.put(ctx, r, l.held.rev); err == nil {",
	}}, []string{saysForeign, saysHolder, saysRaised}, true},
	{"unsealed", "a worker is given back from now on, whatever was minted", []simEdit{{
		"max(l.roundUp(unused), l.own())", "max(l.roundUp(min(unused, l.now())), l.own())",
	}}, []string{saysMinted}, false},
	{"early", "a worker is given back before the generator is sealed", []simEdit{{
		"	l.stop()\n	l.end(nil)\n	defer l.deliver()\n", "	l.stop()\n	l.sealed = l.now()\n	defer l.deliver()\n	defer l.end(nil)\n",
	}, {
		"	had := l.close()\n	l.end(nil)\n", "	had := l.close()\n",
	}}, []string{saysMinted, saysNothing}, true},
	{"since", "times from before the lease are given back", []simEdit{{
		"max(l.roundUp(unused), l.own())", "l.roundUp(unused)",
	}}, []string{saysForeign}, false},
	{"first", "times are granted before they are acknowledged", []simEdit{{
		"	rev, err := l.put(ctx, r, s.rev)\n",
		"	l.generator.Grant(r.Worker, time.UnixMicro(r.From), time.UnixMicro(r.Until))\n	rev, err := l.put(ctx, r, s.rev)\n",
	}}, []string{saysNothing}, true},
	{"gap", "what passed while the lease had expired is granted to it", []simEdit{{
		"	l.hold(got)\n",
		"	bridged := got.From\n	if kind == Renewed {\n		bridged = min(bridged, l.granted)\n	}\n	l.hold(got)\n",
	}, {"l.generator.Grant(got.Worker, from, until)", "l.generator.Grant(got.Worker, time.UnixMicro(bridged), until)"}}, []string{saysNothing}, false},
	{"ticks", "times are not rounded to ticks", []simEdit{{
		"	return us - past\n", "	return us - past*0\n",
	}}, []string{"not whole ticks"}, false},
	{"fence", "more is granted than was allocated", []simEdit{{
		"l.generator.Grant(got.Worker, from, until)", "l.generator.Grant(got.Worker, from, until.Add(time.Hour))",
	}}, []string{saysNothing}, true},
	{"kept", "a worker that is another lease's is kept", []simEdit{{
		"	return got, false, nil\n}\n\nfunc (l *Lease) put", "	got.From, got.Until = r.From, r.Until\n	return got, true, nil\n}\n\nfunc (l *Lease) put",
	}}, []string{saysNothing}, true},
	{"stuck", "what is ahead of the clock is never withdrawn", []simEdit{{
		"	if l.begins <= l.now()+grace.Microseconds() {\n", "	if true {\n",
	}}, []string{saysAlive}, false},
	{"deaf", "what is ahead is allocated again, and the generator keeps it", []simEdit{{
		"	unused := l.generator.Withdraw().UnixMicro()\n", "	unused := l.now()\n",
	}}, []string{saysTwice, saysMinted}, true},
	{"below", "times are taken back in which the generator has minted", []simEdit{{
		"	unused := l.generator.Withdraw().UnixMicro()\n", "	unused := min(l.generator.Withdraw().UnixMicro(), l.now())\n",
	}}, []string{saysMinted, saysTwice}, false},
	{"prior", "times are taken back that another lease had", []simEdit{{
		"	return l.phase == phaseWithdrawn && l.granted <= l.prior && l.prior > now+grace.Microseconds()\n", "	return false\n",
	}, {
		"max(l.granted, l.prior), until)", "l.granted, until)",
	}}, []string{saysForeign}, false},
	{"waits", "a lease waits for a store that hangs", []simEdit{{
		"	err := t.world.await(ctx, done)\n", "	err := t.world.await(context.Background(), done)\n",
	}}, []string{saysLate}, false},
	{"beyond", "requests go on beyond the end of the times", []simEdit{{
		"	if left := l.left(); left > 0 {\n		within", "	if left := time.Hour; left > 0 {\n		within",
	}}, []string{saysLate}, false},
	{"window", "the floor of a rescue leaves the window out", []simEdit{{
		"	return window + r.Skew", "	return r.Skew",
	}}, []string{saysFree, saysAhead}, true},
	{"skew", "the floor of a rescue leaves the skew out", []simEdit{{
		"	return window + r.Skew.Microseconds() +", "	return window +",
	}}, []string{saysFree, saysAhead}, false},
	{"generation", "a rescue goes on in the same generation", []simEdit{{
		"max(generation+1, now/1000)", "generation",
	}, simHasty}, []string{saysTwice}, true},
	{"older", "a record of an earlier generation is believed", []simEdit{{
		"	case s.Generation < generation:", "	case false:",
	}, simHasty}, []string{saysTwice}, true},
	{"grow", "times of a worker that is made after a rescue begin at nothing", []simEdit{{
		"s := stored{record: *p.unused(worker, t)}", "s := stored{record: *p.unused(worker, term{generation: t.generation})}",
	}}, []string{saysFree, saysHolder}, false},
	{"late", "a record that is found before the pool names it is taken as it is", []simEdit{{
		"term{t.generation, max(s.Until, t.floor)}", "term{t.generation, s.Until}",
	}}, []string{saysFree, saysHolder}, false},
	{"missing", "a rescue leaves out the records that are missing", []simEdit{{
		"r.records[worker] = rescuing{lost: true}", "delete(r.records, worker)",
	}}, []string{saysStill}, false},
	{"heir", "a lease goes on with the entry of the holder before", []simEdit{{
		"	if last.present() && last.Incarnation == r.Incarnation {", "	if last.present() {",
	}}, []string{saysNamed}, false},
	{"reach", "an entry begins with the last interval of the holder before", []simEdit{{
		"	me.Since, me.Until = r.From, r.Until\n", "	me.Since, me.Until = last.From, r.Until\n",
	}}, []string{saysNamed}, false},
	{"back", "an entry does not end where the worker is given back", []simEdit{{
		"	if r.Holders[0].Until = r.Until; r.Holders[0].Until <=", "	if r.Holders[0].Until <=",
	}}, []string{saysNamed}, false},
	{"fold", "short leases on different hosts share an entry", []simEdit{{
		"h.Host != earlier.Host || ", "",
	}}, []string{saysNamed}, false},
	{"number", "an entry of several leases keeps the number of a process", []simEdit{{
		"max(earlier.Count, 1), 0\n", "max(earlier.Count, 1), earlier.Process\n",
	}}, []string{saysNamed}, false},
	{"uncut", "a rescue keeps the entry of a holder whole", []simEdit{{
		"tickStart(r.pool.layout, last.Until-r.reached)", "last.Until",
	}}, []string{saysNamed}, false},
	{"history", "the history comes from the record that the lease had, not from the one that was read", []simEdit{{
		"	r.note(&s.record, ", "	r.note(&l.held.record, ",
	}}, []string{saysNamed}, false},
	{"unmoved", "the pool's record is not read after the records of a sample or of a list", []simEdit{{
		"	if err == nil && moved {\n		err = errAgain", "	if err == nil && false {\n		err = errAgain",
	}, {"	moved, err := s.lease.pool.moved(ctx, s.lease.term)\n	if err == nil", "	_, err := s.lease.pool.moved(ctx, s.lease.term)\n	if err == nil"}}, []string{saysTwice, saysFree, saysHolder, saysRaised}, false},
	{"few", "a search in a large pool never lists the records", []simEdit{{
		"	return time.Time{}, errList\n}", "	return s.none(some, l.config.world.now())\n}",
	}}, []string{saysNoLease}, false},
	{"alone", "a sample refuses a clock alone", []simEdit{{
		"	case !settled && !l.agrees(some):\n		return time.Time{}, errList", "	case !settled && l.checkClock(ctx, some) != nil:\n		return time.Time{}, l.checkClock(ctx, some)",
	}}, []string{saysNoLease}, false},
	{"hopeless", "a start in the background ends for a store that is down", []simEdit{{
		"	for _, kind := range []error{ErrConfig, ErrPoolMismatch,", "	for _, kind := range []error{driver.ErrUnavailable, ErrConfig, ErrPoolMismatch,",
	}}, []string{saysEnds}, false},
	{"stubborn", "a start in the background goes on in a pool of other IDs", []simEdit{{
		"	for _, kind := range []error{ErrConfig, ErrPoolMismatch,", "	for _, kind := range []error{ErrConfig,",
	}}, []string{saysGoesOn}, false},
	{"clinging", "Close waits for the search", []simEdit{{
		"	if l.leave() {\n", "	if l.leave(); false {\n",
	}}, []string{saysWaits}, false},
	{"broken", "Close breaks off the request that takes a worker", []simEdit{{
		"	if l.inBackground() && ctx.Err() == nil {\n", "	if false {\n",
	}}, []string{saysKeeps}, false},
	{"tardy", "a worker that comes after Close is not given back", []simEdit{{
		"	if err != nil || left {\n", "	if left = false; err != nil || left {\n",
	}}, []string{saysKeeps}, false},
	{"idle", "a lease that has lost its worker takes no other", []simEdit{{
		"	return l.acquire(ctx, 0)\n", "	return l.why\n",
	}}, []string{saysStill}, false},
	{"joined", "a caller of Confirm joins the look under way", []simEdit{
		{"	busy bool  // a goroutine makes looks\n", "	busy bool\n	running *look\n"},
		{"	if c.next == nil {\n", "	if c.running != nil {\n		defer c.mu.Unlock()\n		return c.running\n	}\n	if c.next == nil {\n"},
		{"	c.next, c.busy = nil, next != nil\n", "	c.running, c.next, c.busy = next, nil, next != nil\n"},
	}, []string{saysLost}, false},
	{"believed", "Confirm believes the record that the lease has last written", []simEdit{{
		"	got, err := l.pool.read(e, want.worker, want.generation)\n", "	got, err := l.held, error(nil)\n",
	}}, []string{saysLost}, false},
	{"incarnation", "Confirm goes by the incarnation, and not by the tenure", []simEdit{{
		"	if since = got.tenure(); since.UnixMicro() < want.after {\n", "	if since = time.UnixMicro(0); false {\n",
	}}, []string{saysLost}, false},
	{"another", "Confirm confirms IDs of the last worker", []simEdit{{
		"	if since = got.tenure(); since.UnixMicro() < want.after {\n", "	if since = got.tenure(); false {\n",
	}}, []string{saysLost}, false},
	{"turn", "looks wait for hanging renewals", []simEdit{{
		"	l.looks.store = l.config.timed(store.Store)\n", "	l.looks.store = store\n",
	}}, []string{saysTurn}, false},
}

// simKnown has seeds that find mutants. The test tries these seeds first: a rare fault would need
// hundreds of runs. After a change of the code or of the simulation, a seed may make another run. The
// test then goes through all seeds, and logs the seed that finds the mutant.
var simKnown = map[string]int{
	"unsealed": 54, "missing": 60, "uncut": 93, "incarnation": 95, "prior": 184, "joined": 258, "another": 337, "late": 348,
	"host twice": 55, "deaf twice": 72, "asked twice": 128, "early twice": 199, "generation twice": 215, "latest twice": 245,
}

// simDrawn has the kind of runs that find a mutant, a key of simDraws. Runs with all kinds of faults
// find the other mutants.
var simDrawn = map[string]string{
	"few": "large", "alone": "large", "broken": "calm", "tardy": "calm", "unmoved": "restored",
	"now twice": "amiss",
}

// simMain runs the simulation in one mutant.
const simMain = `// Command mutants prints the run that finds a mutant, or nothing.
package main

import (
	"fmt"
	"os"
%s)

var finds = map[string]func(call string) (string, bool){
%s}

func main() {
	if found, ok := finds[os.Args[1]](os.Args[2]); ok {
		fmt.Print(found)
	}
}
`

const simFind = `package lease

import "fmt"

// Find makes runs up to the first run that goes wrong: the run of the seed known, and then the runs
// of the seeds from first to end-1. Find returns the seed and the message.
func Find(call string) (string, bool) {
	var draw string
	var known, first, end int
	var onlyTwice bool
	if _, err := fmt.Sscan(call, &draw, &known, &first, &end, &onlyTwice); err != nil {
		panic(err)
	}
	for seed := first - 1; seed < end; seed++ {
		at := seed
		if seed < first {
			at = known
		}
		p := simDraws[draw](uint64(at))
		s := newSimulation(uint64(at), p, false)
		s.onlyTwice, s.calm = onlyTwice, draw == "large" || draw == "calm"
		if s.run(); s.verdict != nil {
			return fmt.Sprintf("%d\t%s", at, s.verdict.message), true
		}
	}
	return "", false
}
`

// The simulation must find the fault of each mutant, and give the right reason. The same run of the
// code as it is must find nothing.
//
// The mutants are packages of one program, so the test links once. The test makes the program from
// the present code of leases. Each search is a process of its own: the test fails with the text of a
// crash and the name of the mutant.
func TestSimMutants(t *testing.T) {
	services.Full(t)
	const seeds, part = 1500, 125
	only := regexp.MustCompile(*simOnly)
	simMutants := slices.DeleteFunc(slices.Clone(simMutants), func(m simMutant) bool { return !only.MatchString(m.name) })
	program := simBuild(t, simMutants)
	find := func(t *testing.T, name, draw string, known, first, end int, onlyTwice bool) (seed int, message string) {
		t.Helper()
		run := exec.Command(program, name, fmt.Sprint(draw, " ", known, first, end, onlyTwice))
		run.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400") // as in simAll
		var stderr strings.Builder
		run.Stderr = &stderr
		out, err := run.Output()
		if err != nil {
			t.Fatalf("%s %s crashed: %v\n%s", name, draw, err, stderr.String())
		}
		if len(out) == 0 {
			return -1, "nothing"
		}
		number, message, _ := strings.Cut(string(out), "\t")
		return testkit.Must(strconv.Atoi(number)), message
	}
	for _, m := range simMutants {
		search := func(name string, onlyTwice bool, finds []string) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				draw := cmp.Or(simDrawn[name], "faulty")
				seed, message := find(t, m.name, draw, simKnown[name], 0, seeds, onlyTwice)
				if !slices.ContainsFunc(finds, func(want string) bool { return strings.Contains(message, want) }) {
					t.Fatalf("%s: seed %d of %d says %q, want %q", m.fault, seed, seeds, message, finds)
				}
				t.Logf("seed %d: %s", seed, message)
				if seed, message := find(t, "none", draw, seed, 0, 0, false); seed >= 0 {
					t.Errorf("the code as it is: seed %d: %s", seed, message)
				}
			})
		}
		search(m.name, false, m.finds)
		if m.twice {
			search(m.name+" twice", true, []string{saysSameID})
		}
	}
	for draw := range simDraws {
		seeds := seeds
		if draw != "faulty" && draw != "large" {
			seeds = 2 * part // few mutants need the others
		}
		for first := 0; first < seeds; first += part {
			t.Run(fmt.Sprintf("none/%s %d", draw, first), func(t *testing.T) {
				t.Parallel()
				if seed, message := find(t, "none", draw, first, first, first+part, false); seed >= 0 {
					t.Errorf("the code as it is: seed %d: %s", seed, message)
				}
			})
		}
	}
}

// simBuild makes a program of mutants, and of the code as it is under the name none. SimBuild returns
// the path of the program.
func simBuild(t *testing.T, mutants []simMutant) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		testkit.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		testkit.OK(t, os.WriteFile(name, []byte(text), 0o666))
	}
	root := testkit.Must(filepath.Abs(".."))
	write("go.mod", fmt.Sprintf("module mutants\n\ngo 1.26.0\n\nrequire github.com/firn-id/firn v0.0.0\n\nreplace github.com/firn-id/firn => %s\n", root))
	var imports, table strings.Builder
	for _, m := range append([]simMutant{{name: "none"}}, mutants...) {
		for name, text := range simSources(t, m) {
			write(filepath.Join(m.name, name), text)
		}
		write(filepath.Join(m.name, "find.go"), simFind)
		fmt.Fprintf(&imports, "\n\t%s_ %q\n", m.name, "mutants/"+m.name)
		fmt.Fprintf(&table, "\t%q: %s_.Find,\n", m.name, m.name)
	}
	write("main.go", fmt.Sprintf(simMain, imports.String(), table.String()))
	program := filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// simSources returns the files of package lease and its simulation, with a mutant's edits.
func simSources(t *testing.T, m simMutant) map[string]string {
	t.Helper()
	names := testkit.Must(filepath.Glob("*.go"))
	sources := map[string]string{}
	for _, name := range names {
		text := testkit.Must(os.ReadFile(name))
		switch test := strings.HasSuffix(name, "_test.go"); {
		case !test:
			sources[name] = string(text)
		case strings.HasPrefix(name, "sim_") && name != "sim_test.go" && name != "sim_mutants_test.go":
			sources[strings.TrimSuffix(name, "_test.go")+".go"] = string(text)
		}
	}
	for _, e := range m.edits {
		n := 0
		for name, text := range sources {
			n += strings.Count(text, e.old)
			sources[name] = strings.Replace(text, e.old, e.new, 1)
		}
		if n != 1 {
			t.Errorf("%s: %d places to edit instead of one: %q", m.name, n, e.old)
		}
	}
	return sources
}
