// Command bulk measures firn verify on many IDs.
//
//	go run -C dev ./bulk                          10^9 IDs in order, 10^8 shuffled: half an hour
//	go run -C dev ./bulk -n 10000000 -shuffled 1000000
//	go run -C dev ./bulk make -n 1000000          writes the IDs that the measurements read
//
// The IDs are snos of 8 generators, each in runs, as 8 servers write to one log. Some IDs are there twice. The
// command fails if firn verify does not find each of them, by its line.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bulk:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "make" {
		return runMake(args[1:])
	}
	m := measurement{}
	flags := flag.NewFlagSet("bulk", flag.ExitOnError)
	flags.Int64Var(&m.ordered, "n", 1_000_000_000, "how many IDs in runs")
	flags.Int64Var(&m.shuffled, "shuffled", 100_000_000, "how many shuffled IDs")
	flags.StringVar(&m.memory, "memory", "128M", "memory of firn")
	flags.StringVar(&m.firn, "firn", "", "the program firn (default: built from the tree)")
	flags.Parse(args)
	return m.run()
}

func runMake(args []string) error {
	p := plan{}
	flags := flag.NewFlagSet("bulk make", flag.ExitOnError)
	flags.Int64Var(&p.n, "n", 1_000_000, "how many IDs")
	flags.BoolVar(&p.shuffled, "shuffled", false, "in random order")
	flags.Parse(args)
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := p.write(w); err != nil {
		return err
	}
	return w.Flush()
}
