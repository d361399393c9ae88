package main

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/helptext"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// A page is a manual page in Markdown, in the dialect that md2man turns into a page.
type page struct {
	name string // firn-new
	text bytes.Buffer
}

// typed matches what readers may copy: bold text, and lines that stay as they are.
var typed = regexp.MustCompile(`(?s)\\fB.*?\\fP|\n\.EX\n.*?\n\.EE\n`)

// roff returns the page for man. In text to copy, a hyphen has to be written as a minus: man may
// show a plain hyphen as another character.
func (p *page) roff() []byte {
	return typed.ReplaceAllFunc(md2man.Render(p.text.Bytes()), func(text []byte) []byte {
		return bytes.ReplaceAll(text, []byte("-"), []byte(`\-`))
	})
}

// newPage returns the page of a command, with the sections in the order of man-pages(7).
func newPage(cmd *cobra.Command, version, date string) page {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	p := page{name: nameOf(cmd)}
	fmt.Fprintf(&p.text, "%% %q \"1\" %q \"firn %s\" \"Firn\"\n\n", strings.ToUpper(p.name), date, version)
	p.section("NAME", helptext.Escape(p.name+" - "+lower(cmd.Short)))
	p.section("SYNOPSIS", synopsis(cmd))
	p.section("DESCRIPTION", style.Markdown(cmp.Or(cmd.Long, cmd.Short)))
	p.section("COMMANDS", commands(cmd))
	p.section("OPTIONS", options(cmd.LocalFlags())+options(cmd.InheritedFlags()))
	p.section("EXIT STATUS", exitStatus)
	p.section("ENVIRONMENT", environment(cmd))
	p.section("EXAMPLES", helptext.Code(strings.Split(helptext.Dedent(cmd.Example), "\n")))
	p.section("SEE ALSO", seeAlso(cmd))
	return p
}

// section adds a section, unless the section is empty.
func (p *page) section(title, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(&p.text, "# %s\n\n%s\n\n", title, text)
	}
}

// nameOf returns the name of a command's page.
func nameOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// lower returns a sentence without a capital at the beginning. "IDs" keeps the capital.
func lower(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsLower(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}

// upper returns a phrase with a capital at the beginning.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// synopsis returns the line of usage: the command is bold.
func synopsis(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return helptext.Bold(cmd.CommandPath()) + " COMMAND"
	}
	rest := strings.TrimPrefix(strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.CommandPath())
	return helptext.Bold(cmd.CommandPath()) + helptext.Escape(rest+" [options]")
}

// commands lists the commands below cmd.
func commands(cmd *cobra.Command) string {
	var list definitions
	for _, c := range cmd.Commands() {
		if documented(c) {
			list.add(helptext.Bold(nameOf(c))+"(1)", helptext.Escape(c.Short+"."))
		}
	}
	return list.String()
}

// options lists flags as the help does: the name of the value is the flag's type.
func options(flags *pflag.FlagSet) string {
	var list definitions
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		term := helptext.Bold("--" + f.Name)
		if f.Shorthand != "" {
			term = helptext.Bold("-"+f.Shorthand) + ", " + term
		}
		if value != "" {
			term += " *" + helptext.Escape(value) + "*"
		}
		list.add(term, helptext.Escape(upper(usage)+defaultOf(f, usage)+"."))
	})
	return list.String()
}

// defaultOf returns the default of a flag for the end of a sentence, or "" if there is none.
func defaultOf(f *pflag.Flag, usage string) string {
	switch f.DefValue {
	case "", "0", "false", "0s":
		return ""
	}
	if strings.Contains(usage, "(default ") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

const exitStatus = `
0
:   Success.

1
:   A failed operation, or an invalid ID.

2
:   Wrong usage. Nothing was done.
`

// environment lists the variables that a command reads.
func environment(cmd *cobra.Command) string {
	var list definitions
	if usesPools(cmd) {
		list.add(helptext.Bold(stores.Variable), "The address of the store, unless **--store** or **--state** is given.")
	}
	list.add(helptext.Bold("NO_COLOR"), "Without colour, if the variable is not empty. **--color** goes before.")
	list.add(helptext.Bold("CLICOLOR_FORCE"), "In colour, if the variable is neither empty nor 0. **NO_COLOR** goes before.")
	return list.String()
}

// usesPools reports whether a command, or a command below, takes its pools from the user's store.
func usesPools(cmd *cobra.Command) bool {
	if f := cmd.Flags().Lookup("store"); f != nil && strings.Contains(f.Usage, stores.Variable) {
		return true
	}
	return slices.ContainsFunc(cmd.Commands(), usesPools)
}

// seeAlso names the pages of the command above and of the commands below.
func seeAlso(cmd *cobra.Command) string {
	var all []string
	if cmd.HasParent() {
		all = append(all, helptext.Bold(nameOf(cmd.Parent()))+"(1)")
	}
	for _, c := range cmd.Commands() {
		if documented(c) {
			all = append(all, helptext.Bold(nameOf(c))+"(1)")
		}
	}
	return strings.Join(all, ", ") + "\n\nhttps://github.com/firn-id/firn"
}
