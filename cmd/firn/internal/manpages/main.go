// Command manpages writes the manual pages of firn: firn.1, firn-new.1 and so on, a page per command.
//
//	go run ./cmd/firn/internal/manpages -version v1.2.3 -date 2026-01-02 DIR
//	go run ./cmd/firn/internal/manpages -document docs/commands.md
//
// The second form writes one document in Markdown with all commands. The texts are the help texts. The same
// tree, version and date give the same pages.
package main

//go:generate go run . -document ../../../../docs/commands.md

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

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
	if *document != "" && flag.NArg() == 0 {
		if err := os.WriteFile(*document, documentOf(commandLine()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "manpages:", err)
			os.Exit(1)
		}
		return
	}
	if *document != "" || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(flag.Arg(0), *version, *date); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

// write writes all pages into a directory, and makes the directory if necessary.
func write(dir, version, date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, p := range pages(commandLine(), version, date) {
		errs = append(errs, os.WriteFile(filepath.Join(dir, p.name+".1"), p.roff(), 0o644))
	}
	return errors.Join(errs...)
}

// commandLine returns the command firn.
func commandLine() *cobra.Command { return root.New(cli.NewStreams(os.Stdin, os.Stdout, os.Stderr)) }

// pages returns the page of a command and the pages of the commands below.
func pages(cmd *cobra.Command, version, date string) []page {
	all := []page{newPage(cmd, version, date)}
	for _, c := range cmd.Commands() {
		if documented(c) {
			all = append(all, pages(c, version, date)...)
		}
	}
	return all
}

// documented reports whether a command has a page. The pages are what firn help shows.
func documented(cmd *cobra.Command) bool { return cmd.IsAvailableCommand() && cmd.Name() != "help" }
