package main

import (
	"cmp"
	"context"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/firn-id/firn"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A format is what the command line knows of a format, beside package firn.
type format struct {
	firn.Format
	maker
}

// A maker is what the command line has to know of a format to make its IDs.
type maker struct {
	name       string
	fixedEpoch string // the epoch, if there is none to choose
	layouts    bool   // there are widths to choose
	metas      bool   // there is a metabyte to choose
	nodes      bool   // there can be node IDs, in a pool of them

	// lastWorker returns the largest worker number; nil if the format has no workers.
	lastWorker func(snowflakesi.Layout) int

	// start makes a generator of the recipe's worker. Its errors are those of the format's
	// NewGenerator.
	start func(recipe) (batch, error)

	// lease makes one whose worker, if the format has workers, and times are leased. Errors
	// of the recipe come before anything is asked of a store.
	lease func(context.Context, recipe, leased.Options) (batch, *lease.Lease, error)

	// pool returns the pool that lease takes from.
	pool func(recipe) leased.Pool
}

// A recipe says which IDs to make, and how to write them.
type recipe struct {
	format   firn.Format
	worker   int
	nodeBits int // of scru160: for a pool alone
	meta     byte
	set      firn.Settings
	form     firn.Form
	json     bool
}

// A batch appends n new IDs to dst, a line each. With an error it appends those that it
// made before.
type batch func(ctx context.Context, dst []byte, n int) ([]byte, error)

// makers is all formats, in the order in which they are listed.
var makers = []maker{
	{
		name:       "nanoflake",
		lastWorker: func(snowflakesi.Layout) int { return nanoflake.MaxGeneratorID },
		start: func(r recipe) (batch, error) {
			g, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: r.worker, Epoch: r.set.Epoch})
			return batches(g, nanoflake.AppendAll, err, r)
		},
		lease: func(ctx context.Context, r recipe, o leased.Options) (batch, *lease.Lease, error) {
			g, l, err := leased.Nanoflake(ctx, nanoflake.Config{Epoch: r.set.Epoch}, o)
			next, err := batches(g, nanoflake.AppendAll, err, r)
			return next, l, err
		},
		pool: func(r recipe) leased.Pool { return leased.NanoflakePool(nanoflake.Config{Epoch: r.set.Epoch}) },
	},
	{
		name: "ulidflake",
		start: func(r recipe) (batch, error) {
			g, err := ulidflake.NewGenerator(ulidflake.Config{Epoch: r.set.Epoch})
			return batches(g, ulidflake.AppendAll, err, r)
		},
		lease: func(ctx context.Context, r recipe, o leased.Options) (batch, *lease.Lease, error) {
			g, l, err := leased.UlidFlake(ctx, ulidflake.Config{Epoch: r.set.Epoch}, o)
			next, err := batches(g, ulidflake.AppendAll, err, r)
			return next, l, err
		},
		pool: func(r recipe) leased.Pool { return leased.UlidFlakePool(ulidflake.Config{Epoch: r.set.Epoch}) },
	},
	{
		name:       "ulidflake-scalable",
		lastWorker: func(snowflakesi.Layout) int { return ulidflake.MaxScalability },
		start: func(r recipe) (batch, error) {
			g, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: r.worker, Epoch: r.set.Epoch})
			return batches(g, ulidflake.AppendAllScalable, err, r)
		},
		lease: func(ctx context.Context, r recipe, o leased.Options) (batch, *lease.Lease, error) {
			g, l, err := leased.ScalableUlidFlake(ctx, ulidflake.ScalableConfig{Epoch: r.set.Epoch}, o)
			next, err := batches(g, ulidflake.AppendAllScalable, err, r)
			return next, l, err
		},
		pool: func(r recipe) leased.Pool {
			return leased.ScalableUlidFlakePool(ulidflake.ScalableConfig{Epoch: r.set.Epoch})
		},
	},
	{
		name: "snowflakesi", layouts: true,
		lastWorker: snowflakesi.Layout.MaxMachineID,
		start: func(r recipe) (batch, error) {
			g, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: r.worker, Epoch: r.set.Epoch, Layout: r.set.Layout})
			return batches(g, snowflakesi.AppendAll, err, r)
		},
		lease: func(ctx context.Context, r recipe, o leased.Options) (batch, *lease.Lease, error) {
			g, l, err := leased.SnowflakeSI(ctx, snowflakesi.Config{Epoch: r.set.Epoch, Layout: r.set.Layout}, o)
			next, err := batches(g, snowflakesi.AppendAll, err, r)
			return next, l, err
		},
		pool: func(r recipe) leased.Pool {
			return leased.SnowflakeSIPool(snowflakesi.Config{Epoch: r.set.Epoch, Layout: r.set.Layout})
		},
	},
	{
		name: "scru160", fixedEpoch: "1970-01-01T00:00:00Z", nodes: true,
		start: func(r recipe) (batch, error) {
			g, err := scru160.NewGenerator(scru160.Config{})
			return batches(g, scru160.AppendAll, err, r)
		},
		lease: func(ctx context.Context, r recipe, o leased.Options) (batch, *lease.Lease, error) {
			g, l, err := leased.SCRU160(ctx, scru160.Config{}, o)
			next, err := batches(g, scru160.AppendAll, err, r)
			return next, l, err
		},
		pool: func(r recipe) leased.Pool { return leased.SCRU160Pool(scru160.Config{NodeBits: r.nodeBits}) },
	},
	{
		name: "sno", fixedEpoch: "2010-01-01T00:00:00Z", metas: true,
		lastWorker: func(snowflakesi.Layout) int { return sno.MaxPartition },
		start: func(r recipe) (batch, error) {
			if r.worker < 0 || r.worker > sno.MaxPartition {
				return nil, iderr.BadConfig("sno", "Partition", r.worker, "in 0 to "+strconv.Itoa(sno.MaxPartition))
			}
			var s sno.GeneratorSnapshot
			s.Partition.PutUint16(uint16(r.worker))
			g, err := sno.NewGenerator(&s, nil)
			return batches(metaFiller{g, r.meta}, sno.AppendAll, err, r)
		},
		lease: func(ctx context.Context, r recipe, o leased.Options) (batch, *lease.Lease, error) {
			g, l, err := leased.Sno(ctx, sno.Config{}, o)
			next, err := batches(metaFiller{g, r.meta}, sno.AppendAll, err, r)
			return next, l, err
		},
		pool: func(recipe) leased.Pool { return leased.SnoPool() },
	},
}

// metaFiller makes snos of one metabyte.
type metaFiller struct {
	*sno.Generator
	meta byte
}

func (f metaFiller) Fill(ctx context.Context, dst []sno.ID) (int, error) {
	return f.Generator.Fill(ctx, f.meta, dst)
}

// names returns the names of all formats.
func names() []string {
	var all []string
	for _, m := range makers {
		all = append(all, m.name)
	}
	return all
}

// lookup returns the format of that name; ok tells whether there is one.
func lookup(name string) (f format, ok bool) {
	for _, m := range makers {
		if m.name == name {
			f.maker = m
			f.Format, ok = firn.Lookup(name)
		}
	}
	return f, ok
}

// misspelled returns the format's name that a word is meant to be, "" if it is none: one in
// another case, or with one letter too many, too few, wrong or changed with the next.
func misspelled(word string) string {
	word = strings.ToLower(word)
	for _, name := range names() {
		if oneEdit(word, name) {
			return name
		}
	}
	return ""
}

// oneEdit tells whether one edit, or none, makes b of a.
func oneEdit(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// formatNamed is lookup, with the error for a word that is none of the formats.
func formatNamed(name string) (format, error) {
	f, ok := lookup(name)
	if near := misspelled(name); !ok && near != "" {
		return f, usagef("unknown format %q: did you mean %s?", name, near)
	}
	if !ok {
		return f, usagef("unknown format %q: want %s", name, list(names(), "or"))
	}
	return f, nil
}

// maxBatch is how many IDs are made at a time: enough to spread the cost of a write, few
// enough that they wait in line for no more than some milliseconds of any format.
const maxBatch = 2048

// maxNodeBits is how many bits of scru160's random16 a node ID can take: all of them.
const maxNodeBits = 16

// An id is what all formats' IDs have.
type id interface {
	encoding.TextAppender
	encoding.BinaryAppender
}

// batches makes the batch function of a generator, whatever its format, whose texts appendAll
// writes. It takes the error of the generator's constructor too, and returns it.
func batches[T id](g interface {
	Fill(context.Context, []T) (int, error)
}, appendAll func([]byte, []T, byte) ([]byte, error), err error, r recipe) (batch, error) {
	if err != nil {
		return nil, err
	}
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
	ids := make([]T, maxBatch)
	return func(ctx context.Context, dst []byte, n int) ([]byte, error) {
		made, err := g.Fill(ctx, ids[:n])
		dst, bad := appendAll(dst, ids[:made], '\n')
		return dst, cmp.Or(bad, err)
	}, nil
}

// writer returns the function that appends an ID as the recipe has it, nil for its text. They use
// scratch rather than allocate, but for JSON's.
func writer[T id](r recipe) func(dst []byte, id T) ([]byte, error) {
	var scratch []byte
	switch {
	case r.json:
		return func(dst []byte, id T) (_ []byte, err error) {
			if scratch, err = id.AppendText(scratch[:0]); err != nil {
				return dst, err
			}
			info, err := r.format.Inspect(string(scratch), firn.Text, r.set)
			if err != nil {
				return dst, err
			}
			object, err := info.MarshalJSON()
			return append(dst, object...), err
		}
	case r.form == firn.Int:
		return func(dst []byte, id T) (_ []byte, err error) {
			scratch, err = id.AppendBinary(scratch[:0])
			if err != nil || len(scratch) != 8 {
				return dst, fmt.Errorf("no integer of 64 bits: %x: %w", scratch, err)
			}
			return strconv.AppendUint(dst, binary.BigEndian.Uint64(scratch), 10), nil
		}
	case r.form == firn.Hex:
		return func(dst []byte, id T) (_ []byte, err error) {
			scratch, err = id.AppendBinary(scratch[:0])
			return hex.AppendEncode(dst, scratch), err
		}
	}
	return nil
}
