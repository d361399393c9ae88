package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/snowflakesi"
)

// A state is the flags that say where the pools are kept.
type state struct {
	dir   directory
	store storeAddress
	set   *pflag.FlagSet
}

func (st *state) addTo(cmd *cobra.Command) {
	st.set = cmd.Flags()
	st.set.Var(&st.store, "store", "address of the store of the pools: see firn pool --help\n(default $"+storeVariable+", or else --state)")
	st.set.Var(&st.dir, "state", "directory of the embedded pools (default\n$XDG_STATE_HOME/firn or ~/.local/state/firn)")
	if err := cmd.RegisterFlagCompletionFunc("store", completeStore); err != nil {
		panic(err) // no such flag, or twice
	}
	if err := cmd.MarkFlagDirname("state"); err != nil {
		panic(err)
	}
}

// A place is where the pools are: a directory, or another store of an address.
type place struct {
	dir       string // "" if it is another store
	byDefault bool   // nobody has named the directory
	address   string
	name      string // the flag, or the variable, that gave the address
}

// place returns where the pools are. Its error is one of usage, or that there is no directory.
func (st *state) place() (place, error) {
	p := place{address: string(st.store), name: "--store"}
	given := st.set != nil && st.set.Changed("store")
	if given && st.dir != "" {
		return place{}, usagef("--state %s: is a store too, and --store is given: want one of them", plain(string(st.dir)))
	}
	if !given && st.dir == "" {
		p.address, p.name = os.Getenv(storeVariable), storeVariable
		given = p.address != ""
	}
	if !given {
		if st.dir != "" {
			return place{dir: string(st.dir)}, nil
		}
		dir, err := filelease.DefaultDir()
		return place{dir: dir, byDefault: true}, err
	}
	k, err := kindOf(p.address)
	if err == nil && k.scheme == "file" {
		p.dir, err = dirOf(p.address)
	}
	return p, badAddress(p.name, err)
}

// open returns the store, and makes the directory if there is none.
func (st *state) open(ctx context.Context) (driver.Store, place, error) {
	at, err := st.place()
	if err != nil {
		return nil, at, err
	}
	if at.dir != "" {
		open := filelease.Open
		if at.byDefault {
			open = openDefault
		}
		store, err := open(at.dir)
		if err != nil {
			return nil, at, err // and no *filelease.Store in an interface, which would not be nil
		}
		return store, at, nil
	}
	store, err := openStore(ctx, at.address)
	return store, at, badAddress(at.name, err)
}

// openDefault opens the store that nobody has named, which is in filelease.DefaultDir.
var openDefault = func(string) (*filelease.Store, error) { return filelease.OpenDefault() }

// look is open for those who only look: if there is no directory, there is no store either.
func (st *state) look(ctx context.Context) (store driver.Store, at place, err error) {
	if at, err = st.place(); err != nil {
		return nil, at, err
	}
	if _, err := os.Stat(at.dir); at.dir != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, at, nil
	}
	return st.open(ctx)
}

// command returns a command line, to type as it is, with the flag that it needs to see the same pools.
func (st *state) command(line string) string {
	switch {
	case st.dir != "":
		return line + " --state " + word(string(st.dir))
	case st.store == "":
		return line
	}
	if a, err := address.Parse(string(st.store)); err == nil && !a.Secrets() {
		return line + " --store " + word(string(st.store))
	}
	return line + " --store …"
}

// word returns a word for a shell.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@,%+=", r)
	}
	if s != "" && strings.TrimLeftFunc(s, plain) == "" && s[0] != '=' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// calls finds where the library names what is to be called, for the command line to say what to type.
var calls = regexp.MustCompile(`\(lease\.(Create|Rescue)[^()]*\)`)

// withCommands returns a text of the library about a pool, "" if it is about none, in which it says what to
// type. The layout of a pool of which there is something left, firn pool rescue finds by itself.
func (st *state) withCommands(text, pool string) string {
	return calls.ReplaceAllStringFunc(text, func(found string) string {
		line := "firn pool rescue " + cmp.Or(pool, "NAME")
		words, _, known := layoutOf(pool)
		format := strings.Join(words, " ")
		if !known {
			format = "FORMAT"
		}
		switch {
		case strings.HasPrefix(found, "(lease.Create") && known:
			line = "firn pool create " + format
		case strings.HasPrefix(found, "(lease.Create"):
			line = "firn pool create FORMAT --name " + cmp.Or(pool, "NAME")
		case strings.Contains(found, "layout"):
			line += " --format " + format
		}
		if strings.Contains(found, "there") {
			return "(" + line + " --store ADDRESS)"
		}
		return "(" + st.command(line) + ")"
	})
}

// poolOf returns the pool that an error is about, "" if it does not say.
func poolOf(err error) string {
	var store *driver.Error
	if errors.As(err, &store) {
		pool, _, _ := strings.Cut(store.Key, "/")
		return pool
	}
	if rest, ok := strings.CutPrefix(err.Error(), "pool "); ok {
		pool, _, _ := strings.Cut(rest, ":")
		return pool
	}
	return ""
}

// explain returns an error of a lease or a store in the words of the command line.
func (st *state) explain(err error) error {
	say := func(form string, args ...any) error { return &reworded{fmt.Sprintf(form, args...), err} }
	var (
		expired  *lease.ExpiredError
		none     *lease.NoWorkerError
		held     *lease.HeldError
		skew     *lease.SkewError
		store    *driver.Error
		mismatch *lease.MismatchError
	)
	switch {
	case errors.As(err, &expired): // all that is told, with the cause, which may be any below
		return say("%s", st.withCommands(err.Error(), expired.Pool))
	case errors.As(err, &none) && none.Rescued:
		return say("pool %s: nobody gets a worker before %s, since the pool was rescued: try again then", none.Pool, timeText(none.Soonest))
	case errors.As(err, &none) && none.Ahead:
		return say("pool %s: no worker is free: nobody has one, but their times are used up to %s at least (%s): the clock was ahead, or is behind: set it, or wait until then",
			none.Pool, timeText(none.Soonest), relative(none.Soonest, time.Now()))
	case errors.As(err, &none) && none.Excluded:
		return say("pool %s: no worker is free: processes of other users, or with another pool, use those of the %d that are left: try again when one has ended",
			none.Pool, none.Workers)
	case errors.As(err, &none) && none.Workers == 1:
		return say("pool %s: its one worker is taken until %s: one process at a time makes these IDs; to see which: %s",
			none.Pool, timeText(none.Soonest), st.command("firn pool show "+none.Pool))
	case errors.As(err, &none):
		return say("pool %s: all %d workers are taken, the first until %s: try again when a process has ended; to see which there are: %s",
			none.Pool, none.Workers, timeText(none.Soonest), st.command("firn pool show "+none.Pool))
	case errors.As(err, &held) && held.Excluded:
		return say("pool %s: worker %d is held by a process of another user, or with another pool: give another --worker, or none",
			held.Pool, held.Worker)
	case errors.As(err, &held) && held.Holder == "":
		return say("pool %s: worker %d cannot be used before %s, since it has used the times up to then: the clock was ahead, or is behind: set it, or give another --worker, or none",
			held.Pool, held.Worker, timeText(held.Until))
	case errors.As(err, &held):
		return say("pool %s: worker %d is held by %s, until %s or longer: give another --worker, or none",
			held.Pool, held.Worker, held.Holder, timeText(held.Until))
	case errors.As(err, &skew):
		wrong := "the clock is wrong"
		if !skew.OfStore && skew.Reference.Before(skew.Now) {
			wrong += ", or the pool was not used for long"
		}
		return say("pool %s: %s: it says %s: set the clock or, if it is right, add --trust-clock", skew.Pool, wrong, skewText(skew))
	case errors.Is(err, filelease.ErrPassing):
		return say("%s (--state DIR, --store ADDRESS, or firn new --worker N --no-state)", err)
	case errors.As(err, &store):
		return say("%s", st.withCommands(err.Error(), poolOf(err)))
	case errors.As(err, &mismatch):
		return say("pool %s: %s", mismatch.Pool, mismatchText(mismatch))
	case errors.Is(err, lease.ErrNoPool):
		return say("%s; to see those that there are: %s", st.withCommands(err.Error(), poolOf(err)), st.command("firn pool list"))
	case errors.Is(err, lease.ErrPoolExists):
		return say("%v: it can be used as it is", err)
	case err != nil && calls.MatchString(err.Error()):
		return say("%s", st.withCommands(err.Error(), poolOf(err)))
	}
	return err
}

// skewText says what a clock says, and what it disagrees with.
func skewText(e *lease.SkewError) string {
	reference := timeText(e.Reference.UTC())
	of := fmt.Sprintf("half of the workers in use have used the times up to %s or later (%s)", reference, relative(e.Reference, e.Now))
	switch {
	case e.OfStore:
		of = "the store's says " + reference
	case e.Reference.Before(e.Now):
		of = fmt.Sprintf("no worker was used after %s (%s)", reference, relative(e.Reference, e.Now))
	}
	return fmt.Sprintf("%s, and %s", timeText(e.Now.UTC()), of)
}

// mismatchText says how to make the IDs that a pool is for.
func mismatchText(e *lease.MismatchError) string {
	const other = "name the pool for those with --pool"
	var clock, machine, sequence int
	switch {
	case e.Field == "format":
		return fmt.Sprintf("it is for IDs of %s, not %s: %s", e.Have, e.Want, other)
	case e.Field == "epoch":
		return fmt.Sprintf("it is for IDs of the epoch %s, not %s: give --epoch %s, or %s", e.Have, e.Want, e.Have, other)
	case e.Field == "widths":
		n, _ := fmt.Sscanf(e.Have, "[%d %d %d]", &clock, &machine, &sequence)
		if n == 3 && (snowflakesi.Layout{ClockBits: clock, MachineBits: machine}).Check() == nil {
			return fmt.Sprintf("it is for IDs of other widths, %s, not %s: give --clock-bits %d --machine-bits %d, or %s",
				e.Have, e.Want, clock, machine, other)
		}
	}
	return fmt.Sprintf("it is for other IDs: its %s is %s, not %s: %s", e.Field, e.Have, e.Want, other)
}

// noPool is the error for a pool in a place that has none.
func noPool(name string, at place, store driver.Store) error {
	where := plain(at.dir)
	if store != nil && at.dir == "" {
		where = store.String()
	}
	return fmt.Errorf("pool %s: %w in %s: if there never was one, create it (lease.Create); if there was one, it is lost: rescue it (lease.Rescue, with its layout)", name, lease.ErrNoPool, where)
}

// reworded is an error in other words.
type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }

// A directory is a flag's value that is one.
type directory string

var _ pflag.Value = (*directory)(nil)

func (d *directory) Type() string   { return "DIR" }
func (d *directory) String() string { return string(*d) }

func (d *directory) Set(s string) error {
	if s == "" {
		return errors.New("is no directory")
	}
	*d = directory(s)
	return nil
}

// A poolName is a flag's value that is one.
type poolName string

func (p *poolName) Type() string   { return "NAME" }
func (p *poolName) String() string { return string(*p) }

func (p *poolName) Set(s string) error {
	// Keys of stores take more: the slash between names, which no pool has in its own.
	if driver.CheckKey(s) != nil || strings.Contains(s, "/") {
		return errors.New("is no name of a pool: want lower-case letters, digits, '.', '_', '@' and '-'")
	}
	*p = poolName(s)
	return nil
}

// completePool completes the names of the pools that there are.
func (st *state) completePool(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // somebody waits
	defer cancel()
	var found []string
	if store, at, err := st.look(ctx); store != nil && err == nil {
		defer store.Close()
		names, _ := poolNames(ctx, store, at)
		for _, name := range names {
			if strings.HasPrefix(name, toComplete) {
				found = append(found, name)
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// poolNames returns the names of the pools, in order, and of folders that may be such.
func poolNames(ctx context.Context, store driver.Store, at place) ([]string, error) {
	if at.dir == "" {
		return lease.Names(ctx, store)
	}
	names, err := pools(at.dir)
	with, unread := foldersWith(at.dir, "workers") // of which the pool's own record may be lost
	return slices.Compact(slices.Sorted(slices.Values(append(names, with...)))), cmp.Or(err, unread)
}

// survey returns the pools. Those in files are read one by one, so that one whose records cannot be
// read does not keep the others from it.
func survey(ctx context.Context, store driver.Store, at place) ([]lease.Found, error) {
	if at.dir == "" {
		return lease.Survey(ctx, store)
	}
	names, err := poolNames(ctx, store, at)
	var all []lease.Found
	for _, name := range names {
		f := lease.Found{Name: name}
		if f.Pool, f.Workers, f.Err = readPool(ctx, store, name); errors.Is(f.Err, lease.ErrNoPool) {
			continue // a folder that is empty
		}
		all = append(all, f)
	}
	return all, err
}

// pools returns the names of the pools in a directory, in order, and also of those that
// cannot be read.
func pools(dir string) ([]string, error) {
	return foldersWith(dir, "pool=") // the file of the key NAME/pool; see package filelease
}

// foldersWith returns the folders of a directory that have an entry of that name, and those of
// which nobody can tell, who may not look into them.
func foldersWith(dir, entry string) ([]string, error) {
	folders, err := os.ReadDir(dir)
	var names []string
	for _, f := range folders {
		if new(poolName).Set(f.Name()) != nil {
			continue // not the store's
		}
		_, err := os.Lstat(filepath.Join(dir, f.Name(), entry))
		if err == nil || !f.Type().IsRegular() && !errors.Is(err, fs.ErrNotExist) {
			names = append(names, f.Name())
		}
	}
	return names, err
}
