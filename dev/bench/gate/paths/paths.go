package main

import (
	"context"
	"slices"
	"time"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

var ctx = context.Background()

// made is the time of the IDs that are written and read.
var made = time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)

// paths returns all paths. The loops call directly, as programs do: a shared loop would add a call to
// each count.
func paths() []path {
	return slices.Concat(nanoflakePaths(), snoPaths(), snowflakesiPaths(), ulidflakePaths(), stepPaths(), scalablePaths(), scru160Paths())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func nanoflakePaths() []path {
	gen := must(nanoflake.NewGenerator(nanoflake.Config{}))
	id := must(nanoflake.FromTime(made, time.Time{}, 767, 39))
	text, buf, ids := id.String(), make([]byte, 0, 64), make([]nanoflake.ID, batch)
	return []path{
		{name: "nanoflake/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext()
			}
			return err
		}},
		{name: "nanoflake/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx)
			}
			return err
		}},
		{name: "nanoflake/Fill", n: batch, run: func(n int) error { _, err := gen.Fill(ctx, ids[:n]); return err }},
		{name: "nanoflake/Seq", n: batch, run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "nanoflake/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = id.AppendText(buf[:0])
			}
			return err
		}},
		{name: "nanoflake/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = nanoflake.Parse(text)
			}
			return err
		}},
	}
}

func snoPaths() []path {
	gen := must(sno.NewGenerator(&sno.GeneratorSnapshot{}, nil))
	id := must(sno.FromTime(made, 7, sno.Partition{2, 1}, 4321))
	text, buf, ids := id.String(), make([]byte, 0, 64), make([]sno.ID, batch)
	return []path{
		{name: "sno/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext(7)
			}
			return err
		}},
		{name: "sno/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx, 7)
			}
			return err
		}},
		{name: "sno/Generator.New", run: func(n int) error {
			for ; n > 0; n-- {
				gen.New(7)
			}
			return nil
		}},
		{name: "sno/New", run: func(n int) error {
			for ; n > 0; n-- {
				sno.New(7)
			}
			return nil
		}},
		{name: "sno/Fill", n: batch, run: func(n int) error { _, err := gen.Fill(ctx, 7, ids[:n]); return err }},
		{name: "sno/Seq", n: batch, run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, 7, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "sno/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = id.AppendText(buf[:0])
			}
			return err
		}},
		{name: "sno/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = sno.Parse(text)
			}
			return err
		}},
	}
}

func snowflakesiPaths() []path {
	gen := must(snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}}))
	id := must(snowflakesi.FromInt64(0x12_3456_789a_bcde))
	text, buf, ids := id.String(), make([]byte, 0, 64), make([]snowflakesi.ID, batch)
	return []path{
		{name: "snowflakesi/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext()
			}
			return err
		}},
		{name: "snowflakesi/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx)
			}
			return err
		}},
		{name: "snowflakesi/Fill", n: batch, run: func(n int) error { _, err := gen.Fill(ctx, ids[:n]); return err }},
		{name: "snowflakesi/Seq", n: batch, run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "snowflakesi/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = id.AppendText(buf[:0])
			}
			return err
		}},
		{name: "snowflakesi/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = snowflakesi.Parse(text)
			}
			return err
		}},
	}
}

func ulidflakePaths() []path {
	gen := must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1}))
	id := must(ulidflake.FromInt64(0x0123_4567_89ab_cdef))
	text, buf, ids := id.String(), make([]byte, 0, 64), make([]ulidflake.ID, batch)
	room := func() (bool, error) {
		id, err := gen.Next(ctx)
		return id.Randomness() < 1<<20-batch, err
	}
	return []path{
		{name: "ulidflake/TryNext", room: room, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext()
			}
			return err
		}},
		{name: "ulidflake/Next", room: room, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx)
			}
			return err
		}},
		{name: "ulidflake/Fill", n: batch, room: room, run: func(n int) error { _, err := gen.Fill(ctx, ids[:n]); return err }},
		{name: "ulidflake/Seq", n: batch, room: room, run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "ulidflake/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = id.AppendText(buf[:0])
			}
			return err
		}},
		{name: "ulidflake/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = ulidflake.Parse(text)
			}
			return err
		}},
	}
}

// stepPaths draw increments of 8 bits.
func stepPaths() []path {
	gen := must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 8}))
	ids := make([]ulidflake.ID, burst)
	room := func() (bool, error) {
		id, err := gen.Next(ctx)
		return id.Randomness() < 1<<20-burst*255, err
	}
	return []path{
		{name: "ulidflake-n8/TryNext", room: room, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext()
			}
			return err
		}},
		{name: "ulidflake-n8/Next", room: room, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx)
			}
			return err
		}},
		{name: "ulidflake-n8/Fill", room: room, run: func(n int) error { _, err := gen.Fill(ctx, ids[:n]); return err }},
		{name: "ulidflake-n8/Seq", room: room, run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
	}
}

func scalablePaths() []path {
	gen := must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{IncrementBits: 1}))
	ids := make([]ulidflake.ScalableID, batch)
	room := func() (bool, error) {
		id, err := gen.Next(ctx)
		return id.Randomness() < 1<<15-batch, err
	}
	return []path{
		{name: "ulidflake-scalable/TryNext", room: room, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext()
			}
			return err
		}},
		{name: "ulidflake-scalable/Next", room: room, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx)
			}
			return err
		}},
		{name: "ulidflake-scalable/Fill", n: batch, room: room, run: func(n int) error { _, err := gen.Fill(ctx, ids[:n]); return err }},
		{name: "ulidflake-scalable/Seq", n: batch, room: room, run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
	}
}

func scru160Paths() []path {
	gen := must(scru160.NewGenerator(scru160.Config{}))
	id := must(scru160.ParseHex("0123456789abcdef0123456789abcdef01234567"))
	text, buf, ids := id.String(), make([]byte, 0, 64), make([]scru160.ID, burst)
	return []path{
		{name: "scru160/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.TryNext()
			}
			return err
		}},
		{name: "scru160/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = gen.Next(ctx)
			}
			return err
		}},
		{name: "scru160/Fill", run: func(n int) error { _, err := gen.Fill(ctx, ids[:n]); return err }},
		{name: "scru160/Seq", run: func(n int) (err error) {
			for _, err = range gen.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "scru160/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = id.AppendText(buf[:0])
			}
			return err
		}},
		{name: "scru160/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = scru160.Parse(text)
			}
			return err
		}},
	}
}
