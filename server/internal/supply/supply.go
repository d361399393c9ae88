// Package supply has the generators of a server. A [Source] is a generator by its name: one worker, or several, which
// multiply the IDs of a tick.
//
// A Source never answers with an ID that is in doubt: IDs come from the generators of package shape, whose leases fence
// them. All other answers are a *[reason.Error].
package supply

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/reason"
)

// A Generator says what a named generator makes.
type Generator struct {
	Name    string
	Format  inspect.Format
	Recipe  shape.Recipe // with Leased set for a generator that leases its workers, or its times
	Workers int          // how many workers the generator leases; 0 means 1
	Pool    string       // the name of the pool; "" means the generator's own
	Create  bool         // make a missing pool

	// Keys are patterns for keys of RESP that are served by the generator: each has one '*', at its end.
	Keys []string

	// Open opens the store. Generators with the same Store share one open store. Not used without Leased.
	Open  func(context.Context) (driver.Store, error)
	Store string // the store's address, without secrets
}

// A Config says which generators a [Set] has.
type Config struct {
	Generators []Generator
	Wait       time.Duration // how long a request waits for IDs; 0 means [DefaultWait]
	Lease      lease.Config  // the settings of all leases, but Pool, Create, Background and Notify

	// Notify, if not nil, gets the events of all leases. It must return soon.
	Notify func(s *Source, e lease.Event)
	// Failed, if not nil, gets the errors of stores that do not open.
	Failed func(s *Source, err error)
}

const (
	// DefaultWait is how long a request waits for the next tick, and for the first worker.
	DefaultWait = 2 * time.Second
	// DefaultIDs is how many IDs a request may ask for, by any protocol.
	DefaultIDs = 65536
)

// A Set is the generators of a server. A Set is safe for concurrent use.
type Set struct {
	byName  map[string]*Source
	ordered []*Source
	keys    []key // the longest pattern first
	stop    context.CancelFunc
	running sync.WaitGroup
	stores  []*opened

	mu     sync.Mutex
	closed bool // no lease begins any more
}

// A key is a pattern for keys.
type key struct {
	start  string // before the '*'
	source *Source
}

// New returns the generators of a Config. The error is that of a format's NewGenerator, for settings that no generator
// takes.
func New(c Config) (*Set, error) {
	ctx, stop := context.WithCancel(context.Background())
	s := &Set{byName: map[string]*Source{}, stop: stop}
	shared := map[string]*opened{}
	for _, g := range c.Generators {
		source, err := newSource(ctx, s, c, g)
		if err != nil {
			stop()
			return nil, fmt.Errorf("generator %s: %w", g.Name, err)
		}
		if g.Recipe.Leased {
			if shared[g.Store] == nil {
				shared[g.Store] = &opened{open: g.Open}
				s.stores = append(s.stores, shared[g.Store])
			}
			source.store = shared[g.Store]
		}
		s.byName[g.Name] = source
		s.ordered = append(s.ordered, source)
		for _, k := range g.Keys {
			s.keys = append(s.keys, key{strings.TrimSuffix(k, "*"), source})
		}
	}
	slices.SortStableFunc(s.keys, func(a, b key) int { return len(b.start) - len(a.start) })
	slices.SortFunc(s.ordered, func(a, b *Source) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// All returns all generators, in the order of their names. Do not change what All returns.
func (s *Set) All() []*Source { return s.ordered }

// Find returns the generator of a name.
func (s *Set) Find(name string) (*Source, error) {
	if g, ok := s.byName[name]; ok {
		return g, nil
	}
	return nil, s.unknown(name)
}

// ByKey returns the generator for a key of RESP: the generator of this name, or else the generator with the longest
// pattern that fits. ByKey does not keep the key.
func (s *Set) ByKey(k []byte) (*Source, error) {
	if g, ok := s.byName[string(k)]; ok {
		return g, nil
	}
	for _, p := range s.keys {
		if len(k) >= len(p.start) && string(k[:len(p.start)]) == p.start {
			return p.source, nil
		}
	}
	return nil, s.unknown(string(k))
}

func (s *Set) unknown(name string) error {
	const most = 100 // bytes of a name in an error
	if len(name) > most {
		name = name[:most] + "…"
	}
	e := reason.Unknown.New("no generator %q: the generators are %s", name, strings.Join(slices.Sorted(maps.Keys(s.byName)), ", "))
	e.Brief = fmt.Sprintf("no generator %q", name)
	return e
}

// Close seals all generators with a lease, and gives back their workers until ctx ends. A worker that was not given back
// comes free at the end of its interval.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		for _, o := range s.stores {
			o.close()
		}
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("giving back workers: %w", ctx.Err())
	}
}

// A Source is a named generator. It is safe for concurrent use.
type Source struct {
	Generator
	Size    int         // of an ID in the binary form, in bytes
	Shape   shape.Shape // of the IDs
	wait    time.Duration
	life    context.Context // of the Set
	set     *Set
	store   *opened
	notify  func(*Source, lease.Event)
	failed  func(*Source, error)
	lease   lease.Config
	members []*member
	next    atomic.Uint32 // the member that the next taker asks first
	takers  sync.Pool
	begun   atomic.Bool
	begin   sync.Once
}

func newSource(ctx context.Context, set *Set, c Config, g Generator) (*Source, error) {
	d := g.Format.Descriptor()
	form, err := d.Of(g.Recipe.Settings)
	if err != nil {
		return nil, err
	}
	s := &Source{Generator: g, Size: d.Size, Shape: form, wait: c.Wait, life: ctx, set: set, notify: c.Notify, failed: c.Failed, lease: c.Lease}
	if s.wait == 0 {
		s.wait = DefaultWait
	}
	if g.Recipe.MaxBackward == 0 && d.Name != "scru160" {
		// No request waits for a clock that went back: another server has a better clock. SCRU160 does not wait. It goes on in
		// its last tick, for as long as its specification says.
		s.Recipe.MaxBackward = time.Nanosecond
	}
	s.takers.New = func() any {
		return &taker{at: int(s.next.Add(1)), shares: make([]share, len(s.members))}
	}
	if g.Workers > 1 && !g.Recipe.Leased {
		return nil, errors.New("several workers need a lease: without a lease they would make the same IDs")
	}
	for range max(g.Workers, 1) {
		m := &member{source: s}
		if err := m.renew(); err != nil {
			return nil, err
		}
		s.members = append(s.members, m)
	}
	return s, nil
}

// Integer reports whether the IDs are integers of 64 bits.
func (s *Source) Integer() bool { return s.Format.Descriptor().Integer() }

// PerSecond returns how many IDs the generator can make in a second, at most.
func (s *Source) PerSecond() float64 {
	return float64(s.Shape.Capacity()) * float64(time.Second/s.Shape.Unit) * float64(len(s.members))
}

// Start leases the workers, unless they are leased. The first request calls Start.
func (s *Source) Start() {
	if s.begun.Load() {
		return
	}
	s.begin.Do(func() {
		if s.Recipe.Leased {
			s.set.lease(s.members)
		}
		s.begun.Store(true)
	})
}

// lease leases workers for members. After Close, the members refuse callers.
func (s *Set) lease(members []*member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range members {
		if s.closed {
			m.now.Load().generator.ForLease().Refuse(fmt.Errorf("%w: %w", iderr.ErrFenced, lease.ErrClosed))
			continue
		}
		m.delay(time.Now(), nil) // before the caller asks the member
		s.running.Go(m.run)
	}
}

// A taker is what one request at a time needs to make IDs.
type taker struct {
	at     int // the member that is asked next, modulo their number
	shares []share
	room   []byte // for IDs on their way to another form
}

// A share is a member's generator for one taker.
type share struct {
	of        *making // the share is stale if the member has another making
	generator shape.Generator
}

// take returns a taker. Give the taker back by s.takers.Put.
func (s *Source) take() *taker {
	s.Start()
	return s.takers.Get().(*taker)
}

// generator returns the generator of the member that is asked next.
func (t *taker) generator(s *Source) shape.Generator {
	i := t.at % len(s.members)
	sh := &t.shares[i]
	if now := s.members[i].now.Load(); sh.of != now {
		*sh = share{now, now.generator.Share()}
	}
	return sh.generator
}

// MaxRun is how many IDs a taker makes at a time. More take no less time for an ID.
const MaxRun = 4096

// AppendBinary appends the binary forms of n new IDs to dst. With an error, dst has the IDs made before.
// AppendBinary waits for IDs: at most for the time of Config.Wait, and as long as ctx allows. The error is a
// *[reason.Error], or the error of ctx.
func (s *Source) AppendBinary(ctx context.Context, dst []byte, n int) ([]byte, error) {
	t := s.take()
	defer s.takers.Put(t)
	return s.append(ctx, t, dst, n, packed)
}

// A form is how IDs are appended.
type form bool

const (
	packed form = false // the binary forms
	lines  form = true  // the texts, each with a newline
)

func (s *Source) append(ctx context.Context, t *taker, dst []byte, n int, f form) ([]byte, error) {
	w := waits{parent: ctx, longest: s.wait}
	defer w.end()
	for n > 0 {
		var made int
		var err error
		dst, made, err = s.now(t, dst, min(n, MaxRun), f)
		if n -= made; err == nil {
			continue
		}
		if mayWait(err) {
			dst, made, err = s.later(&w, t, dst, f)
			n -= made
		}
		if err != nil {
			return dst, s.explain(ctx, err)
		}
	}
	return dst, nil
}

// now appends what the members have now, up to n IDs. An error says why there are fewer.
func (s *Source) now(t *taker, dst []byte, n int, f form) (_ []byte, made int, worst error) {
	for range s.members {
		var some int
		var err error
		dst, some, err = s.try(t, dst, n-made, f)
		made += some
		if err == nil {
			return dst, made, nil
		}
		if worst == nil || mayWait(err) {
			worst = err // a member that has IDs soon is worth a wait, whatever becomes of the others
		}
		t.at++
	}
	return dst, made, worst
}

// try appends what the member has now that is asked next.
func (s *Source) try(t *taker, dst []byte, n int, f form) (_ []byte, made int, err error) {
	if f == lines {
		return t.generator(s).TryAppendTexts(dst, n)
	}
	before := len(dst)
	dst, err = t.generator(s).TryAppendBinary(dst, n)
	return dst, (len(dst) - before) / s.Size, err
}

// later waits for an ID of one member, and appends the ID. Without an ID and without an error, the caller tries all
// members again.
func (s *Source) later(w *waits, t *taker, dst []byte, f form) (_ []byte, made int, err error) {
	ctx := w.context()
	if f == lines {
		dst, err = t.generator(s).AppendTexts(ctx, dst, 1)
	} else {
		dst, err = t.generator(s).AppendBinary(ctx, dst, 1)
	}
	switch {
	case err == nil:
		return dst, 1, nil
	case ctx.Err() != nil: // the reason is what keeps the member from making an ID now
		return s.try(t, dst, 1, f)
	}
	if early, ok := errors.AsType[*iderr.EarlyError](err); ok && early.By <= soon {
		_ = pause.For(ctx, early.By) // the caller notices the end of ctx
		return dst, 0, nil
	}
	t.at++ // the member has lost its window, for example
	return dst, 0, nil
}

// soon is how far ahead of the clock a new interval may begin for a request to wait. A lease leaves 50 ms to clocks that
// differ. A clock that is further behind went back.
const soon = 100 * time.Millisecond

// mayWait reports whether IDs may come soon after an error.
func mayWait(err error) bool {
	if early, ok := errors.AsType[*iderr.EarlyError](err); ok {
		return early.By <= soon
	}
	// A generator without a timestamp returns the reason of its lease. Without a reason, the lease is about to grant a
	// timestamp, or to say the reason: just after the first grant, and after a pause of the process.
	unsaid := errors.Unwrap(err) == iderr.ErrFenced
	return unsaid || errors.Is(err, iderr.ErrExhausted) || errors.Is(err, lease.ErrStarting)
}

// waits are the waits of one request. All waits of a request have the same end.
type waits struct {
	parent  context.Context
	longest time.Duration
	ctx     context.Context
	cancel  context.CancelFunc
}

func (w *waits) context() context.Context {
	if w.ctx == nil {
		w.ctx, w.cancel = context.WithTimeout(w.parent, w.longest)
	}
	return w.ctx
}

func (w *waits) end() {
	if w.cancel != nil {
		w.cancel()
	}
}

// AppendTexts appends the texts of n new IDs to dst, each between before and after. With an error, dst has the IDs made
// before.
func (s *Source) AppendTexts(ctx context.Context, dst []byte, n int, before, after string) ([]byte, error) {
	t := s.take()
	defer s.takers.Put(t)
	if before == "" && after == "\n" {
		return s.append(ctx, t, dst, n, lines)
	}
	for n > 0 {
		some := min(n, MaxRun)
		var err error
		t.room, err = s.append(ctx, t, t.room[:0], some, lines)
		for text := range bytes.Lines(t.room) {
			dst = append(append(append(dst, before...), text[:len(text)-1]...), after...)
		}
		if err != nil {
			return dst, err
		}
		n -= some
	}
	return dst, nil
}

// Runs reports whether the IDs of a tick are consecutive integers, which [Source.Run] needs.
func (s *Source) Runs() bool {
	return s.Integer() && s.Format.Worker() != "" && s.Shape.Sequence == len(s.Shape.Fields)-1
}

// Run returns a run of 1 to n new IDs: the integers from first on. The caller uses no integer beyond the run.
func (s *Source) Run(ctx context.Context, n int) (first uint64, run int, err error) {
	t := s.take()
	defer s.takers.Put(t)
	n = min(n, MaxRun)
	t.room, _ = t.generator(s).TryAppendBinary(t.room[:0], n) // of one worker
	if len(t.room) == 0 {
		if t.room, err = s.append(ctx, t, t.room[:0], 1, packed); err != nil {
			return 0, 0, err
		}
		t.room, _ = t.generator(s).TryAppendBinary(t.room, max(n-1, 0)) // the rest of the tick
	}
	first = binary.BigEndian.Uint64(t.room)
	for run = 1; run*s.Size < len(t.room) && binary.BigEndian.Uint64(t.room[run*s.Size:]) == first+uint64(run); run++ {
	}
	return first, run, nil
}

// longestRetry is the longest time after which a client is to ask again: what keeps it waiting may be mended before.
const longestRetry = time.Minute

// explain returns the reason of an error. If the request's own context has ended, explain returns the error of the
// context, which is the request's own.
func (s *Source) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	of := reason.Internal
	var retry time.Duration
	behind, back := errors.AsType[*iderr.ClockError](err)
	early, ahead := errors.AsType[*iderr.EarlyError](err)
	switch {
	case s.life.Err() != nil:
		of = reason.Draining
	case back:
		of, retry = reason.Clock, behind.By
	case ahead && early.By > soon:
		of, retry = reason.Clock, early.By
	case errors.As(err, new(*lease.AheadError)):
		of, retry = reason.Clock, longestRetry
	case errors.Is(err, errSetup), lease.Permanent(err):
		of = reason.Setup
	case errors.Is(err, lease.ErrStarting):
		of = reason.Starting
	case errors.Is(err, iderr.ErrFenced):
		of = reason.Window
	case errors.Is(err, iderr.ErrTimeRange):
		of = reason.Lifetime
	case errors.Is(err, iderr.ErrExhausted):
		of = reason.Exhausted
	}
	e := of.Because(fmt.Errorf("generator %s: %w", s.Name, err))
	e.Retry = min(max(retry, e.Retry), longestRetry)
	e.Remedy = lease.RemedyFor(err).Kind
	return e
}
