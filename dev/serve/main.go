// Command serve measures firn serve on loopback, beside Redis and a bare handler of HTTP.
//
//	go run -C dev ./serve                 all measurements: ten minutes
//	go run -C dev ./serve -quick          each for a moment
//	go run -C dev ./serve -run resp,http  some of them: resp, http, bulk, memory
//
// Each figure is the median of rounds, in which the programs take turns. A ratio is the median of the ratios of the
// rounds: a machine that is slower for a while is slower for both programs of a round. The processor time is that of an
// ID, on the side of the server and on the side of the client. The command fails if a figure misses its bound.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		if err := runChild(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "serve child:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// A bench is the settings of all measurements.
type bench struct {
	firn   string // the program
	dir    string // for files of this run
	rounds int
	length time.Duration // of one round
	missed []string
}

var parts = []struct {
	name string
	run  func(*bench, context.Context) error
}{{"resp", (*bench).resp}, {"http", (*bench).http}, {"bulk", (*bench).bulk}, {"memory", (*bench).memory}}

func run(ctx context.Context, args []string) error {
	b := bench{rounds: 15, length: time.Second}
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	quick := flags.Bool("quick", false, "measure each for a moment")
	chosen := flags.String("run", "", "measure these alone, separated by commas")
	flags.Parse(args)
	if *quick {
		b.rounds = 1
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "firn-serve-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.firn, err = build(ctx, b.dir); err != nil {
		return err
	}
	want := strings.FieldsFunc(*chosen, func(r rune) bool { return r == ',' })
	for _, p := range parts {
		if len(want) > 0 && !slices.Contains(want, p.name) {
			continue
		}
		fmt.Printf("\n## %s\n\n", p.name)
		if err := p.run(&b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if len(b.missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(b.missed, "; "))
	}
	return nil
}

// bound prints a figure with its bound, and notes a figure that misses the bound.
func (b *bench) bound(what string, got, bound float64, atMost bool) {
	ok, sign := got >= bound, "at least"
	if atMost {
		ok, sign = got <= bound, "at most"
	}
	mark := ""
	if !ok {
		mark = "  MISSED"
		b.missed = append(b.missed, fmt.Sprintf("%s is %.2f, want %s %.2f", what, got, sign, bound))
	}
	fmt.Printf("%-52s %8.2f   %s %.2f%s\n", what, got, sign, bound, mark)
}

// A figure is the result of one round.
type figure struct {
	rate           float64 // IDs in a second
	server, client float64 // processor time of an ID, in nanoseconds
}

func rateOf(f figure) float64   { return f.rate }
func serverOf(f figure) float64 { return f.server }
func clientOf(f figure) float64 { return f.client }

// A subject is something that is measured beside others.
type subject struct {
	name   string
	run    func(context.Context) (figure, error)
	rounds []figure
}

// median returns the median of the rounds.
func (s *subject) median(of func(figure) float64) float64 {
	return median(len(s.rounds), func(i int) float64 { return of(s.rounds[i]) })
}

// by returns the median of the rounds' ratios to another subject.
func (s *subject) by(other *subject, of func(figure) float64) float64 {
	return median(len(s.rounds), func(i int) float64 { return of(s.rounds[i]) / of(other.rounds[i]) })
}

// median returns the median of n values.
func median(n int, value func(i int) float64) float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = value(i)
	}
	slices.Sort(v)
	return v[n/2]
}

// turns measures subjects in turn, and prints their medians.
func (b *bench) turns(ctx context.Context, subjects ...*subject) error {
	for range b.rounds {
		for _, s := range subjects {
			f, err := s.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.rounds = append(s.rounds, f)
		}
	}
	for _, s := range subjects {
		fmt.Printf("%-52s %12.0f IDs/s   processor: server %7.1f ns, client %7.1f ns\n", s.name, s.median(rateOf), s.median(serverOf), s.median(clientOf))
	}
	return nil
}
