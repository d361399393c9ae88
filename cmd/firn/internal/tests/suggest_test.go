package tests

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hbollon/go-edlib"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
)

// misspelt returns a word with each fault that people make: a letter missing, doubled or wrong, or two
// letters swapped.
func misspelt(word string) (faults []string) {
	i := len(word) / 2
	swapped := []byte(word)
	swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
	for _, w := range []string{word[:i] + word[i+1:], word[:i] + word[i:i+1] + word[i:], word[:i] + "q" + word[i+1:], string(swapped)} {
		if w != word {
			faults = append(faults, w)
		}
	}
	return faults
}

// usageError runs a command line, and returns the text of its error of usage.
func usageError(t *testing.T, args ...string) string {
	t.Helper()
	_, err := newTree(t).run(args...)
	if !errors.As(err, new(cli.UsageError)) {
		t.Errorf("firn %s: no wrong usage: %v", strings.Join(args, " "), err)
		return ""
	}
	return err.Error()
}

// TestMisspeltCommands: each command is suggested for its name with a fault.
func TestMisspeltCommands(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		if path == "" {
			continue
		}
		parent := words(strings.TrimPrefix(strings.TrimPrefix(cmd.Parent().CommandPath(), "firn"), " "))
		for _, word := range misspelt(cmd.Name()) {
			if found, _, err := newTree(t).Find(append(slices.Clone(parent), word)); err == nil && found.Name() == word {
				continue // another command
			}
			text := usageError(t, append(slices.Clone(parent), word)...)
			_, suggested, _ := strings.Cut(text, "did you mean ")
			if !strings.Contains(suggested, cmd.Name()) {
				t.Errorf("firn %s %s: %s", strings.Join(parent, " "), word, text)
			}
		}
	}
}

// TestMisspeltFlags: each flag, or another flag that is as near, is suggested for its name with a fault.
func TestMisspeltFlags(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || len(f.Name) < 3 {
				return
			}
			for _, word := range misspelt(f.Name) {
				if cmd.Flags().Lookup(word) != nil {
					continue
				}
				text := usageError(t, words(path, "--"+word)...)
				others, _ := strings.CutPrefix(text, "unknown flag: --"+word+": did you mean --")
				edits := func(name string) int { return edlib.OSADamerauLevenshteinDistance(word, name) }
				for other := range strings.SplitSeq(strings.TrimSuffix(others, "?"), " or --") {
					if cmd.Flags().Lookup(other) == nil || edits(other) > edits(f.Name) {
						t.Errorf("firn %s --%s: %s", path, word, text)
					}
				}
			}
		})
	}
}

// takesFormat reports whether the first argument of a command is a format.
func takesFormat(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, " FORMAT") }

// takesFormats reports whether a command may have a format for an argument.
func takesFormats(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "FORMAT") }

// TestMisspeltFormats: each command with a format suggests the format for its name with a fault, and for
// the spellings of the specifications.
func TestMisspeltFormats(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		if !takesFormats(cmd) {
			continue
		}
		faults := map[string]string{
			"ulid-flake": "ulidflake", "Ulid_Flake": "ulidflake", "ULID-FLAKE-SCALABLE": "ulidflake-scalable", "ulidflakescalable": "ulidflake-scalable",
			"snowflake-si": "snowflakesi", "Snowflake_SI": "snowflakesi", "scru-160": "scru160", "nano-flake": "nanoflake",
		}
		for _, name := range formats.Names() {
			for _, word := range misspelt(name) {
				if _, ok := formats.Lookup(word); !ok {
					faults[word] = name
				}
			}
		}
		for word, name := range faults {
			if text := usageError(t, words(path, word)...); text != `unknown format "`+word+`": did you mean `+name+"?" {
				t.Errorf("firn %s %s: %s", path, word, text)
			}
		}
	}
	for word, name := range map[string]string{"snowflake": "snowflakesi", "nano": "nanoflake", "scru": "scru160", "ulid": "ulidflake", "nanofalek": "nanoflake"} {
		if text := usageError(t, "new", word); text != `unknown format "`+word+`": did you mean `+name+"?" {
			t.Errorf("firn new %s: %s", word, text)
		}
	}
}
