package pools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
)

// recoverFlags are the flags of firn pool recover.
type recoverFlags struct {
	stores.State
	window, skew time.Duration
	trustClock   bool
	yes, noWait  bool
	all          bool
	adopt        bool // the store is a copy
	create       bool // make a pool of which nothing is left
	allowOverlap bool // as in firn pool create
	json         bool
	format       string // with layout, the pool's layout if its record is lost
	layout       formats.Options
}

// newRecover returns the command firn pool recover.
func newRecover(s *cli.Streams) *cobra.Command {
	f := recoverFlags{}
	cmd := &cobra.Command{
		Use:   "recover NAME | --all",
		Short: "Recover a pool after its store lost records or was restored",
		Example: `  firn pool recover nanoflake --store postgres://ids@db/app
  firn pool recover --all --adopt --state /var/lib/firn
  firn pool recover orders --create --format nanoflake --epoch 2020-01-01T00:00:00Z`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.all && len(args) > 0 {
				return cli.Usagef("--all: cannot be used with the name of a pool")
			}
			if f.all {
				return nil
			}
			return onePool(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args) },
	}
	cmd.ValidArgsFunction = f.CompletePool
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.all, "all", false, "recover all pools of the store")
	flags.BoolVar(&f.adopt, "adopt", false, "with --all, use a copy whose original is gone for good")
	flags.DurationVar(&f.window, "window", lease.DefaultWindow, "longest window of any lease")
	flags.DurationVar(&f.skew, "skew", lease.DefaultMaxSkew, "how far clocks may differ")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait until workers are free again")
	flags.BoolVar(&f.trustClock, "trust-clock", false, "use the clock even if the store disagrees")
	flags.BoolVar(&f.json, "json", false, "write a JSON object")
	flags.StringVar(&f.format, "format", "", "`FORMAT` of the pool, if the pool's record is lost")
	f.layout.AddTo(cmd)
	flags.BoolVar(&f.create, "create", false, "create the pool if nothing is left of it")
	flags.BoolVar(&f.allowOverlap, "allow-overlap", false, "with --create, allow a second pool for the same IDs")
	f.State.AddTo(cmd)
	f.AddNoCreateTo(cmd, "fail if the store does not exist")
	cli.Complete(cmd, "format", formats.Names()...)
	cli.Complete(cmd, "window")
	cli.Complete(cmd, "skew")
	return cmd
}

func (f *recoverFlags) run(ctx context.Context, s *cli.Streams, names []string) error {
	if f.window < time.Millisecond {
		return cli.BadFlag("window", f.window.String(), "is less than 1ms")
	}
	if f.skew < time.Millisecond {
		return cli.BadFlag("skew", f.skew.String(), "is less than 1ms")
	}
	what, answer := "all pools", "all"
	if !f.all {
		what, answer = "pool "+names[0], names[0]
	}
	if !s.Asks && !f.yes {
		return cli.Usagef("--yes is needed where nobody can be asked: all processes that have a worker of %s will stop making IDs for a while", what)
	}
	switch {
	case f.all && f.format != "":
		return cli.Usagef("--format: cannot be used with --all: name the pool")
	case f.adopt && !f.all:
		return cli.Usagef("--adopt: needs --all")
	case f.create && f.format == "":
		return cli.Usagef("--create: needs --format")
	case f.allowOverlap && !f.create:
		return cli.Usagef("--allow-overlap: needs --create")
	}
	given, err := f.given()
	if err != nil {
		return err
	}
	store, pools, err := f.openFor(ctx, s, names, given)
	if err != nil {
		return f.hint(err)
	}
	defer store.Close()
	if !f.yes {
		if err := f.ask(ctx, s, store, what, answer); err != nil {
			return err
		}
	}
	if files, ok := store.(*filelease.Store); ok && f.adopt {
		if err := files.Adopt(); err != nil {
			return f.Hint(err)
		}
	}
	var floor time.Time
	for _, p := range pools {
		done, err := f.recover(ctx, s, store, p)
		if err != nil {
			return err
		}
		if done.Floor.After(floor) {
			floor = done.Floor
		}
	}
	if !f.noWait && len(pools) > 0 {
		wait(s, floor)
	}
	return nil
}

// A target is a pool to recover, with the possible layouts of the pool.
type target struct {
	name    string
	layouts []grant.Layout
}

// recover recovers a pool, and reports the result.
func (f *recoverFlags) recover(ctx context.Context, s *cli.Streams, store driver.Store, p target) (*lease.Recovery, error) {
	progress := cli.NewProgress(s)
	done, err := lease.RecoverPool(ctx, store, p.name, lease.RecoveryConfig{Window: f.window, Skew: f.skew, TrustClock: f.trustClock,
		Layouts: p.layouts, Create: f.create, Adopt: f.adopt, Progress: func(done, of int) { progress.Say("%d of %d records", done, of) }})
	if err != nil {
		return nil, f.hint(err)
	}
	f.SayCreated(s)
	return done, f.tell(s, done)
}

// openFor opens the store, and returns the pools to recover. It changes no record. A pool that
// cannot be recovered is an error before the user is asked.
func (f *recoverFlags) openFor(ctx context.Context, s *cli.Streams, names []string, given []grant.Layout) (driver.Store, []target, error) {
	open := f.Look
	if f.create {
		open = f.Open
	}
	store, at, err := open(ctx)
	if f.adopt && at.Dir != "" && (errors.Is(err, driver.ErrCopied) || errors.Is(err, driver.ErrDamaged)) {
		store, err = filelease.OpenCopy(at.Dir)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case store == nil && f.all:
		return nil, nil, fmt.Errorf("%w: %s is not there", lease.ErrNoPool, cli.Plain(at.Dir))
	case store == nil:
		return nil, nil, f.noTrace(names[0], cli.Plain(at.Dir), nil)
	}
	if p, ok := store.(driver.Preparer); ok && f.create && !f.NoCreate {
		err = p.Prepare(ctx)
	}
	var pools []target
	if err == nil {
		pools, err = f.check(ctx, s, store, names, given)
	}
	if err != nil {
		store.Close()
		return nil, nil, err
	}
	return store, pools, nil
}

// check returns the pools to recover: the named pools, or with --all every pool of the store. It
// looks each pool up once. The error is that a pool cannot be recovered.
func (f *recoverFlags) check(ctx context.Context, s *cli.Streams, store driver.Store, names []string, given []grant.Layout) (pools []target, err error) {
	if f.all {
		if names, err = lease.Names(ctx, store); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		p := target{name, given}
		if given != nil {
			_, err = lease.Open(ctx, store, name, given[0])
		} else {
			_, err = lease.Lookup(ctx, store, name)
		}
		switch {
		case err == nil:
		case errors.Is(err, lease.ErrNoPool) && f.create:
			if err := stores.CheckOverlap(ctx, s, &f.State, store, grant.Spec{Name: name, Layout: given[0]}, f.allowOverlap); err != nil {
				return nil, err
			}
		case errors.Is(err, lease.ErrNoPool) && !f.all:
			others, unread := lease.Names(ctx, store)
			if unread != nil {
				return nil, unread
			}
			return nil, f.noTrace(name, store.String(), others)
		case !errors.Is(err, lease.ErrMissing) && !errors.Is(err, lease.ErrDamaged):
			return nil, err
		case given == nil:
			p.layouts = f.guesses(name)
		}
		pools = append(pools, p)
	}
	return pools, nil
}

// noTrace returns the error for a pool without entries in the store. The name or the address of the
// store may be misspelt, and then the recovery would make a second pool.
func (f *recoverFlags) noTrace(name, where string, others []string) error {
	const most = 20
	has := "which has no pools"
	if n := len(others); n > most {
		has = fmt.Sprintf("which has the pools %s and %d more", strings.Join(others[:most], ", "), n-most)
	} else if n > 0 {
		has = "which has the pools " + cli.List(others, "and")
	}
	f.Asks = true // nothing new is wanted
	return &lease.PoolError{Pool: name, Err: fmt.Errorf("%w in %s, %s", lease.ErrNoPool, where, has)}
}

// given returns the layout that the flags name, or nil.
func (f *recoverFlags) given() ([]grant.Layout, error) {
	if f.format == "" {
		if given := f.layout.Given(); len(given) > 0 {
			return nil, cli.Usagef("%s: needs --format", given[0])
		}
		return nil, nil
	}
	p, err := f.layout.Pool(f.format)
	return []grant.Layout{p.Layout}, err
}

// guesses returns the possible layouts of a pool without a record of the pool itself. The workers'
// records say which guess is right. If no record is left, only --all believes the pool's name.
func (f *recoverFlags) guesses(name string) []grant.Layout {
	layouts := formats.LayoutsOf(name)
	if !f.all {
		layouts = append(layouts, formats.LayoutsOf("")...)
	}
	return layouts
}

// ask returns an error unless the user types the answer.
func (f *recoverFlags) ask(ctx context.Context, s *cli.Streams, store driver.Store, what, answer string) error {
	fmt.Fprintf(s.Err, `This ends all leases of %s in %s. Processes that have a worker
stop making IDs when their intervals are over, for %v or longer.
To go on, type %q: `, what, store, f.window+f.skew, answer)
	line, err := bufio.NewReader(s.In).ReadString('\n')
	if strings.TrimSpace(line) != answer {
		if err != nil {
			fmt.Fprintln(s.Err)
		}
		return errors.New("that is not " + strconv.Quote(answer) + ": nothing was changed")
	}
	return nil
}

// hint returns an error with hints on this command's flags.
func (f *recoverFlags) hint(err error) error {
	var skew *lease.SkewError
	var record *driver.Error
	var hints []string
	switch {
	case errors.As(err, new(*lease.MismatchError)):
		hints = []string{"Wrong name or store?  " + f.Command("firn pool list"), "Otherwise leave out --format and its flags: the store has the pool's settings."}
	case errors.Is(err, lease.ErrClockSkew) && !errors.As(err, &skew):
		hints = []string{"Set the clock, or give a --skew that covers the difference.", "Is the clock right?  --trust-clock keeps only this worker out for longer."}
	case !errors.As(err, &record) && (errors.Is(err, lease.ErrPoolMismatch) || errors.Is(err, lease.ErrConfig)): // an error of the layouts
		hints = []string{"Give what the pool was created with:  --format, --epoch, --clock-bits, --machine-bits, --node-bits"}
	default:
		return f.Hint(err)
	}
	return cli.WithHints(err, func() []string { return hints })
}

// recoveryObject is a recovery in JSON.
type recoveryObject struct {
	Pool      string   `json:"pool"`
	Recovered jsonTime `json:"recovered"`
	Floor     jsonTime `json:"floor"`
	Records   int      `json:"records"`
	Made      int      `json:"made"`
	KeptOut   []int    `json:"kept_out"`
	Anew      bool     `json:"anew,omitempty"`
}

// tell reports the result.
func (f *recoverFlags) tell(s *cli.Streams, done *lease.Recovery) error {
	recovered, floor := done.Pool.Recovered()
	about := recoveryObject{Pool: done.Pool.Name(), Recovered: jsonTime{recovered}, Floor: jsonTime{floor},
		Records: done.Raised + done.Made, Made: done.Made, KeptOut: []int{}, Anew: done.Anew}
	for _, w := range done.Ahead {
		about.KeptOut = append(about.KeptOut, w.Number)
		cli.Complain(s.Err, fmt.Errorf("warning: pool %s: worker %d was used up to far ahead of the clock, and is kept out until %s: if a clock has been ahead since the backup was made, other workers may have been used as far, and --skew has to cover that",
			about.Pool, w.Number, cli.TimeText(w.Until)))
	}
	var err error
	if f.json {
		err = cli.WriteJSON(s.Out, about)
	} else {
		anew := ""
		if about.Anew {
			anew = ", and the pool's own record was, too"
		}
		_, err = fmt.Fprintf(s.Out, "%s  recovered: %d records, of which %d were missing or damaged%s; workers are available from %s on\n",
			about.Pool, about.Records, about.Made, anew, cli.TimeText(floor))
	}
	if err != nil {
		return err
	}
	return s.Out.Flush()
}

// wait waits until a time, and tells the progress.
func wait(s *cli.Streams, until time.Time) {
	const step = 200 * time.Millisecond
	progress := cli.NewProgress(s)
	left := time.Until(until)
	fmt.Fprintf(s.Err, "firn: waiting %v until workers are available (--no-wait does not wait)\n", left.Round(time.Second))
	for ; left > 0; left = time.Until(until) { // read again, since the clock may be set
		progress.Say("workers are available in %v", left.Round(time.Second))
		time.Sleep(min(left, step))
	}
}
