package pools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/grant"
)

// newShow returns the command firn pool show.
func newShow(s *cli.Streams) *cobra.Command {
	var (
		st     stores.State
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a pool and its workers",
		Long: `Show a pool, and each worker that was used: the holder or the last holder, and until when
the times are used. The states of workers:

  held      a process has the worker, and renews in time
  expired   the interval is over: the process died or is stopped; the worker can be taken
  free      the last holder returned the worker
  ahead     free, but used up to a time in the future
  missing   the record is gone: nobody gets the worker until a rescue
  damaged   the record is damaged: as above
  unknown   the record cannot be read for another reason

Errors of records go to stderr, the other workers are still shown, and the exit code
is 1.

--json writes an object per line, first the pool:

  {"pool":"nanoflake","uuid":"…","format":"nanoflake","epoch":"…","unit_us":1000,
   "widths":[41,10,12],"workers":1024,"used":1,"created":"…","expires":"…"}

After a rescue the pool has "rescued" and "floor", as firn pool rescue prints them. Then
come the used workers, by number. The last interval goes from "from" to "until":

  {"pool":"nanoflake","worker":3,"state":"held","holder":"…","from":"…","until":"…",
   "since":"…","holders":[{"host":"web-3","process":20963,"program":"orders","name":"",
   "leases":1,"since":"…","until":"…"}]}

The holder has held the worker since "since". A free worker has "given_back", when the
last holder gave the worker back. "holders" are the last holders, the newest first, as
firn pool who prints them.

A worker without a readable record has an "error" instead:

  {"pool":"nanoflake","worker":3,"state":"damaged","error":"…"}`,
		Example:               "  firn new nanoflake\n  firn pool show nanoflake\n  firn pool show nanoflake --json",
		DisableFlagsInUseLine: true,
		Args:                  onePool,
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), s, &st, args[0], asJSON)
		},
	}
	cmd.ValidArgsFunction = st.CompletePool
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per line")
	st.AddTo(cmd)
	return cmd
}

// show shows a pool and the workers that have been used.
func show(ctx context.Context, s *cli.Streams, st *stores.State, name string, asJSON bool) error {
	store, at, err := st.Look(ctx)
	if err != nil {
		return st.Explain(err)
	}
	if store == nil {
		return st.Explain(stores.NoPool(name, at, nil))
	}
	defer store.Close()
	p, workers, err := stores.ReadPool(ctx, store, name)
	if p == nil || err != nil && len(workers) == 0 {
		return st.Explain(err)
	}
	for i, w := range workers {
		workers[i].Err = st.Explain(w.Err)
	}
	if asJSON {
		err = showPoolJSON(s.Out, p, workers, time.Now())
	} else {
		err = showPool(s.Out, cli.NewPens(s.Colour), p, workers, time.Now())
	}
	if bad := recordErrors(workers); err == nil && len(bad) > 0 {
		err = cli.ErrReported
		if flushed := s.Out.Flush(); flushed != nil {
			return flushed
		}
		for _, err := range bad {
			cli.Complain(s.Err, err)
		}
	}
	return err
}

// recordErrors returns the errors of workers' records. An interrupted rescue is an error of every
// record, and is returned once.
func recordErrors(workers []lease.Worker) (bad []error) {
	rescuing := false
	for _, w := range workers {
		again := errors.Is(w.Err, lease.ErrRescuing)
		if w.Err != nil && !(again && rescuing) {
			bad = append(bad, w.Err)
		}
		rescuing = rescuing || again
	}
	return bad
}

// showPoolJSON writes a pool and its workers as objects, a line each.
func showPoolJSON(w io.Writer, p *lease.Pool, workers []lease.Worker, now time.Time) error {
	if err := cli.WriteJSON(w, aboutPool(p, len(workers))); err != nil {
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

// showPool writes a pool and its workers for people.
func showPool(w io.Writer, pens cli.Pens, p *lease.Pool, workers []lease.Worker, now time.Time) error {
	layout := p.Layout()
	var b bytes.Buffer
	row := func(name, form string, args ...any) {
		fmt.Fprintf(&b, "%s  %s\n", pens.Faint.Sprintf("%-7s", name), fmt.Sprintf(form, args...))
	}
	expires := ends(layout)
	row("pool", "%s", pens.Title.Sprint(p.Name()))
	row("uuid", "%s", p.UUID())
	row("format", "%s", layout.Format)
	row("epoch", "%s", cli.TimeText(layout.Epoch.UTC()))
	row("unit", "%s", layout.Unit)
	row("widths", "%s bits", strings.Trim(fmt.Sprint(layout.Widths), "[]"))
	row("workers", "%d, %d used", layout.Workers, len(workers))
	row("created", "%s  %s", cli.TimeText(p.Created().Truncate(time.Second)), cli.Relative(p.Created(), now))
	if rescued, floor := p.Rescued(); !floor.IsZero() {
		row("rescued", "%s  %s, and workers are available from %s on", cli.TimeText(rescued.Truncate(time.Second)), cli.Relative(rescued, now), cli.TimeText(floor))
	}
	row("expires", "%s  %s", cli.TimeText(expires.Truncate(time.Second)), cli.Relative(expires, now))
	if len(workers) > 0 {
		b.WriteByte('\n')
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "WORKER\tSTATE\tFROM\t\tUNTIL\t\tHOLDER\n")
		for _, worker := range workers {
			if worker.Err != nil {
				fmt.Fprintf(table, "%d\t%s\t\t\t\t\t\n", worker.Number, stateOf(worker, now))
				continue
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", worker.Number, stateOf(worker, now),
				milliText(worker.From), cli.Relative(worker.From, now), milliText(worker.Until), cli.Relative(worker.Until, now), cli.Printable(holderText(worker, now)))
		}
		table.Flush()
	}
	for line := range bytes.Lines(b.Bytes()) { // an empty last column leaves trailing blanks
		if _, err := w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}

func milliText(t time.Time) string { return makers.TimeText(t) }

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
	if l.Format == "scru160" {
		unit = time.Millisecond // the layout has the counter's unit
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

	Rescued *jsonTime `json:"rescued,omitempty"`
	Floor   *jsonTime `json:"floor,omitempty"`
}

// workerObject is a worker in JSON.
type workerObject struct {
	Pool   string   `json:"pool"`
	Worker int      `json:"worker"`
	State  string   `json:"state"`
	Holder string   `json:"holder"`
	From   jsonTime `json:"from"`
	Until  jsonTime `json:"until"`

	Since   *jsonTime       `json:"since,omitempty"`
	Back    *jsonTime       `json:"given_back,omitempty"`
	Holders []*holderObject `json:"holders"`
}

func aboutWorker(p *lease.Pool, w lease.Worker, now time.Time) workerObject {
	o := workerObject{Pool: p.Name(), Worker: w.Number, State: stateOf(w, now), Holder: w.Holder, From: jsonTime{w.From}, Until: jsonTime{w.Until},
		Holders: []*holderObject{}}
	if w.Held {
		o.Since = &jsonTime{w.Since}
	}
	if !w.Back.IsZero() {
		o.Back = &jsonTime{w.Back}
	}
	for _, h := range w.Holders {
		o.Holders = append(o.Holders, aboutHolder(h))
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
	if rescued, floor := p.Rescued(); !floor.IsZero() {
		about.Rescued, about.Floor = &jsonTime{rescued}, &jsonTime{floor}
	}
	return about
}
