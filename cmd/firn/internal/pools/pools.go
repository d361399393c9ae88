// Package pools has the commands about pools: firn pool list, show, who, create, doctor, recover and permissions.
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
		Short: "Manage pools of worker IDs",
		Long:  "Manage pools of worker IDs. The address of a store, for --store or $" + stores.Variable + ":\n\n" + stores.AddressForms(),
		Example: `  firn pool create nanoflake --state ids
  firn pool list --state ids
  firn pool doctor --state ids`,
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
