// Package formats knows how to make the IDs and pools of each format, and has the flags for a
// format.
package formats

import (
	"cmp"
	"context"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A Format is a format of package inspect, and how to make its IDs.
type Format struct {
	inspect.Format
	maker
}

// A maker makes the IDs of a format.
type maker struct {
	name       string
	fixedEpoch string // the epoch of a format without a choice of epochs

	// lastWorker returns the largest worker number, which is negative for settings without workers.
	// lastWorker is nil if the format has no workers.
	lastWorker func(inspect.Settings) int

	// generator makes the generator of a recipe. Its errors are those of the format's NewGenerator.
	generator func(Recipe) (Made, error)
}

// LastWorker returns the largest worker number. ok is false if IDs of the settings have no worker
// number.
func (m maker) LastWorker(set inspect.Settings) (last int, ok bool) {
	if m.lastWorker == nil {
		return 0, false
	}
	last = m.lastWorker(set)
	return last, last >= 0
}

// Make makes a generator of the recipe.
func (m maker) Make(r Recipe) (Made, error) {
	if r.Leased {
		r.Worker = 0
	}
	return m.generator(r)
}

// Pool returns the pool of the recipe's IDs, under its default name.
func (m maker) Pool(r Recipe) (grant.Spec, error) {
	r.Leased = true
	made, err := m.Make(r)
	if err != nil {
		return grant.Spec{}, err
	}
	return made.Pool()
}

// Made is a generator, and the function that appends its IDs.
type Made struct {
	generator lease.Generator
	Next      Batch
}

// Pool returns the pool that Lease takes workers from, under its default name.
func (m Made) Pool() (grant.Spec, error) { return m.generator.ForLease().Pool() }

// Lease starts the lease of a generator that was made with Leased.
func (m Made) Lease(ctx context.Context, store driver.Store, c lease.Config) (*lease.Lease, error) {
	return lease.Start(ctx, store, m.generator, c)
}

// A Recipe says which IDs to make, and how to write them.
type Recipe struct {
	Format inspect.Format
	Worker int
	Leased bool             // a lease gives the worker, and not Worker
	Clock  func() time.Time // nil means time.Now; for tests
	Set    inspect.Settings
	Making Making
	Form   inspect.Form
	JSON   bool
}

// A Batch appends n new IDs to dst, a line each. With an error, a Batch appends the IDs made
// before.
type Batch func(ctx context.Context, dst []byte, n int) ([]byte, error)

// makers lists all formats, in the order of listings.
var makers = []maker{
	{
		name:       "nanoflake",
		lastWorker: func(inspect.Settings) int { return nanoflake.MaxGeneratorID },
		generator: func(r Recipe) (Made, error) {
			g, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: r.Worker, Leased: r.Leased, Clock: r.Clock, Epoch: r.Set.Epoch})
			return made(g, g, nanoflake.AppendAll, err, r)
		},
	},
	{
		name: "ulidflake",
		generator: func(r Recipe) (Made, error) {
			g, err := ulidflake.NewGenerator(ulidflake.Config{IncrementBits: r.Making.IncrementBits, Leased: r.Leased, Clock: r.Clock, Epoch: r.Set.Epoch})
			return made(g, g, ulidflake.AppendAll, err, r)
		},
	},
	{
		name:       "ulidflake-scalable",
		lastWorker: func(inspect.Settings) int { return ulidflake.MaxScalability },
		generator: func(r Recipe) (Made, error) {
			g, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{
				Scalability: r.Worker, IncrementBits: r.Making.IncrementBits, Leased: r.Leased, Clock: r.Clock, Epoch: r.Set.Epoch,
			})
			return made(g, g, ulidflake.AppendAllScalable, err, r)
		},
	},
	{
		name:       "snowflakesi",
		lastWorker: func(set inspect.Settings) int { return set.Layout.MaxMachineID() },
		generator: func(r Recipe) (Made, error) {
			g, err := snowflakesi.NewGenerator(snowflakesi.Config{
				Layout: r.Set.Layout, MachineID: r.Worker, Sequence: r.Making.Sequence, Leased: r.Leased, Clock: r.Clock, Epoch: r.Set.Epoch,
			})
			return made(g, g, snowflakesi.AppendAll, err, r)
		},
	},
	{
		name: "scru160", fixedEpoch: "1970-01-01T00:00:00Z",
		lastWorker: func(set inspect.Settings) int {
			if set.NodeBits == 0 {
				return -1
			}
			return 1<<set.NodeBits - 1
		},
		generator: func(r Recipe) (Made, error) {
			g, err := scru160.NewGenerator(scru160.Config{
				Counter: r.Set.Counter, Start: r.Making.Start, ExtraCounterBits: r.Set.ExtraCounterBits,
				NodeBits: r.Set.NodeBits, NodeID: r.Worker, Leased: r.Leased, Clock: r.Clock,
			})
			return made(g, g, scru160.AppendAll, err, r)
		},
	},
	{
		name: "sno", fixedEpoch: "2010-01-01T00:00:00Z",
		lastWorker: func(inspect.Settings) int { return sno.MaxPartition },
		generator: func(r Recipe) (Made, error) {
			c := sno.Config{Leased: r.Leased, Clock: r.Clock}
			if !r.Leased {
				if r.Worker < 0 || r.Worker > sno.MaxPartition {
					return Made{}, wrong.Config("sno", "Partition", r.Worker, "in 0 to "+strconv.Itoa(sno.MaxPartition))
				}
				c.Snapshot = &sno.GeneratorSnapshot{SequenceMin: r.Making.SequenceMin, SequenceMax: r.Making.SequenceMax}
				c.Snapshot.Partition.PutUint16(uint16(r.Worker))
			}
			g, err := sno.NewGeneratorWith(c)
			return made(g, metaFiller{g, r.Making.Meta}, sno.AppendAll, err, r)
		},
	},
}

// metaFiller fills with snos of one metabyte.
type metaFiller struct {
	*sno.Generator
	meta byte
}

func (f metaFiller) Fill(ctx context.Context, dst []sno.ID) (int, error) {
	return f.Generator.Fill(ctx, f.meta, dst)
}

// Names returns the names of all formats.
func Names() []string {
	var all []string
	for _, m := range makers {
		all = append(all, m.name)
	}
	return all
}

// Lookup returns the format of that name, in upper or lower case. ok reports whether the format
// exists.
func Lookup(name string) (f Format, ok bool) {
	for _, m := range makers {
		if m.name == strings.ToLower(name) {
			f.maker = m
			f.Format, ok = inspect.Lookup(m.name)
		}
	}
	return f, ok
}

// Misspelled returns the format's name that a word resembles, or "". A word resembles a name in any
// case, with one letter added, missing or wrong, or with two neighbours swapped.
func Misspelled(word string) string {
	word = strings.ToLower(word)
	for _, name := range Names() {
		if cli.Distance(word, name) <= 1 {
			return name
		}
	}
	return ""
}

// Named is Lookup with an error for unknown formats.
func Named(name string) (Format, error) {
	f, ok := Lookup(name)
	if near := Misspelled(name); !ok && near != "" {
		return f, cli.Usagef("unknown format %q: did you mean %s?", name, near)
	}
	if !ok {
		return f, cli.Usagef("unknown format %q: want %s", name, cli.List(Names(), "or"))
	}
	return f, nil
}

// MaxBatch is how many IDs a Batch makes at a time. The number spreads the cost of a write, and no
// format takes more than some milliseconds for a batch.
const MaxBatch = 2048

// An id is an ID of any format.
type id interface {
	encoding.TextAppender
	encoding.BinaryAppender
}

// made returns a generator, and the function that appends its IDs. It takes the error of the
// generator's constructor too, and returns the error.
func made[T id](g lease.Generator, ids interface {
	Fill(context.Context, []T) (int, error)
}, appendAll func([]byte, []T, byte) ([]byte, error), err error, r Recipe) (Made, error) {
	if err != nil {
		return Made{}, err
	}
	return Made{g, batches(ids, appendAll, r)}, nil
}

// batches returns the function that appends the IDs of a generator, whatever its format. appendAll
// writes the texts of IDs.
func batches[T id](g interface {
	Fill(context.Context, []T) (int, error)
}, appendAll func([]byte, []T, byte) ([]byte, error), r Recipe) Batch {
	if write := writer[T](r); write != nil {
		appendAll = func(dst []byte, ids []T, sep byte) (_ []byte, err error) {
			for _, id := range ids {
				if dst, err = write(dst, id); err != nil {
					return dst, err
				}
				dst = append(dst, sep)
			}
			return dst, nil
		}
	}
	ids := make([]T, MaxBatch)
	return func(ctx context.Context, dst []byte, n int) ([]byte, error) {
		made, err := g.Fill(ctx, ids[:n])
		dst, bad := appendAll(dst, ids[:made], '\n')
		return dst, cmp.Or(bad, err)
	}
}

// writer returns the function that appends an ID in the recipe's form, or nil for text. The
// functions reuse a scratch buffer; only JSON allocates.
func writer[T id](r Recipe) func(dst []byte, id T) ([]byte, error) {
	var scratch []byte
	switch {
	case r.JSON:
		return func(dst []byte, id T) (_ []byte, err error) {
			if scratch, err = id.AppendText(scratch[:0]); err != nil {
				return dst, err
			}
			info, err := r.Format.Inspect(string(scratch), inspect.Text, r.Set)
			if err != nil {
				return dst, err
			}
			object, err := info.MarshalJSON()
			return append(dst, object...), err
		}
	case r.Form == inspect.Int:
		return func(dst []byte, id T) (_ []byte, err error) {
			scratch, err = id.AppendBinary(scratch[:0])
			if err != nil || len(scratch) != 8 {
				return dst, fmt.Errorf("no integer of 64 bits: %x: %w", scratch, err)
			}
			return strconv.AppendUint(dst, binary.BigEndian.Uint64(scratch), 10), nil
		}
	case r.Form == inspect.Hex:
		return func(dst []byte, id T) (_ []byte, err error) {
			scratch, err = id.AppendBinary(scratch[:0])
			return hex.AppendEncode(dst, scratch), err
		}
	}
	return nil
}
