package torture

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/firn-id/firn/internal/faults"
)

// A Summary is the result of a run.
type Summary struct {
	Format    string `json:"format"`
	Seed      uint64 `json:"seed"`
	Processes int    `json:"processes"` // at a time
	Window    string `json:"window"`
	Duration  string `json:"duration"`
	Target    int64  `json:"target"`

	IDs       int64 `json:"ids"`
	Started   int   `json:"started"` // processes
	GaveUp    int   `json:"gave_up"` // processes that ended because the library refused for long
	Workers   int   `json:"workers"`
	Grants    int64 `json:"grants"`
	Released  int64 `json:"released"`
	Late      int   `json:"late"`       // processes that started while their store was away
	Idle      int   `json:"idle"`       // processes that make an ID only now and then
	IdleSteps int   `json:"idle_steps"` // steps of the clocks of idle processes
	Withdrawn int64 `json:"withdrawn"`  // unused times given up because the clock was ahead
	Alive     int64 `json:"alive"`      // generators that made IDs after the last fault
	Excused   int64 `json:"excused"`    // generators with an excuse for making none
	Refused   int64 `json:"refused"`    // steps of the clock after which the library refused

	// TakeOvers count workers that another process got although the first process had not given the
	// worker back.
	TakeOvers struct {
		Killed int64 `json:"killed"` // the first process was killed
		Alive  int64 `json:"alive"`  // the first process went on
	} `json:"take_overs"`

	// Messages count calls of the store that were lost, late or repeated.
	Messages *faults.Counts `json:"messages,omitempty"`

	Confirmed   int64 `json:"confirmed"`   // IDs that a lease has confirmed
	Unconfirmed int64 `json:"unconfirmed"` // IDs that would be thrown away

	Makers Makers `json:"makers"` // of all IDs, by the histories of the workers after the run
	Asked  Makers `json:"asked"`  // of some IDs, during the run

	Faults     []FaultCount     `json:"faults"`
	Missing    []string         `json:"missing"`    // faults that did not happen
	Violations map[string]int64 `json:"violations"` // by kind
	Examples   []string         `json:"examples"`   // some violations

	RunSeconds   float64 `json:"run_seconds"`
	CheckSeconds float64 `json:"check_seconds"`
	Dir          string  `json:"dir,omitempty"` // the run's folder, if kept
}

// A FaultCount counts the faults of a kind and a size.
type FaultCount struct {
	Kind     string `json:"kind"`
	Size     string `json:"size,omitempty"`
	Planned  int    `json:"planned"`
	Happened int    `json:"happened"` // as the logs show
}

func newSummary(format string) *Summary {
	return &Summary{Format: format, Missing: []string{}, Violations: map[string]int64{}, Examples: []string{}}
}

// Passed reports whether there is no violation and every kind of fault happened.
func (s *Summary) Passed() bool { return len(s.Violations) == 0 && len(s.Missing) == 0 }

// count counts what happened, and notes what did not happen.
func (s *Summary) count(r record, logs []*log) {
	s.Started = len(r.Processes)
	byNumber := make(map[int]*log)
	for _, l := range logs {
		byNumber[l.process] = l
	}
	ended := make(map[int]processRecord)
	for _, p := range r.Processes {
		ended[p.Number] = p
		if p.GaveUp {
			s.GaveUp++
		}
		if p.Idle {
			s.Idle++
		}
	}
	s.Faults = append(s.Faults, FaultCount{Kind: string(kill)})
	for _, size := range stops {
		s.Faults = append(s.Faults, FaultCount{Kind: string(stop), Size: size.name})
	}
	for _, size := range steps {
		s.Faults = append(s.Faults, FaultCount{Kind: string(stepBy), Size: size.name})
	}
	s.Faults = append(s.Faults, FaultCount{Kind: string(finish)})
	for _, f := range r.Faults { // other faults, in order
		c := FaultCount{Kind: string(f.Kind), Size: f.Size}
		if !slices.Contains(s.Faults, c) && f.Kind != kill && f.Kind != finish {
			s.Faults = append(s.Faults, c)
		}
	}
	total := make(map[kind]int)
	for _, f := range r.Faults {
		i := slices.IndexFunc(s.Faults, func(c FaultCount) bool { return c.Kind == string(f.Kind) && c.Size == f.Size })
		if i < 0 {
			continue
		}
		s.Faults[i].Planned++
		happened := f.Happened
		switch f.Kind {
		case kill:
			happened = happened && ended[f.Process].Killed
		case stepBy:
			if f.Happened && ended[f.Process].Idle {
				s.IdleSteps++
			}
			l := byNumber[f.Process]
			happened = happened && l != nil && l.steps[f.Step] != nil && l.steps[f.Step].shown
		}
		if happened {
			s.Faults[i].Happened++
			total[f.Kind]++
		}
	}
	for _, c := range s.Faults {
		if c.Planned > 0 && c.Happened == 0 {
			s.Missing = append(s.Missing, strings.TrimSpace(c.Kind+" "+c.Size))
		}
	}
	for _, k := range []kind{kill, stop, stepBy} {
		if total[k] == 0 && !slices.ContainsFunc(s.Missing, func(m string) bool { return strings.HasPrefix(m, string(k)) }) {
			s.Missing = append(s.Missing, string(k)+" (none was planned: the run is too short)")
		}
	}
	if m := s.Messages; m != nil {
		for _, c := range []struct {
			n    int
			what string
		}{{m.LostRequests, "a lost request"}, {m.LostReplies, "a lost reply"}, {m.Late, "a late request"},
			{m.Repeats, "a repeated request"}, {m.Delays, "a delay"}} {
			if c.n == 0 {
				s.Missing = append(s.Missing, c.what)
			}
		}
	}
	if r.Confirms && s.Confirmed == 0 {
		s.Missing = append(s.Missing, "a confirmed ID")
	}
	if r.Hidden && s.Late == 0 {
		s.Missing = append(s.Missing, "a process that starts while its store is away")
	}
	if s.TakeOvers.Killed+s.TakeOvers.Alive == 0 {
		s.Missing = append(s.Missing, "take-over")
	}
	if r.Judged && s.Alive == 0 {
		s.Missing = append(s.Missing, "a generator that is alive after the last fault")
	}
	if s.IDs == 0 {
		s.Missing = append(s.Missing, "IDs")
	}
}

func (s *Summary) addMessages(m *faults.Counts) {
	if s.Messages == nil {
		s.Messages = new(faults.Counts)
	}
	s.Messages.LostRequests += m.LostRequests
	s.Messages.LostReplies += m.LostReplies
	s.Messages.Late += m.Late
	s.Messages.Repeats += m.Repeats
	s.Messages.Landed += m.Landed
	s.Messages.Delays += m.Delays
}

// Total returns how many faults of a kind happened.
func (s *Summary) Total(of string) (n int) {
	for _, c := range s.Faults {
		if c.Kind == of {
			n += c.Happened
		}
	}
	return n
}

// WriteTo writes the summary for people.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name, text string, args ...any) { fmt.Fprintf(t, name+"\t"+text+"\n", args...) }
	line("run", "%s, %d processes at a time, window %s, %s, seed %d", s.Format, s.Processes, s.Window, s.Duration, s.Seed)
	line("IDs", "%d", s.IDs)
	line("processes", "%d, of which %d gave up", s.Started, s.GaveUp)
	line("late", "%d processes started while their store was away", s.Late)
	line("idle", "%d processes, whose clocks were stepped %d times", s.Idle, s.IdleSteps)
	line("alive", "%d generators after the last fault, and %d with a reason not to be", s.Alive, s.Excused)
	line("workers", "%d: %d grants, %d given back, %d withdrawn", s.Workers, s.Grants, s.Released, s.Withdrawn)
	line("take-overs", "%d from killed processes, %d from others", s.TakeOvers.Killed, s.TakeOvers.Alive)
	for _, k := range []struct {
		kind kind
		name string
	}{{kill, "kills"}, {stop, "stops"}, {stepBy, "clock steps"}, {finish, "clean ends"}} {
		line(k.name, "%d%s", s.Total(string(k.kind)), s.sizes(string(k.kind)))
	}
	for _, k := range []kind{cutRequests, cutReplies, delay, breakdown} {
		if slices.ContainsFunc(s.Faults, func(c FaultCount) bool { return c.Kind == string(k) }) {
			line(string(k), "%d%s", s.Total(string(k)), s.sizes(string(k)))
		}
	}
	if m := s.Messages; m != nil {
		line("messages", "%d requests and %d replies lost, %d late and %d repeated (%d of which changed something), %d delays",
			m.LostRequests, m.LostReplies, m.Late, m.Repeats, m.Landed, m.Delays)
	}
	line("makers", "%d of %d IDs named, and %d of %d during the run", s.Makers.Named, s.Makers.Named+s.Makers.Nobody, s.Asked.Named, s.Asked.Named+s.Asked.Nobody)
	line("confirmed", "%d IDs, and %d not", s.Confirmed, s.Unconfirmed)
	line("refused", "%d times, for a clock", s.Refused)
	line("took", "%.0f s, and %.0f s to check", s.RunSeconds, s.CheckSeconds)
	t.Flush()
	for _, m := range s.Missing {
		fmt.Fprintf(&b, "did not happen: %s\n", m)
	}
	for _, e := range s.Examples {
		fmt.Fprintf(&b, "violation: %s\n", e)
	}
	var kinds []string
	for kind := range s.Violations {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		fmt.Fprintf(&b, "violations, %s: %d\n", kind, s.Violations[kind])
	}
	if s.Dir != "" {
		fmt.Fprintf(&b, "logs: %s\n", s.Dir)
	}
	if s.Passed() {
		b.WriteString("passed\n")
	} else {
		b.WriteString("failed\n")
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// sizes lists how often each size of a kind of fault happened.
func (s *Summary) sizes(kind string) string {
	var list []string
	for _, c := range s.Faults {
		if c.Kind == kind && c.Size != "" && c.Planned > 0 {
			list = append(list, fmt.Sprintf("%s %d", c.Size, c.Happened))
		}
	}
	if list == nil {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}
