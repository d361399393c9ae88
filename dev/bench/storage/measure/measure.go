// Package measure fills tables and counts what the servers do meanwhile.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

// A Phase is a part of the work on a table.
type Phase string

// The phases of a table, in their order.
const (
	Bulk    Phase = "bulk"    // rows in large transactions, by the server's way for many rows
	One     Phase = "one"     // rows one by one, on one connection
	Several Phase = "several" // rows one by one, on several connections
	Size    Phase = "size"    // what the table takes
	Random  Phase = "random"  // rows found by key, of the whole table
	Recent  Phase = "recent"  // rows found by key, of the rows added last
)

// Metrics of a phase beside the counters of the server.
const (
	Rows    servers.Metric = "rows" // added or found in the phase; of Size, in the table
	Seconds servers.Metric = "seconds"
)

// A Plan says what is measured.
type Plan struct {
	Servers []string
	Formats []*keys.Format
	Rounds  int // each round measures all formats on all servers, in another order

	Rows        int // of the bulk load into PostgreSQL; see rows
	Chunk       int // rows in a transaction of the bulk load, and from checkpoint to checkpoint
	Inserts     int // rows of each of the phases One and Several
	Batch       int // rows of these phases in a transaction
	Connections int // of the phase Several
	Lookups     int // of each of the phases Random and Recent

	Pace    keys.Pace
	Options servers.Options
	Seed    uint64 // of the order of formats, and of the keys to look up
}

// Check returns an error for a plan that cannot be measured.
func (p Plan) Check() error {
	for _, v := range []struct {
		name string
		n    int
	}{
		{"rounds", p.Rounds}, {"rows", p.Rows}, {"rows in a chunk", p.Chunk}, {"single inserts", p.Inserts}, {"rows in a batch", p.Batch},
		{"connections", p.Connections}, {"lookups", p.Lookups}, {"IDs in a second", p.Pace.PerSecond}, {"workers", p.Pace.Workers},
		{"formats", len(p.Formats)}, {"servers", len(p.Servers)},
	} {
		if v.n < 1 {
			return fmt.Errorf("the number of %s is %d: use at least 1", v.name, v.n)
		}
	}
	for _, name := range p.Servers {
		if !slices.Contains(servers.Names, name) {
			return fmt.Errorf("server %q is unknown: use one of %s", name, strings.Join(servers.Names, ", "))
		}
	}
	return nil
}

// innodbShare is how many rows of PostgreSQL stand for one row of MariaDB. In InnoDB the index of the
// primary key holds the rows. A row with a UUID takes 40 bytes of the index in PostgreSQL, and 170 in
// InnoDB: with a fifth of the rows, the indexes of both servers exceed the cache alike.
const innodbShare = 5

// on returns the plan for a server.
func (p Plan) on(server string) Plan {
	if server == keys.MariaDB {
		p.Rows = max(1, p.Rows/innodbShare)
		p.Chunk = max(1, p.Chunk/innodbShare)
	}
	return p
}

// total returns the number of rows of a full table.
func (p Plan) total() int { return p.Rows + 2*p.Inserts }

// A Result is one measurement.
type Result struct {
	Server string
	Round  int // from 1
	Format string
	Phase  Phase
	Metric servers.Metric
	Value  float64
}

// A Machine is the name and the settings of a server.
type Machine struct {
	Server   string
	Version  string
	Settings []servers.Setting
}

// Run measures the plan on servers of its own. Progress is for people.
func Run(ctx context.Context, p Plan, progress io.Writer) (_ []Result, _ []Machine, err error) {
	if err := p.Check(); err != nil {
		return nil, nil, err
	}
	running := make(map[string]servers.Server)
	defer func() {
		for _, s := range running {
			err = errors.Join(err, s.Close())
		}
	}()
	var machines []Machine
	for _, name := range p.Servers {
		s, err := servers.Start(ctx, name, p.Options)
		if err != nil {
			return nil, nil, err
		}
		running[name] = s
		m := Machine{Server: name}
		if m.Version, err = s.Version(ctx); err == nil {
			m.Settings, err = s.Settings(ctx)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		machines = append(machines, m)
		// The first table of a server makes the files of the log, and is not measured.
		if err := p.on(name).warmUp(ctx, s); err != nil {
			return nil, nil, fmt.Errorf("%s: before the first round: %w", name, err)
		}
	}
	var all []Result
	order := rand.New(rand.NewPCG(p.Seed, 0))
	for round := range p.Rounds {
		for _, name := range p.Servers {
			for _, i := range order.Perm(len(p.Formats)) {
				f := p.Formats[i]
				if f.Only != "" && f.Only != name {
					continue
				}
				start := time.Now()
				results, err := p.on(name).Table(ctx, running[name], f)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
				}
				for _, r := range results {
					r.Server, r.Round = name, round+1
					all = append(all, r)
				}
				fmt.Fprintf(progress, "round %d of %d: %-10s %-13s %5.1f s\n", round+1, p.Rounds, name, f.Name, time.Since(start).Seconds())
			}
		}
	}
	return all, machines, nil
}

func (p Plan) warmUp(ctx context.Context, s servers.Server) error {
	f, err := keys.Find("uuidv4")
	if err != nil {
		return err
	}
	p.Rows = max(1, p.Rows/4)
	_, err = p.Table(ctx, s, f)
	return err
}

// A bench is one table while it is measured.
type bench struct {
	Plan
	table   servers.Table
	format  *keys.Format
	set     keys.Set
	results []Result
}

// Table measures one table, and removes the table. The results have no server and no round.
func (p Plan) Table(ctx context.Context, s servers.Server, f *keys.Format) (_ []Result, err error) {
	b := &bench{Plan: p, format: f}
	if b.set, err = keys.Generate(f, p.total(), p.Pace); err != nil {
		return nil, err
	}
	if b.table, err = s.Create(ctx, f); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.table.Drop(context.WithoutCancel(ctx))) }()

	if err := b.phase(ctx, Bulk, p.Rows, b.bulk); err != nil {
		return nil, err
	}
	first := p.Rows
	for _, phase := range []struct {
		name        Phase
		connections int
	}{{One, 1}, {Several, p.Connections}} {
		insert := func(ctx context.Context, timed timer) error { return b.insert(ctx, timed, phase.connections, first) }
		if err := b.phase(ctx, phase.name, p.Inserts, insert); err != nil {
			return nil, err
		}
		first += p.Inserts
	}
	if b.set, err = Check(ctx, b.table, b.set, p.total()); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(p.Seed, 1))
	for _, phase := range []struct {
		name Phase
		last int // rows, of which the phase finds some
	}{{Random, p.total()}, {Recent, max(1, p.total()/100)}} {
		find := func(ctx context.Context, timed timer) error {
			return b.find(ctx, timed, func() int { return p.total() - 1 - random.IntN(phase.last) })
		}
		if err := b.phase(ctx, phase.name, p.Lookups, find); err != nil {
			return nil, err
		}
	}
	return b.results, b.sizes(ctx)
}

func (b *bench) add(phase Phase, values servers.Counters) {
	for _, metric := range slices.Sorted(maps.Keys(values)) {
		b.results = append(b.results, Result{Format: b.format.Name, Phase: phase, Metric: metric, Value: values[metric]})
	}
}

// A timer runs the part of a phase whose time counts.
type timer func(func() error) error

// phase runs the work of a phase between two readings of the counters. The table is settled before
// each reading: pages that an earlier phase has changed are not written in this phase.
func (b *bench) phase(ctx context.Context, name Phase, rows int, work func(context.Context, timer) error) error {
	if err := b.table.Settle(ctx); err != nil {
		return err
	}
	before, err := b.table.Counters(ctx)
	if err != nil {
		return err
	}
	var took time.Duration
	err = work(ctx, func(do func() error) error {
		start := time.Now()
		err := do()
		took += time.Since(start)
		return err
	})
	if err == nil {
		err = b.table.Settle(ctx)
	}
	if err != nil {
		return fmt.Errorf("phase %s: %w", name, err)
	}
	after, err := b.table.Counters(ctx)
	if err != nil {
		return err
	}
	values := after.Since(before)
	values[Rows], values[Seconds] = float64(rows), took.Seconds()
	b.add(name, values)
	return nil
}

// bulk loads the rows. The time includes the checkpoints: a server writes the changed pages sooner or
// later.
func (b *bench) bulk(ctx context.Context, timed timer) error {
	return timed(func() error {
		for from := 0; from < b.Rows; from += b.Chunk {
			if err := b.table.Load(ctx, b.set, from, min(from+b.Chunk, b.Rows)); err != nil {
				return err
			}
			if err := b.table.Settle(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// key returns the key of a row, nil if the server assigns the key.
func (b *bench) key(i int) []byte {
	if b.set.Len() == 0 {
		return nil
	}
	return b.set.At(i)
}

// connect returns connections that are ready.
func (b *bench) connect(ctx context.Context, n int) (conns []servers.Conn, closeAll func() error, err error) {
	closeAll = func() error {
		var errs []error
		for _, c := range conns {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	for range n {
		c, err := b.table.Connect(ctx)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		conns = append(conns, c)
	}
	return conns, closeAll, nil
}

// insert adds rows one by one. Each connection takes the next batch of the keys, so rows arrive nearly
// in the order of the keys' making.
func (b *bench) insert(ctx context.Context, timed timer, connections, first int) (err error) {
	conns, closeAll, err := b.connect(ctx, connections)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	var next atomic.Int64
	end := first + b.Inserts
	work := func(c servers.Conn) error {
		for {
			from := first + int(next.Add(1)-1)*b.Batch
			if from >= end {
				return nil
			}
			if err := c.Begin(ctx); err != nil {
				return err
			}
			for i := from; i < min(from+b.Batch, end); i++ {
				if err := c.Insert(ctx, b.key(i), int64(i)); err != nil {
					return fmt.Errorf("row %d: %w", i, err)
				}
			}
			if err := c.Commit(ctx); err != nil {
				return err
			}
		}
	}
	err = timed(func() error {
		errs := make([]error, len(conns))
		var wg sync.WaitGroup
		for i, c := range conns {
			wg.Go(func() { errs[i] = work(c) })
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	for _, c := range conns {
		if err == nil {
			err = c.Report(ctx)
		}
	}
	return err
}

// find looks up rows on one connection, and checks each row.
func (b *bench) find(ctx context.Context, timed timer, choose func() int) (err error) {
	conns, closeAll, err := b.connect(ctx, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	err = timed(func() error {
		for range b.Lookups {
			i := choose()
			got, err := conns[0].Find(ctx, b.set.At(i))
			if err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
			if got != int64(i) {
				return fmt.Errorf("the key of row %d finds row %d", i, got)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return conns[0].Report(ctx)
}

// sizes measures the table last: the index of another column would take part in all inserts.
func (b *bench) sizes(ctx context.Context) error {
	sizes, err := b.table.Sizes(ctx)
	if err != nil {
		return err
	}
	if sizes[servers.SecondBytes], err = b.table.AddIndex(ctx); err != nil {
		return err
	}
	sizes[Rows] = float64(b.total())
	b.add(Size, sizes)
	return nil
}

// Check reads the whole table, and returns an error unless the table has exactly the rows 0 to n-1
// with their keys. The result is the set, or the keys that the server has assigned.
func Check(ctx context.Context, t servers.Table, set keys.Set, n int) (keys.Set, error) {
	seen := make([]bool, n)
	assigned := make([]int64, n)
	rows := 0
	err := t.Read(ctx, func(number int64, key []byte) error {
		if number < 0 || number >= int64(n) {
			return fmt.Errorf("row %d was never added", number)
		}
		if seen[number] {
			return fmt.Errorf("row %d is there twice", number)
		}
		seen[number] = true
		rows++
		if set.Len() == 0 {
			assigned[number] = keys.Int64(key)
		} else if want := set.At(int(number)); !slices.Equal(key, want) {
			return fmt.Errorf("row %d has the key %x, not %x", number, key, want)
		}
		return nil
	})
	if err != nil {
		return set, err
	}
	if rows != n {
		return set, fmt.Errorf("the table has %d rows of %d", rows, n)
	}
	if set.Len() > 0 {
		return set, nil
	}
	sorted := slices.Clone(assigned)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != n {
		return set, errors.New("the server has assigned a key twice")
	}
	return keys.Collect(assigned), nil
}
