// Command release checks and tags the releases of the project's modules.
//
//	go run -C dev ./release set v0.2.0   write the version into all files
//	go run -C dev ./release tidy         tidy the go.mod and go.sum files
//	go run -C dev ./release rehearse     publish the tree to a folder, and use it as users do
//	go run -C dev ./release check        find what keeps the tree from being released
//	go run -C dev ./release tag          check, and make the tags
//	go run -C dev ./release notes        print the release notes
//
// The program pushes nothing. docs/releasing.md has the steps of a release.
//
// The exit code is 0, 1 for a failed operation or a tree with problems, or 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"

	"github.com/firn-id/firn/dev/release/tree"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errProblems ends a command that has listed problems.
var errProblems = errors.New("problems")

// A usageError is an error of the command line.
type usageError struct{ error }

// run runs the program in the current folder, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch usage := (usageError{}); {
	case err == nil:
		return 0
	case errors.Is(err, errProblems):
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "release: %v; see %s --help\n", err, cmd.CommandPath())
		return 2
	default:
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
}

// newRoot returns the command release with all commands below.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "release",
		Short: "Check and tag the releases of the project's modules",
		Long: `Check and tag the releases of the project's modules.

versions.yaml lists all modules and names the version of the published ones.
The program makes tags in the clone, and pushes nothing.

Exit codes: 0; 1 for a failed operation or a tree with problems; 2 for wrong usage.`,
		Example: `  go run -C dev ./release set v0.2.0
  go run -C dev ./release rehearse
  go run -C dev ./release check
  go run -C dev ./release tag
  go run -C dev ./release notes > notes.md`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("no command given: want check, notes, rehearse, set, tag or tidy")}
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newCheck(), newTag(), newSet(), newNotes(), newRehearse(), newTidy())
	return root
}

// usageArgs makes errors of a check of arguments errors of the command line.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Find what keeps the tree from being released",
		Long: `Find what keeps the tree from being released, and print the tags of the release.

Each problem is a line FILE:LINE: FAULT; REMEDY on stderr. The checks:

  tree      all files are committed, on a branch of a clone with all tags
  modules   versions.yaml lists all modules; published modules replace nothing, and
            require each other at their version; go.work has them from the tree
  version   the version is new, and follows the latest tag that HEAD contains
  log       CHANGELOG.md has the form of Keep a Changelog, and a section of the version
            with a date and a link
  API       compared with the latest tag: a patch release changes nothing, a minor release
            breaks nothing from v1 on, and before v1 breaks only what the log names in
            backquotes under Changed or Removed; no release breaks package sno. The
            comparison is for Linux on amd64.

The program sees the tags of the clone. Run git fetch --tags first.`,
		Example: "  git fetch --tags && go run -C dev ./release check",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := checked(cmd)
			if err != nil {
				return err
			}
			printTags(cmd, r)
			return nil
		},
	}
}

func newTag() *cobra.Command {
	return &cobra.Command{
		Use:   "tag",
		Short: "Check the tree, and make the tags of the release",
		Long: `Check the tree as release check does, and make an annotated tag for each published module.

If git cannot make a tag, no tag stays. The program prints the commands that push the tags,
and pushes nothing.`,
		Example: "  git fetch --tags && go run -C dev ./release tag",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := checked(cmd)
			if err != nil {
				return err
			}
			if err := r.makeTags(); err != nil {
				return err
			}
			printTags(cmd, r)
			fmt.Fprintf(cmd.ErrOrStderr(), "The tags are in this clone only. Push them with\n\n  %s\n\n", strings.Join(r.pushes(), "\n  "))
			fmt.Fprintln(cmd.ErrOrStderr(), "The module proxies keep a pushed version for ever.")
			return nil
		},
	}
}

// checked returns the release without problems, or lists the problems.
func checked(cmd *cobra.Command) (*release, error) {
	r, err := open(".")
	if err == nil {
		err = r.check(cmd.Context())
	}
	switch stderr := cmd.ErrOrStderr(); {
	case err != nil:
		return nil, err
	case len(r.problems) > 0:
		for _, p := range r.problems {
			fmt.Fprintln(stderr, p)
		}
		fmt.Fprintf(stderr, "release: %s is not ready: %s; no tag made\n", r.tree.Version, count(len(r.problems), "problem"))
		return nil, errProblems
	case r.base == "":
		fmt.Fprintf(stderr, "%s is ready. HEAD contains no earlier release, so no API was compared.\n", r.tree.Version)
	default:
		fmt.Fprintf(stderr, "%s is ready. Since %s, the API has %s, of which %s.\n", r.tree.Version, r.base,
			count(len(r.changes), "change"), count(r.breaks(), "can break programs", "can break programs"))
	}
	return r, nil
}

// count returns a number with a noun. The plural ends with s, unless a plural is given.
func count(n int, noun string, plural ...string) string {
	if n != 1 && len(plural) > 0 {
		noun = plural[0]
	} else if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// printTags prints the tags of a release.
func printTags(cmd *cobra.Command, r *release) {
	for _, tag := range r.tree.Tags(r.tree.Version) {
		fmt.Fprintln(cmd.OutOrStdout(), tag)
	}
}

func newSet() *cobra.Command {
	return &cobra.Command{
		Use:   "set VERSION",
		Short: "Write the version of the published modules into all files",
		Long: `Write the version of the published modules into versions.yaml, into each go.mod that requires
a published module, and into go.work. Comments stay. Print the files that changed.

CHANGELOG.md is yours to write.`,
		Example: "  go run -C dev ./release set v0.2.0\n  go run -C dev ./release set v0.2.0-rc.1",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := tree.Read(".")
			if err != nil {
				return err
			}
			files, err := t.Set(args[0])
			for _, file := range files {
				fmt.Fprintln(cmd.OutOrStdout(), file)
			}
			return err
		},
	}
}

func newNotes() *cobra.Command {
	return &cobra.Command{
		Use:   "notes [VERSION]",
		Short: "Print the release notes of a version",
		Long: `Print the section of CHANGELOG.md for a version as release notes for GitHub. Without VERSION,
the version is that of versions.yaml. Links into the tree point to the tree of the version.`,
		Example: "  go run -C dev ./release notes > notes.md\n  go run -C dev ./release notes v0.1.0",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := open(".")
			if err != nil {
				return err
			}
			version := r.tree.Version
			if len(args) > 0 {
				if version = args[0]; !tree.Canonical(version) {
					return fmt.Errorf("%q is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1", version)
				}
			}
			prefix, _, _ := module.SplitPathVersion(r.tree.Root().Path)
			notes, err := r.log.Notes(version, "https://"+prefix)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), notes)
			return err
		},
	}
}
