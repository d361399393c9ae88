package main

import (
	"context"
	"slices"
	"time"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

var ctx = context.Background()

// firnSubjects are Firn's formats with their default settings, except Snowflake-SI: without machine
// bits it has the longest sequence.
var firnSubjects = []subject{
	{
		name: "nanoflake", title: "Firn Nanoflakes", cap: capacityOf(nanoflake.Descriptor(), shape.Settings{}),
		next: func() (loop, error) {
			g, err := newNanoflake()
			return loopOf(func(n int) (id nanoflake.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			}), err
		},
		batch: fills[nanoflake.ID](newNanoflake),
		seq: func() (loop, error) {
			g, err := newNanoflake()
			return loopOf(func(n int) (id nanoflake.ID, err error) {
				for id, err = range g.Seq(ctx, n) {
					if err != nil {
						break
					}
				}
				return id, err
			}), err
		},
		codec: func() (*codec, error) {
			g, err := newNanoflake()
			if err != nil {
				return nil, err
			}
			return codecOf(func() (nanoflake.ID, error) { return g.Next(ctx) },
				func(buf []byte, ids []nanoflake.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []nanoflake.ID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
		name: "sno", title: "Firn sno", cap: capacityOf(sno.Descriptor(), shape.Settings{}),
		next: func() (loop, error) {
			g, err := newSno()
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = g.Next(ctx, 7)
				}
				return err
			}, err
		},
		batch: func() (loop, error) {
			g, err := newSno()
			return batchesOf(func(dst []sno.ID) (int, error) { return g.Fill(ctx, 7, dst) }), err
		},
		seq: func() (loop, error) {
			g, err := newSno()
			return loopOf(func(n int) (id sno.ID, err error) {
				for id, err = range g.Seq(ctx, 7, n) {
					if err != nil {
						break
					}
				}
				return id, err
			}), err
		},
		codec: func() (*codec, error) {
			g, err := newSno()
			if err != nil {
				return nil, err
			}
			return codecOf(func() (sno.ID, error) { return g.Next(ctx, 7) },
				func(buf []byte, ids []sno.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []sno.ID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
		sort: func(n int) (*sorter, error) { return sortSnos(n, sno.Sort) },
	},
	{
		// Sorts IDs without sno.Sort, and makes none.
		name: "sno-by-comparison", title: "sno IDs by slices.SortFunc", kin: "sno",
		sort: func(n int) (*sorter, error) {
			return sortSnos(n, func(ids []sno.ID) { slices.SortFunc(ids, sno.ID.Compare) })
		},
	},
	{
		name: "snowflakesi", title: "Firn Snowflake-SI, 13 UIN bits", cap: capacityOf(snowflakesi.Descriptor(), shape.Settings{MachineBits: snowflakesi.NoMachineBits}),
		burst: 2048, // a quarter of the sequence, which goes on counting: no burst meets its end
		next: func() (loop, error) {
			g, err := newSnowflakeSI()
			return loopOf(func(n int) (id snowflakesi.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			}), err
		},
		batch: fills[snowflakesi.ID](newSnowflakeSI),
		seq: func() (loop, error) {
			g, err := newSnowflakeSI()
			return loopOf(func(n int) (id snowflakesi.ID, err error) {
				for id, err = range g.Seq(ctx, n) {
					if err != nil {
						break
					}
				}
				return id, err
			}), err
		},
		codec: func() (*codec, error) {
			g, err := newSnowflakeSI()
			if err != nil {
				return nil, err
			}
			return codecOf(func() (snowflakesi.ID, error) { return g.Next(ctx) },
				func(buf []byte, ids []snowflakesi.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []snowflakesi.ID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
		name: "ulidflake", title: "Firn Ulid-Flake, n = 1",
		next:  nextUlidFlakes(newUlidFlake),
		batch: fills[ulidflake.ID](newUlidFlake),
		seq:   seqUlidFlakes(newUlidFlake),
		codec: func() (*codec, error) {
			g, err := newUlidFlake()
			if err != nil {
				return nil, err
			}
			return codecOf(func() (ulidflake.ID, error) { return g.Next(ctx) },
				func(buf []byte, ids []ulidflake.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []ulidflake.ID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
	{
		// Each millisecond starts at one of 2^20 values at random, and rises by 128 on average. A burst
		// is a quarter of the average. One burst in 8 reaches the top and waits, which does not move
		// the median.
		name: "ulidflake-n8", title: "Firn Ulid-Flake, n = 8", cap: capacity{4097, time.Millisecond}, burst: 1024,
		next:  nextUlidFlakes(newGuardedUlidFlake),
		batch: fills[ulidflake.ID](newGuardedUlidFlake),
		seq:   seqUlidFlakes(newGuardedUlidFlake),
	},
	{
		// Each millisecond starts at one of 2^15 values at random: on average half of the values
		// are left.
		name: "ulidflake-scalable", title: "Firn Ulid-Flake, scalable, n = 1", cap: capacity{16384.5, time.Millisecond},
		next: func() (loop, error) {
			g, err := newScalableUlidFlake()
			return loopOf(func(n int) (id ulidflake.ScalableID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(ctx)
				}
				return id, err
			}), err
		},
		batch: fills[ulidflake.ScalableID](newScalableUlidFlake),
		seq: func() (loop, error) {
			g, err := newScalableUlidFlake()
			return loopOf(func(n int) (id ulidflake.ScalableID, err error) {
				for id, err = range g.Seq(ctx, n) {
					if err != nil {
						break
					}
				}
				return id, err
			}), err
		},
	},
	{
		name: "scru160", title: "Firn SCRU160",
		next: func() (loop, error) {
			g, err := newSCRU160()
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = g.Next(ctx)
				}
				return err
			}, err
		},
		batch: fills[scru160.ID](newSCRU160),
		seq: func() (loop, error) {
			g, err := newSCRU160()
			return loopOf(func(n int) (id scru160.ID, err error) {
				for id, err = range g.Seq(ctx, n) {
					if err != nil {
						break
					}
				}
				return id, err
			}), err
		},
		codec: func() (*codec, error) {
			g, err := newSCRU160()
			if err != nil {
				return nil, err
			}
			return codecOf(func() (scru160.ID, error) { return g.Next(ctx) },
				func(buf []byte, ids []scru160.ID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []scru160.ID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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

func newNanoflake() (*nanoflake.Generator, error) {
	return nanoflake.NewGenerator(nanoflake.Config{})
}

// newSno makes a generator of partition 0. Without a snapshot each generator takes another partition
// of the process, and partitions run out.
func newSno() (*sno.Generator, error) { return sno.NewGenerator(&sno.GeneratorSnapshot{}, nil) }

func newSnowflakeSI() (*snowflakesi.Generator, error) {
	return snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}})
}

// newUlidFlake makes a generator that adds 1, for the most IDs in a tick, as the peers do.
func newUlidFlake() (*ulidflake.Generator, error) {
	return ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1})
}

// nextUlidFlakes and seqUlidFlakes return the loops of the generators that a function makes.
func nextUlidFlakes(generator func() (*ulidflake.Generator, error)) func() (loop, error) {
	return func() (loop, error) {
		g, err := generator()
		return loopOf(func(n int) (id ulidflake.ID, err error) {
			for ; n > 0 && err == nil; n-- {
				id, err = g.Next(ctx)
			}
			return id, err
		}), err
	}
}

func seqUlidFlakes(generator func() (*ulidflake.Generator, error)) func() (loop, error) {
	return func() (loop, error) {
		g, err := generator()
		return loopOf(func(n int) (id ulidflake.ID, err error) {
			for id, err = range g.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return id, err
		}), err
	}
}

// newGuardedUlidFlake makes a generator whose next ID is hard to guess, as by default.
func newGuardedUlidFlake() (*ulidflake.Generator, error) {
	return ulidflake.NewGenerator(ulidflake.Config{})
}

func newScalableUlidFlake() (*ulidflake.ScalableGenerator, error) {
	return ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{IncrementBits: 1})
}

func newSCRU160() (*scru160.Generator, error) { return scru160.NewGenerator(scru160.Config{}) }

func sortSnos(n int, by func([]sno.ID)) (*sorter, error) {
	g, err := newSno()
	if err != nil {
		return nil, err
	}
	return sorterOf(n, func() (sno.ID, error) { return g.Next(ctx, 7) }, by, sno.ID.Compare)
}
