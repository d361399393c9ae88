package pools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// shortestEvery is the shortest pause of --watch between two readings of a pool.
const shortestEvery = 100 * time.Millisecond

// watch shows the pool until a signal ends the command. An error of the first reading ends the command;
// later errors are shown, and watch goes on.
func (v *view) watch(ctx context.Context) error {
	ctx, stop := cli.UntilSignal(ctx, &v.s.Cleanup)
	defer stop()
	store, err := v.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	w := &watcher{view: v, store: store}
	first := w.read(ctx)
	if first.err != nil {
		return ended(ctx, first.err)
	}
	w.take(first)
	if v.s.Terminal() && !v.json {
		return w.onTerminal(ctx)
	}
	for {
		if err := w.block(); err != nil {
			return err
		}
		for again := true; again; again = w.err != nil {
			if pause.For(ctx, v.every) != nil {
				return context.Cause(ctx) // the signal
			}
			if w.take(w.read(ctx)); w.err != nil && ctx.Err() == nil {
				cli.Complain(v.s.Err, w.err)
			}
		}
	}
}

// ended returns the signal that has ended ctx, or else err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A watcher reads a pool again and again, and shows the last reading without an error.
type watcher struct {
	*view
	store driver.Store
	reading
	seen map[int]tenure
}

// A reading is what a pool was at a time, or an error.
type reading struct {
	pool    *lease.Pool
	workers []lease.Worker
	at      time.Time
	err     error
}

// A tenure is what a watcher has seen of one holder of a worker. Records do not tell the window of a
// lease, nor when and how often the lease was renewed.
type tenure struct {
	since    time.Time
	until    time.Time     // the end of the last interval seen
	window   time.Duration // the longest time to the end of an interval seen
	renewals int
	renewed  time.Time // when the last renewal was seen
}

// read reads the pool.
func (w *watcher) read(ctx context.Context) reading {
	p, workers, err := w.view.read(ctx, w.store)
	return reading{p, workers, time.Now(), err}
}

// take makes a reading the last. After an error, the pool is as it was read before.
func (w *watcher) take(r reading) {
	if w.err = r.err; r.err == nil {
		w.reading = r
		w.seen = watchTenures(w.seen, r.workers, r.at)
	}
}

// watchTenures returns the tenures of the workers that were held at a time. A later end of the same
// holder's interval is a renewal.
func watchTenures(seen map[int]tenure, workers []lease.Worker, at time.Time) map[int]tenure {
	now := make(map[int]tenure, len(seen))
	for _, worker := range workers {
		if worker.Err != nil || !worker.Held {
			continue
		}
		t, ok := seen[worker.Number]
		switch {
		case !ok || !t.since.Equal(worker.Since):
			t = tenure{since: worker.Since}
		case worker.Until.After(t.until):
			t.renewals++
			t.renewed = at
		}
		t.until = worker.Until
		t.window = max(t.window, worker.Until.Sub(at), worker.Until.Sub(worker.From))
		now[worker.Number] = t
	}
	return now
}

// block writes the pool as it was read, for a reader other than a terminal.
func (w *watcher) block() error {
	var err error
	if w.json {
		err = showPoolJSON(w.s.Out, w.pool, len(w.workers), w.wanted(w.workers), w.at, &jsonTime{w.at})
	} else {
		lines := append(w.lines(w.at, w.s.Limit(), 0), "", "")
		_, err = w.s.Out.WriteString(strings.Join(lines, "\n"))
	}
	return cmp.Or(err, w.s.Out.Flush())
}

// onTerminal redraws the screen until a signal ends ctx. Afterwards the screen is as before, with the last
// picture below. While a reading waits for the store, the picture goes on.
func (w *watcher) onTerminal(ctx context.Context) error {
	screen := cli.OpenScreen(w.s)
	defer screen.Close()
	redraw := min(w.every, time.Second) * 5 / 4
	readings := make(chan reading)
	var reader sync.WaitGroup
	defer reader.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader.Go(func() {
		for pause.For(ctx, w.every) == nil {
			select {
			case readings <- w.read(ctx):
			case <-ctx.Done():
			}
		}
	})
	for {
		columns, rows := w.s.Size()
		if err := screen.Draw(w.lines(time.Now(), columns, rows)); err != nil {
			return err
		}
		select {
		case r := <-readings:
			w.take(r)
		case <-time.After(redraw): // windows get shorter while the store is slow
		case <-screen.Changed():
		case <-ctx.Done():
			screen.Close()
			columns, rows := w.s.Size()
			if _, err := fmt.Fprintln(w.s.Out, strings.Join(w.lines(time.Now(), columns, rows), "\n")); err != nil {
				return err
			}
			return context.Cause(ctx)
		}
	}
}

// fold returns the lines that fit so many rows; 0 rows are no limit. The last line says how many lines are
// missing, beside those that nobody has made.
func fold(lines []string, rows, unmade int) []string {
	if rows < 1 || len(lines)+unmade <= rows {
		return lines
	}
	shown := min(rows-1, len(lines))
	return append(slices.Clone(lines[:shown]), fmt.Sprintf("… lines left out: %d (see --worker)", len(lines)-shown+unmade))
}

// lines returns the picture of the pool, in so many rows; 0 rows are no limit.
func (w *watcher) lines(now time.Time, columns, rows int) []string {
	pens := cli.NewPens(w.s.Colour)
	layout := w.pool.Layout()
	wrap := func(text string) []string { return strings.Split(cli.Wrap(text, columns, "  "), "\n") }
	lines := wrap(fmt.Sprintf("%s  %s, %d workers, in %s", w.pool.Name(), layout.Format, layout.Workers, w.store))
	lines[0] = strings.Replace(lines[0], w.pool.Name(), pens.Title.Sprint(w.pool.Name()), 1)
	lines = append(lines, wrap(w.readings(now))...)
	lines = append(lines, "", heldLine(w.s.Colour, w.workers, layout.Workers, now, columns))
	lines = append(lines, wrap(countsLine(w.workers, layout.Workers, now))...)
	shown := firstOf(w.wanted(w.workers), now)
	unmade := 0
	switch {
	case len(shown) > rows && rows > 0: // a pool can have 65 536 workers, and each is a line at least
		unmade = len(shown) - rows
		shown = shown[:rows]
		fallthrough
	case len(shown) > 0:
		lines = append(lines, "")
		lines = append(lines, w.table(shown, now).Lines(columns)...)
	case w.worker.Given:
		lines = append(lines, "", fmt.Sprintf("worker %d was never used", w.worker.Value))
	}
	return fold(lines, rows, unmade)
}

// firstOf returns workers in the order of the picture: those that an operator wants to see first, then by
// number.
func firstOf(workers []lease.Worker, now time.Time) []lease.Worker {
	workers = slices.Clone(workers)
	slices.SortStableFunc(workers, func(a, b lease.Worker) int {
		return cmp.Compare(slices.Index(states, stateOf(a, now)), slices.Index(states, stateOf(b, now)))
	})
	return workers
}

// readings says of when the picture is, and why it is not of now.
func (w *watcher) readings(now time.Time) string {
	text := fmt.Sprintf("read at %s, every %v", w.at.UTC().Format("2006-01-02 15:04:05Z"), w.every)
	if _, floor := w.pool.Recovered(); floor.After(now) {
		text += fmt.Sprintf("; recovered: nobody gets a worker before %s", cli.TimeText(floor))
	}
	if w.err != nil {
		text += fmt.Sprintf(" (%s); since then: %s", cli.Relative(w.at, now), cli.Printable(w.err.Error()))
	}
	return text
}

// heldLine says which share of the workers is held, in words and as a bar.
func heldLine(colour bool, workers []lease.Worker, all int, now time.Time, columns int) string {
	held := countStates(workers, now)["held"]
	text := fmt.Sprintf("held  %d of %d workers, %.1f %%  ", held, all, 100*float64(held)/float64(all))
	const longest, shortest = 40, 10
	if room := columns - len(text); room >= shortest {
		return text + bar(levelPens(colour)[levelOK], float64(held)/float64(all), min(room, longest))
	}
	return strings.TrimRight(text, " ")
}

// bar returns a bar of so many columns, filled in part from the left. A part above 0 shows.
func bar(pen *color.Color, part float64, columns int) string {
	full := min(max(int(part*float64(columns)+0.5), 0), columns)
	if part > 0 {
		full = max(full, 1)
	}
	return pen.Sprint(strings.Repeat("█", full)) + strings.Repeat("░", columns-full)
}

// states lists the states of workers, those first that an operator wants to see first.
var states = []string{"missing", "damaged", "unknown", "held", "expired", "ahead", "free"}

func countStates(workers []lease.Worker, now time.Time) map[string]int {
	count := make(map[string]int)
	for _, w := range workers {
		count[stateOf(w, now)]++
	}
	return count
}

// countsLine says how many workers are in each state but held.
func countsLine(workers []lease.Worker, all int, now time.Time) string {
	count := countStates(workers, now)
	var parts []string
	for _, state := range states {
		if n := count[state]; n > 0 && state != "held" {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d never used", all-len(workers))), ", ")
}

// table returns the table of workers.
func (w *watcher) table(workers []lease.Worker, now time.Time) *cli.Table {
	t := &cli.Table{Columns: []cli.Column{
		{Head: "WORKER"}, {Head: "STATE", Pen: statePens(w.s.Colour)}, {Head: "WINDOW", Drop: 2}, {Head: "WINDOW"},
		{Head: "RENEWALS", Drop: 4}, {Head: "RENEWALS", Drop: 1}, {Head: "SINCE", Drop: 3}, {Head: "HOLDER"},
	}}
	for _, worker := range workers {
		number, state := strconv.Itoa(worker.Number), stateOf(worker, now)
		switch {
		case worker.Err != nil:
			t.Add(number, state, "", "", "", "", "", cli.Printable(worker.Err.Error()))
		case worker.Held:
			left, seen := max(worker.Until.Sub(now), 0), w.seen[worker.Number]
			t.Add(number, state, bar(color.New(), float64(left)/float64(max(seen.window, 1)), 10), seconds(left)+" left",
				strconv.Itoa(seen.renewals), lastSeen(seen.renewed, now), cli.Relative(worker.Since, now), cli.Printable(holderText(worker)))
		default:
			t.Add(number, state, "", "", "", "", relative(worker.Back, now), cli.Printable(holderText(worker)))
		}
	}
	return t
}

// lastSeen says when a renewal was seen last, or "" if none was.
func lastSeen(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "last " + cli.Relative(t, now)
}

// seconds returns a duration in seconds, with a tenth if it is short.
func seconds(d time.Duration) string {
	if d = max(d, 0); d < 100*time.Second {
		return fmt.Sprintf("%4.1f s", d.Seconds())
	}
	return fmt.Sprintf("%4.0f s", d.Seconds())
}
