package pools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// newShow returns the command firn pool show.
func newShow(s *cli.Streams) *cobra.Command {
	v := view{s: s}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a pool and its workers",
		Example: `  firn pool show nanoflake
  firn pool show nanoflake --json
  firn pool show nanoflake --worker 3 --history`,
		Args: onePool,
		RunE: func(cmd *cobra.Command, args []string) error {
			v.name = args[0]
			if v.history && v.json {
				return cli.Usagef("--history: cannot be used with --json, which has the holders")
			}
			return v.show(cmd.Context())
		},
	}
	cmd.ValidArgsFunction = v.st.CompletePool
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&v.worker, "worker", "show this worker alone")
	flags.BoolVar(&v.history, "history", false, "show the last holders of each worker")
	flags.BoolVar(&v.json, "json", false, "write one JSON object per line")
	v.st.AddTo(cmd)
	cli.Complete(cmd, "worker")
	return cmd
}

// A view is a run of firn pool show.
type view struct {
	s       *cli.Streams
	st      stores.State
	name    string // of the pool
	worker  cli.Number
	history bool
	json    bool
}

// show shows a pool and the workers that have been used.
func (v *view) show(ctx context.Context) error {
	store, _, err := v.st.LookFor(ctx, v.name)
	if err != nil {
		return v.st.Hint(err)
	}
	defer store.Close()
	p, workers, err := v.read(ctx, store)
	if err != nil {
		return err
	}
	if err := v.write(p, workers, time.Now()); err != nil {
		return err
	}
	return v.s.Report(recordErrors(v.wanted(workers)))
}

// read reads the pool and its used workers, or the worker of the flag. Errors of workers' records are in
// the workers.
func (v *view) read(ctx context.Context, store driver.Store) (*lease.Pool, []lease.Worker, error) {
	p, workers, err := stores.ReadPool(ctx, store, v.name)
	if p == nil || err != nil && len(workers) == 0 {
		return nil, nil, v.st.Hint(err)
	}
	if last := p.Layout().Workers - 1; v.worker.Given && (v.worker.Value < 0 || v.worker.Value > last) {
		return nil, nil, cli.BadFlag("worker", v.worker.Text, fmt.Sprintf("is not in 0 to %d", last))
	}
	for i, w := range workers {
		workers[i].Err = v.st.Hint(w.Err)
	}
	return p, workers, nil
}

// wanted returns the workers to show.
func (v *view) wanted(workers []lease.Worker) []lease.Worker {
	if !v.worker.Given {
		return workers
	}
	i := slices.IndexFunc(workers, func(w lease.Worker) bool { return w.Number == v.worker.Value })
	if i < 0 {
		return nil
	}
	return workers[i : i+1]
}

// write writes a pool and its workers, as the flags say.
func (v *view) write(p *lease.Pool, workers []lease.Worker, now time.Time) error {
	if v.json {
		return showPoolJSON(v.s.Out, p, len(workers), v.wanted(workers), now)
	}
	lines := poolLines(cli.NewPens(v.s.Colour), p, len(workers), now, v.s.Limit())
	shown := v.wanted(workers)
	table := workerTable
	if v.history {
		table = historyTable
	}
	switch {
	case len(shown) > 0:
		lines = append(lines, "")
		lines = append(lines, table(v.s.Colour, shown, now).Lines(v.s.Limit())...)
	case v.worker.Given:
		lines = append(lines, "", fmt.Sprintf("worker %d was never used", v.worker.Value))
	}
	_, err := io.WriteString(v.s.Out, strings.Join(lines, "\n")+"\n")
	return err
}

// recordErrors returns the errors of workers' records. An interrupted recovery is an error of every
// record, and is returned once.
func recordErrors(workers []lease.Worker) (bad []error) {
	recovering := false
	for _, w := range workers {
		again := errors.Is(w.Err, lease.ErrRecovering)
		if w.Err != nil && !(again && recovering) {
			bad = append(bad, w.Err)
		}
		recovering = recovering || again
	}
	return bad
}

// showPoolJSON writes a pool and workers as objects, a line each.
func showPoolJSON(w io.Writer, p *lease.Pool, used int, workers []lease.Worker, now time.Time) error {
	if err := cli.WriteJSON(w, aboutPool(p, used)); err != nil {
		return err
	}
	for _, worker := range workers {
		var object any = aboutWorker(p, worker, now)
		if worker.Err != nil {
			object = unreadObject{Pool: p.Name(), Worker: worker.Number, State: stateOf(worker, now), Error: worker.Err.Error()}
		}
		if err := cli.WriteJSON(w, object); err != nil {
			return err
		}
	}
	return nil
}

// poolLines returns the description of a pool for people.
func poolLines(pens cli.Pens, p *lease.Pool, used int, now time.Time, columns int) []string {
	const indent = 11
	layout := p.Layout()
	var lines []string
	row := func(name, form string, args ...any) {
		text := cli.Wrap(fmt.Sprintf(form, args...), columns-indent, strings.Repeat(" ", indent))
		lines = append(lines, strings.Split(pens.Faint.Sprintf("%-9s", name)+"  "+text, "\n")...)
	}
	expires := ends(layout)
	row("pool", "%s", pens.Title.Sprint(p.Name()))
	row("uuid", "%s", p.UUID())
	row("format", "%s", layout.Format)
	row("epoch", "%s", cli.TimeText(layout.Epoch.UTC()))
	row("unit", "%s", layout.Unit)
	row("widths", "%s bits", strings.Trim(fmt.Sprint(layout.Widths), "[]"))
	row("workers", "%d, %d used", layout.Workers, used)
	row("created", "%s  %s", cli.TimeText(p.Created().Truncate(time.Second)), cli.Relative(p.Created(), now))
	if recovered, floor := p.Recovered(); !floor.IsZero() {
		row("recovered", "%s  %s, and workers are available from %s on", cli.TimeText(recovered.Truncate(time.Second)), cli.Relative(recovered, now), cli.TimeText(floor))
	}
	row("expires", "%s  %s", cli.TimeText(expires.Truncate(time.Second)), cli.Relative(expires, now))
	return lines
}

// workerTable returns the table of workers and their holders.
func workerTable(colour bool, workers []lease.Worker, now time.Time) *cli.Table {
	t := &cli.Table{Columns: []cli.Column{
		{Head: "WORKER"}, {Head: "STATE", Pen: statePens(colour)}, {Head: "FROM", Drop: 1}, {Head: "FROM", Drop: 1},
		{Head: "UNTIL", Drop: 3}, {Head: "UNTIL"}, {Head: "SINCE", Drop: 2}, {Head: "SINCE", Drop: 4}, {Head: "HOLDER"},
	}}
	for _, w := range workers {
		number, state := strconv.Itoa(w.Number), stateOf(w, now)
		if w.Err != nil {
			t.Add(number, state)
			continue
		}
		since := w.Back
		if w.Held {
			since = w.Since
		}
		t.Add(number, state, milliText(w.From), cli.Relative(w.From, now), milliText(w.Until), cli.Relative(w.Until, now),
			milliText(since), relative(since, now), cli.Printable(holderText(w)))
	}
	return t
}

// historyTable returns the table of all holders that the records of workers name.
func historyTable(_ bool, workers []lease.Worker, now time.Time) *cli.Table {
	t := &cli.Table{Columns: []cli.Column{
		{Head: "WORKER"}, {Head: "SINCE"}, {Head: "SINCE", Drop: 1}, {Head: "UNTIL", Drop: 2}, {Head: "UNTIL", Drop: 1}, {Head: "HOLDER"},
	}}
	for _, w := range workers {
		number := strconv.Itoa(w.Number)
		for _, h := range w.Holders {
			t.Add(number, milliText(h.Since), cli.Relative(h.Since, now), milliText(h.Until), cli.Relative(h.Until, now), cli.Printable(h.String()))
		}
		if len(w.Holders) == 0 && w.Err == nil {
			t.Add(number, "", "", "", "", "no holder is recorded")
		}
	}
	return t
}

// milliText returns a time in milliseconds, or "" for no time.
func milliText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return makers.TimeText(t)
}

// relative returns roughly how far a time is from now, or "" for no time.
func relative(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return cli.Relative(t, now)
}

// freeAhead is how far ahead the times of a worker may end while the worker still shows as free.
// Every worker that was just returned is a little ahead, and package lease takes such a worker too.
const freeAhead = 50 * time.Millisecond

// stateOf returns a worker's state. The help of firn pool show explains the states.
func stateOf(w lease.Worker, now time.Time) string {
	switch {
	case errors.Is(w.Err, lease.ErrMissing):
		return "missing"
	case errors.Is(w.Err, lease.ErrDamaged):
		return "damaged"
	case w.Err != nil:
		return "unknown"
	case w.Held && w.Until.After(now):
		return "held"
	case w.Held:
		return "expired"
	case w.Until.After(now.Add(freeAhead)):
		return "ahead"
	}
	return "free"
}

// ends returns when the timestamps of a pool's IDs run out.
func ends(l grant.Layout) time.Time {
	unit := l.Unit
	if f, set, ok := formats.SettingsOf(l); ok {
		if s, err := f.Descriptor().Of(set); err == nil {
			unit = s.Unit // the unit of a layout can be that of a counter
		}
	}
	span := float64(unit.Microseconds()) // pools of other programs may have any widths
	if len(l.Widths) > 0 {
		span = math.Ldexp(span, l.Widths[0])
	}
	const longest = 1 << 62 // 146 000 years
	return time.UnixMicro(l.Epoch.UnixMicro() + int64(min(span, longest))).UTC()
}

// poolObject is a pool in JSON.
type poolObject struct {
	Pool    string   `json:"pool"`
	UUID    string   `json:"uuid"`
	Format  string   `json:"format"`
	Epoch   jsonTime `json:"epoch"`
	Unit    int64    `json:"unit_us"`
	Widths  []int    `json:"widths"`
	Workers int      `json:"workers"`
	Used    int      `json:"used"`
	Created jsonTime `json:"created"`
	Expires jsonTime `json:"expires"`

	Recovered *jsonTime `json:"recovered,omitempty"`
	Floor     *jsonTime `json:"floor,omitempty"`
}

// workerObject is a worker in JSON.
type workerObject struct {
	Pool   string   `json:"pool"`
	Worker int      `json:"worker"`
	State  string   `json:"state"`
	Holder string   `json:"holder"`
	From   jsonTime `json:"from"`
	Until  jsonTime `json:"until"`

	Since   *jsonTime        `json:"since,omitempty"`
	Back    *jsonTime        `json:"given_back,omitempty"`
	Holders []*makers.Object `json:"holders"`
}

func aboutWorker(p *lease.Pool, w lease.Worker, now time.Time) workerObject {
	o := workerObject{Pool: p.Name(), Worker: w.Number, State: stateOf(w, now), Holder: w.Holder, From: jsonTime{w.From}, Until: jsonTime{w.Until},
		Holders: []*makers.Object{}}
	if w.Held {
		o.Since = &jsonTime{w.Since}
	}
	if !w.Back.IsZero() {
		o.Back = &jsonTime{w.Back}
	}
	for _, h := range w.Holders {
		o.Holders = append(o.Holders, makers.ObjectOf(&h))
	}
	return o
}

// unreadObject is a worker without a readable record in JSON.
type unreadObject struct {
	Pool   string `json:"pool"`
	Worker int    `json:"worker"`
	State  string `json:"state"`
	Error  string `json:"error"`
}

// jsonTime is a time in JSON, as in the objects of package makers.
type jsonTime struct{ time.Time }

func (t jsonTime) MarshalJSON() ([]byte, error) { return makers.Time(t).MarshalJSON() }

func aboutPool(p *lease.Pool, used int) poolObject {
	l := p.Layout()
	about := poolObject{Pool: p.Name(), UUID: p.UUID(), Format: l.Format, Epoch: jsonTime{l.Epoch}, Unit: l.Unit.Microseconds(),
		Widths: l.Widths, Workers: l.Workers, Used: used, Created: jsonTime{p.Created()}, Expires: jsonTime{ends(l)}}
	if recovered, floor := p.Recovered(); !floor.IsZero() {
		about.Recovered, about.Floor = &jsonTime{recovered}, &jsonTime{floor}
	}
	return about
}

// statePens returns the colours of workers' states.
func statePens(colour bool) func(state string) *color.Color {
	pens := levelPens(colour)
	return func(state string) *color.Color {
		switch state {
		case "held":
			return pens[levelOK]
		case "expired", "ahead":
			return pens[levelWarning]
		case "missing", "damaged", "unknown":
			return pens[levelProblem]
		}
		return nil
	}
}
