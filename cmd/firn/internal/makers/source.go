package makers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// A Source is the flags that say which settings IDs have: those of a pool, or those of the flags.
type Source struct {
	formats.Options
	Name  stores.PoolName // the value of --pool; "" without the flag
	state stores.State
}

// AddTo adds the flags to cmd. The text says what --pool is for.
func (s *Source) AddTo(cmd *cobra.Command, text string) {
	cmd.Flags().Var(&s.Name, "pool", text)
	cli.Group(cmd, "Store", "pool")
	s.state.AddTo(cmd)
	s.Options.AddTo(cmd)
	if err := cmd.RegisterFlagCompletionFunc("pool", s.state.CompletePool); err != nil {
		panic(err) // no such flag, or twice
	}
}

// Open opens the pool that the flags name. A pool whose IDs are not of the format is wrong usage, unless the format is
// the zero Format, and so are other flags for settings.
func (s *Source) Open(ctx context.Context, format formats.Format) (*Pool, error) {
	if given := s.Given(); len(given) > 0 {
		return nil, cli.Usagef("%s: cannot be used with --pool: the pool has the setting", given[0])
	}
	p, err := Open(ctx, &s.state, string(s.Name))
	if err != nil {
		return nil, err
	}
	if format != (formats.Format{}) && format != p.Format {
		p.Close()
		return nil, cli.Usagef("--pool %s: its IDs are of %s, and not of %s", s.Name, p.Format.Name(), format.Name())
	}
	return p, nil
}
