package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/dev/release/rehearsal"
)

func newRehearse() *cobra.Command {
	return &cobra.Command{
		Use:   "rehearse",
		Short: "Publish the tree to a folder, and use it as users do",
		Long: `Publish the tree to a folder, and use it as users do.

The folder is a module proxy with the modules of the tree, at the version of the release. In empty
folders, without a workspace and with an empty module cache, the program then

  installs the command firn, and makes IDs
  gets, builds, vets and runs programs: the one of README, one on each store, one on all
  runs the suite of lease/drivertest, as the author of a store does
  looks for modules in their module graphs that only tests need

In a copy of the tree, the program checks that release tidy would change no file, and that no
published module requires what only its tests need.

The stores' servers are this machine's: PostgreSQL, Redis and NATS are installed by .ci/run services.
Files that are not committed count, too, unless git ignores them. Each step is a line, with its time.`,
		Example: "  go run -C dev ./release rehearse",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return rehearsal.Run(cmd.Context(), ".", cmd.OutOrStdout())
		},
	}
}

func newTidy() *cobra.Command {
	return &cobra.Command{
		Use:   "tidy",
		Short: "Tidy the go.mod and go.sum files of modules that require each other",
		Long: `Tidy the go.mod and go.sum files of the modules that require modules of the project, and print
the names of the files that change.

The go command alone cannot: go mod tidy ignores go.work, and the modules require each other at a
version that is not published yet. The program publishes the tree to a folder first.

A go.sum has no lines about the project's own modules. Their hashes are known when the tags of a
release are made, and no build needs the lines: in the tree, go.work has the modules.`,
		Example: "  go run -C dev ./release tidy",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := rehearsal.Tidy(cmd.Context(), ".")
			for _, file := range files {
				fmt.Fprintln(cmd.OutOrStdout(), file)
			}
			return err
		},
	}
}
