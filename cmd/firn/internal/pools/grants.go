package pools

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// newGrants returns the command firn pool grants.
func newGrants(s *cli.Streams) *cobra.Command {
	var (
		st   stores.State
		user string
	)
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "Print the rights that a program needs at its store",
		Long: `Print what gives a program the rights that it needs at a shared store, and no more. The
command reads the address of the store, and makes no connection. By the kind of store it
prints:

` + grantForms() + `
The user is the user in the address, or --user: a role of PostgreSQL, a user of etcd
or Redis, a service account of Kubernetes, a group of users for files. The user must
exist; only Redis makes the user, without a password.

Make the pool first, as another user: firn pool create needs more rights, and makes what
the store needs, such as a table.`,
		Example: `  firn pool grants --store postgres://ids@db/app
  firn pool grants --store 'redis://host/0?prefix=ids' --user orders
  firn pool grants --store kubernetes://shop/ids --user orders
  firn pool grants --state /var/lib/firn --user ids`,
		DisableFlagsInUseLine: true,
		Args:                  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return grants(s, &st, user)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&user, "user", "", "`USER` that gets the rights (default: the user in the address)")
	st.AddTo(cmd)
	cli.Complete(cmd, "user")
	return cmd
}

// grantForms lists what the command prints for each kind of store.
func grantForms() string {
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

// grants prints the rights of a program. What they are for goes to stderr: readers of the rights know no
// comments.
func grants(s *cli.Streams, st *stores.State, user string) error {
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
