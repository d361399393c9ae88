package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shell"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// Command adds the flag for the store to a command line, ready to type. Secrets in the address are
// left out. An address of the environment is added, too: whoever reads the log of a service types the command in a shell
// that has another environment, and the command would make a second pool there.
func (st *State) Command(line string) string {
	switch {
	case st.Dir != "":
		return line + " --state " + shell.Word(string(st.Dir))
	case st.store == "" && os.Getenv(Variable) != "":
		return At(os.Getenv(Variable)).Command(line)
	case st.store == "":
		return line
	}
	if a, err := address.Parse(string(st.store)); err == nil && !a.Secrets() {
		return line + " --store " + shell.Word(string(st.store))
	}
	return line + " --store …"
}

// calls finds functions of the library in advice. Users get a command instead.
var calls = regexp.MustCompile(`\(lease\.(Create|Rescue)[^()]*\)`)

// withCommands replaces functions of the library by commands in a text about a pool, and names the
// store in commands of the library's texts. pool is "" for a text about no pool. A rescue needs no
// layout while the pool's own record is left. Only the flags of the command's own IDs are known:
// the name of a pool says nothing certain about a lost pool.
func (st *State) withCommands(text, pool string) string {
	format, note := "FORMAT", "; the flags must be those that the lost pool was created with"
	known := pool != "" && pool == st.pool
	if known {
		format, note = strings.Join(st.words, " "), ""
	}
	name, window := cmp.Or(pool, "NAME"), ""
	if st.Window > lease.DefaultWindow {
		window = " --window " + st.Window.String()
	}
	text = strings.NewReplacer("with firn pool create", "with "+st.Command("firn pool create "+format),
		"; firn pool doctor", "; "+st.Command("firn pool doctor")).Replace(text)
	return calls.ReplaceAllStringFunc(text, func(found string) string {
		line, after := "firn pool rescue "+name, ""
		switch {
		case strings.HasPrefix(found, "(lease.Create"):
			line = "firn pool create " + format + " --name " + name
		case strings.Contains(found, "Adopt"):
			line = "firn pool rescue --all"
		case strings.Contains(found, "Create"):
			line += " --create --format " + format + window
			after = note
		case strings.Contains(found, "Layouts") && known:
			line += " --format " + format + window
		case strings.Contains(found, "Layouts"):
			after = "; if --format is needed" + strings.Replace(note, ";", ",", 1)
		}
		if strings.Contains(found, "there") {
			return "(" + line + " --store ADDRESS" + after + ")"
		}
		return "(" + st.Command(line) + after + ")"
	})
}

// textOf returns the text of an error for withCommands. A store cannot tell the record of a pool
// from other entries: its advice on an entry that is damaged, or written otherwise than asked, has no layouts.
func textOf(err error) string {
	var store *driver.Error
	if (errors.Is(err, driver.ErrDamaged) || errors.Is(err, driver.ErrUnsafe)) && errors.As(err, &store) && strings.HasSuffix(store.Key, "/pool") {
		return strings.Replace(err.Error(), "(lease.Rescue)", "(lease.Rescue, with Layouts)", 1)
	}
	return err.Error()
}

// PoolOf returns the pool of an error, or "".
func PoolOf(err error) string {
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

// Explain rewords an error of a lease or a store for the command line: with commands and flags.
func (st *State) Explain(err error) error {
	say := func(form string, args ...any) error { return Reword(err, fmt.Sprintf(form, args...)) }
	var (
		expired  *lease.ExpiredError
		none     *lease.NoWorkerError
		held     *lease.HeldError
		skew     *lease.SkewError
		store    *driver.Error
		mismatch *lease.MismatchError
	)
	switch {
	case errors.As(err, &expired): // first, since the cause may be any error below
		text := textOf(err)
		if errors.As(expired.Cause, &skew) {
			text = strings.Replace(text, skew.Error(), st.Explain(skew).Error(), 1)
		}
		return say("%s", st.withCommands(text, expired.Pool))
	case errors.As(err, &none) && none.Rescued:
		return say("pool %s: nobody gets a worker before %s, since the pool was rescued: try again then", none.Pool, cli.TimeText(none.Soonest))
	case errors.As(err, &none) && none.Ahead:
		return say("pool %s: no worker is free: nobody has one, but their times are used up to %s at least (%s): the clock was ahead, or is behind: set it, or wait until then",
			none.Pool, cli.TimeText(none.Soonest), cli.Relative(none.Soonest, time.Now()))
	case errors.As(err, &none) && none.Excluded:
		return say("pool %s: no worker is free: processes of other users, or with another pool, use those of the %d that are left%s: try again when one has ended",
			none.Pool, none.Workers, process(none.Holder))
	case errors.As(err, &none) && none.Workers == 1:
		return say("pool %s: its one worker is taken until %s: one process at a time makes these IDs; to see which: %s",
			none.Pool, cli.TimeText(none.Soonest), st.Command("firn pool show "+none.Pool))
	case errors.As(err, &none):
		return say("pool %s: all %d workers are taken, the first until %s: try again when a process has ended; to see the holders: %s",
			none.Pool, none.Workers, cli.TimeText(none.Soonest), st.Command("firn pool show "+none.Pool))
	case errors.As(err, &held) && held.Excluded:
		return say("pool %s: worker %d is held by a process of another user, or with another pool%s: give another --worker, or none",
			held.Pool, held.Worker, process(held.Holder))
	case errors.As(err, &held) && held.Holder == "":
		return say("pool %s: worker %d cannot be used before %s, since it has used the times up to then: the clock was ahead, or is behind: set it, or give another --worker, or none",
			held.Pool, held.Worker, cli.TimeText(held.Until))
	case errors.As(err, &held):
		return say("pool %s: worker %d is held by %s, until %s or longer: give another --worker, or none",
			held.Pool, held.Worker, held.Holder, cli.TimeText(held.Until))
	case errors.As(err, &skew):
		wrong := "the clock is wrong"
		if !skew.OfStore && skew.Reference.Before(skew.Now) {
			wrong += ", or the pool was not used for long"
		}
		return say("pool %s: %s: it says %s: set the clock or, if it is right, add --trust-clock", skew.Pool, wrong, SkewText(skew))
	case errors.Is(err, filelease.ErrNoDefault):
		text, _, _ := strings.Cut(err.Error(), "; for example: ") // a call
		text = strings.Replace(text, " by hand", " by hand (firn new --worker N --no-state)", 1)
		return say("%s: export %s=file:///var/lib/firn", text, Variable)
	case errors.As(err, &store):
		return say("%s", st.withCommands(textOf(err), PoolOf(err)))
	case errors.As(err, &mismatch):
		// Either side may be mistaken: no setting is advised.
		return say("pool %s: it is for IDs of %s %s, not %s: name the pool of these IDs with --pool; only if these IDs are meant to be of pool %s, use its settings: %s",
			mismatch.Pool, mismatch.Field, mismatch.Have, mismatch.Want, mismatch.Pool, st.Command("firn pool show "+mismatch.Pool))
	case errors.Is(err, lease.ErrNoPool):
		text := st.withCommands(textOf(err), PoolOf(err))
		if near := st.near(PoolOf(err)); len(near) > 0 {
			const advice = "see that the name and the store are right"
			text = strings.Replace(text, advice, "did you mean "+cli.List(near, "or")+"? If not, "+advice, 1)
		}
		return say("%s; to see the pools: %s", text, st.Command("firn pool list"))
	case errors.Is(err, lease.ErrPoolExists):
		return say("%v: it can be used as it is", err)
	case err != nil && calls.MatchString(err.Error()):
		return say("%s", st.withCommands(textOf(err), PoolOf(err)))
	}
	return err
}

// near returns the pools of the store with the names nearest to a misspelt name, if any. Names that differ in their
// digits, such as orders1 and orders2, are different pools.
func (st *State) near(name string) (near []string) {
	const longest = 2 * time.Second // a user waits
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	look := *st
	look.Existing = true // nothing is made
	store, _, err := look.Look(ctx)
	if err != nil || store == nil {
		return nil
	}
	defer store.Close()
	names, _ := lease.Names(ctx, store)
	most := min(2, len(name)/3) // edits
	for _, n := range names {
		switch edits := cli.Distance(name, n); {
		case edits == 0, edits > most, formats.OfTorture(n), digits(n) != digits(name):
		case edits < most:
			near, most = []string{n}, edits
		default:
			near = append(near, n)
		}
	}
	return near
}

// digits returns the digits of a name.
func digits(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
}

// process returns the name of a process, in brackets.
func process(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// SkewText returns the time of the clock, and the contradiction.
func SkewText(e *lease.SkewError) string {
	reference := cli.TimeText(e.Reference.UTC().Truncate(time.Millisecond))
	of := fmt.Sprintf("half of the workers in use have used the times up to %s or later (%s)", reference, cli.Relative(e.Reference, e.Now))
	switch {
	case e.OfStore:
		of = "the store's says " + reference
	case e.Reference.Before(e.Now):
		of = fmt.Sprintf("no worker was used after %s (%s)", reference, cli.Relative(e.Reference, e.Now))
	}
	return fmt.Sprintf("%s, and %s", cli.TimeText(e.Now.UTC().Truncate(time.Millisecond)), of)
}

// reworded is an error with a text of its own.
type reworded struct {
	text string
	err  error
}

// Reword returns err with a text of its own.
func Reword(err error, text string) error { return &reworded{text, err} }

func (e *reworded) Error() string { return e.text }

func (e *reworded) Unwrap() error { return e.err }
