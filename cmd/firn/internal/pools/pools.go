// Package pools has the commands about pools: firn pool list, show, create, rescue and doctor.
package pools

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// New returns the command firn pool.
func New(s *cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "See to the pools that workers are taken from",
		Long: `See to the pools that firn new takes its workers from.

A pool is the worker numbers of one kind of IDs: of a format, its epoch and its widths.
It remembers of each worker which times were used with it and who has it now. It is kept
in files on this machine, where firn new makes the pool that it needs by itself, or in a
store that machines share, where firn pool create does, once. Addresses of stores, for
--store or $` + stores.Variable + `:

` + stores.AddressForms() + `
What must not be seen is best kept out of an address: password-file=PATH and
password-env=VARIABLE say where a password is.

Do not delete a pool. If its store has lost something, or was restored from a backup,
firn pool rescue makes it safe: what a pool remembers keeps IDs from being made twice.`,
		Example: `  firn pool list
  firn pool show nanoflake
  firn pool doctor
  firn pool create nanoflake --store 'etcd://etcd-1,etcd-2,etcd-3/firn?ca=/etc/firn/ca.pem'`,
		Args: cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usagef("no command given: want %s", cli.List(cli.CommandNames(cmd), "or"))
		},
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newCreate(s), newList(s), newShow(s), newDoctor(s), newRescue(s))
	return cmd
}

// onePool checks that the arguments are the name of a pool.
func onePool(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usage(errors.New("no pool given: firn pool list shows those that there are"))
	}
	return atMostOnePool(nil, args)
}

// atMostOnePool checks that the arguments are the name of a pool, or nothing.
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
