package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/server"
)

// An opener opens the stores of a server.
type opener struct {
	f      *serveFlags
	log    *slog.Logger
	at     stores.Place // the default store
	states map[string]*stores.State
	looks  bool // for --check: nothing is made
	uses   bool // a generator leases from the default store

	mu      sync.Mutex
	found   []string     // with looks: how stores can lose changes
	opened  driver.Store // the default store, before the server takes it
	created string       // the directory of the default store, if it had no store
}

// opener returns the opener of the stores, and sets what the Config knows of stores. A wrong address is wrong usage.
func (f *serveFlags) opener(log *slog.Logger, c *server.Config) (*opener, error) {
	o := &opener{f: f, log: log, states: map[string]*stores.State{}}
	c.OpenStore, c.Notify = o.open, o.notify
	leases, err := c.Leases()
	if err != nil {
		return nil, f.configError(err)
	}
	named := f.Absolute()
	for _, l := range leases {
		var st *stores.State
		if l.Store == "" {
			of := *named
			st, o.uses = &of, true
		} else {
			st = stores.At(l.Store)
			if _, err := st.Place(); err != nil {
				return nil, f.configError(c.StoreError(&l.Generator, errors.New(strings.TrimPrefix(err.Error(), "--store: "))))
			}
		}
		st.Instead = f.Instead
		st.Makes(l.PoolName, l.Format, flagsOf(&l))
		st.Window = c.Lease.Window
		o.states[l.Name] = st
	}
	if o.uses || f.Named() {
		if o.at, err = f.Place(); err != nil {
			return nil, err
		}
	}
	c.DefaultStore = o.at.String()
	return o, f.configError(c.Check())
}

// flagsOf returns the flags of firn pool create for the IDs of a generator.
func flagsOf(g *server.PlannedGenerator) (words []string) {
	number := func(flag string, n int) {
		if n != 0 {
			words = append(words, flag, fmt.Sprint(n))
		}
	}
	if !g.Epoch.IsZero() {
		words = append(words, "--epoch", cli.TimeText(g.Epoch))
	}
	number("--clock-bits", g.ClockBits)
	if g.MachineBits != nil {
		words = append(words, "--machine-bits", fmt.Sprint(*g.MachineBits))
	}
	number("--counter-bits", g.CounterBits)
	number("--node-bits", g.NodeBits)
	if g.Micro {
		words = append(words, "--micro")
	}
	return words
}

// openDefault opens the default store, if it is a directory: a directory is not away, so an error is final. A store with
// a server is opened in the background, and again until the server answers.
func (o *opener) openDefault(ctx context.Context) error {
	if !o.uses || o.at.Dir == "" {
		return nil
	}
	store, err := o.open(ctx, "")
	if err != nil {
		return o.f.Hint(err)
	}
	o.opened = store
	return nil
}

// close closes the default store, unless the server has taken it.
func (o *opener) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.opened != nil {
		o.opened.Close()
	}
}

// open opens a store for the server.
func (o *opener) open(ctx context.Context, address string) (store driver.Store, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if store, o.opened = o.opened, nil; address == "" && store != nil {
		return store, nil
	}
	if address == "" && o.at.Dir != "" {
		store, err = o.directory(o.at)
	} else if address == "" {
		store, _, err = o.f.Open(ctx)
	} else if at, bad := stores.At(address).Place(); bad != nil {
		err = bad
	} else if at.Dir != "" {
		store, err = o.directory(at)
	} else {
		store, err = lease.OpenStore(ctx, address)
	}
	switch {
	case err != nil || store == nil:
	case o.looks:
		blocked := ""
		for _, f := range o.findings(ctx, store) {
			text := store.String() + ": " + stores.FindingText(f)
			if f.Blocks {
				blocked = text
			} else {
				o.found = append(o.found, text)
			}
		}
		if blocked != "" {
			store.Close()
			return nil, errors.New(blocked)
		}
	default:
		go o.warn(store)
	}
	return store, err
}

// directory opens the store in a directory, and makes a missing directory. With --check, directory makes nothing: the
// store is then nil.
func (o *opener) directory(at stores.Place) (driver.Store, error) {
	store, err := filelease.Open(at.Dir, filelease.NoCreate)
	switch {
	case o.f.NoCreate:
	case err == nil:
		store.Close()
		store, err = filelease.Open(at.Dir) // without NoCreate, a lease makes its pool
	case errors.Is(err, filelease.ErrNoStore):
		if _, missing := os.Stat(at.Dir); o.looks && errors.Is(missing, fs.ErrNotExist) {
			return nil, o.wouldMake(at.Dir)
		}
		if store, err = filelease.Open(at.Dir); at.Dir == o.at.Dir {
			o.created = at.Dir
		}
	}
	if err != nil {
		return nil, err // a nil *filelease.Store in an interface would not be nil
	}
	return store, nil
}

// wouldMake returns an error if a server could not make a missing directory, or would refuse the directory.
func (o *opener) wouldMake(dir string) error {
	missing, parent := dir, filepath.Dir(dir)
	for parent != missing {
		if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing, parent = parent, filepath.Dir(parent)
	}
	if err := mayMake(parent); err != nil {
		err = &fs.PathError{Op: "mkdir", Path: missing, Err: err}
		return driver.OpenError((&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String(), fmt.Errorf("%w: %w", driver.ErrUnavailable, err),
			driver.RemedyPermissions)
	}
	// The directory would be on the filesystem of the parent, which may contain other stores, or be a copy of one.
	store, err := filelease.OpenCopy(parent)
	switch {
	case err == nil:
		return store.Close()
	case errors.Is(err, driver.ErrUnsafe):
		return err
	}
	return nil
}

// findings returns how a store can lose changes, and what the store refuses to leases.
func (o *opener) findings(ctx context.Context, store driver.Store) []driver.Finding {
	const longest = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	found, _ := stores.InspectStore(ctx, store) // doctor reports the error
	return slices.DeleteFunc(found, func(f driver.Finding) bool { return !f.Loses && !f.Blocks })
}

// warn warns of what a store can lose, or refuses.
func (o *opener) warn(store driver.Store) {
	for _, f := range o.findings(context.Background(), store) {
		o.log.Warn(stores.FindingText(f), "store", store.String())
	}
}

// notify tells of the events that need more words than the server's own.
func (o *opener) notify(_ string, e lease.Event) {
	if e.Kind != lease.Created {
		return
	}
	o.mu.Lock()
	created := o.created
	o.created = ""
	o.mu.Unlock()
	if created != "" {
		o.log.Info(stores.CreatedText(created))
	}
}
