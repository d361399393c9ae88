package tests

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
)

// complete returns what a shell offers for the last word of a command line: words, each with its text.
func complete(t *testing.T, args ...string) map[string]string {
	t.Helper()
	w := newTree(t)
	args = append([]string{cobra.ShellCompRequestCmd}, args...)
	formats.NarrowCompletion(w.Command, args)
	out, err := w.run(args...)
	check(t, err)
	offered := make(map[string]string)
	for line := range strings.Lines(out) {
		word, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.HasPrefix(word, ":") { // the directive at the end
			offered[word] = text
		}
	}
	return offered
}

// TestCompletionOfFlags: a shell offers each flag of a command with its whole text, and after a format the
// flags that the format has.
func TestCompletionOfFlags(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		firsts := []string{""}
		if takesFormats(cmd) && !strings.Contains(cmd.Use, "FORMAT]...") {
			firsts = append(firsts, formats.Names()...)
		}
		for _, first := range firsts {
			format, named := formats.Lookup(first)
			args := words(path)
			if named {
				args = append(args, first)
			}
			offered := complete(t, append(args, "--")...)
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				text, ok := offered["--"+f.Name]
				switch want := !f.Hidden && (!named || format.Has(f.Name)); {
				case ok != want && !required(cmd, offered):
					t.Errorf("firn %s %s: --%s: offered is %v", path, first, f.Name, ok)
				case ok && (text != f.Usage || strings.Contains(text, "`")):
					t.Errorf("firn %s: --%s has the text %q, not %q", path, f.Name, text, f.Usage)
				}
			})
		}
	}
}

// required reports whether a shell offers the required flags of a command alone, as the library does until
// they are given.
func required(cmd *cobra.Command, offered map[string]string) bool {
	all := len(offered) > 0
	for word := range offered {
		f := cmd.Flags().Lookup(strings.TrimPrefix(word, "--"))
		all = all && f != nil && f.Annotations[cobra.BashCompOneRequiredFlag] != nil
	}
	return all
}

// TestCompletionOfValues: a shell offers files only for flags whose value is a file or a directory.
func TestCompletionOfValues(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, completes := cmd.GetFlagCompletionFunc(f.Name)
			_, file := f.Annotations[cobra.BashCompFilenameExt] // nil for files of any name
			_, dir := f.Annotations[cobra.BashCompSubdirsInDir]
			if f.Value.Type() != "bool" && !completes && !file && !dir {
				t.Errorf("firn %s --%s: nothing says what the value is: call cli.Complete, MarkFlagFilename or MarkFlagDirname", path, f.Name)
			}
		})
	}
}

// TestHelpOfFormat: the help for a format has the flags of the format alone.
func TestHelpOfFormat(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		if !takesFormat(cmd) {
			continue
		}
		for _, format := range formats.All() {
			help, err := newTree(t).run(words(path, format.Name(), "--help")...)
			check(t, err)
			_, table, _ := strings.Cut(help, "\nFlags:\n")
			table, _, _ = strings.Cut(table, "\nGlobal flags:\n")
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if shown := strings.Contains(table, "--"+f.Name+" "); shown != (!f.Hidden && format.Has(f.Name)) {
					t.Errorf("firn %s %s --help: --%s is shown: %v", path, format.Name(), f.Name, shown)
				}
			})
		}
	}
}

// takesFormat reports whether the first argument of a command is a format.
func takesFormat(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, " FORMAT") }

// takesFormats reports whether a command may have a format for an argument.
func takesFormats(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "FORMAT") }
