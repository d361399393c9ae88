package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// rescueFlags are those of firn pool rescue.
type rescueFlags struct {
	state
	window, skew time.Duration
	trustClock   bool
	yes, noWait  bool
	json         bool
}

// newPoolRescue returns the command firn pool rescue.
func newPoolRescue(s *streams) *cobra.Command {
	f := rescueFlags{}
	cmd := &cobra.Command{
		Use:   "rescue NAME",
		Short: "Make a pool safe whose store was restored from a backup",
		Long: `Make a pool safe whose store was restored from a backup, or has lost something in
another way, or of which records are missing or damaged.

What the processes were given that hold its workers is then unknown, but it ends before a
window and the difference of the clocks from now. So the pool is put to that time: its
holders go on to the end of what they have, and nobody gets a worker before. Then they
take new ones by themselves.

  1. Stop all processes that take workers from the store; with files and PostgreSQL it is
     enough to keep them from it.
  2. Restore the store, as docs/stores.md says of each.
  3. firn pool rescue, for each pool.
  4. Let the processes at the store again.

--window is the longest window of any lease, if that is more than 10s; --skew is how far
ahead of this clock that of any process may be. Both are worth a thought: if they are too
small, IDs can be made twice. The command waits until workers can be had again, which
--no-wait leaves to you.

A rescue that was interrupted leaves a pool that nobody gets a worker from, until it is
run again.

With --json, an object in a line:

  {"pool":"nanoflake","rescued":"…","floor":"…","records":12,"made":0,"kept_out":[3]}

"floor" is when workers can be had again, "made" is how many records were missing or
damaged, and "kept_out" are workers that come later, see --trust-clock.`,
		Example: `  firn pool rescue nanoflake --store postgres://ids@db/app
  firn pool rescue orders --state /var/lib/firn --window 1m --skew 5m --yes`,
		DisableFlagsInUseLine: true,
		Args:                  onePool,
		RunE:                  func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args[0]) },
	}
	cmd.ValidArgsFunction = f.completePool
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&f.window, "window", lease.DefaultWindow, "the longest window of any lease")
	flags.DurationVar(&f.skew, "skew", lease.DefaultMaxSkew, "how far the clocks may differ")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait until workers can be had again")
	flags.BoolVar(&f.trustClock, "trust-clock", false, "take the clock for right if the store says otherwise, and\nkeep workers that were used far ahead out for longer")
	flags.BoolVar(&f.json, "json", false, "write a JSON object")
	f.addTo(cmd)
	complete(cmd, "window")
	complete(cmd, "skew")
	return cmd
}

func (f *rescueFlags) run(ctx context.Context, s *streams, name string) error {
	if f.window < time.Millisecond {
		return badFlag("window", f.window.String(), "is less than 1ms")
	}
	if f.skew < time.Millisecond {
		return badFlag("skew", f.skew.String(), "is less than 1ms")
	}
	in, asks := s.in.(*os.File)
	if asks = asks && term.IsTerminal(int(in.Fd())); !asks && !f.yes {
		return usagef("--yes is needed where nobody can be asked: all processes that have a worker of pool %s will stop making IDs for a while", name)
	}
	store, at, err := f.look(ctx)
	if err == nil && store == nil {
		err = noPool(name, at, nil)
	}
	if err != nil {
		return f.explain(err)
	}
	defer store.Close()
	if _, err := lease.Lookup(ctx, store, name); err != nil { // before anybody is asked
		return f.explain(err)
	}
	if !f.yes {
		if err := f.ask(ctx, s, store, name); err != nil {
			return err
		}
	}
	show := newMeter(s)
	done, err := lease.Rescue(ctx, store, name, lease.RescueConfig{Window: f.window, Skew: f.skew, TrustClock: f.trustClock,
		Progress: func(done, of int) { show.part(float64(done)/float64(of), fmt.Sprintf("%d of %d records", done, of)) }})
	show.end()
	if err != nil {
		return f.explainRescue(err)
	}
	if err := f.tell(s, done); err != nil {
		return err
	}
	if !f.noWait {
		f.wait(s, done.Floor)
	}
	return nil
}

// ask returns an error unless somebody types the name of the pool.
func (f *rescueFlags) ask(ctx context.Context, s *streams, store driver.Store, name string) error {
	fmt.Fprintf(s.err, `This ends all leases of pool %s in %s. Processes that have a worker of it
stop making IDs when their times are over, for %v in all.
To go on, type the name of the pool: `, name, store, f.window+f.skew)
	line, err := bufio.NewReader(s.in).ReadString('\n')
	if strings.TrimSpace(line) != name {
		if err != nil {
			fmt.Fprintln(s.err)
		}
		return errors.New("that is not the name of the pool: nothing was changed")
	}
	return nil
}

// explainRescue is explain, in the words of this command's flags.
func (f *rescueFlags) explainRescue(err error) error {
	var skew *lease.SkewError
	var record *driver.Error
	switch {
	case errors.Is(err, lease.ErrClockSkew) && !errors.As(err, &skew):
		return &reworded{err.Error() + " (--skew, --trust-clock)", err}
	case errors.As(err, &record) && errors.Is(err, driver.ErrVersion):
		return err
	}
	return f.explain(err)
}

// rescueObject is a rescue in JSON.
type rescueObject struct {
	Pool    string   `json:"pool"`
	Rescued jsonTime `json:"rescued"`
	Floor   jsonTime `json:"floor"`
	Records int      `json:"records"`
	Made    int      `json:"made"`
	KeptOut []int    `json:"kept_out"`
}

// tell writes what was done.
func (f *rescueFlags) tell(s *streams, done *lease.Rescued) error {
	rescued, floor := done.Pool.Rescued()
	about := rescueObject{Pool: done.Pool.Name(), Rescued: jsonTime{rescued}, Floor: jsonTime{floor},
		Records: done.Raised + done.Made, Made: done.Made, KeptOut: []int{}}
	for _, w := range done.Ahead {
		about.KeptOut = append(about.KeptOut, w.Number)
		complain(s.err, fmt.Errorf("warning: pool %s: worker %d was used up to far ahead of the clock, and is kept out until %s: if a clock has been ahead since the backup was made, other workers may have been used as far, and --skew has to cover that",
			about.Pool, w.Number, timeText(w.Until)))
	}
	var err error
	if f.json {
		err = writeJSON(s.out, about)
	} else {
		_, err = fmt.Fprintf(s.out, "%s  rescued: %d records, of which %d were missing or damaged; workers can be had from %s on\n",
			about.Pool, about.Records, about.Made, timeText(floor))
	}
	if err != nil {
		return err
	}
	return s.out.Flush()
}

// wait waits until a time, and shows how long that takes.
func (f *rescueFlags) wait(s *streams, until time.Time) {
	const step = 200 * time.Millisecond
	all := time.Until(until)
	show := newMeter(s)
	show.line(fmt.Sprintf("waiting until workers can be had, in %v (--no-wait does not)", all.Round(time.Second)))
	for left := all; left > 0; left = time.Until(until) { // by the clock, which may be set
		show.part(1-float64(left)/float64(all), fmt.Sprintf("workers can be had in %v", left.Round(time.Second)))
		time.Sleep(min(left, step))
	}
	show.end()
}

// A meter is a bar on a terminal, and elsewhere a line or none.
type meter struct {
	s   *streams
	bar *progressbar.ProgressBar
}

func newMeter(s *streams) *meter {
	p := &meter{s: s}
	if f, ok := s.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(s.err), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionFullWidth())
	}
	return p
}

// part shows how far it has come.
func (p *meter) part(part float64, text string) {
	if p.bar != nil {
		p.bar.Describe(text)
		p.bar.Set(min(int(1000*part), 999)) // the end would finish it
	}
}

// line says what goes on where there is no bar.
func (p *meter) line(text string) {
	if p.bar == nil {
		fmt.Fprintf(p.s.err, "firn: %s\n", text)
	}
}

func (p *meter) end() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
