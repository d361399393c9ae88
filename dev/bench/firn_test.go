package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

var ctx = context.Background()

// firnSubjects are Firn's formats with their default settings, but for the longest sequence of
// Snowflake-SI. Ulid-Flakes have n = 1, which has the most IDs in a tick, as the peers do.
var firnSubjects = []subject{
	{
		name: "nanoflake", cap: 4096,
		next: func(*testing.B) loop {
			g := newNanoflake()
			return last(func(n int) (id nanoflake.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			})
		},
		batch: func(*testing.B) loop {
			g := newNanoflake()
			return batches(func(dst []nanoflake.ID) (int, error) { return g.Fill(ctx, dst) })
		},
		codec: func(*testing.B) codec {
			g := newNanoflake()
			return codecOf(func() (nanoflake.ID, error) { return g.Next(ctx) }, nanoflake.ID.String,
				func(buf []byte, ids []nanoflake.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(texts []string) (id nanoflake.ID, err error) {
					for _, s := range texts {
						if id, err = nanoflake.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	{
		name: "sno", cap: 65536, tick: 4 * time.Millisecond,
		next: func(*testing.B) loop {
			g := newSno()
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = g.Next(ctx, 7)
				}
				return err
			}
		},
		batch: func(*testing.B) loop {
			g := newSno()
			return batches(func(dst []sno.ID) (int, error) { return g.Fill(ctx, 7, dst) })
		},
		codec: func(*testing.B) codec {
			return codecOf(nextSno(), sno.ID.String,
				func(buf []byte, ids []sno.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(texts []string) (id sno.ID, err error) {
					for _, s := range texts {
						if id, err = sno.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
		sort: func(*testing.B) (shuffle, sort func()) { return sorterOf(nextSno(), sno.Sort) },
	},
	{
		name: "sno-by-comparison",
		sort: func(*testing.B) (shuffle, sort func()) {
			return sorterOf(nextSno(), func(ids []sno.ID) { slices.SortFunc(ids, sno.ID.Compare) })
		},
	},
	{
		name: "snowflakesi", cap: 8192,
		burst: 2048, // a quarter of the sequence, which goes on counting: no burst meets its end
		next: func(*testing.B) loop {
			g := newSnowflakeSI()
			return last(func(n int) (id snowflakesi.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			})
		},
		batch: func(*testing.B) loop {
			g := newSnowflakeSI()
			return batches(func(dst []snowflakesi.ID) (int, error) { return g.Fill(ctx, dst) })
		},
		codec: func(*testing.B) codec {
			g := newSnowflakeSI()
			return codecOf(func() (snowflakesi.ID, error) { return g.Next(ctx) }, snowflakesi.ID.String,
				func(buf []byte, ids []snowflakesi.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(texts []string) (id snowflakesi.ID, err error) {
					for _, s := range texts {
						if id, err = snowflakesi.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	{
		name: "ulidflake",
		next: func(*testing.B) loop {
			g := newUlidFlake()
			return last(func(n int) (id ulidflake.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			})
		},
		batch: func(*testing.B) loop {
			g := newUlidFlake()
			return batches(func(dst []ulidflake.ID) (int, error) { return g.Fill(ctx, dst) })
		},
		codec: func(*testing.B) codec {
			g := newUlidFlake()
			return codecOf(func() (ulidflake.ID, error) { return g.Next(ctx) }, ulidflake.ID.String,
				func(buf []byte, ids []ulidflake.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(texts []string) (id ulidflake.ID, err error) {
					for _, s := range texts {
						if id, err = ulidflake.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	// Each millisecond starts at one of 2^20 values at random, and rises by 128 on average. A burst
	// is a quarter of the average. One burst in 8 reaches the top and waits, which does not move
	// the median.
	{
		name: "ulidflake-n8", cap: 4097, burst: 1024,
		next: func(*testing.B) loop {
			g := newGuardedUlidFlake()
			return last(func(n int) (id ulidflake.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			})
		},
		batch: func(*testing.B) loop {
			g := newGuardedUlidFlake()
			return batches(func(dst []ulidflake.ID) (int, error) { return g.Fill(ctx, dst) })
		},
	},
	// Each millisecond starts at one of 2^15 values at random: on average half of the values are left.
	{
		name: "ulidflake-scalable", cap: 16384.5,
		next: func(*testing.B) loop {
			g := newScalableUlidFlake()
			return last(func(n int) (id ulidflake.ScalableID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			})
		},
		batch: func(*testing.B) loop {
			g := newScalableUlidFlake()
			return batches(func(dst []ulidflake.ScalableID) (int, error) { return g.Fill(ctx, dst) })
		},
	},
	{
		name: "scru160",
		next: func(*testing.B) loop {
			g := newSCRU160()
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = g.Next(ctx)
				}
				return err
			}
		},
		batch: func(*testing.B) loop {
			g := newSCRU160()
			return batches(func(dst []scru160.ID) (int, error) { return g.Fill(ctx, dst) })
		},
		codec: func(*testing.B) codec {
			g := newSCRU160()
			return codecOf(func() (scru160.ID, error) { return g.Next(ctx) }, scru160.ID.String,
				func(buf []byte, ids []scru160.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(texts []string) (id scru160.ID, err error) {
					for _, s := range texts {
						if id, err = scru160.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
}

func newNanoflake() *nanoflake.Generator { return must(nanoflake.NewGenerator(nanoflake.Config{})) }

// newSno makes a generator of partition 0. Without a snapshot each generator takes another partition
// of the process, and partitions run out.
func newSno() *sno.Generator { return must(sno.NewGenerator(&sno.GeneratorSnapshot{}, nil)) }

func nextSno() func() (sno.ID, error) {
	g := newSno()
	return func() (sno.ID, error) { return g.Next(ctx, 7) }
}

func newSnowflakeSI() *snowflakesi.Generator {
	return must(snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}}))
}

func newUlidFlake() *ulidflake.Generator {
	return must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1}))
}

// newGuardedUlidFlake makes a generator whose next ID is hard to guess, as by default.
func newGuardedUlidFlake() *ulidflake.Generator {
	return must(ulidflake.NewGenerator(ulidflake.Config{}))
}

func newScalableUlidFlake() *ulidflake.ScalableGenerator {
	return must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{IncrementBits: 1}))
}

func newSCRU160() *scru160.Generator { return must(scru160.NewGenerator(scru160.Config{})) }
