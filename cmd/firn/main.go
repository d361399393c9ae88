// Command firn makes IDs and takes them apart, in all of Firn's formats.
//
//	firn new nanoflake     make an ID, with a worker that no other process has
//	firn inspect 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
//	firn pool doctor       check the clock, the files and the workers
//	firn torture           show that leases survive faults
//
// The program writes data to stdout and everything else to stderr. The exit code is 0, 1 for a
// failed operation or an invalid ID, or 2 for wrong usage.
package main

import (
	"os"

	"github.com/firn-id/firn/cmd/firn/internal/root"
)

func main() { os.Exit(root.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
