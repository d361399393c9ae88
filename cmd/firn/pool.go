package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/leased"
)

// newPool returns the command firn pool.
func newPool(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "See to the pools that workers are taken from",
		Long: `See to the pools that firn new takes its workers from.

A pool is the worker numbers of one kind of IDs: of a format, its epoch and its widths.
It remembers of each worker which times were used with it and who has it now. It is kept
in files on this machine, where firn new makes the pool that it needs by itself, or in a
store that machines share, where firn pool create does, once. Addresses of stores, for
--store or $` + storeVariable + `:

` + forms() + `
What must not be seen is best kept out of an address: password-file=PATH and
password-env=VARIABLE say where a password is.

Do not delete a pool. If its store has lost something, or was restored from a backup,
firn pool rescue makes it safe: what a pool remembers keeps IDs from being made twice.`,
		Example: `  firn pool list
  firn pool show nanoflake
  firn pool doctor
  firn pool create nanoflake --store 'etcd://etcd-1,etcd-2,etcd-3/firn?ca=/etc/firn/ca.pem'`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("no command given: want %s", list(commandNames(cmd), "or"))
		},
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newPoolCreate(s), newPoolList(s), newPoolShow(s), newPoolDoctor(s), newPoolRescue(s))
	return cmd
}

// newPoolCreate returns the command firn pool create.
func newPoolCreate(s *streams) *cobra.Command {
	var (
		l      poolLayout
		st     state
		name   poolName
		beside bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "create FORMAT",
		Short: "Make a pool, and print its name and UUID",
		Long: `Make a pool, and print its name and UUID. It is an error if there is one of that name.

On this machine only a pool of a name of one's own has to be made: firn new makes the
others when it needs them. In a store that machines share every pool has to be, once;
what the store itself needs, such as a table, is made with it.

IDs are distinct within a pool. Two pools for the same format, epoch and widths make the
same IDs, so beside one of them no other is made unless --beside says that this does no
harm: IDs of the two never meet. A pool that is damaged is no reason for another one:
firn pool rescue mends it.`,
		Example: `  firn pool create nanoflake --name orders --epoch 2020-01-01T00:00:00Z
  firn new nanoflake --pool orders --epoch 2020-01-01T00:00:00Z
  firn pool create snowflakesi --clock-bits 41 --machine-bits 10
  firn pool create nanoflake --store 'postgres://ids@db/app?password-file=/run/secrets/db'
  firn pool create scru160 --node-bits 8`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeFormat,
		Args:                  oneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := l.pool(args[0])
			if err != nil {
				return err
			}
			if name != "" {
				wanted.Name = string(name)
			}
			ctx := cmd.Context()
			store, at, err := st.open(ctx)
			if err != nil {
				return st.explain(err)
			}
			defer store.Close()
			if p, ok := store.(driver.Preparer); ok {
				if err := p.Prepare(ctx); err != nil {
					return st.explain(err)
				}
			}
			if err := besides(ctx, s, &st, store, at, wanted, beside); err != nil {
				return err
			}
			warn(ctx, s, store)()
			p, err := lease.Create(ctx, store, wanted.Name, wanted.Layout)
			if err != nil {
				return st.explain(err)
			}
			if asJSON {
				return writeJSON(s.out, aboutPool(p, 0))
			}
			_, err = fmt.Fprintln(s.out, p.Name(), p.UUID())
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&name, "name", "the pool's name (default: that of the pool which\nfirn new takes for the format and its settings)")
	l.addTo(cmd)
	flags.BoolVar(&beside, "beside", false, "make it beside a pool for the same IDs: see above")
	flags.BoolVar(&asJSON, "json", false, "print the pool in JSON, as firn pool list does")
	st.addTo(cmd)
	complete(cmd, "name")
	return cmd
}

// besides looks for pools that are for the same IDs as the one that is wanted, or may be. Their IDs
// are those of that one: it returns an error or, if they are meant to be beside each other, warns.
func besides(ctx context.Context, s *streams, st *state, store driver.Store, at place, wanted leased.Pool, meant bool) error {
	names, err := poolNames(ctx, store, at)
	if err != nil {
		return st.explain(err)
	}
	for _, name := range names {
		if name == wanted.Name || ofTorture(name) {
			continue // which is for lease.Create to say
		}
		p, err := lease.Lookup(ctx, store, name)
		if errors.Is(err, lease.ErrNoPool) || err == nil && !alike(leased.Pool{Name: name, Layout: p.Layout()}, wanted) {
			continue
		}
		text := fmt.Sprintf("pool %s is for the same IDs as pool %s", wanted.Name, name)
		do := "use pool " + name
		if err != nil {
			text = fmt.Sprintf("pool %s may be for the same IDs as pool %s, which cannot be read (%v)", wanted.Name, name, st.explain(err))
			do = "mend that one first"
		}
		text += ": IDs of the one can be those of the other: "
		if !meant {
			return &reworded{text + do + ", or add --beside if IDs of the two never meet", err}
		}
		complain(s.err, errors.New("warning: "+text+"see that IDs of the two never meet"))
	}
	return nil
}

// newPoolList returns the command firn pool list.
func newPoolList(s *streams) *cobra.Command {
	var (
		st     state
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pools",
		Long: `List the pools: their names and formats, how many of their workers have been used, and
when they were created. A pool that cannot be read is an error; the others are listed
all the same, and the exit code is 1.

With --json, an object a line for each pool, as the first of firn pool show.`,
		Example:               "  firn pool list\n  firn pool list --json",
		DisableFlagsInUseLine: true,
		Args:                  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			store, at, err := st.look(ctx)
			if err != nil {
				return st.explain(err)
			}
			if store == nil {
				return nil // no pools
			}
			defer store.Close()
			found, err := survey(ctx, store, at)
			if err != nil {
				return st.explain(err)
			}
			return listPools(s, &st, found, asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON, one object a line")
	st.addTo(cmd)
	return cmd
}

func listPools(s *streams, st *state, found []lease.Found, asJSON bool) error {
	var bad []error
	var rows bytes.Buffer
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	head := "NAME\tFORMAT\tWORKERS USED\tCREATED\n"
	for _, f := range found {
		if f.Err != nil {
			bad = append(bad, st.explain(f.Err))
			continue
		}
		about := aboutPool(f.Pool, len(f.Workers))
		var err error
		if asJSON {
			err = writeJSON(&rows, about)
		} else {
			_, err = fmt.Fprintf(table, "%s%s\t%s\t%d of %d\t%s\n", head, about.Pool, about.Format, about.Used, about.Workers, timeText(about.Created.Truncate(time.Second)))
			head = ""
		}
		if err != nil {
			return err
		}
	}
	table.Flush()
	if _, err := s.out.Write(rows.Bytes()); err != nil {
		return err
	}
	if len(bad) == 0 {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	for _, err := range bad {
		complain(s.err, err)
	}
	return errReported
}

// newPoolShow returns the command firn pool show.
func newPoolShow(s *streams) *cobra.Command {
	var (
		st     state
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a pool, and who has which worker",
		Long: `Show a pool, and the workers that have been used: who has each, and until when its
times are used. The states of workers:

  held      a process has it, and asks for more time before that is over
  ran out   the time is over: its process has died or is stopped; anybody may take it
  free      its last process has given it back
  ahead     free, but its times are used up to a time that is yet to come
  missing   its record is gone: nobody gets a worker of the pool until it was rescued
  damaged   its record is none, and nobody gets one either
  unknown   its record cannot be read for another reason

If records cannot be read, all others are shown; what is wrong with each is said on
stderr, and the exit code is 1.

With --json, an object a line: first the pool,

  {"pool":"nanoflake","uuid":"…","format":"nanoflake","epoch":"…","unit_us":1000,
   "widths":[41,10,12],"workers":1024,"used":1,"created":"…","expires":"…"}

with "rescued" and "floor" as firn pool rescue has them, if it was; then each worker that
has been used, by number; the times last allotted to it go from "from" to "until":

  {"pool":"nanoflake","worker":3,"state":"held","holder":"…","from":"…","until":"…"}

One whose record cannot be read has "error" in their place:

  {"pool":"nanoflake","worker":3,"state":"damaged","error":"…"}`,
		Example:               "  firn pool show nanoflake\n  firn pool show nanoflake --json",
		DisableFlagsInUseLine: true,
		Args:                  onePool,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, at, err := st.look(cmd.Context())
			if err != nil {
				return st.explain(err)
			}
			if store == nil {
				return st.explain(noPool(args[0], at, nil))
			}
			defer store.Close()
			p, workers, err := readPool(cmd.Context(), store, args[0])
			if p == nil || err != nil && len(workers) == 0 {
				return st.explain(err)
			}
			for i, w := range workers {
				workers[i].Err = st.explain(w.Err)
			}
			if asJSON {
				err = showPoolJSON(s.out, p, workers, time.Now())
			} else {
				err = showPool(s.out, newPens(s.colour), p, workers, time.Now())
			}
			if bad := recordErrors(workers); err == nil && len(bad) > 0 {
				err = errReported
				if flushed := s.out.Flush(); flushed != nil {
					return flushed
				}
				for _, err := range bad {
					complain(s.err, err)
				}
			}
			return err
		},
	}
	cmd.ValidArgsFunction = st.completePool
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON, one object a line")
	st.addTo(cmd)
	return cmd
}

// recordErrors returns what is wrong with the records of workers. What is so of all of them, since a
// rescue was interrupted, it says once.
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
	if err := writeJSON(w, aboutPool(p, len(workers))); err != nil {
		return err
	}
	for _, worker := range workers {
		var object any = workerObject{
			Pool: p.Name(), Worker: worker.Number, State: stateOf(worker, now), Holder: worker.Holder, From: jsonTime{worker.From}, Until: jsonTime{worker.Until},
		}
		if worker.Err != nil {
			object = unreadObject{Pool: p.Name(), Worker: worker.Number, State: stateOf(worker, now), Error: worker.Err.Error()}
		}
		if err := writeJSON(w, object); err != nil {
			return err
		}
	}
	return nil
}

// showPool writes a pool and its workers for people.
func showPool(w io.Writer, pens pens, p *lease.Pool, workers []lease.Worker, now time.Time) error {
	layout := p.Layout()
	var b bytes.Buffer
	row := func(name, form string, args ...any) {
		fmt.Fprintf(&b, "%s  %s\n", pens.faint.Sprintf("%-7s", name), fmt.Sprintf(form, args...))
	}
	expires := ends(layout)
	row("pool", "%s", pens.title.Sprint(p.Name()))
	row("uuid", "%s", p.UUID())
	row("format", "%s", layout.Format)
	row("epoch", "%s", timeText(layout.Epoch.UTC()))
	row("unit", "%s", layout.Unit)
	row("widths", "%s bits", strings.Trim(fmt.Sprint(layout.Widths), "[]"))
	row("workers", "%d, %d used", layout.Workers, len(workers))
	row("created", "%s  %s", timeText(p.Created().Truncate(time.Second)), relative(p.Created(), now))
	if rescued, floor := p.Rescued(); !floor.IsZero() {
		row("rescued", "%s  %s, and workers are had from %s on", timeText(rescued.Truncate(time.Second)), relative(rescued, now), timeText(floor))
	}
	row("expires", "%s  %s", timeText(expires.Truncate(time.Second)), relative(expires, now))
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
				milliText(worker.From), relative(worker.From, now), milliText(worker.Until), relative(worker.Until, now), printable(worker.Holder))
		}
		table.Flush()
	}
	for line := range bytes.Lines(b.Bytes()) { // an empty last column leaves blanks
		if _, err := w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}

func milliText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// freeAhead is how far ahead the times of a free worker may end for people not to care, who
// would otherwise see it of each that was just given back. The library takes it then too.
const freeAhead = 50 * time.Millisecond

// stateOf returns a worker's state in a word or two; firn pool show explains them.
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
		return "ran out"
	case w.Until.After(now.Add(freeAhead)):
		return "ahead"
	}
	return "free"
}

// ends returns when the timestamps of a pool's IDs run out.
func ends(l lease.Layout) time.Time {
	unit := l.Unit
	if l.Format == "scru160" {
		unit = time.Millisecond // of the timestamp; the layout has that of the counter
	}
	span := float64(unit.Microseconds()) // widths of other programs' pools may be anything
	if len(l.Widths) > 0 {
		span = math.Ldexp(span, l.Widths[0])
	}
	const longest = 1 << 62 // 146 000 years
	return time.UnixMicro(l.Epoch.UnixMicro() + int64(min(span, longest))).UTC()
}

// readPool returns a pool and the workers that have been used. With an error it returns what could be read.
func readPool(ctx context.Context, store driver.Store, name string) (*lease.Pool, []lease.Worker, error) {
	p, err := lease.Lookup(ctx, store, name)
	if err != nil {
		return nil, nil, err
	}
	workers, _, err := p.Workers(ctx)
	return p, workers, err
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
}

// unreadObject is a worker in JSON whose record cannot be read.
type unreadObject struct {
	Pool   string `json:"pool"`
	Worker int    `json:"worker"`
	State  string `json:"state"`
	Error  string `json:"error"`
}

// jsonTime is a time in JSON. Unlike a time.Time it may be after the year 9999, when the
// timestamps of scru160 end, and to where a clock that was wrong may have used a worker.
type jsonTime struct{ time.Time }

func (t jsonTime) MarshalJSON() ([]byte, error) { return json.Marshal(timeText(t.UTC())) }

func aboutPool(p *lease.Pool, used int) poolObject {
	l := p.Layout()
	about := poolObject{Pool: p.Name(), UUID: p.UUID(), Format: l.Format, Epoch: jsonTime{l.Epoch}, Unit: l.Unit.Microseconds(),
		Widths: l.Widths, Workers: l.Workers, Used: used, Created: jsonTime{p.Created()}, Expires: jsonTime{ends(l)}}
	if rescued, floor := p.Rescued(); !floor.IsZero() {
		about.Rescued, about.Floor = &jsonTime{rescued}, &jsonTime{floor}
	}
	return about
}

// writeJSON writes an object in a line.
func writeJSON(w io.Writer, object any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(object)
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("too many arguments: %q", args[0])
	}
	return nil
}

// onePool checks that the arguments are the name of a pool.
func onePool(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(errors.New("no pool given: firn pool list shows those that there are"))
	}
	return atMostOnePool(nil, args)
}

// atMostOnePool checks that the arguments are the name of a pool, or nothing.
func atMostOnePool(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("too many arguments: %q after the pool", args[1])
	}
	for _, arg := range args {
		if err := new(poolName).Set(arg); err != nil {
			return usagef("%s %w", plain(arg), err)
		}
	}
	return nil
}
