package pools

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// newPermissions returns the command firn pool permissions.
func newPermissions(s *cli.Streams) *cobra.Command {
	var (
		st   stores.State
		user string
	)
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Print the permissions that a program needs at its store",
		Example: `  firn pool permissions --store postgres://ids@db/app
  firn pool permissions --store kubernetes://shop/ids --user orders
  firn pool permissions --state /var/lib/firn --user ids`,
		Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return permissions(s, &st, user)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&user, "user", "", "`USER` of the program (default: of the address)")
	st.AddTo(cmd)
	cli.Complete(cmd, "user")
	return cmd
}

// permissions prints the rights of a program. What they are for goes to stderr: readers of the rights know no
// comments.
func permissions(s *cli.Streams, st *stores.State, user string) error {
	kind, text, err := st.Permissions(user)
	if err != nil {
		return err
	}
	if _, err := s.Out.WriteString(text); err != nil {
		return err
	}
	if err := s.Out.Flush(); err != nil {
		return err
	}
	cli.Complain(s.Err, fmt.Errorf("note: %s", kind.In))
	return nil
}
