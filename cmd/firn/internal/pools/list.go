package pools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// newList returns the command firn pool list.
func newList(s *cli.Streams) *cobra.Command {
	var (
		st     stores.State
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pools of a store",
		Example: `  firn pool list
  firn pool list --json
  firn pool list --state ids`,
		Args: cli.NoArguments,
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
	store, at, err := st.LookForAll(ctx)
	if err != nil {
		return st.Hint(err)
	}
	defer store.Close()
	found, err := stores.Survey(ctx, store, at)
	if err != nil {
		return st.Hint(err)
	}
	var bad []error
	table := &cli.Table{Columns: []cli.Column{{Head: "NAME"}, {Head: "FORMAT", Drop: 2}, {Head: "WORKERS USED"}, {Head: "CREATED", Drop: 1}}}
	for _, f := range found {
		if f.Err != nil {
			bad = append(bad, st.Hint(f.Err))
			continue
		}
		about := aboutPool(f.Pool, len(f.Workers))
		if asJSON {
			if err := cli.WriteJSON(s.Out, about); err != nil {
				return err
			}
			continue
		}
		table.Add(about.Pool, about.Format, fmt.Sprintf("%d of %d", about.Used, about.Workers), cli.TimeText(about.Created.Truncate(time.Second)))
	}
	if lines := table.Lines(s.Limit()); len(lines) > 1 { // more than the head
		if _, err := fmt.Fprintln(s.Out, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	return s.Report(bad)
}
