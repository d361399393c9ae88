// Package pools has the commands about pools: firn pool list, show, who, create, recover,
// permissions and doctor.
package pools

import (
	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// New returns the command firn pool.
func New(s *cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "Manage the pools of workers",
		Long: `Manage the pools from which firn new leases workers.

A pool holds the worker numbers for one kind of IDs: a format, its epoch and its widths.
For each worker the pool remembers the used times, and the holder. Pools are files on
this machine, where firn new makes the pool, or in a shared store, where firn pool create
makes the pool, once. Give the address of a store by --store or
$` + stores.Variable + `:

` + stores.AddressForms() + `
Keep secrets out of addresses: password-file=PATH and password-env=VARIABLE say where a
password is.

Do not delete a pool: the memory of a pool prevents duplicate IDs. If a store has lost
something, or was restored from a backup, firn pool recover makes the pool safe.`,
		Example: `  firn new nanoflake
  firn pool list
  firn pool show nanoflake
  firn pool who nanoflake 0549x5l2itvr4
  firn pool doctor
  firn pool create nanoflake --store 'etcd://etcd-1,etcd-2/firn?ca=/etc/firn/ca.pem'`,
	}
	cli.NeedsCommand(cmd, "command")
	cmd.AddCommand(newCreate(s), newList(s), newShow(s), newWho(s), newDoctor(s), newRecover(s), newPermissions(s))
	return cmd
}

// onePool returns an error unless there is one argument, the name of a pool.
func onePool(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no pool given: want the name of a pool")
	}
	return atMostOnePool(nil, args)
}

// atMostOnePool returns an error unless the arguments are the name of a pool, or empty.
func atMostOnePool(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("too many arguments: %q after the pool", args[1])
	}
	for _, arg := range args {
		if err := new(stores.PoolName).Set(arg); err != nil {
			return cli.Usagef("%s %w", cli.Plain(arg), err)
		}
	}
	return nil
}
