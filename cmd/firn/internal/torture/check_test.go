package torture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
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
	var b id
	binary.BigEndian.PutUint64(b[:], uint64(v))
	return b
}

var acquired, renewed = lease.Acquired.String(), lease.Renewed.String()

// A scene is hand-made logs.
type scene struct {
	ended     []ended
	journals  map[int][]entry
	ids       map[int][]id
	histories map[int][]lease.Holder
	tails     map[int]string // what follows the IDs of a process
	jtails    map[int]string // and its entries
}

// clean returns logs without a fault of the library. Process 1 is killed. Process 2 takes over the worker
// and gives back a part. Process 3 takes the worker, and is killed while giving back.
func clean(t testing.TB) *scene {
	grant := func(kind string, from, until int, ids int64) entry {
		return entry{Event: kind, Worker: 5, From: ms(from), Until: ms(until), IDs: ids}
	}
	return &scene{
		ended: []ended{{number: 1, killed: true}, {number: 2}, {number: 3, killed: true}},
		journals: map[int][]entry{
			1: {
				grant(acquired, 0, 100, 0),
				grant(renewed, 100, 300, 2),
				{Event: stepped, Offset: 100_000, IDs: 2},
			},
			2: {
				grant(acquired, 300, 400, 0),
				grant(renewed, 400, 500, 1),
				{Event: sealed, Until: ms(410), IDs: 2},
				{Event: lease.Released.String(), Worker: 5, Until: ms(410), IDs: 2},
				{Event: confirmed},
				{Event: unconfirmed, Error: "lost"},
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
	k := newChecker(s.write(t), formats[0], s.ended, s.histories)
	return k.sum, k.check(t.Context())
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
			b = append(b, v[:formats[0].Size]...)
		}
		write(t, idsPath(dir, n), append(b, s.tails[n]...))
	}
	return dir
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, content, 0o600))
}

// The check counts IDs whose makers the history names, and finds a wrong name.
func TestMakers(t *testing.T) {
	s := clean(t)
	entry := func(process, from, until int) lease.Holder {
		return lease.Holder{Program: program(process), Count: 1, Since: time.UnixMicro(ms(from)), Until: time.UnixMicro(ms(until))}
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
		s.histories = map[int][]lease.Holder{5: v.holders}
		sum := testkit.Must(s.check(t))
		if sum.Makers != (Makers{v.named, 7 - v.named - v.wrong}) || sum.Violations[misnamed] != v.wrong {
			t.Errorf("%s: %+v, %v", name, sum.Makers, sum.Violations)
		}
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
	s.ended = append(s.ended, ended{number: 4, killed: true})
	s.journals[4] = []entry{{Event: acquired, Worker: 5, From: ms(510), Until: ms(550)}}
	s.ids[4] = nil
	// Times that were withdrawn are given again, sooner.
	s.journals[1] = append(s.journals[1], entry{Event: lease.Withdrawn.String(), Worker: 5, Until: ms(160)},
		entry{Event: renewed, Worker: 5, From: ms(170), Until: ms(300), IDs: 4}, entry{Event: alive}, entry{Event: excused})
	s.ids[1] = append(s.ids[1], nano(t, 5, 299, 0))
	// What became of messages, until two moments.
	s.journals[2][0].Messages = &faults.Counts{LostReplies: 1}
	s.journals[2][1].Messages = &faults.Counts{LostReplies: 2, Landed: 1}
	sum, err := s.check(t)
	testkit.OK(t, err)
	if len(sum.Violations) > 0 {
		t.Errorf("violations %v, %q", sum.Violations, sum.Examples)
	}
	if sum.IDs != 8 || sum.Started != 4 || sum.Workers != 1 || sum.TakeOvers != 1 {
		t.Errorf("%+v", sum)
	}
	want := map[string]int{acquired: 5, renewed: 4, "released": 1, "withdrawn": 1, sealed: 3, stepped: 1, confirmed: 1, unconfirmed: 1,
		alive: 1, excused: 1, "late or repeated message done": 1}
	if !maps.Equal(sum.Events, want) {
		t.Errorf("events %v, want %v", sum.Events, want)
	}
	if sum.Total("message") != 2 {
		t.Errorf("%+v", sum.Faults)
	}
}

// The check finds each kind of fault in logs, and names the kind.
func TestCheckFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*scene)
		found string // a kind of violation
		says  string // in the example
	}{
		{"the ID of another process", func(s *scene) {
			s.ids[3] = append(s.ids[3], nano(t, 5, 411, 0))
			s.journals[2][2].Until, s.journals[2][3].Until = ms(412), ms(412)
			s.ids[2] = append(s.ids[2], nano(t, 5, 411, 0))
		}, duplicate, "process 2 and process 3"},
		{"an ID twice", func(s *scene) { s.ids[3] = append(s.ids[3], nano(t, 5, 410, 0)) }, duplicate, "process 3 and process 3"},
		{"an ID after the end", func(s *scene) { s.ids[1] = append(s.ids[1], nano(t, 5, 300, 1)) }, outside, "worker 5 at 2026-03-04T05:06:07.300000), number 4 of process 1"},
		{"an ID before the beginning", func(s *scene) { s.ids[2][0] = nano(t, 5, 299, 0) }, outside, "number 0 of process 2"},
		{"an ID of another worker", func(s *scene) { s.ids[2][0] = nano(t, 6, 300, 0) }, outside, "worker 6"},
		{"an ID in what was given back", func(s *scene) { s.ids[2][1] = nano(t, 5, 410, 7) }, outside, "given back"},
		{"an ID after the seal", func(s *scene) { s.ids[3] = append(s.ids[3], nano(t, 5, 420, 0)) }, outside, "given back"},
		{"an ID that was logged before its grant", func(s *scene) { s.journals[1][1].IDs = 3 }, early, "after 3 IDs"},
		{"an ID that is not greater", func(s *scene) { s.ids[1][0], s.ids[1][1] = s.ids[1][1], s.ids[1][0] }, disordered, "comes after"},
		{"a time given twice", func(s *scene) { s.journals[1][1].Until = ms(301) }, overlap, "process 1 worker 5"},
		{"a give-back that was taken before", func(s *scene) {
			s.journals[2][2].Until, s.journals[2][3].Until = ms(412), ms(412)
		}, overlap, "process 2"},
		{"a time within a longer one", func(s *scene) { s.journals[1][0].Until = ms(600) }, overlap, "process 1"},
		{"a torn log of a process that was not killed", func(s *scene) { s.tails[2] = "abc" }, torn, "process 2"},
		{"a torn journal of such a process", func(s *scene) { s.jtails[2] = `{"e` }, torn, "process 2"},
		{"a generator that is stuck", func(s *scene) {
			s.journals[2] = slices.Insert(s.journals[2], 2, entry{Event: dead, Error: "clock went backwards"})
		}, stuck, "process 2, after the last fault: clock went backwards"},
		{"an ID that is confirmed after a greater one of its worker", func(s *scene) {
			s.journals[1] = append(s.journals[1], entry{Event: stale, Error: "that one"})
		}, late, "that one"},
		{"an ID in what was withdrawn", func(s *scene) {
			s.journals[1] = append(s.journals[1], entry{Event: lease.Withdrawn.String(), Worker: 5, Until: ms(150)})
		}, outside, "number 3 of process 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := clean(t)
			c.spoil(s)
			sum, err := s.check(t)
			testkit.OK(t, err)
			if sum.Violations[c.found] == 0 {
				t.Fatalf("violations %v %q", sum.Violations, sum.Examples)
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
		"IDs that are gone":          func(s *scene) { s.ids[1] = s.ids[1][:1] },
		"a journal that is not one":  func(s *scene) { s.jtails[2] = "xyzzy\n" },
		"an entry that is not known": func(s *scene) { s.jtails[2] = `{"evnt":"lost"}` + "\n" },
	} {
		s := clean(t)
		spoil(s)
		if sum, err := s.check(t); err == nil {
			t.Errorf("%s: %+v", name, sum)
		}
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

// A run that lacks a fault, or what else it has to show, does not pass.
func TestMissing(t *testing.T) {
	full := func() *Summary {
		s := newSummary(Config{})
		s.fault("kill", "", 2, 1)
		s.TakeOvers, s.Makers.Named = 1, 1
		s.Events = map[string]int{confirmed: 1, away: 1, alive: 1}
		return s
	}
	for want, spoil := range map[string]func(*Summary){
		"":               func(s *Summary) {},
		"kill":           func(s *Summary) { s.Faults[0].Happened = 0 },
		"message late":   func(s *Summary) { s.addMessages(faults.Counts{LostRequests: 1, LostReplies: 1, Repeats: 1, Delays: 1}) },
		"a confirmed ID": func(s *Summary) { s.Events[confirmed] = 0 },
		"a process that starts while its store is away":  func(s *Summary) { s.Events[away] = 0 },
		"a worker that was taken over":                   func(s *Summary) { s.TakeOvers = 0 },
		"a generator that is alive after the last fault": func(s *Summary) { s.Events[alive] = 0 },
		"an ID whose maker the history names":            func(s *Summary) { s.Makers.Named = 0 },
	} {
		s := full()
		spoil(s)
		s.finish(true, true)
		if got := strings.Join(s.Missing, ", "); got != want || s.Passed() != (want == "") {
			t.Errorf("missing %q, want %q", got, want)
		}
	}
}
