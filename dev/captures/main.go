//go:build unix

// Command captures shows firn at work: it runs the program on a terminal, and draws the screen. Each
// picture is what the program really wrote. Run it in the repository's root:
//
//	go run -C dev ./captures               # all pictures, into docs/captures
//	go run -C dev ./captures inspect       # the pictures of these names
//
// The pictures change with the program, the IDs and the clock. Look at them before you commit them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "captures:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("captures", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", filepath.Join("..", "docs", "captures"), "`folder` to write to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, name := range flags.Args() {
		if !slices.ContainsFunc(scenes, func(s scene) bool { return s.name == name }) {
			return fmt.Errorf("no picture is named %q", name)
		}
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	bin, err := build()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	for _, s := range scenes {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), s.name) {
			continue
		}
		screen, err := s.play(bin)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		path := filepath.Join(*out, s.name+".svg")
		if err := os.WriteFile(path, screen.draw(s.title()), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(stderr, "captures: wrote", path)
	}
	return nil
}

// build builds firn from the tree, and returns a folder with the program.
func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "firn-captures-"); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-C", "..", "-o", filepath.Join(dir, "firn"), "./cmd/firn")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}
