package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// build builds firn, as a release does.
func build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "firn")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/firn-id/firn/cmd/firn")
	cmd.Dir = ".." // the workspace of the product
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// A server is a process that listens.
type server struct {
	cmd     *exec.Cmd
	address string
	log     bytes.Buffer
}

// start starts a server, and waits until the server listens.
func start(ctx context.Context, command func(address string) []string) (*server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{address: ln.Addr().String()}
	ln.Close()
	words := command(s.address)
	s.cmd = exec.CommandContext(ctx, words[0], words[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 1000 {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			c.Close()
			return s, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s does not listen: %s", words[0], &s.log)
}

// serve starts firn serve. The generator wide has 16 workers.
func (b *bench) serve(ctx context.Context) (*server, error) {
	config := filepath.Join(b.dir, "serve.toml")
	const text = "[generators.nanoflake]\nformat = \"nanoflake\"\n[generators.wide]\nformat = \"nanoflake\"\nworkers = 16\n[limits]\nids = 1000000\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return start(ctx, func(address string) []string {
		return []string{b.firn, "serve", "--listen", address, "--config", config, "--state", filepath.Join(b.dir, "state")}
	})
}

func (b *bench) redis(ctx context.Context) (*server, error) {
	return start(ctx, func(address string) []string {
		_, port, _ := net.SplitHostPort(address)
		return []string{"redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", b.dir}
	})
}

func (s *server) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.address)
	return port
}

// processor returns the processor time of the server so far.
func (s *server) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12 // of the fields behind the name
	u, err := strconv.Atoi(fields[user])
	if err != nil {
		return 0, err
	}
	k, err := strconv.Atoi(fields[system])
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return time.Duration(u+k) * tick, err
}

// status returns a figure of /proc/PID/status, in kilobytes or in pieces.
func (s *server) status(name string) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return 0, fmt.Errorf("/proc has no %s", name)
}

func (s *server) descriptors() (int, error) {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	return len(all), err
}

// load runs a program that makes load at the server, and returns the figure. count reads the output of the program: how
// many IDs it has got, in which time.
func (s *server) load(ctx context.Context, command []string, count func(output []byte, took time.Duration) (ids, seconds float64, err error)) (figure, error) {
	before, err := s.processor()
	if err != nil {
		return figure{}, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return figure{}, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, &output)
	}
	ids, seconds, err := count(output.Bytes(), time.Since(began))
	if err != nil {
		return figure{}, err
	}
	after, err := s.processor()
	if err != nil {
		return figure{}, err
	}
	client := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return figure{ids / seconds, float64(after-before) / ids, float64(client) / ids}, nil
}

// A result is what a child prints.
type result struct{ IDs, Seconds float64 }

// child makes load by this program in another process.
func (b *bench) child(ctx context.Context, s *server, words ...string) (figure, error) {
	self, err := os.Executable()
	if err != nil {
		return figure{}, err
	}
	command := append([]string{self, "child", "-address", s.address, "-for", b.length.String()}, words...)
	return s.load(ctx, command, func(output []byte, _ time.Duration) (float64, float64, error) {
		var r result
		err := json.Unmarshal(output, &r)
		if err == nil && (r.IDs == 0 || r.Seconds == 0) {
			err = fmt.Errorf("no IDs: %s", output)
		}
		return r.IDs, r.Seconds, err
	})
}
