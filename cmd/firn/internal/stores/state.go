package stores

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// A State holds the flags --state, --store and --no-create: where the pools are.
type State struct {
	Dir      Directory
	NoCreate bool          // a missing store is an error
	Window   time.Duration // of the command's leases; printed recoveries have it, since a lost record of a pool knows none
	Asks     bool          // the command asks about IDs that there are: a pool that is created now does not know them
	Instead  struct {      // what the command has instead of the flags --trust-clock and --pool
		TrustClock, Pool string
	}
	store   Address
	set     *pflag.FlagSet
	created string   // the directory, if Open found no store there
	pool    string   // of the IDs that the command makes
	words   []string // the format and the flags of these IDs
}

// Makes notes the pool of the IDs that the command makes, and their format and flags. Printed
// commands for this pool have the flags.
func (st *State) Makes(pool, format string, flags []string) {
	st.pool, st.words = pool, append([]string{format}, flags...)
}

// AddTo adds the flags to cmd.
func (st *State) AddTo(cmd *cobra.Command) {
	st.set = cmd.Flags()
	st.set.Var(&st.store, "store", "address of the pools' store (default $"+Variable+")")
	st.set.Var(&st.Dir, "state", "directory of the pools")
	cli.Group(cmd, "Store", "store", "state")
	if err := cmd.RegisterFlagCompletionFunc("store", CompleteStore); err != nil {
		panic(err) // no such flag, or twice
	}
	if err := cmd.MarkFlagDirname("state"); err != nil {
		panic(err)
	}
}

// AddNoCreateTo adds the flag --no-create to cmd, which may create a store, or reports whether there is one.
func (st *State) AddNoCreateTo(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&st.NoCreate, "no-create", false, usage)
	cli.Group(cmd, "Store", "no-create")
}

// At returns the State of a command with this address of a store.
func At(address string) *State {
	st, cmd := &State{}, &cobra.Command{}
	st.AddTo(cmd)
	st.set.Set("store", "")
	st.store = Address(address) // Set would take a relative path
	return st
}

// Absolute returns the State whose flags name the place, so that commands in errors work in every folder and shell: a
// server's errors are read elsewhere.
func (st *State) Absolute() *State {
	at, err := st.Place()
	switch {
	case err != nil:
		return st
	case at.Dir != "":
		return &State{Dir: Directory(at.Dir), NoCreate: st.NoCreate}
	}
	return At(at.address)
}

// A Place is where the pools are: in a directory, or in the store of an address.
type Place struct {
	Dir     string // an absolute path, or "" for an address of a shared store
	address string
	name    string // the flag or variable with the address
}

// String returns the directory, or the address without settings and secrets.
func (p Place) String() string {
	if p.Dir != "" {
		return p.Dir
	}
	a, err := address.Parse(p.address)
	if err != nil {
		return p.name
	}
	return a.String()
}

// Place returns where the pools are. The error is wrong usage: no store is named, for example.
func (st *State) Place() (Place, error) {
	p := Place{address: string(st.store), name: "--store"}
	given := st.set != nil && st.set.Changed("store")
	if given && st.Dir != "" {
		return Place{}, cli.Usagef("--state %s: cannot be used with --store: both name a store", cli.Plain(string(st.Dir)))
	}
	if !given {
		p.address, p.name = os.Getenv(Variable), Variable
	}
	switch {
	case st.Dir != "":
		dir, err := filepath.Abs(string(st.Dir))
		return Place{Dir: dir}, err
	case !st.Named():
		return Place{}, cli.WithHints(cli.Usagef("no store named"), func() []string { return st.hints(lease.Remedy{Kind: driver.RemedyStore}, nil) })
	}
	k, err := KindOf(p.address)
	if err == nil && k.Scheme == "file" {
		p.Dir, err = filelease.ParseAddress(p.address)
	}
	return p, BadAddress(p.name, err)
}

// Named reports whether a flag or the variable names a store.
func (st *State) Named() bool {
	return st.Dir != "" || st.set != nil && st.set.Changed("store") || os.Getenv(Variable) != ""
}

// Permissions returns the kind of the store, and what gives a user the rights that a program needs at the store. The
// user is by default the user of the address. All errors are wrong usage.
func (st *State) Permissions(user string) (Kind, string, error) {
	at, err := st.Place()
	if err != nil {
		return Kind{}, "", err
	}
	address := at.address
	if address == "" {
		address = "file://" + (&url.URL{Path: filepath.ToSlash(at.Dir)}).EscapedPath()
	}
	k, err := KindOf(address)
	if err != nil {
		return k, "", BadAddress(at.name, err)
	}
	if k.Permissions == nil {
		return k, "", cli.Usagef("%s: the rights at a store of the kind %s:// are not known", at.name, k.Scheme)
	}
	text, err := k.Permissions(address, user)
	switch {
	case errors.Is(err, driver.ErrAddress):
		err = BadAddress(at.name, err)
	case err != nil && user == "" && !hasUser(address):
		err = cli.Usagef("no user given: want --user, the %s of the program", k.Who)
	case err != nil:
		err = cli.Usagef("--user: %w", err)
	}
	return k, text, err
}

// hasUser reports whether an address names a user.
func hasUser(addr string) bool {
	a, err := address.Parse(addr)
	return err == nil && a.User != ""
}

// Open opens the store. It makes a missing directory, unless the store has to be there already.
func (st *State) Open(ctx context.Context) (driver.Store, Place, error) {
	at, err := st.Place()
	if err != nil {
		return nil, at, err
	}
	if at.Dir != "" {
		store, err := filelease.Open(at.Dir, filelease.NoCreate)
		if errors.Is(err, filelease.ErrNoStore) && !st.NoCreate {
			st.created = at.Dir
			store, err = filelease.Open(at.Dir)
		}
		if err != nil {
			return nil, at, err // a nil *filelease.Store in an interface would not be nil
		}
		return store, at, nil
	}
	store, err := lease.OpenStore(ctx, at.address)
	return store, at, BadAddress(at.name, err)
}

// SayCreated tells the user if the command has created a store: Open found none in the directory. The command
// calls SayCreated when it has created a pool.
func (st *State) SayCreated(s *cli.Streams) {
	if st.created != "" {
		cli.Complain(s.Err, errors.New(CreatedText(st.created)))
	}
}

// CreatedText returns what is said of a new store in a directory.
func CreatedText(dir string) string { return "created a new store in " + dir }

// Look opens the store as Open does, but makes no directory: store is nil if the directory does not
// exist, unless the store has to be there already.
func (st *State) Look(ctx context.Context) (store driver.Store, at Place, err error) {
	if at, err = st.Place(); err != nil {
		return nil, at, err
	}
	if _, err := os.Stat(at.Dir); at.Dir != "" && !st.NoCreate && errors.Is(err, fs.ErrNotExist) {
		return nil, at, nil
	}
	return st.Open(ctx)
}

// LookFor is Look for a command about a pool. Without a directory, the error says that there is no such pool.
func (st *State) LookFor(ctx context.Context, pool string) (driver.Store, Place, error) {
	store, at, err := st.Look(ctx)
	if store == nil && err == nil {
		err = NoPool(pool, at, nil)
	}
	return store, at, err
}

// LookForAll is Look for a command about all pools. The directory has to exist: such a command would otherwise
// find no pools, and no fault, at a mistyped path.
func (st *State) LookForAll(ctx context.Context) (driver.Store, Place, error) {
	store, at, err := st.Look(ctx)
	if store == nil && err == nil {
		_, err = filelease.Open(at.Dir, filelease.NoCreate)
	}
	return store, at, err
}

// A Directory is the value of a flag: a directory.
type Directory string

var _ pflag.Value = (*Directory)(nil)

func (d *Directory) Type() string { return "DIR" }

func (d *Directory) String() string { return string(*d) }

func (d *Directory) Set(s string) error {
	if s == "" {
		return errors.New("is empty: name a directory")
	}
	if driver.IsAddress(s) {
		return errors.New("is an address, not a directory: give it by --store")
	}
	if strings.HasPrefix(s, "~") {
		return errors.New("begins with ~, which only a shell expands")
	}
	if err := driver.CheckPath(filepath.ToSlash(s)); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), driver.ErrAddress.Error()+": "))
	}
	*d = Directory(s)
	return nil
}

// A PoolName is the value of a flag: the name of a pool.
type PoolName string

func (p *PoolName) Type() string { return "NAME" }

func (p *PoolName) String() string { return string(*p) }

func (p *PoolName) Set(s string) error {
	if driver.CheckName(s) != nil {
		return errors.New("is not the name of a pool: use lower-case letters, digits, '.', '_', '@' and '-'")
	}
	*p = PoolName(s)
	return nil
}

// CompletePool completes the names of pools.
func (st *State) CompletePool(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // a user waits
	defer cancel()
	var found []string
	if store, _, err := st.Look(ctx); store != nil && err == nil {
		defer store.Close()
		names, _ := lease.Names(ctx, store)
		for _, name := range names {
			if strings.HasPrefix(name, toComplete) {
				found = append(found, name)
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
