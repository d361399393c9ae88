package undo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// asKeeper is the variable that names the action of a keeper.
const asKeeper = "FIRN_TEST_KEEPER"

// A keeper is a process that reads changes, and undoes the changes when its input ends.
type keeper struct{ input io.WriteCloser }

func startKeeper(name string) (*keeper, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	input, output, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close()
	cmd := exec.Command(exe)
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, mark+"=") })
	cmd.Env = append(environment, asKeeper+"="+name, "GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stderr = input, os.Stderr // for whose end the go command waits
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		output.Close()
		return nil, err
	}
	go cmd.Wait()
	return &keeper{output}, nil
}

func (k *keeper) tell(line string) error {
	_, err := io.WriteString(k.input, line+"\n")
	return err
}

// takeOver does not return if this process was started as the keeper of the action.
func takeOver(name string, do func(ctx context.Context, what string) error) {
	if os.Getenv(asKeeper) != name {
		return
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	code := 0
	for _, what := range slices.Backward(left(os.Stdin)) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		if err := do(ctx, what); err != nil {
			fmt.Fprintf(os.Stderr, "undoing %s %s after the end of its test: %v\n", name, what, err)
			code = 1
		}
		cancel()
	}
	os.Exit(code)
}

// left reads lines to the end, and returns the changes that were announced and not undone, in order.
func left(input io.Reader) (left []string) {
	for lines := bufio.NewScanner(input); lines.Scan(); {
		what, err := strconv.Unquote(lines.Text()[1:])
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "a keeper does not understand %s\n", lines.Text())
		case lines.Text()[0] == '+':
			left = append(left, what)
		default:
			if i := slices.Index(left, what); i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
	}
	return left
}

// mark is the variable that marks the processes of a program of tests. The value is unique.
const mark = "FIRN_TEST_PROCESSES"

// processes kills the processes that inherited a mark.
var processes = New("processes", func(ctx context.Context, what string) error {
	for again := true; again; { // a process may start others meanwhile
		if err := ctx.Err(); err != nil {
			return err
		}
		again = false
		all, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return err
		}
		for _, path := range all {
			pid, err := strconv.Atoi(strings.Split(path, "/")[2])
			if err != nil {
				continue
			}
			environment, err := os.ReadFile(path) // empty for a process that has ended
			if err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(v []byte) bool { return string(v) == mark+"="+what }) {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					again = true
				}
			}
		}
	}
	return nil
})

// Main runs the tests of a TestMain, and returns the exit code. All processes that inherit the variable
// FIRN_TEST_PROCESSES from the tests end with the process of the tests at the latest.
func Main(m interface{ Run() int }) int {
	if os.Getenv(mark) != "" {
		return m.Run() // a test has started these tests, and their processes are of that test
	}
	what := fmt.Sprintf("%d-%d", os.Getpid(), os.Getppid())
	if err := processes.tell("+" + strconv.Quote(what)); err != nil {
		fmt.Fprintln(os.Stderr, "the keeper of processes:", err)
		return 1
	}
	os.Setenv(mark, what)
	return m.Run()
}
