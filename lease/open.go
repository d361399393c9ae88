package lease

import (
	"context"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// OpenStore opens the store of an address, such as postgres://orders@db/orders or
// file:///var/lib/firn, or the absolute path /var/lib/firn. The command firn takes the same
// addresses. The package of a store registers a scheme when a program imports the package:
//
//	import _ "github.com/firn-id/firn/lease/pglease"
//
// The error is [driver.ErrAddress] if no imported package has the scheme, and names the import. All
// other errors come from the package's Open.
func OpenStore(ctx context.Context, address string) (driver.Store, error) {
	// Package lease/address would read the scheme too, and bring TLS into programs with stores of
	// files.
	scheme, rest, err := driver.SplitAddress(address)
	if err != nil {
		return nil, err
	}
	if open, ok := driver.Registered(scheme); ok {
		return open(ctx, scheme+"://"+rest)
	}
	if path, ok := packages[scheme]; ok {
		return nil, fmt.Errorf("%w: this program does not have the stores of %s://: import _ %q", driver.ErrAddress, scheme, path)
	}
	return nil, fmt.Errorf("%w: no store has addresses of the kind %s://; this program has %s", driver.ErrAddress, scheme, registered())
}

// registered lists the known schemes.
func registered() string {
	all := driver.Schemes()
	if len(all) == 0 {
		return "no store: import the package of one"
	}
	return strings.Join(all, "://, ") + "://"
}

// packages has the packages of Firn's own stores, for the error of an unregistered scheme.
var packages = map[string]string{
	"etcd":       "github.com/firn-id/firn/lease/etcdlease",
	"file":       "github.com/firn-id/firn/lease/filelease",
	"kubernetes": "github.com/firn-id/firn/lease/kubelease",
	"postgres":   "github.com/firn-id/firn/lease/pglease",
	"redis":      "github.com/firn-id/firn/lease/redislease",
	"rediss":     "github.com/firn-id/firn/lease/redislease",
}

// An opener opens the store of a lease. A nil opener means a store that the program has opened.
type opener struct {
	call func(context.Context) (driver.Store, error)
	timed
}

// openTimes is how long opening a store may take, in time-outs of a request: a store makes several
// requests.
const openTimes = 5

func newOpener(call func(context.Context) (driver.Store, error), c Config) *opener {
	t := c.timed(unopened{})
	t.limit *= openTimes
	return &opener{call, t}
}

// unopened stands for a store that is not open, in errors.
type unopened struct{ driver.Store }

func (unopened) String() string { return "the store" }

// open opens the store within a time limit, whether or not the call heeds its context. A store that
// comes too late is closed again.
func (o *opener) open(ctx context.Context) (driver.Store, error) {
	got := new(result[driver.Store])
	before := o.turn.done
	err := o.do(ctx, "open", "", func(ctx context.Context) { got.value, got.err = o.call(ctx) })
	if err == nil {
		return got.value, got.err
	}
	if late := o.turn.done; late != before { // this request was abandoned
		o.world.spawn(func() {
			await(context.Background(), o.world, late)
			if got.err == nil {
				got.value.Close()
			}
		})
	}
	return nil, err
}

// closeStore closes a store that the lease has opened. A store may hang: closeStore waits for at most
// a time-out. The caller holds work.
func (l *Lease) closeStore() error {
	if !l.owned || l.store == nil {
		return nil
	}
	store, world := l.store, l.config.world
	l.store = nil
	within, cancel := world.timeout(context.Background(), l.config.Timeout)
	defer cancel()
	var err error
	done := make(chan struct{})
	world.spawn(func() {
		defer close(done)
		err = store.Close()
	})
	if await(within, world, done) != nil {
		return nil // the store hangs, and nothing is lost
	}
	return err
}
