// Command paths runs one of Firn's hot paths for a tool that counts instructions. The tool counts the
// instructions of the function collect and of all functions that collect calls.
//
//	paths               # the names of the paths
//	paths PATH          # runs it, and prints how many IDs it handled; exit code 3: try again
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

const (
	// burst is how many IDs a path handles in a row, and batch how many IDs Fill makes of a counter.
	// A tick has more IDs, and under the tool a burst takes a part of a millisecond.
	burst = 256
	batch = 2048
	// warm is how many bursts run before the counted bursts: for the work of first calls, and until
	// the pace of the processor's counter is known, about 10 ms.
	warm = 8
	// bursts is how many bursts are counted. Each burst begins with a tick: the first ID of a tick,
	// which takes longer, then has the same share in the count on every machine.
	bursts = 40
)

// disturbed is the exit code after a burst that was delayed and continued into a tick without room
// for it. The caller tries again.
const disturbed = 3

// A path handles some IDs in the same way, one after the other or as a batch.
type path struct {
	name string
	n    int // how many IDs a run handles; 0 means burst
	run  func(n int) error
	// room makes the first ID of a tick that starts at random, and reports whether the tick has the
	// IDs of a burst left. room is nil if every tick has.
	room func() (bool, error)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "paths:", err)
		if errors.Is(err, iderr.ErrExhausted) {
			os.Exit(disturbed)
		}
		os.Exit(1)
	}
}

func run(args []string) error {
	all, err := paths()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		for _, p := range all {
			fmt.Println(p.name)
		}
		return nil
	}
	for _, p := range all {
		if p.name != args[0] {
			continue
		}
		n := p.n
		if n == 0 {
			n = burst
		}
		for i := range warm + bursts {
			if err := await(p.room); err != nil {
				return err
			}
			run := p.run
			if i >= warm {
				run = func(n int) error { return collect(p.run, n) }
			}
			if err := run(n); err != nil {
				return err
			}
		}
		fmt.Println(n * bursts)
		return nil
	}
	return fmt.Errorf("no path is named %q", args[0])
}

// collect is the function that the tool counts.
//
//go:noinline
func collect(run func(int) error, n int) error { return run(n) }

// await returns at the beginning of a unit of sno, where the ticks of the other formats begin, too.
func await(room func() (bool, error)) error {
	for {
		now := time.Now()
		time.Sleep(now.Truncate(sno.TimeUnit).Add(sno.TimeUnit).Sub(now))
		if room == nil {
			return nil
		}
		if ok, err := room(); ok || err != nil {
			return err
		}
	}
}

var ctx = context.Background()

// paths returns all paths. The loops call directly, as programs do.
func paths() ([]path, error) {
	nano, err := nanoflake.NewGenerator(nanoflake.Config{})
	if err != nil {
		return nil, err
	}
	flake, err := ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1})
	if err != nil {
		return nil, err
	}
	eight, err := ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 8})
	if err != nil {
		return nil, err
	}
	scalable, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{IncrementBits: 1})
	if err != nil {
		return nil, err
	}
	si, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}})
	if err != nil {
		return nil, err
	}
	scru, err := scru160.NewGenerator(scru160.Config{})
	if err != nil {
		return nil, err
	}
	snos, err := sno.NewGenerator(&sno.GeneratorSnapshot{}, nil)
	if err != nil {
		return nil, err
	}

	// Texts are written and read.
	at := time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)
	nanoID, err := nanoflake.FromTime(at, time.Time{}, 767, 39)
	if err != nil {
		return nil, err
	}
	nanoText := nanoID.String()
	flakeID, err := ulidflake.FromInt64(0x0123_4567_89ab_cdef)
	if err != nil {
		return nil, err
	}
	flakeText := flakeID.String()
	siID, err := snowflakesi.FromInt64(0x12_3456_789a_bcde)
	if err != nil {
		return nil, err
	}
	siText := siID.String()
	scruID, err := scru160.ParseHex("0123456789abcdef0123456789abcdef01234567")
	if err != nil {
		return nil, err
	}
	scruText := scruID.String()
	snoID, err := sno.FromTime(at, 7, sno.Partition{2, 1}, 4321)
	if err != nil {
		return nil, err
	}
	snoText := snoID.String()
	buf := make([]byte, 0, 64)

	nanos, flakes, scalables := make([]nanoflake.ID, batch), make([]ulidflake.ID, batch), make([]ulidflake.ScalableID, batch)
	sis, scrus, snoIDs := make([]snowflakesi.ID, batch), make([]scru160.ID, batch), make([]sno.ID, batch)

	flakeRoom := func() (bool, error) {
		id, err := flake.Next(ctx)
		return id.Randomness() < 1<<20-batch, err
	}
	eightRoom := func() (bool, error) {
		id, err := eight.Next(ctx)
		return id.Randomness() < 1<<20-burst*255, err
	}
	scalableRoom := func() (bool, error) {
		id, err := scalable.Next(ctx)
		return id.Randomness() < 1<<15-batch, err
	}
	return []path{
		{name: "nanoflake/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = nano.TryNext()
			}
			return err
		}},
		{name: "nanoflake/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = nano.Next(ctx)
			}
			return err
		}},
		{name: "nanoflake/Fill", n: batch, run: func(n int) error { _, err := nano.Fill(ctx, nanos[:n]); return err }},
		{name: "nanoflake/Seq", n: batch, run: func(n int) (err error) {
			for _, err = range nano.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "nanoflake/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = nanoID.AppendText(buf[:0])
			}
			return err
		}},
		{name: "nanoflake/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = nanoflake.Parse(nanoText)
			}
			return err
		}},

		{name: "sno/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = snos.TryNext(7)
			}
			return err
		}},
		{name: "sno/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = snos.Next(ctx, 7)
			}
			return err
		}},
		{name: "sno/Generator.New", run: func(n int) error {
			for ; n > 0; n-- {
				snos.New(7)
			}
			return nil
		}},
		{name: "sno/New", run: func(n int) error {
			for ; n > 0; n-- {
				sno.New(7)
			}
			return nil
		}},
		{name: "sno/Fill", n: batch, run: func(n int) error { _, err := snos.Fill(ctx, 7, snoIDs[:n]); return err }},
		{name: "sno/Seq", n: batch, run: func(n int) (err error) {
			for _, err = range snos.Seq(ctx, 7, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "sno/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = snoID.AppendText(buf[:0])
			}
			return err
		}},
		{name: "sno/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = sno.Parse(snoText)
			}
			return err
		}},

		{name: "snowflakesi/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = si.TryNext()
			}
			return err
		}},
		{name: "snowflakesi/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = si.Next(ctx)
			}
			return err
		}},
		{name: "snowflakesi/Fill", n: batch, run: func(n int) error { _, err := si.Fill(ctx, sis[:n]); return err }},
		{name: "snowflakesi/Seq", n: batch, run: func(n int) (err error) {
			for _, err = range si.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "snowflakesi/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = siID.AppendText(buf[:0])
			}
			return err
		}},
		{name: "snowflakesi/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = snowflakesi.Parse(siText)
			}
			return err
		}},

		{name: "ulidflake/TryNext", room: flakeRoom, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = flake.TryNext()
			}
			return err
		}},
		{name: "ulidflake/Next", room: flakeRoom, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = flake.Next(ctx)
			}
			return err
		}},
		{name: "ulidflake/Fill", n: batch, room: flakeRoom, run: func(n int) error { _, err := flake.Fill(ctx, flakes[:n]); return err }},
		{name: "ulidflake/Seq", n: batch, room: flakeRoom, run: func(n int) (err error) {
			for _, err = range flake.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "ulidflake/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = flakeID.AppendText(buf[:0])
			}
			return err
		}},
		{name: "ulidflake/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = ulidflake.Parse(flakeText)
			}
			return err
		}},
		{name: "ulidflake-n8/TryNext", room: eightRoom, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = eight.TryNext()
			}
			return err
		}},
		{name: "ulidflake-n8/Next", room: eightRoom, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = eight.Next(ctx)
			}
			return err
		}},
		{name: "ulidflake-n8/Fill", room: eightRoom, run: func(n int) error { _, err := eight.Fill(ctx, flakes[:n]); return err }},
		{name: "ulidflake-n8/Seq", room: eightRoom, run: func(n int) (err error) {
			for _, err = range eight.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},

		{name: "ulidflake-scalable/TryNext", room: scalableRoom, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = scalable.TryNext()
			}
			return err
		}},
		{name: "ulidflake-scalable/Next", room: scalableRoom, run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = scalable.Next(ctx)
			}
			return err
		}},
		{name: "ulidflake-scalable/Fill", n: batch, room: scalableRoom, run: func(n int) error { _, err := scalable.Fill(ctx, scalables[:n]); return err }},
		{name: "ulidflake-scalable/Seq", n: batch, room: scalableRoom, run: func(n int) (err error) {
			for _, err = range scalable.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},

		{name: "scru160/TryNext", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = scru.TryNext()
			}
			return err
		}},
		{name: "scru160/Next", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = scru.Next(ctx)
			}
			return err
		}},
		{name: "scru160/Fill", run: func(n int) error { _, err := scru.Fill(ctx, scrus[:n]); return err }},
		{name: "scru160/Seq", run: func(n int) (err error) {
			for _, err = range scru.Seq(ctx, n) {
				if err != nil {
					break
				}
			}
			return err
		}},
		{name: "scru160/AppendText", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				buf, err = scruID.AppendText(buf[:0])
			}
			return err
		}},
		{name: "scru160/Parse", run: func(n int) (err error) {
			for ; n > 0 && err == nil; n-- {
				_, err = scru160.Parse(scruText)
			}
			return err
		}},
	}, nil
}
