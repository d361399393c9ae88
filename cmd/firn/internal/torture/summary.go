package torture

import (
	"fmt"
	"io"
	"maps"
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

	IDs       int64          `json:"ids"`
	Started   int            `json:"started"` // processes
	Workers   int            `json:"workers"`
	TakeOvers int            `json:"take_overs"` // workers that another process got without their being given back
	Events    map[string]int `json:"events"`     // of the processes and their leases
	Makers    Makers         `json:"makers"`

	Faults     []FaultCount     `json:"faults"`
	Missing    []string         `json:"missing"`    // what did not happen
	Violations map[string]int64 `json:"violations"` // by kind
	Examples   []string         `json:"examples"`   // some violations

	RunSeconds   float64 `json:"run_seconds"`
	CheckSeconds float64 `json:"check_seconds"`
	Dir          string  `json:"dir,omitempty"` // the run's folder, if kept

	shown map[string]int // examples, of kinds and of pairs of processes
}

// A FaultCount counts the faults of a kind and a size.
type FaultCount struct {
	Kind     string `json:"kind"`
	Size     string `json:"size,omitempty"`
	Planned  int    `json:"planned"`
	Happened int    `json:"happened"`
}

func newSummary(c Config) *Summary {
	return &Summary{Format: c.Format, Seed: c.Seed, Processes: c.Processes, Target: c.IDs, Window: c.Window.String(),
		Duration: c.Duration.String(), Events: map[string]int{}, Missing: []string{}, Violations: map[string]int64{}, Examples: []string{}, shown: map[string]int{}}
}

// Passed reports whether there is no violation and every kind of fault happened.
func (s *Summary) Passed() bool { return len(s.Violations) == 0 && len(s.Missing) == 0 }

// maxOfKind is how many violations of a kind are shown.
const maxOfKind = 3

// violation counts a violation. One mistake makes many violations, so only the first of each kind
// and pair of processes is described, up to maxOfKind.
func (s *Summary) violation(kind string, by [2]int, text func() string) {
	s.Violations[kind]++
	pair := fmt.Sprint(kind, by)
	if s.shown[pair] > 0 || s.shown[kind] == maxOfKind {
		return
	}
	s.shown[pair]++
	s.shown[kind]++
	s.Examples = append(s.Examples, kind+": "+text())
}

// fault counts faults that were planned, and those that happened.
func (s *Summary) fault(kind, size string, planned, happened int) {
	i := slices.IndexFunc(s.Faults, func(c FaultCount) bool { return c.Kind == kind && c.Size == size })
	if i < 0 {
		i, s.Faults = len(s.Faults), append(s.Faults, FaultCount{Kind: kind, Size: size})
	}
	s.Faults[i].Planned += planned
	s.Faults[i].Happened += happened
}

// addMessages counts the calls of a process to the store that were lost, late or repeated.
func (s *Summary) addMessages(c faults.Counts) {
	for _, m := range []struct {
		fate string
		n    int
	}{{"request lost", c.LostRequests}, {"reply lost", c.LostReplies}, {"late", c.Late}, {"repeated", c.Repeats}, {"delayed", c.Delays}} {
		s.fault("message", m.fate, m.n, m.n)
	}
	s.Events["late or repeated message done"] += c.Landed
}

// finish notes what did not happen, of the faults and of what else a run has to show. hidden says that the store
// was away at first, and confirms that the store can confirm.
func (s *Summary) finish(hidden, confirms bool) {
	for _, c := range s.Faults {
		if c.Happened == 0 {
			s.Missing = append(s.Missing, strings.TrimSpace(c.Kind+" "+c.Size))
		}
	}
	for _, m := range []struct {
		missing bool
		what    string
	}{
		{confirms && s.Events[confirmed] == 0, "a confirmed ID"},
		{hidden && s.Events[away] == 0, "a process that starts while its store is away"},
		{s.TakeOvers == 0, "a worker that was taken over"},
		{s.Events[alive] == 0, "a generator that is alive after the last fault"},
		{s.Makers.Named == 0, "an ID whose maker the history names"},
	} {
		if m.missing {
			s.Missing = append(s.Missing, m.what)
		}
	}
}

// Total returns how many faults of a kind happened.
func (s *Summary) Total(kind string) (n int) {
	for _, c := range s.Faults {
		if c.Kind == kind {
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
	line("IDs", "%d; the history names the makers of %d", s.IDs, s.Makers.Named)
	line("processes", "%d, with %d workers, of which %d were taken over", s.Started, s.Workers, s.TakeOvers)
	var events []string
	for _, e := range slices.Sorted(maps.Keys(s.Events)) {
		events = append(events, fmt.Sprintf("%s %d", e, s.Events[e]))
	}
	line("events", "%s", strings.Join(events, ", "))
	for _, k := range []struct {
		kind kind
		name string
	}{{kill, "kills"}, {stop, "stops"}, {step, "clock steps"}, {finish, "clean ends"}, {cutRequests, "requests lost"},
		{cutReplies, "replies lost"}, {delay, "delays"}, {"message", "messages"}} {
		var sizes []string
		for _, c := range s.Faults {
			if c.Kind == string(k.kind) && c.Planned > 0 {
				sizes = append(sizes, strings.TrimSpace(fmt.Sprintf("%s %d", c.Size, c.Happened)))
			}
		}
		if sizes != nil {
			line(k.name, "%d: %s", s.Total(string(k.kind)), strings.Join(sizes, ", "))
		}
	}
	line("took", "%.0f s, and %.0f s to check", s.RunSeconds, s.CheckSeconds)
	t.Flush()
	for _, m := range s.Missing {
		fmt.Fprintf(&b, "did not happen: %s\n", m)
	}
	for _, e := range s.Examples {
		fmt.Fprintf(&b, "violation: %s\n", e)
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Violations)) {
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
