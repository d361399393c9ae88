package pools

import (
	"fmt"
	"strings"

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
		Short: "Print the rights that a program needs at its store",
		Long: `Print what gives a program the rights that it needs at a shared store, and no more. The
command reads the address of the store, and makes no connection. By the kind of store it
prints:

` + permissionForms() + `
The user is the user in the address, or --user: a role of PostgreSQL, a user of etcd
or Redis, a service account of Kubernetes, a group of users for files. The user must
exist; only Redis makes the user, without a password.

Make the pool first, as another user: firn pool create needs more rights, and makes what
the store needs, such as a table.`,
		Example: `  firn pool permissions --store postgres://ids@db/app
  firn pool permissions --store 'redis://host/0?prefix=ids' --user orders
  firn pool permissions --store kubernetes://shop/ids --user orders
  firn pool permissions --state /var/lib/firn --user ids`,
		DisableFlagsInUseLine: true,
		Args:                  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return permissions(s, &st, user)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&user, "user", "", "`USER` that gets the rights (default: the user in the address)")
	st.AddTo(cmd)
	cli.Complete(cmd, "user")
	return cmd
}

// permissionForms lists what the command prints for each kind of store.
func permissionForms() string {
	var lines strings.Builder
	seen := make(map[string]bool)
	for _, k := range stores.Kinds {
		if k.In != "" && !seen[k.In] {
			seen[k.In] = true
			fmt.Fprintf(&lines, "  %-11s %s\n", k.Scheme, k.In)
		}
	}
	return lines.String()
}

// permissions prints the rights of a program. What they are for goes to stderr: readers of the rights know no
// comments.
func permissions(s *cli.Streams, st *stores.State, user string) error {
	kind, text, err := st.Rights(user)
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
