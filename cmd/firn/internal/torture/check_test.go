package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/nanoflake"
)

// epoch is the first time of hand-made logs.
var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// ms returns a time n milliseconds after the epoch, in Unix microseconds.
func ms(n int) int64 { return epoch.Add(time.Duration(n) * time.Millisecond).UnixMicro() }

// nano returns the ID of a worker at n milliseconds after the epoch.
func nano(t testing.TB, worker, at, sequence int) id {
	t.Helper()
	v, err := nanoflake.FromTime(time.UnixMicro(ms(at)), time.Time{}, worker, sequence)
	testkit.OK(t, err)
	return id{high: uint64(v)}
}

// A scene is hand-made logs.
type scene struct {
	record   record
	journals map[int][]entry
	ids      map[int][]id
	tails    map[int]string // what follows the IDs of a process
	jtails   map[int]string // and its entries
}

// clean returns logs without a fault of the library. Process 1 is killed. Process 2 takes over the worker
// and gives back a part. Process 3 takes the worker, and is killed while giving back.
func clean(t testing.TB) *scene {
	grant := func(kind event, from, until int, ids int64) entry {
		return entry{Event: kind, Worker: 5, From: ms(from), Until: ms(until), IDs: ids}
	}
	return &scene{
		record: record{
			Processes: []processRecord{{Number: 1, Killed: true}, {Number: 2}, {Number: 3, Killed: true}},
			Faults: []fault{
				{Kind: kill, Process: 1, Happened: true},
				{Kind: stop, Size: "2 windows", Process: 1, Happened: true},
				{Kind: stepBy, Size: "+100ms", Process: 1, Step: 1, Happened: true},
				{Kind: stepBy, Size: "-1h", Process: 2, Step: 1, Happened: true},
				{Kind: stepBy, Size: "-1h", Process: 3, Step: 1, Happened: false},
			},
		},
		journals: map[int][]entry{
			1: {
				grant(acquired, 0, 100, 0),
				grant(renewed, 100, 300, 2),
				{Event: stepped, Step: 1, Offset: 100_000, IDs: 2},
				{Event: seen, Step: 1, IDs: 3, From: ms(49), Until: ms(51)},
			},
			2: {
				grant(acquired, 300, 400, 0),
				{Event: stepped, Step: 1, Offset: -3600e6},
				{Event: refused, Step: 1, Error: "clock"},
				grant(renewed, 400, 500, 1),
				{Event: sealed, Until: ms(410), IDs: 2},
				{Event: released, Worker: 5, Until: ms(410), IDs: 2},
				{Event: confirmed, IDs: 1, Rival: 1, RivalIDs: 4},
				{Event: unconfirmed, IDs: 0, Rival: 3, RivalIDs: 1, Error: "lost"},
			},
			3: {
				grant(acquired, 410, 500, 0),
				{Event: sealed, Until: ms(420), IDs: 1},
			},
		},
		ids: map[int][]id{
			1: {nano(t, 5, 0, 0), nano(t, 5, 99, 0), nano(t, 5, 100, 0), nano(t, 5, 150, 0)},
			2: {nano(t, 5, 300, 0), nano(t, 5, 409, 0)},
			3: {nano(t, 5, 410, 0)},
		},
		tails: map[int]string{}, jtails: map[int]string{},
	}
}

func (s *scene) check(t testing.TB) (*Summary, error) {
	t.Helper()
	return check(context.Background(), checkConfig{dir: s.write(t), format: formats[0], window: time.Second}, s.record)
}

// write writes the logs, and returns their folder.
func (s *scene) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for n, entries := range s.journals {
		var b bytes.Buffer
		for _, e := range entries {
			line, err := json.Marshal(e)
			testkit.OK(t, err)
			b.Write(append(line, '\n'))
		}
		b.WriteString(s.jtails[n])
		write(t, journalPath(dir, n), b.Bytes())
	}
	for n, ids := range s.ids {
		var b []byte
		for _, v := range ids {
			b = formats[0].append(b, v)
		}
		write(t, idsPath(dir, n), append(b, s.tails[n]...))
	}
	return dir
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, content, 0o600))
}

// The check counts IDs whose makers the history names, finds a wrong name, and fails if there is no name.
func TestMakers(t *testing.T) {
	s := clean(t)
	at := func(us int64) time.Time { return time.UnixMicro(us) }
	entry := func(process, from, until int) lease.Holder {
		return lease.Holder{Program: program(process), Count: 1, Since: at(ms(from)), Until: at(ms(until))}
	}
	for name, v := range map[string]struct {
		holders      []lease.Holder
		named, wrong int64
	}{
		"all":    {[]lease.Holder{entry(3, 410, 420), entry(2, 300, 410), entry(1, 0, 300)}, 7, 0},
		"some":   {[]lease.Holder{entry(2, 300, 410)}, 2, 0},
		"wrong":  {[]lease.Holder{entry(2, 150, 410)}, 2, 1},
		"nobody": {[]lease.Holder{}, 0, 0},
	} {
		sum := testkit.Must(check(t.Context(), checkConfig{dir: s.write(t), format: formats[0], window: time.Second,
			holders: map[int][]lease.Holder{5: v.holders}}, s.record))
		missing := slices.Contains(sum.Missing, "an ID whose maker the history names")
		if sum.Makers != (Makers{v.named, 7 - v.named - v.wrong}) || sum.Violations[misnamed] != v.wrong || missing != (v.named == 0) {
			t.Errorf("%s: %+v, %v, missing %v", name, sum.Makers, sum.Violations, sum.Missing)
		}
	}
	s.record.Misnamed = []string{"one"}
	if sum := testkit.Must(s.check(t)); sum.Violations[misnamed] != 1 {
		t.Errorf("a wrong answer during the run is not counted: %v", sum.Violations)
	}
}

func TestCheckPasses(t *testing.T) {
	s := clean(t)
	s.tails[1] = "abc"            // what a process that is killed may leave
	s.jtails[1] = `{"event":"acq` // and here
	// A lease that found itself no use of its worker, and the next one of the same process.
	s.journals[3] = append([]entry{s.journals[3][0], {Event: sealed, Until: ms(410)}}, s.journals[3]...)
	// A renewal that was under way when the generator was sealed, and was given back before the kill.
	s.journals[3][len(s.journals[3])-1].Last = true
	s.journals[3] = append(s.journals[3], entry{Event: renewed, Worker: 5, From: ms(500), Until: ms(600), IDs: 1})
	s.record.Processes = append(s.record.Processes, processRecord{Number: 4, Killed: true})
	s.journals[4] = []entry{{Event: acquired, Worker: 5, From: ms(510), Until: ms(550)}}
	s.ids[4] = nil
	// Times that were withdrawn are given again, sooner; one generator is alive, and one has a reason not to be.
	s.record.Judged = true
	s.record.Processes[2].Idle = true
	s.journals[1] = append(s.journals[1], entry{Event: withdrawn, Worker: 5, Until: ms(160)},
		entry{Event: renewed, Worker: 5, From: ms(170), Until: ms(300), IDs: 4}, entry{Event: alive}, entry{Event: dead, Excused: true})
	s.ids[1] = append(s.ids[1], nano(t, 5, 299, 0))
	// An ID is confirmed while another process has later IDs of another worker.
	s.record.Confirms = true
	s.record.Processes = append(s.record.Processes, processRecord{Number: 5})
	s.journals[5] = []entry{{Event: acquired, Worker: 6, From: ms(0), Until: ms(900)}}
	s.ids[5] = []id{nano(t, 6, 800, 0)}
	s.journals[1] = append(s.journals[1], entry{Event: confirmed, IDs: 3, Rival: 5, RivalIDs: 1}, entry{Event: confirmed, IDs: 2})
	sum, err := s.check(t)
	testkit.OK(t, err)
	if sum.Confirmed != 3 || sum.Unconfirmed != 1 {
		t.Errorf("%d confirmed, %d not", sum.Confirmed, sum.Unconfirmed)
	}
	if sum.Alive != 1 || sum.Excused != 1 || sum.Withdrawn != 1 || sum.Idle != 1 {
		t.Errorf("%+v", sum)
	}
	if !sum.Passed() {
		t.Errorf("violations %v, missing %q, %q", sum.Violations, sum.Missing, sum.Examples)
	}
	if sum.IDs != 9 || sum.Grants != 10 || sum.Workers != 2 || sum.Released != 1 || sum.TakeOvers.Killed != 1 || sum.TakeOvers.Alive != 0 {
		t.Errorf("%+v", sum)
	}
	if kills, stops, steps := sum.Total("kill"), sum.Total("stop"), sum.Total("step"); kills != 1 || stops != 1 || steps != 2 {
		t.Errorf("%d kills, %d stops, %d steps", kills, stops, steps)
	}
}

// The check finds each kind of fault in logs, and names the kind.
func TestCheckFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*scene)
		found string // a kind of violation, or
		lacks string // what did not happen
		says  string // in the example
	}{
		{"the ID of another process", func(s *scene) {
			s.ids[3] = append(s.ids[3], nano(t, 5, 411, 0))
			s.journals[2][4].Until, s.journals[2][5].Until = ms(412), ms(412)
			s.ids[2] = append(s.ids[2], nano(t, 5, 411, 0))
		}, duplicate, "", "process 2 and process 3"},
		{"an ID twice", func(s *scene) { s.ids[3] = append(s.ids[3], nano(t, 5, 410, 0)) }, duplicate, "", "process 3 and process 3"},
		{"an ID after the end", func(s *scene) { s.ids[1] = append(s.ids[1], nano(t, 5, 300, 1)) }, outside, "", "number 4 of process 1: worker 5 at 2026-03-04T05:06:07.3"},
		{"an ID before the beginning", func(s *scene) { s.ids[2][0] = nano(t, 5, 299, 0) }, outside, "", "number 0 of process 2"},
		{"an ID of another worker", func(s *scene) { s.ids[2][0] = nano(t, 6, 300, 0) }, outside, "", "worker 6"},
		{"an ID in what was given back", func(s *scene) { s.ids[2][1] = nano(t, 5, 410, 7) }, outside, "", "given back"},
		{"an ID after the seal", func(s *scene) { s.ids[3] = append(s.ids[3], nano(t, 5, 420, 0)) }, outside, "", "given back"},
		{"an ID that was logged before its grant", func(s *scene) { s.journals[1][1].IDs = 3 }, early, "", "after 3 IDs"},
		{"an ID that is not greater", func(s *scene) { s.ids[1][0], s.ids[1][1] = s.ids[1][1], s.ids[1][0] }, disordered, "", "comes after"},
		{"a time given twice", func(s *scene) { s.journals[1][1].Until = ms(301) }, overlap, "", "process 1 worker 5"},
		{"a give-back that was taken before", func(s *scene) {
			s.journals[2][4].Until, s.journals[2][5].Until = ms(412), ms(412)
		}, overlap, "", "process 2"},
		{"a time within a longer one", func(s *scene) { s.journals[1][0].Until = ms(600) }, overlap, "", "process 1"},
		{"a torn log of a process that was not killed", func(s *scene) { s.tails[2] = "abc" }, torn, "", "process 2"},
		{"a torn journal of such a process", func(s *scene) { s.jtails[2] = `{"e` }, torn, "", "process 2"},
		{"a generator that is stuck", func(s *scene) {
			s.journals[2] = slices.Insert(s.journals[2], 4, entry{Event: dead, Error: "clock went backwards"})
		}, stuck, "", "process 2, after the last fault: clock went backwards"},
		{"an ID that is confirmed after a greater one of its worker", func(s *scene) {
			s.journals[1] = append(s.journals[1], entry{Event: confirmed, IDs: 3, Rival: 2, RivalIDs: 1})
		}, stale, "", "number 3 of process 1: worker 5 at 2026-03-04T05:06:07.150000, when process 2 had made"},
		{"no confirmed ID", func(s *scene) { s.record.Confirms, s.journals[2][6].Event = true, unconfirmed }, "", "a confirmed ID", ""},
		{"nobody who is alive", func(s *scene) { s.record.Judged = true }, "", "a generator that is alive", ""},
		{"an ID in what was withdrawn", func(s *scene) {
			s.journals[1] = append(s.journals[1], entry{Event: withdrawn, Worker: 5, Until: ms(150)})
		}, outside, "", "number 3 of process 1"},
		{"a kill that was none", func(s *scene) {
			s.record.Processes[0].Killed = false
			s.record.Faults[0].Happened = false
		}, "", "kill", ""},
		{"a kill without the exit status", func(s *scene) { s.record.Processes[0].Killed = false }, "", "kill", ""},
		{"a stop that was none", func(s *scene) { s.record.Faults[1].Happened = false }, "", "stop 2 windows", ""},
		{"a step that was not acknowledged", func(s *scene) { s.record.Faults[2].Happened = false }, "", "step +100ms", ""},
		{"a step that no ID shows", func(s *scene) { s.journals[1] = s.journals[1][:3] }, "", "step +100ms", ""},
		{"a step that an ID does not show", func(s *scene) { s.journals[1][3].From -= 50_000; s.journals[1][3].Until -= 50_000 }, "", "step +100ms", ""},
		{"a step for which nothing was refused", func(s *scene) { s.journals[2][2].Step = 7 }, "", "step -1h", ""},
		{"no stop at all", func(s *scene) { s.record.Faults[1].Kind = finish }, "", "stop (none", ""},
		{"no take-over", func(s *scene) {
			s.journals[1] = append(s.journals[1], entry{Event: sealed, Until: ms(151)})
		}, "", "take-over", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := clean(t)
			c.spoil(s)
			sum, err := s.check(t)
			testkit.OK(t, err)
			if sum.Passed() {
				t.Fatal("it passed")
			}
			if c.lacks != "" {
				if len(sum.Missing) != 1 || !strings.HasPrefix(sum.Missing[0], c.lacks) || len(sum.Violations) > 0 {
					t.Errorf("missing %q, violations %v %q", sum.Missing, sum.Violations, sum.Examples)
				}
				return
			}
			if sum.Violations[c.found] == 0 || len(sum.Missing) > 0 {
				t.Fatalf("violations %v %q, missing %q", sum.Violations, sum.Examples, sum.Missing)
			}
			for _, e := range sum.Examples {
				if strings.HasPrefix(e, c.found+": ") && strings.Contains(e, c.says) {
					return
				}
			}
			t.Errorf("no %q in %q", c.says, sum.Examples)
		})
	}
}

// Logs that no process can write stop the check.
func TestCheckRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*scene){
		"IDs that are gone":            func(s *scene) { s.ids[1] = s.ids[1][:1] },
		"a confirmed ID that is gone":  func(s *scene) { s.journals[2][6].IDs = 2 },
		"an ID before it that is gone": func(s *scene) { s.journals[2][6].RivalIDs = 5 },
		"a journal that is not one":    func(s *scene) { s.jtails[2] = "xyzzy\n" },
		"an entry that is not known":   func(s *scene) { s.jtails[2] = `{"evnt":"lost"}` + "\n" },
	} {
		s := clean(t)
		spoil(s)
		if sum, err := s.check(t); err == nil {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

// Many IDs are sorted on the disk, in the memory of few. The check finds a duplicate far away in the
// logs.
func TestCheckMemory(t *testing.T) {
	const many = 1_000_000 // 32 MB, all of them
	s := clean(t)
	s.journals[3] = []entry{{Event: acquired, Worker: 5, From: ms(410), Until: ms(1e6)}}
	s.ids[3] = nil
	for n := range many {
		s.ids[3] = append(s.ids[3], nano(t, 5, 410+n/4, n%4))
	}
	s.record.Processes = append(s.record.Processes, processRecord{Number: 4})
	s.journals[4] = []entry{{Event: acquired, Worker: 6, From: ms(0), Until: ms(1e6)}}
	s.ids[4] = []id{nano(t, 5, 411, 0)}

	dir, record := s.write(t), s.record
	s = nil
	// The check tells its progress when it has read a million IDs, and when it has sorted as many. While
	// the test measures, the goroutines of the sorter fill the memory with garbage. The goroutines come to
	// rest soon, so the test waits until the memory in use falls to the bound.
	memory := func(chunk int, bound int64) (most int64) {
		inUse := func() int64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int64(stats.HeapAlloc)
		}
		before := inUse()
		c := checkConfig{dir: dir, format: formats[0], window: time.Second, chunk: chunk,
			progress: func(Progress) {
				var used int64
				wait.For(func() bool { used = inUse() - before; return used <= bound })
				most = max(most, used)
			}}
		sum, err := check(context.Background(), c, record)
		testkit.OK(t, err)
		if len(sum.Violations) != 2 || sum.Violations[duplicate] != 1 || sum.Violations[outside] != 1 || sum.IDs != many+7 {
			t.Errorf("%v, %d IDs", sum.Violations, sum.IDs)
		}
		return most
	}
	const bound = 4 << 20
	few, all := memory(10_000, bound), memory(2*many, math.MaxInt64)
	t.Logf("%d MB of memory in chunks, %d at once", few>>20, all>>20)
	if few > bound || all < 4*bound {
		t.Errorf("%d MB of memory in chunks, %d at once", few>>20, all>>20)
	}
}

// While processes run, their journals tell whether a worker was taken over.
func TestTookOver(t *testing.T) {
	s := clean(t)
	s.jtails[2] = `{"event":"ren` // what is just being written
	r := runner{format: formats[0], place: place{Dir: s.write(t)}}
	for _, v := range []struct {
		processes []int
		want      bool
	}{{nil, false}, {[]int{1}, false}, {[]int{2, 3}, false}, {[]int{1, 2}, true}, {[]int{4, 3, 2, 1}, true}} {
		r.all = nil
		for _, n := range v.processes { // 2 takes over from 1, and gives back what 3 goes on from; 4 has no journal yet
			r.all = append(r.all, &process{number: n})
		}
		if got := r.tookOver(); got != v.want {
			t.Errorf("processes %d: %v", v.processes, got)
		}
	}
}
