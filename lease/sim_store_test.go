package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// simStore is the store without a network. It does one request after the other.
type simStore struct {
	entries []driver.Entry // in the order of keys
	writers []int          // the leases that wrote them
	last    uint64
	down    int64 // it is out of reach until then
	mode    simOutage
	closed  bool     // it is being restored: only the recovery reaches it
	waiting []func() // requests that wait for the end of that
}

// A simOutage is a way for a store to be unreachable.
type simOutage uint8

const (
	simRefuses simOutage = iota // an error comes back at once
	simSilent                   // requests are lost
	simQueues                   // requests wait until it is back
	simMute                     // it does as told, and its replies are lost
	simStalls                   // requests wait until it is back, and heed no context
	simOutages
)

func (o simOutage) String() string {
	return [...]string{"refuses", "silent", "queues", "mute", "stalls"}[o]
}

// queues reports whether requests wait.
func (o simOutage) queues() bool { return o == simQueues || o == simStalls }

// hangsNow reports whether a request made now ignores its context.
func (s *simulation) hangsNow() bool {
	stalls := s.store.mode == simStalls && (s.now < s.store.down || s.store.closed)
	return stalls || s.now < s.faultsEnd && s.chance(s.hangs)
}

type simOp uint8

const (
	simGet simOp = iota
	simList
	simPut
	simNow
	simConfirm
	simGetAll
	simCreateAll
)

func (o simOp) String() string {
	return [...]string{"get", "list", "put", "now", "confirm", "get all", "create all"}[o]
}

type simRequest struct {
	op     simOp
	lease  *simLease
	key    string
	value  []byte
	rev    driver.Revision
	all    []driver.Entry // of a batch
	sent   int64
	copied bool // another one is under way
	deaf   bool // it heeds no context: it comes to an end, sooner or later
}

type simReply struct {
	entries []driver.Entry
	rev     driver.Revision
	revs    []driver.Revision
	time    int64
	err     error
}

var (
	errSimLost    = fmt.Errorf("%w: connection refused", driver.ErrUnavailable)
	errSimTimeout = fmt.Errorf("%w: %w", driver.ErrUnavailable, context.DeadlineExceeded)
	errSimCancel  = fmt.Errorf("%w: %w", driver.ErrUnavailable, context.Canceled)
)

func (s *simulation) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.store.entries, key, func(e driver.Entry, key string) int { return strings.Compare(e.Key, key) })
}

// do does a request in the store.
func (s *simulation) do(r *simRequest) simReply {
	store := &s.store
	i, found := s.find(r.key)
	switch r.op {
	case simNow:
		return simReply{time: s.now}
	case simList:
		end := i
		for end < len(store.entries) && strings.HasPrefix(store.entries[end].Key, r.key) {
			end++
		}
		return simReply{entries: slices.Clone(store.entries[i:end])}
	case simGetAll:
		var entries []driver.Entry
		for _, e := range r.all {
			if i, found := s.find(e.Key); found {
				entries = append(entries, store.entries[i])
			}
		}
		return simReply{entries: entries}
	case simCreateAll:
		revs := make([]driver.Revision, len(r.all))
		for i, e := range r.all {
			put := *r
			put.op, put.key, put.value = simPut, e.Key, e.Value
			revs[i] = s.do(&put).rev
		}
		return simReply{revs: revs}
	case simGet, simConfirm:
		if !found {
			return simReply{err: driver.ErrNotFound}
		}
		return simReply{entries: store.entries[i : i+1 : i+1]}
	}
	var have driver.Revision
	if found {
		have = store.entries[i].Revision
	}
	if have != r.rev {
		s.counts[simConflicts]++
		s.note(workerIn(r.key), "conflict", r.lease, nil, r.sent)
		return simReply{err: driver.ErrConflict}
	}
	if r.lease.process.dead {
		s.counts[simPosthumous]++
	} else if s.now-r.sent > r.lease.config.Timeout.Microseconds() {
		s.counts[simLateWrites]++
	}
	s.judgeWrite(r, i, found)
	store.last++
	e := driver.Entry{Key: r.key, Value: r.value, Revision: driver.Revision(strconv.FormatUint(store.last, 10))}
	if found {
		store.entries = slices.Clone(store.entries) // lists that are under way stay as they are
		store.entries[i], store.writers[i] = e, r.lease.number
	} else {
		store.entries = slices.Insert(slices.Clone(store.entries), i, e)
		store.writers = slices.Insert(store.writers, i, r.lease.number)
	}
	s.judgeHistory(workerIn(r.key))
	return simReply{rev: e.Revision}
}

func workerIn(key string) int {
	if worker, ok := workerOf(simPool, key); ok {
		return worker
	}
	return -1
}

// latency returns the travel time of a message.
func (s *simulation) latency() int64 {
	if s.now < s.faultsEnd && s.chance(s.slow) {
		s.counts[simSlow]++
		return s.exponential(float64(s.window) * s.slowness)
	}
	return 50 + s.exponential(float64(s.quick))
}

// send is the network, from the request to the reply.
func (s *simulation) send(r *simRequest, reply func(simReply)) {
	faulty := s.now < s.faultsEnd
	r.sent = s.now
	s.note(workerIn(r.key), r.op.String(), r.lease, nil)
	if faulty && !r.deaf && (s.chance(s.loseRequest) || r.lease.process.cutOut > s.now) {
		s.counts[simLostRequests]++
		s.note(workerIn(r.key), "request lost", r.lease, nil)
		return
	}
	copies := 1
	if faulty && (r.op == simPut || r.op == simCreateAll) && s.chance(s.repeat) {
		s.counts[simRepeats]++
		copies = 2
	}
	r.copied = copies > 1
	for range copies {
		d := s.latencyOf(r)
		if faulty && r.deaf && s.now >= s.store.down {
			d = min(s.exponential(float64(s.window)*2), s.faultsEnd-s.now)
		}
		s.after(d, func() { s.arrive(r, reply) })
	}
}

// latencyOf returns the travel time of a request or its reply. No lease gives up a request without
// a context, so such a request is slow only while there are faults.
func (s *simulation) latencyOf(r *simRequest) int64 {
	d := s.latency()
	if r.deaf {
		d = min(d, max(s.faultsEnd-s.now, 0)+s.quick)
	}
	return d
}

func (s *simulation) arrive(r *simRequest, reply func(simReply)) {
	store := &s.store
	down := s.now < store.down
	closed := store.closed && r.lease.number != simRecoverer
	if down && store.mode != simMute || closed {
		s.counts[simOutageHits]++
		switch {
		case store.mode == simRefuses:
			s.after(s.latencyOf(r), func() { reply(simReply{err: errSimLost}) })
		case (store.mode.queues() || r.deaf) && closed:
			store.waiting = append(store.waiting, func() { s.arrive(r, reply) })
		case store.mode.queues() || r.deaf:
			s.at(store.down+s.latencyOf(r), func() { s.arrive(r, reply) })
		}
		return
	}
	answer := s.do(r)
	lost := !r.deaf && (down || s.now < s.faultsEnd && (s.chance(s.loseReply) || r.lease.process.cutBack > s.now))
	if lost {
		s.counts[simLostReplies]++
		s.note(workerIn(r.key), "reply lost", r.lease, nil)
		return
	}
	s.after(s.latencyOf(r), func() { reply(answer) })
}

// simConn is a lease's connection to the store.
type simConn struct{ l *simLease }

// simClockConn is a connection to a store with a clock.
type simClockConn struct {
	simConn
	simTimes
}

// simTimes are requests for the time of a store.
type simTimes struct{ c simConn }

func (c simConn) call(ctx context.Context, r *simRequest) (simReply, error) {
	l, s := c.l, c.l.s
	r.lease = l
	l.naps = 0
	l.halt(simHaltRequest)
	var got simReply
	if l.running.spawned && s.hangsNow() { // without a time limit, a lease would wait for ever
		s.counts[simHangs]++
		s.note(-1, "the store hangs", l, nil)
		r.deaf, ctx = true, context.Background()
		if r.op == simConfirm {
			l.hungLooks++
		}
	}
	err := ctx.Err()
	if err == nil {
		err = l.parkFor(ctx, func(w *simWait) {
			s.send(r, func(answer simReply) { l.finish(w, nil, func() { got = answer }) })
		})
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.counts[simTimeouts]++
		err = errSimTimeout
	case err != nil:
		err = errSimCancel
	default:
		err = got.err
	}
	l.halt(simHaltReply)
	if err == nil {
		return got, nil
	}
	s.note(workerIn(r.key), "no "+r.op.String(), l, err.Error)
	return got, &driver.Error{Store: c.String(), Op: r.op.String(), Key: r.key, Err: err}
}

func (c simConn) Get(ctx context.Context, key string) (driver.Entry, error) {
	got, err := c.call(ctx, &simRequest{op: simGet, key: key})
	if err != nil {
		return driver.Entry{}, err
	}
	return got.entries[0], nil
}

func (c simConn) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	got, err := c.call(ctx, &simRequest{op: simConfirm, key: key})
	if err != nil {
		return driver.Entry{}, err
	}
	return got.entries[0], nil
}

func (c simConn) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	got, err := c.call(ctx, &simRequest{op: simList, key: prefix})
	if err != nil {
		return nil, err
	}
	return got.entries, nil
}

func (c simConn) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	got, err := c.call(ctx, &simRequest{op: simPut, key: key, value: slices.Clone(value), rev: rev})
	if err != nil {
		return driver.None, err
	}
	return got.rev, nil
}

// A simBatchConn is a connection to a store that is a driver.Batcher.
type simBatchConn struct{ simConn }

// A simClockBatchConn is a connection to a store that is a driver.Batcher, with a clock.
type simClockBatchConn struct {
	simBatchConn
	simTimes
}

func (c simBatchConn) Batch() int { return 3 }

func (c simBatchConn) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	all := make([]driver.Entry, len(keys))
	for i, key := range slices.Sorted(slices.Values(keys)) {
		all[i].Key = key
	}
	got, err := c.call(ctx, &simRequest{op: simGetAll, key: keys[0], all: all})
	return got.entries, err
}

func (c simBatchConn) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	got, err := c.call(ctx, &simRequest{op: simCreateAll, key: entries[0].Key, all: slices.Clone(entries)})
	return got.revs, err
}

func (c simConn) String() string { return "simulated" }
func (c simConn) Close() error   { return nil }

func (t simTimes) Now(ctx context.Context) (time.Time, error) {
	got, err := t.c.call(ctx, &simRequest{op: simNow})
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(got.time), nil
}
