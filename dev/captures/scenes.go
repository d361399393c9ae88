//go:build unix

package main

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/firn-id/firn/nanoflake"
)

// A scene is what a picture shows: commands that somebody types, and their output.
type scene struct {
	name    string
	columns int
	ids     func(path string) error // writes a file with IDs
	typed   []string                // commands; the last stays on the screen
}

var scenes = []scene{
	{
		name:    "inspect",
		columns: 84,
		typed:   []string{"firn inspect 0549x5l2itvr4", "firn inspect 01970e9a-6e1f-7c4e-9f0a-3b1c5d7e9f10"},
	},
	{
		name:    "stats",
		columns: 100,
		ids:     day,
		typed:   []string{"firn stats nanoflake < ids"},
	},
	{
		name:    "range",
		columns: 88,
		typed:   []string{"firn range nanoflake --from 2026-07-01 --to 2026-08-01 --id order_id"},
	},
}

// day writes the Nanoflakes of a day of a service with eight generators: more by day than by night, and a
// batch job in the afternoon. The IDs are the same each time.
func day(path string) error {
	const workers, most = 8, 1.2 // IDs a second of a generator
	random := rand.New(rand.NewPCG(1, 2))
	var out []byte
	for worker := range workers {
		now := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
		end := now.AddDate(0, 0, 1)
		g, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 100 + worker, Clock: func() time.Time { return now }})
		if err != nil {
			return err
		}
		add := func(n int) error {
			for range n {
				id, err := g.Next(context.Background())
				if err != nil {
					return err
				}
				out = append(append(out, id.String()...), '\n')
			}
			return nil
		}
		batch := end.Add(-9*time.Hour - 20*time.Minute)
		for share := 1 / float64(1+worker/3); ; {
			hour := now.Sub(end.AddDate(0, 0, -1)).Hours()
			rate := most * share * (0.08 + math.Pow(math.Sin(math.Pi*(hour-3)/24), 4))
			now = now.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
			if !now.Before(end) {
				break
			}
			n := 1
			if worker == 3 && now.After(batch) {
				n, batch = 3500, end.Add(time.Hour)
			}
			if err := add(n); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(path, out, 0o644)
}

// title returns the title of the window.
func (s scene) title() string { return s.typed[len(s.typed)-1] }
