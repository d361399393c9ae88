package stores

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shell"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// Hint returns an error of a lease or a store with hints for the user: what to do next, with commands ready
// to paste. The text of the error stays.
func (st *State) Hint(err error) error {
	if err == nil || errors.As(err, new(cli.UsageError)) {
		return err
	}
	return cli.WithHints(err, func() []string { return st.hints(lease.RemedyFor(err), err) })
}

// FindingHints returns the hints of a fact that a store has about itself.
func (st *State) FindingHints(f driver.Finding) []string {
	return st.hints(lease.Remedy{Kind: f.Remedy}, nil)
}

// hints returns at most three lines on what helps. All that the lines say is safe to follow to the letter, beside running
// processes: see the scripts hints_*.txtar in the tests.
func (st *State) hints(r lease.Remedy, err error) []string {
	pool := cmp.Or(r.Pool, "NAME")
	anew := st.Command("firn pool recover " + pool + " --create --format " + st.formatOf(r.Pool) + st.window())
	switch r.Kind {
	case driver.RemedyWait:
		if !r.Until.IsZero() {
			return []string{"Try again " + cli.Relative(r.Until, time.Now()) + ", at " + cli.TimeText(r.Until) + "."}
		}
		return []string{"Try again: it passes by itself."}
	case driver.RemedyConnect:
		if st.directory() != "" {
			return []string{"Is the filesystem mounted, and does the disk work?", "Check it:  " + st.Command("firn pool doctor")}
		}
		return []string{"Is the server running, and reachable from this host?"}
	case driver.RemedyAddress:
		if st.directory() != "" {
			return []string{"Is the path right, is its filesystem mounted, and may this user create a directory there?"}
		}
		return []string{addressForms}
	case driver.RemedyPermissions:
		if dir := st.directory(); dir != "" {
			if info, err := os.Stat(dir); err == nil && info.Mode()&0o700 != 0o700 {
				return []string{"Not even its owner may use it:  chmod u+rwx " + shell.Word(dir)}
			}
			return []string{
				"Does no other user work there?  Give it to the user, as root:  chown -R USER " + shell.Word(dir),
				"Do users share it?  Let their group use it, as root, by the commands of:  " + st.Command("firn pool permissions --user GROUP"),
			}
		}
		return []string{"What a program needs there:  " + st.Command("firn pool permissions"), "Check it as the program's user:  " + st.Command("firn pool doctor")}
	case driver.RemedySettings:
		return []string{"Find out what is wrong there:  " + st.Command("firn pool doctor")}
	case driver.RemedyStore:
		hints := []string{"One machine?  A directory that all its processes share, in containers a volume:  export " + Variable + "=/var/lib/firn   Several?  --store ADDRESS (firn pool --help)"}
		if dir, err := filepath.Abs("ids"); err == nil {
			hints = append([]string{"Try it:  --state " + shell.Word(dir)}, hints...)
		}
		if len(st.words) > 0 && st.Instead.Pool == "" { // firn new
			hints = append(hints, "A first look, without a store?  firn new "+st.words[0]+" --worker 0")
		}
		return hints
	case driver.RemedyMove:
		return []string{
			"Use another place for the pools:  --store ADDRESS (firn pool --help)",
			"Were there pools here?  Stop their processes, and before any starts again, for each:  firn pool recover NAME --create --format FORMAT --store ADDRESS",
		}
	case driver.RemedyCreate:
		return st.missing(r.Pool, pool, anew)
	case driver.RemedyRecover:
		line := "firn pool recover " + pool
		if r.Lost && st.knows(r.Pool) {
			line += " --format " + st.formatOf(r.Pool) + st.window()
		}
		hints := []string{"Recover it, also beside running processes:  " + st.Command(line)}
		if r.Lost && !st.knows(r.Pool) {
			hints = append(hints, "Does the recovery ask for --format?  Give the format, epoch and widths that the pool was created with.")
		}
		return append(hints, "Don't repair, move or delete records.")
	case driver.RemedyRestored:
		hints := []string{
			"Stop all processes that use this store, and then:  " + st.Command("firn pool recover --all"),
			"Is a pool gone?  Don't create it:  " + anew,
		}
		if st.directory() != "" {
			return append([]string{"Was the directory moved, replaced or unmounted?  Put the original back: it knows which timestamps are used."}, hints...)
		}
		return hints
	case driver.RemedyCopy:
		return []string{
			"Is the original still there?  Use that: the copy generates the same IDs again.",
			"Is it gone for good?  Stop all processes that use the copy, and then:  " + st.Command("firn pool recover --all --adopt"),
		}
	case driver.RemedyWorker:
		free := "Stop a process that has a worker, or try again later."
		if errors.Is(err, lease.ErrHeld) {
			free = "Give another --worker, or none."
		}
		return []string{free, "To see the holders:  " + st.Command("firn pool show "+pool)}
	case driver.RemedyPool:
		if errors.Is(err, lease.ErrPoolExists) {
			return []string{"It can be used as it is:  " + st.Command("firn pool show "+pool)}
		}
		return []string{"Do these IDs have a pool of their own?  Name it:  " + cmp.Or(st.Instead.Pool, "--pool NAME"),
			"To see what this one is for:  " + st.Command("firn pool show "+pool)}
	case driver.RemedyClock:
		hints := []string{"Set the clock."}
		if !r.Until.IsZero() {
			hints[0] = "Set the clock, or wait until " + cli.TimeText(r.Until) + "."
		}
		if errors.As(err, new(*lease.SkewError)) {
			hints = append(hints, "Is the clock right?  Trust it:  "+cmp.Or(st.Instead.TrustClock, "--trust-clock"))
		}
		return hints
	case driver.RemedyVersion:
		return []string{"Use the version of firn that the other users of this store have."}
	case driver.RemedyRestart:
		return []string{"Look into the system's log, and check the disk. A running lease goes on by itself; start a command again."}
	}
	return nil
}

// missing returns the hints for a pool that is not there.
func (st *State) missing(known, pool, anew string) []string {
	lost := "Lost?  Don't create it again:  " + anew
	list := "Wrong name or store?  " + st.Command("firn pool list")
	if known == "" { // no store either
		list = "Is the address right?  See its forms:  firn pool --help"
		if st.directory() != "" {
			list = "Is the path right, and its filesystem mounted?"
		}
	}
	if near := st.near(known); near != "" {
		list = "Did you mean " + near + "?"
	}
	if st.Asks {
		return []string{list, lost}
	}
	line := "firn pool create " + st.formatOf(known)
	if known != "" {
		line += " --name " + known
	}
	return []string{list, "New?   " + st.Command(line), lost}
}

// knows reports whether the pool is that of the IDs that the command makes: only their format and flags are known. The
// name of a pool says nothing certain about a lost pool.
func (st *State) knows(pool string) bool { return pool != "" && pool == st.pool }

// formatOf returns the format and the flags of a pool, ready to type.
func (st *State) formatOf(pool string) string {
	if !st.knows(pool) {
		return "FORMAT"
	}
	return strings.Join(st.words, " ")
}

// window returns the flag of a recovery for the window of the command's leases: the record of a lost pool doesn't have it.
func (st *State) window() string {
	if st.Window <= lease.DefaultWindow {
		return ""
	}
	return " --window " + st.Window.String()
}

// directory returns the directory of the pools, or "" if they are elsewhere.
func (st *State) directory() string {
	at, err := st.Place()
	if err != nil {
		return ""
	}
	return at.Dir
}

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

// near returns the pools of the store that a misspelt name means, or "". Names that differ in their digits, such as
// orders1 and orders2, are different pools.
func (st *State) near(name string) string {
	const longest = 2 * time.Second // a user waits
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	look := *st
	look.NoCreate = true // nothing is made
	store, _, err := look.Look(ctx)
	if err != nil || store == nil {
		return ""
	}
	defer store.Close()
	names, _ := lease.Names(ctx, store)
	return cli.Near(name, slices.DeleteFunc(names, func(n string) bool {
		return n == name || formats.OfTorture(n) || digits(n) != digits(name)
	}))
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
