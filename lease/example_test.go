package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A program opens a store, makes a generator with Leased, and starts a lease. The generator then
// makes IDs until the lease is closed.
func ExampleStart() {
	dir, err := os.MkdirTemp("", "ids-") // a program names a directory that lasts
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	store, err := filelease.Open(filepath.Join(dir, "ids"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{})
	if err != nil {
		log.Fatal(err)
	}

	id, err := gen.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(held.Pool().Name(), id.GeneratorID() == held.Worker())
	fmt.Println(time.Since(gen.Time(id)) < time.Minute)

	if err := held.Close(); err != nil { // gives the worker back; the generator makes no more IDs
		log.Fatal(err)
	}
	_, err = gen.Next(ctx)
	fmt.Println(err)
	// Output:
	// nanoflake true
	// true
	// nanoflake: pool nanoflake: the lease is closed
}

// A program gets the address of its store from outside, and imports the packages of the stores that it may get:
//
//	import _ "github.com/firn-id/firn/lease/pglease"
func ExampleOpenStore() {
	store, err := lease.OpenStore(context.Background(), "postgres://orders@db.example.com/orders?password-file=/run/secrets/db&sslmode=verify-full")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	// Output:
	// invalid address of a store: this program does not have the stores of postgres://: import _ "github.com/firn-id/firn/lease/pglease"
}

// A program starts while its store is down. Next waits for the store as long as its context allows.
func ExampleOpenAndStart() {
	ctx := context.Background()
	var up atomic.Bool
	open := func(context.Context) (driver.Store, error) { // such as lease.OpenStore(ctx, address)
		if !up.Load() {
			return nil, driver.OpenError("postgres://db/orders", driver.ErrUnavailable, "")
		}
		return memlease.New(), nil
	}
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	held, err := lease.OpenAndStart(ctx, open, gen, lease.Config{Background: true})
	if err != nil {
		log.Fatal(err) // a setting is wrong
	}
	defer held.Close() // closes the store, too

	_, err = gen.TryNext()
	fmt.Println(errors.Is(err, lease.ErrStarting), held.Left() > 0)
	up.Store(true)
	_, err = gen.Next(ctx)
	fmt.Println(err, held.Left() > 0)
	// Output:
	// true false
	// <nil> true
}

// A chosen worker suits programs with numbers of their own, such as the replicas of a StatefulSet.
// Even then a second process with the same number makes no equal IDs: Start refuses the process.
func ExampleNumber() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()
	start := func() (*lease.Lease, error) {
		gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
		if err != nil {
			return nil, err
		}
		return lease.Start(ctx, store, gen, lease.Config{Worker: lease.Number(7), Wait: -1})
	}
	held, err := start()
	if err != nil {
		log.Fatal(err)
	}
	defer held.Close()
	fmt.Println(held.Worker())

	_, err = start()
	fmt.Println(errors.Is(err, lease.ErrHeld))
	// Output:
	// 7
	// true
}

// Notify gets the events of a lease. Log the events, and alert on Failing, Expired, Lost and, after the
// first start, Created.
func ExampleConfig_notify() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{
		Worker: lease.Number(7),
		Notify: func(e lease.Event) { fmt.Println(e.Kind, e.Pool, e.Worker) }, // or slog.Info("lease", "event", e)
	})
	if err != nil {
		log.Fatal(err)
	}
	held.Close()
	// Output:
	// created nanoflake -1
	// acquired nanoflake 7
	// released nanoflake 7
}

// On a store of many machines, create the pool once, for example in a migration. The settings of
// the generator are the layout of the pool: Start refuses a generator with other settings.
func ExampleCreate() {
	ctx := context.Background()
	var store driver.Store = memlease.New() // a program opens pglease, etcdlease or another store
	defer store.Close()

	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	wanted, err := gen.ForLease().Pool()
	if err != nil {
		log.Fatal(err)
	}
	pool, err := lease.Create(ctx, store, "orders", wanted.Layout)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pool.Name(), pool.Layout().Format, pool.Layout().Workers)

	held, err := lease.Start(ctx, store, gen, lease.Config{Pool: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	defer held.Close()

	_, err = lease.Create(ctx, store, "orders", wanted.Layout)
	fmt.Println(errors.Is(err, lease.ErrPoolExists))
	// Output:
	// orders nanoflake 1024
	// true
}

// A pool is for generators with one format and one epoch. Open, and Start too, refuse other generators.
func ExampleOpen() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()
	layout := func(epoch time.Time) grant.Layout {
		gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: epoch})
		if err != nil {
			panic(err)
		}
		pool, err := gen.ForLease().Pool()
		if err != nil {
			panic(err)
		}
		return pool.Layout
	}
	epoch := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := lease.Create(ctx, store, "orders", layout(epoch)); err != nil {
		log.Fatal(err)
	}
	_, err := lease.Open(ctx, store, "orders", layout(epoch))
	fmt.Println(err)

	_, err = lease.Open(ctx, store, "orders", layout(nanoflake.DefaultEpoch()))
	var mismatch *lease.MismatchError
	if errors.As(err, &mismatch) {
		fmt.Printf("%s: %s, not %s\n", mismatch.Field, mismatch.Have, mismatch.Want)
	}
	_, err = lease.Open(ctx, store, "order", layout(epoch))
	fmt.Println(errors.Is(err, lease.ErrNoPool))
	// Output:
	// <nil>
	// epoch: 2024-01-01T00:00:00Z, not 2021-01-01T00:00:00Z
	// true
}

// Workers shows which processes hold workers of a pool.
func ExampleLookup() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{Worker: lease.Number(7), Holder: "orders-2"})
	if err != nil {
		log.Fatal(err)
	}
	defer held.Close()

	pool, err := lease.Lookup(ctx, store, "nanoflake")
	if err != nil {
		log.Fatal(err)
	}
	used, _, err := pool.Workers(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range used {
		fmt.Println(w.Number, w.Holder, w.Held, w.Until.After(w.From))
	}
	// Output: 7 orders-2 true true
}

// After the store was restored from a backup, recover each pool. Let no process that takes workers
// reach the store before.
func ExampleRecoverPool() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{})
	if err != nil {
		log.Fatal(err)
	}
	held.Close()

	names, err := lease.Names(ctx, store)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		done, err := lease.RecoverPool(ctx, store, name, lease.RecoveryConfig{})
		if err != nil {
			log.Fatal(err)
		}
		wait := time.Until(done.Floor) // no lease gets a worker before the floor
		fmt.Println(name, done.Raised > 0, done.Made, wait > time.Minute, wait < 2*time.Minute)
	}
	// Output: nanoflake true 0 true true
}

// A strictly ordered service answers with an ID only if its lease was the last one when the ID was made.
// One call of Confirm does for all IDs that were made before.
func ExampleLease_Confirm() {
	ctx := context.Background()
	store := memlease.New()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	// The same worker in all processes: the others wait for it.
	held, err := lease.Start(ctx, store, gen, lease.Config{Worker: lease.Number(7), Wait: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	defer held.Close()

	next := func() (nanoflake.ID, error) {
		for {
			id, err := gen.Next(ctx)
			if err != nil {
				return 0, err
			}
			since, err := held.Confirm(ctx)
			if err != nil {
				return 0, err // such as *lease.LostError: another process has the worker
			}
			if !since.After(gen.Time(id)) {
				return id, nil
			}
			// The lease had lost its worker after making the ID, and has it again.
		}
	}
	id, err := next()
	fmt.Println(id.GeneratorID(), err)
	// Output: 7 <nil>
}
