package torture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// The history of a worker has to name the process that made an ID, or nobody. The check asks for all IDs
// after the run.

// Makers count the answers to the question which process made an ID.
type Makers struct {
	Named  int64 `json:"named"`
	Nobody int64 `json:"nobody"`
}

// program returns the name of the program that a process gives to its leases. Short leases of one program
// share an entry of the history: the processes of a run have different names.
func program(process int) string { return fmt.Sprintf("torture-%d", process) }

// judge counts what the histories say of an ID of a process. It returns the holder that they name wrongly.
func (m *Makers) judge(histories map[int][]lease.Holder, worker int, at int64, number, pid int) (wrong *lease.Holder) {
	for _, h := range histories[worker] {
		switch {
		case at < h.Since.UnixMicro() || h.Until.UnixMicro() <= at:
			continue
		case h.Program == program(number) && (h.Count > 1 || h.Process == pid):
			m.Named++
			return nil
		}
		return &h
	}
	m.Nobody++
	return nil
}

// persist calls a function until it succeeds, or fails with another error than one that is worth another try.
func persist[T any](ctx context.Context, worth error, get func() (T, error)) (T, error) {
	for {
		got, err := get()
		if err == nil || !errors.Is(err, worth) || errors.Is(err, driver.ErrRefused) || pause.For(ctx, 50*time.Millisecond) != nil {
			return got, err
		}
	}
}

// histories returns the holders of all workers after the end of the run, and whether the store can confirm.
func (r *runner) histories(ctx context.Context) (all map[int][]lease.Holder, confirms bool, err error) {
	store, err := persist(ctx, driver.ErrUnavailable, func() (driver.Store, error) { return r.place.open(ctx, r.Open, true) })
	if err != nil {
		return nil, false, err
	}
	defer store.Close()
	workers, err := persist(ctx, driver.ErrUnavailable, func() ([]lease.Worker, error) {
		pool, err := lease.Lookup(ctx, store, r.place.Pool)
		if err != nil {
			return nil, err
		}
		workers, _, err := pool.Workers(ctx)
		return workers, err
	})
	all = make(map[int][]lease.Holder)
	for _, w := range workers {
		all[w.Number] = w.Holders
	}
	_, confirms = store.(driver.Confirmer)
	return all, confirms, err
}
