package pools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
)

// newDoctor returns the command firn pool doctor.
func newDoctor(s *cli.Streams) *cobra.Command {
	var (
		st     stores.State
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "doctor [NAME]",
		Short: "Check a store, its pools and the clock",
		Example: `  firn pool doctor
  firn pool doctor nanoflake --json
  firn pool doctor --store postgres://ids@db/app`,
		Args: atMostOnePool,
		RunE: func(cmd *cobra.Command, args []string) error {
			return examine(cmd.Context(), s, &st, args, asJSON)
		},
	}
	cmd.ValidArgsFunction = st.CompletePool
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per line")
	st.AddTo(cmd)
	st.AddNoCreateTo(cmd, "report a missing store as a problem")
	return cmd
}

// examine examines a store, its pools and the clock, and writes the findings. If named is not
// empty, examine leaves out other pools.
func examine(ctx context.Context, s *cli.Streams, st *stores.State, named []string, asJSON bool) error {
	d := doctor{st: st, began: time.Now()}
	if err := d.examine(ctx, named); err != nil {
		return err
	}
	return d.tell(s, asJSON)
}

// Levels of findings.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelWarning = "warning"
	levelProblem = "problem"
)

// Subjects of findings.
const (
	aboutStore    = "store"
	aboutClock    = "clock"
	aboutWorkers  = "workers"
	aboutLifetime = "lifetime"
)

// A finding is one line of firn pool doctor.
type finding struct {
	Level string `json:"level"`
	About string `json:"about"`
	Pool  string `json:"pool"`
	Text  string `json:"text"`

	Hints []string `json:"hints,omitempty"`
}

// A doctor examines a store.
type doctor struct {
	st       *stores.State
	began    time.Time // the first reading of the clock
	findings []finding
	bad      map[string]bool // keys of unreadable records, which have a finding
	closed   map[string]bool // pools with an unreadable folder, which has a finding
}

func (d *doctor) find(level, about, pool, form string, args ...any) {
	f := finding{Level: level, About: about, Pool: pool, Text: fmt.Sprintf(form, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.Hints = append(f.Hints, cli.Hints(err)...)
		}
	}
	d.findings = append(d.findings, f)
}

// hint adds hints to the last finding.
func (d *doctor) hint(hints ...string) {
	last := &d.findings[len(d.findings)-1]
	last.Hints = append(last.Hints, hints...)
}

// examine looks at all pools, or at the named pool. The error reports that the named pool does not
// exist.
func (d *doctor) examine(ctx context.Context, named []string) error {
	look := d.st.LookForAll
	if len(named) > 0 {
		look = d.st.Look
	}
	store, at, err := look(ctx)
	switch {
	case errors.As(err, new(cli.UsageError)):
		return err
	case err != nil:
		d.find(levelProblem, aboutStore, "", "%v", d.st.Hint(err))
	case store == nil: // LookForAll returns one, or an error
		return d.st.Hint(stores.NoPool(named[0], at, nil))
	default:
		defer store.Close()
		examine := d.examineStore
		if at.Dir == "" {
			examine = d.examineShared
		}
		if err := examine(ctx, store, at, named); err != nil {
			return err
		}
	}
	d.examineClock()
	return nil
}

// examineStore looks at a store of files, pool by pool.
func (d *doctor) examineStore(ctx context.Context, store driver.Store, at stores.Place, named []string) error {
	names, err := lease.Names(ctx, store)
	if err != nil {
		d.find(levelProblem, aboutStore, "", "%v", err)
		return nil
	}
	if len(named) > 0 {
		if !slices.Contains(names, named[0]) {
			return d.st.Hint(stores.NoPool(named[0], at, store))
		}
		names = named
	}
	if files, ok := store.(*filelease.Store); ok {
		d.examineFiles(ctx, files, at.Dir, names)
	}
	d.inspect(ctx, store)
	if len(names) == 0 {
		d.find(levelNote, aboutStore, "", "there are no pools yet: firn new makes the one that it needs")
	}
	var found []lease.Found
	for _, name := range names {
		if d.closed[name] {
			continue
		}
		f := lease.Found{Name: name}
		f.Pool, f.Workers, f.Err = stores.ReadPool(ctx, store, name)
		f.Workers = slices.DeleteFunc(f.Workers, func(w lease.Worker) bool { return d.wasSaid(w.Err) })
		if d.wasSaid(f.Err) && !slices.ContainsFunc(f.Workers, func(w lease.Worker) bool { return w.Err != nil }) {
			continue
		}
		found = append(found, f)
	}
	d.examinePools(ctx, found)
	return nil
}

// examineShared reads a shared store once, and looks at its pools.
func (d *doctor) examineShared(ctx context.Context, store driver.Store, at stores.Place, named []string) error {
	began := time.Now()
	found, err := lease.Survey(ctx, store)
	if err != nil {
		d.find(levelProblem, aboutStore, "", "%v", d.st.Hint(err))
		return nil
	}
	records := 0
	for _, f := range found {
		records += f.Made + 1
	}
	d.find(levelOK, aboutStore, "", "%s: %d records of %d %s were read in %v", store, records, len(found),
		english.PluralWord(len(found), "pool", ""), time.Since(began).Round(10*time.Microsecond))
	if len(named) > 0 {
		found = slices.DeleteFunc(found, func(f lease.Found) bool { return f.Name != named[0] })
		if len(found) == 0 {
			return d.st.Hint(stores.NoPool(named[0], at, store))
		}
	}
	if len(found) == 0 {
		d.find(levelNote, aboutStore, "", "there are no pools yet: firn pool create makes one")
	}
	d.examineWriting(ctx, store, found)
	d.inspect(ctx, store)
	d.compareClock(ctx, store)
	d.examinePools(ctx, found)
	return nil
}

// examineWriting asks for a change that the store has to refuse.
func (d *doctor) examineWriting(ctx context.Context, store driver.Store, found []lease.Found) {
	i := slices.IndexFunc(found, func(f lease.Found) bool { return f.Pool != nil })
	if i < 0 {
		return
	}
	took, err := found[i].Pool.CheckWrites(ctx)
	switch {
	case err == nil:
		d.find(levelOK, aboutStore, "", "%s: it takes changes; one that it had to refuse took %v", store, took.Round(10*time.Microsecond))
	case errors.As(err, new(*driver.Error)):
		d.find(levelProblem, aboutStore, "", "it cannot be written: %v", d.st.Hint(err))
	default:
		d.find(levelProblem, aboutStore, found[i].Name, "%v", err)
	}
}

// inspect looks at the store's own settings.
func (d *doctor) inspect(ctx context.Context, store driver.Store) {
	if _, ok := store.(driver.Inspector); !ok {
		return
	}
	found, err := stores.InspectStore(ctx, store)
	if err != nil {
		d.find(levelWarning, aboutStore, "", "its settings, which decide whether it can lose something, cannot be read: %v", d.st.Hint(err))
	}
	for _, f := range found {
		level := levelWarning
		if f.Loses || f.Blocks {
			level = levelProblem
		}
		d.find(level, aboutStore, "", "%s", stores.FindingText(f))
		d.hint(d.st.FindingHints(f)...)
	}
	if len(found) == 0 && err == nil {
		d.find(levelOK, aboutStore, "", "%s: it keeps what it has acknowledged, by its settings", store)
	}
}

// compareClock compares the clock with the store's.
func (d *doctor) compareClock(ctx context.Context, store driver.Store) {
	const notable = time.Second
	clock, ok := store.(driver.Clock)
	if !ok {
		return
	}
	before := time.Now()
	theirs, err := clock.Now(ctx)
	after := time.Now()
	if err != nil {
		d.find(levelProblem, aboutStore, "", "%v", d.st.Hint(err))
		return
	}
	// The store's time is from some moment between the two readings.
	by := max(theirs.Sub(after), 0) - max(before.Sub(theirs), 0)
	text := fmt.Sprintf("it is %v behind the store's", by.Round(time.Millisecond))
	if by < 0 {
		text = fmt.Sprintf("it is %v ahead of the store's", -by.Round(time.Millisecond))
	}
	switch {
	case by.Abs() > lease.DefaultMaxSkew:
		d.find(levelProblem, aboutClock, "", "%s: firn new refuses to use it", text)
		d.hint("Set the clock.", "Is the clock right?  Trust it:  firn new --trust-clock")
	case by.Abs() > notable:
		d.find(levelWarning, aboutClock, "", "%s: firn new refuses it from %v on", text, lease.DefaultMaxSkew)
	default:
		d.find(levelOK, aboutClock, "", "it agrees with the store's")
	}
}

// examinePools looks at pools, and at pairs of pools for the same IDs.
func (d *doctor) examinePools(ctx context.Context, found []lease.Found) {
	for i, f := range found {
		if f.Err != nil {
			d.findErrors(f)
			continue
		}
		p, now := f.Pool, time.Now()
		if place := p.Place(); place != "" {
			d.find(levelOK, aboutStore, f.Name, "its record names this place: %s", place)
		}
		recovered, floor := p.Recovered()
		if floor.After(now) {
			d.find(levelWarning, aboutWorkers, f.Name, "it was recovered %s, and nobody gets a worker before %s (%s)", cli.Relative(recovered, now), cli.TimeText(floor), cli.Relative(floor, now))
		} else {
			d.examineTimes(ctx, p, usedAfter(floor, f.Workers), now)
			d.examineWorkers(p, f.Workers, now)
		}
		d.examineLifetime(p, now)
		for _, other := range found[:i] {
			if other.Pool != nil && formats.Alike(grant.Spec{Name: other.Name, Layout: other.Pool.Layout()}, grant.Spec{Name: f.Name, Layout: p.Layout()}) {
				d.find(levelProblem, aboutWorkers, f.Name, "it is for the same IDs as pool %s: the two can make the same ID", other.Name)
				d.hint("Use one of them only.", "Do IDs of the two never meet?  Examine each by itself:  "+d.st.Command("firn pool doctor "+f.Name))
			}
		}
	}
}

// findErrors reports the errors of a pool's records.
func (d *doctor) findErrors(f lease.Found) {
	bad := recordErrors(f.Workers)
	if len(bad) == 0 {
		bad = []error{f.Err}
	}
	for _, err := range bad {
		d.find(levelProblem, aboutStore, f.Name, "%v", d.st.Hint(err))
	}
}

// usedAfter returns the workers used after a time. A recovery, and no clock, has used up the times
// before its floor.
func usedAfter(floor time.Time, workers []lease.Worker) []lease.Worker {
	return slices.DeleteFunc(slices.Clone(workers), func(w lease.Worker) bool { return !w.Until.After(floor) })
}

// wasSaid reports whether an error is about an unreadable record with a finding.
func (d *doctor) wasSaid(err error) bool {
	var record *driver.Error
	return errors.As(err, &record) && d.bad[record.Key]
}

// examineFiles reads every record, and tries to write in every folder.
func (d *doctor) examineFiles(ctx context.Context, files *filelease.Store, dir string, names []string) {
	d.bad, d.closed = make(map[string]bool), make(map[string]bool)
	read := 0
	for _, name := range names {
		keys, err := files.Keys(ctx, name+"/")
		if err != nil {
			d.find(levelProblem, aboutStore, "", "%v", err)
			return
		}
		for _, key := range keys {
			if strings.HasSuffix(key, "/") { // a folder that cannot be read
				d.closed[name] = true
				_, err = files.List(ctx, key)
			} else {
				read++
				_, err = files.Get(ctx, key)
			}
			if err != nil && !errors.Is(err, driver.ErrNotFound) {
				d.bad[key] = true
				d.find(levelProblem, aboutStore, name, "%v", d.st.Hint(err))
			}
		}
	}
	if len(d.bad) == 0 {
		d.find(levelOK, aboutStore, "", "%s: all of %d records can be read", dir, read)
	}
	if err := files.Probe(ctx); err != nil {
		d.find(levelProblem, aboutStore, "", "%v", err)
		return
	}
	d.find(levelOK, aboutStore, "", "%s: new records can be written", dir)
}

// examineTimes compares the clock with the times that workers have used. Package lease judges the
// clock, as for firn new.
func (d *doctor) examineTimes(ctx context.Context, p *lease.Pool, workers []lease.Worker, now time.Time) {
	err := p.CheckClock(ctx, lease.Config{})
	var skew *lease.SkewError
	switch {
	case errors.As(err, &skew) && skew.OfStore:
		return // compareClock reports it
	case errors.As(err, &skew):
		d.find(levelProblem, aboutClock, p.Name(), "firn new refuses to use the clock: %v", d.st.Hint(skew))
		return
	case d.wasSaid(err):
		return
	case err != nil:
		d.find(levelProblem, aboutStore, p.Name(), "%v", d.st.Hint(err))
		return
	case len(workers) == 0:
		d.find(levelOK, aboutClock, p.Name(), "no worker has been used yet")
		return
	}
	var last time.Time
	ahead := 0
	for _, w := range workers {
		if w.Until.After(last) {
			last = w.Until
		}
		// A worker in use may have a longer window than usual.
		if inUse := w.Held && !w.From.After(now); !inUse && w.Until.After(now.Add(lease.DefaultWindow)) {
			ahead++
		}
	}
	if ahead > 0 {
		d.find(levelWarning, aboutClock, p.Name(), "%d of %d workers that were used have used the times up to more than %v after now, at most %s (%s): they are left out until then; the clock was ahead, or is behind",
			ahead, len(workers), lease.DefaultWindow, cli.TimeText(last), cli.Relative(last, now))
		return
	}
	used := "it is in use"
	if last.Before(now) {
		used = "its last use: " + cli.Relative(last, now)
	}
	d.find(levelOK, aboutClock, p.Name(), "the clock agrees with what %d %s used; %s", len(workers),
		english.PluralWord(len(workers), "worker has", "workers have"), used)
}

// examineWorkers counts the free workers.
func (d *doctor) examineWorkers(p *lease.Pool, workers []lease.Worker, now time.Time) {
	count := make(map[string]int)
	for _, w := range workers {
		count[stateOf(w, now)]++
	}
	free := p.Layout().Workers - len(workers) + count["free"] + count["expired"]
	text := fmt.Sprintf("%d of %d are free, %d held, %d used ahead of the clock", free, p.Layout().Workers, count["held"], count["ahead"])
	switch {
	case free == 0 && count["held"] == 0:
		d.find(levelProblem, aboutWorkers, p.Name(), "%s: no worker is left for firn new", text)
	case free == 0:
		d.find(levelWarning, aboutWorkers, p.Name(), "%s: no worker is left for another firn new", text)
	default:
		d.find(levelOK, aboutWorkers, p.Name(), "%s", text)
	}
}

// examineLifetime looks at the end of the pool's timestamps.
func (d *doctor) examineLifetime(p *lease.Pool, now time.Time) {
	const soon = 5 * 365 * 24 * time.Hour
	end := ends(p.Layout())
	when := fmt.Sprintf("%s (%s)", cli.TimeText(end), cli.Relative(end, now))
	switch {
	case !end.After(now):
		d.find(levelProblem, aboutLifetime, p.Name(), "the timestamps of its IDs ran out at %s: make IDs of another format: with a later epoch, IDs would repeat", when)
	case end.Before(now.Add(soon)):
		d.find(levelWarning, aboutLifetime, p.Name(), "the timestamps of its IDs run out at %s: plan for IDs of another format: with a later epoch, IDs would repeat", when)
	default:
		d.find(levelOK, aboutLifetime, p.Name(), "the timestamps of its IDs last until %s", when)
	}
}

// ntpStatus is the system's view of the accuracy of the clock.
type ntpStatus struct {
	synchronised    bool
	estimated, most time.Duration // errors of the clock
}

// examineClock looks at the system's clock.
func (d *doctor) examineClock() {
	switch status, err := readNTP(); {
	case err != nil:
		d.find(levelNote, aboutClock, "", "whether the system keeps the clock right: %v", err)
	case !status.synchronised:
		d.find(levelWarning, aboutClock, "", "the system does not keep the clock right (no NTP, or none yet): IDs stay distinct, but their times may be wrong")
	default:
		d.find(levelOK, aboutClock, "", "the system keeps the clock right; the estimated error is %v, at most %v", status.estimated, status.most)
	}
	const (
		watch = 100 * time.Millisecond
		step  = 10 * time.Millisecond // a hundred times what slewing changes meanwhile
	)
	time.Sleep(watch - time.Since(d.began))
	now := time.Now()
	passed := now.Sub(d.began)                        // by the monotonic clock
	by := now.Round(0).Sub(d.began.Round(0)) - passed // by the wall clock, minus passed
	if by.Abs() > step {
		d.find(levelWarning, aboutClock, "", "the clock was set by %v during this very check", by.Round(time.Millisecond))
		return
	}
	d.find(levelOK, aboutClock, "", "the clock ran evenly during this check, of %v", passed.Round(time.Millisecond))
}

// tell writes the findings. The error reports that a finding is a problem.
func (d *doctor) tell(s *cli.Streams, asJSON bool) error {
	var out bytes.Buffer
	pen := levelPens(s.Colour)
	problems := false
	var said []string // hints of many findings are often the same
	for _, f := range d.findings {
		f.Text = cli.Printable(f.Text)
		problems = problems || f.Level == levelProblem
		if asJSON {
			if err := cli.WriteJSON(&out, f); err != nil {
				return err
			}
			continue
		}
		about := f.About
		if f.Pool != "" {
			about += " of " + f.Pool
		}
		const indent = 9
		text := cli.Wrap(about+": "+f.Text, s.Limit()-indent, strings.Repeat(" ", indent))
		fmt.Fprintf(&out, "%s  %s\n", pen[f.Level].Sprintf("%-7s", f.Level), text)
		for _, hint := range f.Hints {
			if !slices.Contains(said, hint) {
				said = append(said, hint)
				fmt.Fprintf(&out, "%*s%s\n", indent, "", cli.Printable(hint))
			}
		}
	}
	if _, err := s.Out.Write(out.Bytes()); err != nil {
		return err
	}
	if problems {
		return cli.ErrReported
	}
	return nil
}

// levelPens returns the colours of findings.
func levelPens(colour bool) map[string]*color.Color {
	return map[string]*color.Color{
		levelOK: cli.Pen(colour, color.FgGreen), levelNote: cli.Pen(colour, color.FgCyan),
		levelWarning: cli.Pen(colour, color.FgYellow), levelProblem: cli.Pen(colour, color.FgRed),
	}
}
