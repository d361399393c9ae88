//go:build linux

// Command starts measures what starts of leases cost: processor time of this process, time, requests to
// the store, and bytes of records read.
//
//	go run ./cmd/firn/internal/tests/starts -stores memory,files,postgres,etcd
//	go run ./cmd/firn/internal/tests/starts -stores postgres,etcd -rolls 3
//
// Leases start 64 at a time, or as -at says: in a new pool of Nanoflakes with 1024 workers, and in pools
// of sno with records of 50 000 workers and of all 65 536. All records are free before. Each row is of
// so many leases at once, started and closed.
//
// With -rolls, a fleet starts in a new pool of sno, and then restarts as often as said, 64 leases at a time. Of
// each two leases that end, one is closed and one is killed: its record stays held until its window ends.
//
// Files are in a new folder below -dir. PostgreSQL, and etcd of three members, are started on this
// machine. The processor time of servers does not count.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings of a run.
type settings struct {
	stores, among, pools, dir string
	at, rolls, fleet          int
	window                    time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.stores, "stores", "memory,files", "stores to measure, of memory, files, postgres, etcd")
	flag.StringVar(&s.among, "among", "1,16,128,256,512,1000", "how many leases start")
	flag.StringVar(&s.pools, "pools", "0,50000,65536", "how many records the pools have before; 0 for a pool without records")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "where files are")
	flag.IntVar(&s.at, "at", 64, "how many start at a time")
	flag.IntVar(&s.rolls, "rolls", 0, "how often a fleet restarts, instead of the table")
	flag.IntVar(&s.fleet, "fleet", 1000, "how many leases the fleet has")
	flag.DurationVar(&s.window, "window", 30*time.Second, "of the leases of the fleet")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "starts:", err)
		os.Exit(1)
	}
}

func (s settings) run(ctx context.Context) error {
	for name := range strings.SplitSeq(s.stores, ",") {
		err := s.measure(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// measure measures the starts in a store.
func (s settings) measure(ctx context.Context, name string) error {
	open, ok := stores[name]
	if !ok {
		return errors.New("no such store")
	}
	at, err := open(ctx, s.dir)
	if err != nil {
		return err
	}
	defer at.close()
	if s.rolls > 0 {
		return s.roll(ctx, name, at)
	}
	fmt.Println("| store | records | leases | processor time | time of all | requests | bytes read | lists | records made |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, records := range numbers(s.pools) {
		for _, n := range numbers(s.among) {
			f, err := newFleet(ctx, at, records, fmt.Sprintf("n%d-%d", records, n*min(1, max(0, 1-records))))
			if err != nil {
				return err
			}
			cost, err := f.start(ctx, n, s.at, time.Minute)
			f.end()
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %d | %.2f ms | %.2f s | %.1f | %d | %d | %d |\n", name, records, n, cost.cpu.Seconds()*1000/float64(n), cost.wall.Seconds(),
				float64(cost.requests)/float64(n), int(cost.read)/n, cost.lists, f.made(ctx)-records)
		}
	}
	return nil
}

// roll restarts a fleet.
func (s settings) roll(ctx context.Context, name string, at *storage) error {
	f, err := newFleet(ctx, at, 0, "rolling")
	if err != nil {
		return err
	}
	defer f.end()
	fmt.Println("| store | | time | processor time of each | requests of each | bytes read of each | lists | records of the pool |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for roll := range s.rolls + 1 {
		what := "start"
		if roll > 0 {
			what = "restart " + strconv.Itoa(roll)
			time.Sleep(s.window / 2) // some of the killed leases' windows go on, others have ended
		}
		cost, err := f.start(ctx, s.fleet, s.at, s.window)
		if err != nil {
			return err
		}
		n := float64(s.fleet)
		fmt.Printf("| %s | %s | %.2f s | %.2f ms | %.1f | %.0f | %d | %d |\n", name, what, cost.wall.Seconds(), cost.cpu.Seconds()*1000/n,
			float64(cost.requests)/n, float64(cost.read)/n, cost.lists, f.made(ctx))
	}
	return nil
}

func numbers(list string) (all []int) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "starts:", err)
			os.Exit(2)
		}
		all = append(all, n)
	}
	return slices.Clip(all)
}
