package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/snowflakesi"
)

// A design is a wrong design of a store, or of what a generator tells its lease. Each breaks a promise of
// docs/leases.md, and a short run finds it.
type design struct {
	name  string
	found []string // kinds of violations
	store func(driver.Store) driver.Store
	lease func(grant.Grantee) grant.Grantee
}

var designs = []design{
	// A generator mints to the end of the window. This one goes on until the lease reports the loss.
	{name: "unfenced", found: []string{outside, early}, lease: func(g grant.Grantee) grant.Grantee { return unfenced{g} }},
	// A worker in use never goes to another lease. These stores compare no revisions, or lose some writes that
	// they have acknowledged, like a server that fails before copying.
	{name: "blind-put", found: []string{overlap}, store: func(s driver.Store) driver.Store { return blindPut{s} }},
	{name: "lost-writes", found: []string{overlap}, store: func(s driver.Store) driver.Store { return &lostWrites{Store: s} }},
	// No two generators make the same ID. This one gives back even the last times with IDs.
	{name: "give-all", found: []string{outside}, lease: func(g grant.Grantee) grant.Grantee { return giveAll{g} }},
	// The history of a worker names who made an ID. Here, the entry of a lease begins where the entry before begins.
	{name: "long-entries", found: []string{misnamed}, store: func(s driver.Store) driver.Store { return longEntries{s} }},
	// Confirm means that the lease holds its worker. This store confirms what the process has last written.
	{name: "from-memory", found: []string{late}, store: func(s driver.Store) driver.Store { return &fromMemory{Store: s} }},
}

// designOf returns the design of a name; the names of formats that are not here have none.
func designOf(name string) design {
	for _, d := range designs {
		if d.name == name {
			return d
		}
	}
	return design{name: name}
}

// openDesign opens the files of an address NAME:DIR as the store of a design.
func openDesign(_ context.Context, address string) (driver.Store, error) {
	name, dir, _ := strings.Cut(address, ":")
	store, err := filelease.Open(dir)
	if d := designOf(name); err == nil && d.store != nil {
		return d.store(store), nil
	}
	return store, err
}

// format returns a format with four workers, so processes take over workers of other processes, and a fault of
// the store gives one worker to two processes. The generators have the design.
func (d design) format() *format {
	f, set := *snowflakesi.Descriptor(), shape.Settings{ClockBits: 40, MachineBits: 2}
	s, err := f.Of(set)
	if err != nil {
		panic(err)
	}
	make := f.New
	f.New = func(r shape.Recipe) (shape.Generator, error) {
		r.Settings = set
		g, err := make(r)
		if err == nil && d.lease != nil {
			g = &designed{g, d.lease} // what a lease takes is comparable
		}
		return g, err
	}
	return &format{d.name, &f, s}
}

// A designed generator is a generator with a wrong design.
type designed struct {
	shape.Generator
	lease func(grant.Grantee) grant.Grantee
}

func (g *designed) ForLease() grant.Grantee { return g.lease(g.Generator.ForLease()) }

type unfenced struct{ grant.Grantee }

func (g unfenced) Grant(worker int, from, until time.Time) error {
	return g.Grantee.Grant(worker, from, until.Add(24*time.Hour))
}

type giveAll struct{ grant.Grantee }

func (g giveAll) Seal(why error) time.Time { return g.Grantee.Seal(why).Add(-50 * time.Millisecond) }

// A generator that keeps unused times ahead of its clock makes no ID twice. TestStuck finds it.
type keepAhead struct{ grant.Grantee }

func (keepAhead) Withdraw() time.Time { return time.Unix(1<<35, 0) }

type blindPut struct{ driver.Store }

func (s blindPut) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	next, err := s.Store.Put(ctx, key, value, rev)
	for rev != driver.None && errors.Is(err, driver.ErrConflict) {
		var e driver.Entry
		if e, err = s.Get(ctx, key); err == nil {
			next, err = s.Store.Put(ctx, key, value, e.Revision)
		}
	}
	return next, err
}

type lostWrites struct {
	driver.Store
	lose atomic.Int64 // how many of the next writes
}

func (s *lostWrites) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if rev != driver.None {
		if rand.IntN(8) == 0 {
			s.lose.Store(8) // eight renewals take longer than two windows
		}
		if s.lose.Add(-1) >= 0 {
			return rev, nil
		}
	}
	return s.Store.Put(ctx, key, value, rev)
}

type longEntries struct{ driver.Store }

func (s longEntries) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	var record map[string]json.RawMessage
	var holders []map[string]json.RawMessage
	if json.Unmarshal(value, &record) == nil && json.Unmarshal(record["holders"], &holders) == nil && len(holders) > 1 {
		holders[0]["since_us"] = holders[1]["since_us"]
		record["holders"], _ = json.Marshal(holders)
		value, _ = json.Marshal(record)
	}
	return s.Store.Put(ctx, key, value, rev)
}

type fromMemory struct {
	driver.Store
	wrote sync.Map // entries by key
}

func (s *fromMemory) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	next, err := s.Store.Put(ctx, key, value, rev)
	if err == nil {
		s.wrote.Store(key, driver.Entry{Key: key, Value: bytes.Clone(value), Revision: next})
	}
	return next, err
}

func (s *fromMemory) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	if e, ok := s.wrote.Load(key); ok {
		return e.(driver.Entry), nil
	}
	return s.Store.(driver.Confirmer).Confirm(ctx, key)
}
