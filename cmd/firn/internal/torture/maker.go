package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// The history of a worker has to name the process that made an ID, or nobody. The run asks for some of the
// IDs again and again, and the check asks for all IDs in the end.

// Makers count the answers to the question which process made an ID.
type Makers struct {
	Named  int64 `json:"named"`
	Nobody int64 `json:"nobody"`
}

// program returns the name of the program that a process gives to its leases. Short leases of one program
// share an entry of the history: the processes of a run have different names.
func program(process int) string { return fmt.Sprintf("torture-%d", process) }

// made reports whether the holder is the process with a number.
func made(h lease.Holder, process, pid int) bool {
	return h.Program == program(process) && (h.Count > 1 || h.Process == pid)
}

// holderAt returns the holder of a worker at a time.
func holderAt(holders []lease.Holder, at int64) (lease.Holder, bool) {
	for _, h := range holders {
		if h.Since.UnixMicro() <= at && at < h.Until.UnixMicro() {
			return h, true
		}
	}
	return lease.Holder{}, false
}

// holders returns the holders of all workers of the pool.
func holders(ctx context.Context, p *lease.Pool) (map[int][]lease.Holder, error) {
	workers, _, err := p.Workers(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[int][]lease.Holder)
	for _, w := range workers {
		all[w.Number] = w.Holders
	}
	return all, nil
}

// lastHolders returns the holders of all workers after the end of the run.
func (p place) lastHolders(ctx context.Context, open Opener) (map[int][]lease.Holder, error) {
	store, err := persist(ctx, func() (driver.Store, error) { return p.open(ctx, open) })
	if store == nil {
		return nil, err
	}
	defer store.Close()
	return persist(ctx, func() (map[int][]lease.Holder, error) {
		pool, err := lease.Lookup(ctx, store, p.Pool)
		if err != nil {
			return nil, err
		}
		return holders(ctx, pool)
	})
}

// askAll asks for some IDs until ctx ends. A store that fails is asked again later.
func (r *runner) askAll(ctx context.Context) error {
	store, err := persist(ctx, func() (driver.Store, error) { return r.place.open(ctx, r.config.Open) })
	if store == nil {
		return err
	}
	defer store.Close()
	r.mu.Lock()
	_, r.confirms = store.(driver.Confirmer)
	r.mu.Unlock()
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := r.ask(asked, store)
		cancel()
		if err != nil {
			return err
		}
		select {
		case <-time.After(r.config.Window/4 + 20*time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

// A sample is an ID, and the process that made the ID.
type sample struct {
	id
	process, pid int
}

// ask asks which processes made some IDs. All IDs were made before the question.
func (r *runner) ask(ctx context.Context, store driver.Store) error {
	samples, err := r.sample(100)
	if err != nil {
		return err
	}
	pool, err := lease.Lookup(ctx, store, r.place.Pool)
	if err != nil {
		return nil
	}
	now, err := holders(ctx, pool)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range samples {
		worker, at := r.format.read(v.id)
		h, ok := holderAt(now[worker], at.UnixMicro())
		switch {
		case !ok:
			r.asked.Nobody++
		case made(h, v.process, v.pid):
			r.asked.Named++
		default:
			r.misnamed = append(r.misnamed, fmt.Sprintf("%s: worker %d at %s, by process %d, and the history named %s",
				r.format.text(v.id), worker, timeText(at.UnixMicro()), v.process, h))
		}
	}
	return nil
}

// sample returns some logged IDs of all processes.
func (r *runner) sample(n int) (samples []sample, err error) {
	r.mu.Lock()
	all := r.all[:len(r.all):len(r.all)]
	r.mu.Unlock()
	for range n {
		if len(all) == 0 {
			break
		}
		p := all[rand.IntN(len(all))]
		if rand.IntN(2) == 0 { // the history knows the latest processes best
			p = all[max(len(all)-1-rand.IntN(2*r.config.Processes), 0)]
		}
		made := p.size() / int64(r.format.Size)
		if made == 0 {
			continue
		}
		f, err := os.Open(p.ids)
		if err != nil {
			return nil, err
		}
		b := make([]byte, r.format.Size)
		_, err = f.ReadAt(b, rand.Int64N(made)*int64(r.format.Size))
		f.Close()
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample{decode(b), p.number, p.cmd.Process.Pid})
	}
	return samples, nil
}

// judgeMaker judges what the history says of an ID after the end of the run.
func (k *checker) judgeMaker(v id, n int64, l *log, worker int, at int64) {
	h, ok := holderAt(k.holders[worker], at)
	switch {
	case !ok:
		k.sum.Makers.Nobody++
	case made(h, l.process, l.pid):
		k.sum.Makers.Named++
	default:
		k.violation(misnamed, [2]int{l.process, h.Process}, func() string { return k.who(v, n, l) + ": the history names " + h.String() })
	}
}

// addAsked adds the answers from the time of the run.
func (k *checker) addAsked(r record) {
	k.sum.Asked = r.Asked
	for _, text := range r.Misnamed {
		k.violation(misnamed, [2]int{}, func() string { return text })
	}
}
