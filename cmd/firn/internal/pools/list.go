package pools

import (
	"bytes"
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
)

// newList returns the command firn pool list.
func newList(s *cli.Streams) *cobra.Command {
	var (
		st     stores.State
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pools",
		Long: `List the pools: name, format, workers used, and time of creation. A pool that cannot be
read is an error. The rest are still listed, and the exit code is 1.

--json writes an object per pool, like the first object of firn pool show.`,
		Example:               "  firn new nanoflake\n  firn pool list\n  firn pool list --json",
		DisableFlagsInUseLine: true,
		Args:                  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), s, &st, asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per line")
	st.AddTo(cmd)
	return cmd
}

// list lists the pools of a store.
func list(ctx context.Context, s *cli.Streams, st *stores.State, asJSON bool) error {
	store, at, err := st.Look(ctx)
	if err != nil {
		return st.Explain(err)
	}
	if store == nil {
		return nil // no pools
	}
	defer store.Close()
	found, err := stores.Survey(ctx, store, at)
	if err != nil {
		return st.Explain(err)
	}
	return listPools(s, st, found, asJSON)
}

func listPools(s *cli.Streams, st *stores.State, found []lease.Found, asJSON bool) error {
	var bad []error
	var rows bytes.Buffer
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	head := "NAME\tFORMAT\tWORKERS USED\tCREATED\n"
	for _, f := range found {
		if f.Err != nil {
			bad = append(bad, st.Explain(f.Err))
			continue
		}
		about := aboutPool(f.Pool, len(f.Workers))
		var err error
		if asJSON {
			err = cli.WriteJSON(&rows, about)
		} else {
			_, err = fmt.Fprintf(table, "%s%s\t%s\t%d of %d\t%s\n", head, about.Pool, about.Format, about.Used, about.Workers, cli.TimeText(about.Created.Truncate(time.Second)))
			head = ""
		}
		if err != nil {
			return err
		}
	}
	table.Flush()
	if _, err := s.Out.Write(rows.Bytes()); err != nil {
		return err
	}
	if len(bad) == 0 {
		return nil
	}
	if err := s.Out.Flush(); err != nil {
		return err
	}
	for _, err := range bad {
		cli.Complain(s.Err, err)
	}
	return cli.ErrReported
}
