package tests

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/root"
)

// A tree is the whole command line in this process. Its commands write to buffers, and read nothing.
type tree struct {
	*cobra.Command
	streams  *cli.Streams
	out, err bytes.Buffer
}

func newTree(t *testing.T) *tree {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { null.Close() })
	w := &tree{streams: cli.NewStreams(null, null, null)}
	w.streams.Err = &w.err
	w.streams.Out = bufio.NewWriter(&w.out)
	w.streams.Width = 80
	w.Command = root.New(w.streams)
	return w
}

// run runs the command line with arguments, and returns stdout.
func (w *tree) run(args ...string) (stdout string, err error) {
	w.SetArgs(args)
	_, err = w.ExecuteC()
	w.streams.Out.Flush()
	stdout = w.out.String()
	w.out.Reset()
	return stdout, err
}

// all returns the command and all commands below that help shows, with their words after "firn".
func (w *tree) all() map[string]*cobra.Command {
	found := make(map[string]*cobra.Command)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		found[strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "firn"), " ")] = cmd
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				visit(c)
			}
		}
	}
	visit(w.Command)
	return found
}

// words returns the words of a command, for arguments.
func words(path string, more ...string) []string { return append(strings.Fields(path), more...) }

// TestFamilies: a family without a command is wrong usage, and lists the commands. Only bare firn prints the help.
func TestFamilies(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		if path == "" || !cmd.HasAvailableSubCommands() {
			continue
		}
		stdout, err := newTree(t).run(path)
		var wrong cli.UsageError
		if stdout != "" || !errors.As(err, &wrong) {
			t.Errorf("firn %s: %v\n%s", path, err, stdout)
			continue
		}
		for _, name := range cli.CommandNames(cmd) {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("firn %s: %v, without %s", path, err, name)
			}
		}
	}
}
