// Command manpages writes the manual pages of firn: firn.1, firn-new.1 and so on, a page per command.
//
//	go run ./cmd/firn/internal/manpages -version v1.2.3 -date 2026-01-02 DIR
//	go run ./cmd/firn/internal/manpages -document docs/commands.md
//
// The second form writes one document with the help of all commands. The same tree, version and date give the same
// pages.
package main

//go:generate go run . -document ../../../../docs/commands.md

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/root"
)

func main() {
	version := flag.String("version", "(devel)", "the version of firn that the pages name")
	date := flag.String("date", time.Now().UTC().Format(time.DateOnly), "the date that the pages name")
	document := flag.String("document", "", "write the document with all commands to this file")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: manpages [-version VERSION] [-date YYYY-MM-DD] DIR\n       manpages -document FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	var err error
	switch {
	case *document != "" && flag.NArg() == 0:
		err = os.WriteFile(*document, documentOf(), 0o644)
	case *document == "" && flag.NArg() == 1:
		err = write(flag.Arg(0), *version, *date)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

// write writes all pages into a directory, and makes the directory if necessary.
func write(dir, version, date string) error {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	firn := root.New(cli.NewStreams(os.Stdin, os.Stdout, os.Stderr))
	firn.DisableAutoGenTag = true
	return doc.GenManTree(firn, &doc.GenManHeader{Date: &day, Source: "firn " + version, Manual: "Firn"}, dir)
}

// documentOf returns a document with the help of all commands.
func documentOf() []byte {
	var d bytes.Buffer
	d.WriteString("# The commands of firn\n\nThe help of each command, as `firn help COMMAND` prints it. [The command line](command-line.md) explains what a " +
		"help has no room for.\n\n<!-- go generate ./cmd/firn/internal/manpages writes this document. -->\n")
	s := cli.NewStreams(os.Stdin, os.Stdout, os.Stderr)
	s.Out, s.Width = bufio.NewWriter(&d), 100
	var chapter func(*cobra.Command)
	chapter = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		fmt.Fprintf(s.Out, "\n## %s\n\n```\n", cmd.CommandPath())
		s.Help(cmd)
		fmt.Fprint(s.Out, "```\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				chapter(c)
			}
		}
	}
	chapter(root.New(s))
	s.Out.Flush()
	return d.Bytes()
}
