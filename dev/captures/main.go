//go:build unix

// Command captures shows firn at work: it runs the program on a terminal, and draws the screen. Each
// picture is what the program really wrote. Run it in the repository's root:
//
//	go run -C dev ./captures
//
// The pictures change with the program, the IDs and the clock. Look at them before you commit them.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "captures:", err)
		os.Exit(1)
	}
}

func run() error {
	bin, err := build()
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	for _, s := range scenes {
		screen, err := s.play(bin)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		path := filepath.Join("..", "docs", "captures", s.name+".svg")
		if err := os.WriteFile(path, screen.draw(s.title()), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "captures: wrote", path)
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
