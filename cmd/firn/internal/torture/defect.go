package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// Defects are bad designs. A run has to find each. The environment variable of a defect switches
// the defect on with the value 1.
const (
	// Unfenced: generators go on after the end of their interval, until the lease reports the loss.
	Unfenced = "FIRN_TORTURE_UNFENCED"
	// BlindPut: records are written without comparing revisions.
	BlindPut = "FIRN_TORTURE_BLIND_PUT"
	// LostWrites: the store acknowledges some writes in a row and drops them, like a server that
	// fails before copying.
	LostWrites = "FIRN_TORTURE_LOST_WRITES"
	// GiveAll: a lease that ends gives back even the last times with IDs.
	GiveAll = "FIRN_TORTURE_GIVE_ALL"
	// LongEntries: in the history of a worker, the entry of a lease begins where the entry before begins.
	LongEntries = "FIRN_TORTURE_LONG_ENTRIES"
	// FromMemory: the store confirms what the process has last written.
	FromMemory = "FIRN_TORTURE_FROM_MEMORY"
	// KeepAhead: a generator keeps unused times ahead of its clock. The defect makes no ID twice. A
	// run finds the defect only if it happens late, so KeepAhead is not in Defects.
	KeepAhead = "FIRN_TORTURE_KEEP_AHEAD"
)

// Defects returns the defects for every run to find.
func Defects() []string {
	return []string{Unfenced, BlindPut, LostWrites, GiveAll, LongEntries, FromMemory}
}

func has(defect string) bool { return os.Getenv(defect) == "1" }

// spoil adds the defects that are switched on to a store.
func spoil(s driver.Store) driver.Store {
	if has(BlindPut) || has(LostWrites) || has(LongEntries) || has(FromMemory) {
		return &badStore{Store: s}
	}
	return s
}

type badStore struct {
	driver.Store
	lost  atomic.Int64 // how many of the next writes to drop
	wrote sync.Map     // entries by key, as this process has last written them
}

func (s *badStore) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	if e, ok := s.wrote.Load(key); ok && has(FromMemory) {
		return e.(driver.Entry), nil
	}
	return s.Store.(driver.Confirmer).Confirm(ctx, key)
}

func (s *badStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if has(LostWrites) && rev != driver.None {
		if rand.IntN(8) == 0 {
			s.lost.Store(8) // eight renewals take longer than two windows
		}
		if s.lost.Add(-1) >= 0 {
			return rev, nil
		}
	}
	if has(LongEntries) {
		value = lengthen(value)
	}
	next, err := s.Store.Put(ctx, key, value, rev)
	for has(BlindPut) && rev != driver.None && errors.Is(err, driver.ErrConflict) {
		var e driver.Entry
		if e, err = s.Get(ctx, key); err == nil {
			next, err = s.Store.Put(ctx, key, value, e.Revision)
		}
	}
	if err == nil {
		s.wrote.Store(key, driver.Entry{Key: key, Value: bytes.Clone(value), Revision: next})
	}
	return next, err
}

// lengthen returns the record of a worker with a longer first entry in its history.
func lengthen(value []byte) []byte {
	var record map[string]json.RawMessage
	var holders []map[string]json.RawMessage
	if json.Unmarshal(value, &record) != nil || json.Unmarshal(record["holders"], &holders) != nil || len(holders) < 2 {
		return value
	}
	holders[0]["since_us"] = holders[1]["since_us"]
	var err error
	if record["holders"], err = json.Marshal(holders); err == nil {
		value, err = json.Marshal(record)
	}
	if err != nil {
		panic(err) // the parts are JSON
	}
	return value
}

// fenced returns the end of an interval as told to a generator.
func fenced(until time.Time) time.Time {
	if has(Unfenced) {
		return until.Add(24 * time.Hour)
	}
	return until
}

// unminted returns the beginning of unused times as told to a lease.
func unminted(from time.Time) time.Time {
	if has(GiveAll) {
		return from.Add(-50 * time.Millisecond)
	}
	return from
}

// kept returns the end of kept times as told to a lease.
func kept(g grant.Grantee) time.Time {
	if has(KeepAhead) {
		return time.Unix(1<<35, 0)
	}
	return g.Withdraw()
}
