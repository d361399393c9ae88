package pools

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// newCreate returns the command firn pool create.
func newCreate(s *cli.Streams) *cobra.Command {
	var (
		l      formats.Options
		st     stores.State
		name   stores.PoolName
		beside bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "create FORMAT",
		Short: "Make a pool, and print its name and UUID",
		Long: `Make a pool, and print its name and UUID. A pool of that name is an error.

On this machine, only a pool with a name of your own needs this command: firn new makes
the pools of the formats itself. In a shared store, make each pool once. The command
also makes what the store needs, such as a directory or a table. --existing makes the pool
only in an existing store.

IDs are distinct within a pool. Two pools for the same format, epoch and widths make the
same IDs. The second such pool is therefore refused. --beside allows it, for IDs that
never meet. Do not replace a damaged pool: firn pool rescue repairs it.`,
		Example: `  firn pool create nanoflake --name orders --epoch 2020-01-01T00:00:00Z
  firn new nanoflake --pool orders --epoch 2020-01-01T00:00:00Z
  firn pool create snowflakesi --clock-bits 41 --machine-bits 10
  firn pool create nanoflake --store 'postgres://ids@db/app?password-file=/run/secrets/db'
  firn pool create scru160 --node-bits 8`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     formats.CompleteFormat,
		Args:                  formats.OneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := l.Pool(args[0])
			if err != nil {
				return err
			}
			if name != "" {
				wanted.Name = string(name)
			}
			return create(cmd.Context(), s, &st, wanted, beside, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&name, "name", "name of the pool (default: from the format)")
	l.AddTo(cmd)
	flags.BoolVar(&beside, "beside", false, "allow two pools for the same IDs: see above")
	flags.BoolVar(&asJSON, "json", false, "write a JSON object")
	st.AddTo(cmd)
	st.AddExistingTo(cmd, "make the pool only in an existing store")
	cli.Complete(cmd, "name")
	return cmd
}

// create creates a pool and prints it. If beside is set, a pool for the same IDs may exist.
func create(ctx context.Context, s *cli.Streams, st *stores.State, wanted grant.Spec, beside, asJSON bool) error {
	store, _, err := st.Open(ctx)
	if err != nil {
		return st.Explain(err)
	}
	defer store.Close()
	if p, ok := store.(driver.Preparer); ok && !st.Existing {
		if err := p.Prepare(ctx); err != nil {
			return st.Explain(err)
		}
	}
	if err := stores.Besides(ctx, s, st, store, wanted, beside); err != nil {
		return err
	}
	stores.Warn(ctx, s, st, store)()
	p, err := lease.Create(ctx, store, wanted.Name, wanted.Layout)
	if err != nil {
		return st.Explain(err)
	}
	st.SayBegun(s)
	if asJSON {
		return cli.WriteJSON(s.Out, aboutPool(p, 0))
	}
	_, err = fmt.Fprintln(s.Out, p.Name(), p.UUID())
	return err
}
