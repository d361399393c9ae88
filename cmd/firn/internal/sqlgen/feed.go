package sqlgen

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
)

// Variable is the environment variable with the default of --database.
const Variable = "FIRN_DATABASE"

// feedFlags are the flags of firn sql feed.
type feedFlags struct {
	formats.Options
	stores.State
	database   stores.Address
	pool       stores.PoolName
	window     time.Duration
	trustClock bool
}

// Feed returns the command firn sql feed.
func Feed(s *cli.Streams) *cobra.Command {
	var f feedFlags
	cmd := &cobra.Command{
		Use:   "feed --database ADDRESS",
		Short: "Lease intervals for the generator in a PostgreSQL database",
		Example: `  firn sql feed --database postgres://firn_feed@db/app
  firn sql feed --database postgres://firn_feed@db1,db2/app --store etcd://etcd-1/firn
  firn sql feed --database postgres://firn_feed@db/app --window 30s --pool orders`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.database, "database", "address of the database (default $"+Variable+")")
	flags.DurationVar(&f.window, "window", lease.DefaultWindow, "lease intervals this far ahead")
	f.Options.AddEpochTo(cmd)
	f.State.AddTo(cmd)
	f.AddNoCreateTo(cmd, "fail if the store or the pool does not exist")
	flags.Var(&f.pool, "pool", "take the worker from this pool")
	flags.BoolVar(&f.trustClock, "trust-clock", false, "use the database's clock even if the pool disagrees")
	cli.Group(cmd, "Store", "pool", "trust-clock")
	cli.Complete(cmd, "database", "postgres://")
	cli.Complete(cmd, "window")
	if err := cmd.RegisterFlagCompletionFunc("pool", f.CompletePool); err != nil {
		panic(err) // no such flag, or twice
	}
	return cmd
}

// run runs the command.
func (f *feedFlags) run(ctx context.Context, s *cli.Streams) error {
	address := string(f.database)
	if address == "" {
		address = os.Getenv(Variable)
	}
	if address == "" {
		return cli.Usagef("no database given: add --database ADDRESS, as in --database postgres://user@host:5432/database")
	}
	const least = 100 * time.Millisecond // a shorter window ends before a slow database answers
	if f.window < least {
		return cli.BadFlag("window", f.window.String(), "is less than "+least.String())
	}
	if f.window > lease.MaxWindow {
		return cli.BadFlag("window", f.window.String(), "is more than "+lease.MaxWindow.String())
	}
	set, err := f.Settings()
	if err != nil {
		return err
	}
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: set.Epoch})
	if err != nil {
		return f.Options.Explain(err)
	}
	pool, err := g.ForLease().Pool()
	if err != nil {
		return err
	}
	db, err := newDatabase(address, min(2*time.Second, max(f.window/3, least)))
	if err != nil {
		return err
	}
	at, err := f.Place()
	if err != nil {
		return err
	}
	f.Makes(cmp.Or(string(f.pool), pool.Name), pool.Layout.Format, f.Given())
	f.Window = f.window
	ctx, stop := cli.UntilSignal(ctx, &s.Cleanup)
	defer stop()
	defer db.close()
	c := lease.Config{Window: f.window, TrustClock: f.trustClock, Holder: holder(db)}
	// As for firn new: only the default pool in files is made when it is needed.
	c.Create = at.Dir != "" && !f.NoCreate && (f.pool == "" || string(f.pool) == pool.Name)
	if !c.Create {
		c.Pool = string(f.pool)
	}
	feed := &feed{db: db, pool: pool, config: c, streams: s, state: &f.State, every: min(max(f.window/20, 20*time.Millisecond), 500*time.Millisecond)}
	feed.store, err = feed.open(ctx)
	if err != nil {
		return f.State.Hint(err)
	}
	defer feed.store.Close()
	stores.Warn(ctx, s, &f.State, feed.store)()
	return feed.run(ctx)
}

// open opens the store, and waits for a store that is away. A directory is not away: it has no server.
func (f *feed) open(ctx context.Context) (store driver.Store, err error) {
	for {
		at := stores.Place{}
		if f.config.Create {
			store, at, err = f.state.Open(ctx)
		} else {
			store, at, err = f.state.LookFor(ctx, f.config.Pool)
		}
		if err == nil || at.Dir != "" || !passes(err) {
			return store, err
		}
		f.say("%w", f.state.Hint(err))
		if pause.For(ctx, time.Second) != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// passes reports whether an error may pass by itself: a server is away, a worker is in use, or a clock is
// wrong. All other errors are of settings.
func passes(err error) bool {
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		// The user is not let in, there is no such database, or the user has no right.
		return !slices.Contains([]string{"28", "3D", "42"}, server.Code[:min(len(server.Code), 2)])
	}
	_, away := errors.AsType[*awayError](err)
	is := func(target error) bool { return errors.Is(err, target) }
	return away || is(driver.ErrUnavailable) && !is(driver.ErrRefused) || is(lease.ErrNoWorker) || is(lease.ErrHeld) || is(lease.ErrRecovering) || is(lease.ErrClockSkew)
}

// holder describes the process to operators of the store.
func holder(db *database) string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return fmt.Sprintf("firn sql feed (process %d on %s) of %s", os.Getpid(), host, db)
}

// A feed keeps the interval of a database.
type feed struct {
	db      *database
	store   driver.Store
	pool    grant.Spec
	config  lease.Config
	streams *cli.Streams
	state   *stores.State
	every   time.Duration // how often the feed looks at the row

	mine    string // the nonce of the last row, of a lease that was closed
	last    string // what say has said last
	failing bool   // the store fails, as far as the operator knows
}

// say tells the operator, unless the last words were the same.
func (f *feed) say(form string, args ...any) {
	err := fmt.Errorf(form, args...)
	if text := err.Error(); text != f.last {
		f.last = text
		cli.Complain(f.streams.Err, err)
	}
}

// run leases intervals until the context ends. Before the first lease, errors of settings are final.
func (f *feed) run(ctx context.Context) error {
	var err error
	for began := false; err == nil; {
		var before string
		if before, err = f.standBy(ctx, began); err != nil {
			break
		}
		var o *offer
		o, err = f.lease(ctx, before)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			began = true
			f.say("%w: taking another lease", o.why)
			pause.For(ctx, f.every)
		case began || passes(err):
			f.say("%w", f.state.Hint(err))
			err = nil
			pause.For(ctx, time.Second)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return f.state.Hint(err)
}

// errEpoch reports a database with IDs of another epoch.
var errEpoch = errors.New("the database has made IDs of another epoch")

// near is how far ahead of the clock an interval may begin, in milliseconds, as in nanoflake_take.
const near = 50

// standBy waits while another feed keeps the interval. No feed keeps an interval that begins ahead
// of the clock: the clock has gone back since, and the database makes no ID. standBy returns the
// nonce of the row that the next lease may replace, and "" if the table has no row. It waits for a
// database that is away, and a patient standBy for other settings, too.
func (f *feed) standBy(ctx context.Context, patient bool) (nonce string, err error) {
	for {
		var r row
		err := f.db.check(ctx) // somebody may have made the table a logged one
		if err == nil {
			r, err = f.db.read(ctx)
		}
		epoch := f.pool.Layout.Epoch.UnixMilli()
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil && !patient && !passes(err):
			return "", err
		case err != nil:
			f.say("%w", err)
		case r.nonce != "" && r.epoch != epoch:
			return "", fmt.Errorf("%s: %w, %s: give --epoch %s", f.db, errEpoch, cli.TimeText(time.UnixMilli(r.epoch).UTC()), cli.TimeText(time.UnixMilli(r.epoch).UTC()))
		case !r.valid || r.released || r.nonce == f.mine || r.now-epoch >= r.due || r.now-epoch < r.first-near:
			return r.nonce, nil
		default:
			f.say("standing by: worker %d is fed by %s", r.worker, r.holder)
		}
		if pause.For(ctx, f.every) != nil {
			return "", context.Cause(ctx)
		}
	}
}

// lease keeps one lease, until the offer is over or ctx ends. It returns an error if the lease has
// not begun.
func (f *feed) lease(ctx context.Context, before string) (*offer, error) {
	o := newOffer(f.pool, &f.db.clock)
	c := f.config
	c.Notify = f.notify
	held, err := lease.Start(ctx, f.store, o, c)
	if err != nil {
		return nil, err
	}
	f.streams.Cleanup.Set(func() { held.Close() })
	defer f.streams.Cleanup.Set(nil)
	w := writer{feed: f, offer: o, nonce: rand.Text(), before: before}
	w.run(ctx)
	f.mine = w.nonce
	if err := held.Close(); err != nil {
		f.say("warning: pool %s: worker %d was not returned, and is not free before %s: %w",
			f.pool.Name, held.Worker(), cli.TimeText(held.Until()), f.state.Hint(err))
	}
	if ctx.Err() != nil && w.placed {
		final, cancel := context.WithTimeout(context.WithoutCancel(ctx), 200*time.Millisecond)
		defer cancel()
		f.db.release(final, w.nonce) // without it, another feed takes over a little later
	}
	return o, nil
}

// notify tells the operator of the lease's events. A lease calls notify in one goroutine at a time.
func (f *feed) notify(e lease.Event) {
	switch e.Kind {
	case lease.Created:
		f.state.SayCreated(f.streams)
	case lease.Failing:
		if !f.failing {
			f.failing = true
			f.tell("the store fails, and the interval ends at %s: %w", cli.TimeText(e.Until), f.state.Hint(e.Err))
		}
	case lease.Acquired, lease.Renewed:
		if f.failing {
			f.failing = false
			f.tell("the store is back")
		}
	case lease.Expired, lease.Lost, lease.Waiting:
		f.tell("%w", f.state.Hint(e.Err))
	}
}

// tell writes an event. Events come from the goroutine of the lease.
func (f *feed) tell(form string, args ...any) { cli.Complain(f.streams.Err, fmt.Errorf(form, args...)) }

// A writer writes the interval of an offer to the database.
type writer struct {
	*feed
	offer  *offer
	nonce  string // of the offer's row
	before string // the nonce of the row that the offer's row replaces

	asked   bool   // a statement with the first row was sent
	refused error  // the server's error for the statement with the first row
	placed  bool   // the database has had the row
	start   string // when the server of the row was started
	end     int64  // the row's end, as far as the database has confirmed
	away    bool
}

// run writes until the offer is over or ctx ends.
func (w *writer) run(ctx context.Context) {
	const least, longest = 50 * time.Millisecond, 500 * time.Millisecond
	retry := least
	for {
		wait := w.every
		switch err := w.write(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.away = true
			if w.placed {
				err = fmt.Errorf("%w: the database makes no IDs from %s on", err, cli.TimeText(w.offer.time(w.end)))
			}
			w.say("%w", err)
			wait, retry = retry, min(2*retry, longest)
		case w.away:
			w.away, retry = false, least
			w.say("%s is back", w.db)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.offer.over:
			return
		case <-w.offer.wake:
		case <-time.After(wait):
		}
	}
}

// write writes the interval if the lease has more, and looks at the row otherwise.
//
// The first row is sent once. If the outcome is unknown, and the database does not have the row, the
// row may have been there: the database may have made IDs, and then crashed. So the offer is over.
func (w *writer) write(ctx context.Context) error {
	i, ok := w.offer.send()
	switch {
	case !ok:
		return nil
	case !w.asked:
		w.asked = true
		start, done, err := w.db.place(ctx, i, w.due(i), w.offer, w.nonce, w.config.Holder, w.before)
		if errors.As(err, new(*pgconn.PgError)) {
			w.refused = err
		}
		if err == nil && !done {
			w.offer.finish(errOther)
		}
		if err == nil && done {
			w.confirm(i, start)
		}
		return err
	case w.placed && i.end > w.end:
		done, err := w.db.extend(ctx, i, w.due(i), w.nonce, w.start)
		if err == nil && done {
			w.confirm(i, w.start)
		}
		if err != nil || done {
			return err
		}
	}
	r, err := w.db.read(ctx)
	switch {
	case err != nil:
	case !r.valid && w.refused != nil:
		err = w.refused
		w.offer.finish(err)
	case !r.valid:
		w.offer.finish(errGone)
	case r.nonce != w.nonce:
		w.offer.finish(errOther)
	case !w.placed:
		w.confirm(interval{i.worker, i.first, r.end}, r.started)
	case r.started != w.start:
		w.offer.finish(errStart)
	}
	return err
}

// confirm notes that the database has the interval.
func (w *writer) confirm(i interval, start string) {
	if !w.placed {
		w.say("worker %d of pool %s is leased for %s", i.worker, w.pool.Name, w.db)
	}
	w.placed, w.end, w.start = true, i.end, start
}

// due returns the tick from which another feed takes over. A working lease renews at 3/10 of its
// window; at 6/10, the feed or its store is away.
func (w *writer) due(i interval) int64 {
	now := w.offer.tick(w.db.clock.now())
	return now + max(i.end-now, 0)*6/10
}
