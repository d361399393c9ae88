package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A measurement runs firn on many IDs.
type measurement struct {
	ordered, shuffled int64
	memory, firn      string

	self, dir string
}

func (m *measurement) run() (err error) {
	if m.self, err = os.Executable(); err != nil {
		return err
	}
	if m.dir, err = os.MkdirTemp("", "bulk-"); err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	if m.firn == "" {
		m.firn = filepath.Join(m.dir, "firn")
		build := exec.Command("go", "build", "-C", "../cmd/firn", "-o", m.firn, ".")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s: start the command in the folder dev", err, out)
		}
	}
	for _, step := range []func() error{m.count, m.verifyOrdered, m.verifyShuffled} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// make returns the command that writes IDs.
func (m *measurement) make(p plan) *exec.Cmd {
	cmd := exec.Command(m.self, "make", "-n", fmt.Sprint(p.n), fmt.Sprintf("-shuffled=%v", p.shuffled))
	cmd.Stderr = os.Stderr
	return cmd
}

// pipe runs a command that reads the IDs of a plan, and returns its output and the time of both.
func (m *measurement) pipe(p plan, reader *exec.Cmd) (out []byte, took time.Duration, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	writer := m.make(p)
	writer.Stdout, reader.Stdin = w, r
	began := time.Now()
	if err := writer.Start(); err != nil {
		return nil, 0, err
	}
	w.Close()
	out, err = reader.Output()
	took = time.Since(began)
	r.Close()
	return out, took, errors.Join(writer.Wait(), unlessFailed(err))
}

// unlessFailed returns err, and nil for exit code 1: firn has found faults.
func unlessFailed(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// say prints a result.
func say(what string, n int64, took time.Duration, cmd *exec.Cmd) {
	fmt.Printf("%-44s %8.1f s  %6.1f M IDs/s", what, took.Seconds(), float64(n)/took.Seconds()/1e6)
	if cmd != nil {
		fmt.Printf("  %4d MiB  %6.1f s of CPU", peak(cmd.ProcessState)>>20, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	}
	fmt.Println()
}

// count measures wc -l on the pipe.
func (m *measurement) count() error {
	wc := exec.Command("wc", "-l")
	_, took, err := m.pipe(plan{n: m.ordered}, wc)
	say("wc -l, in runs", m.ordered, took, wc)
	return err
}

func (m *measurement) verifyOrdered() error  { return m.verify("in runs", plan{n: m.ordered}) }
func (m *measurement) verifyShuffled() error { return m.verify("shuffled", plan{m.shuffled, true}) }

// verify measures firn verify, and demands that it finds the repeated lines.
func (m *measurement) verify(what string, p plan) error {
	verify := exec.Command(m.firn, "verify", "sno", "--json", "--memory", m.memory)
	verify.Stderr = os.Stderr
	out, took, err := m.pipe(p, verify)
	if err != nil {
		return err
	}
	say("firn verify, "+what, p.n, took, verify)
	var found struct {
		IDs   int64
		Lines []int64 `json:"duplicate_lines"`
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return fmt.Errorf("firn verify: %w: %.200s", err, out)
	}
	if found.IDs != p.n || !slices.Equal(found.Lines, p.planted()) {
		return fmt.Errorf("firn verify found %d IDs, and duplicates in lines %v; want %d and %v", found.IDs, found.Lines, p.n, p.planted())
	}
	fmt.Printf("    duplicates found in lines %v\n", found.Lines)
	return nil
}
