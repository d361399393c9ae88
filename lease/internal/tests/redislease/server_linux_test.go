package redislease_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A server is a Redis or Valkey of the test's own.
type server struct{ *storetest.Server }

// start starts a server with arguments added.
func start(t *testing.T, args ...string) server {
	t.Helper()
	dir := t.TempDir()
	return server{storetest.Start(t, func(path string, port int) []string {
		return append([]string{path, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--daemonize", "no"}, args...)
	}, "redis-server", "valkey-server")}
}

// watch starts a Sentinel, with lines added to its file, that takes the primary main for down after a number of
// milliseconds.
func watch(t *testing.T, primary server, down int, lines ...string) *process.Server {
	t.Helper()
	s := &process.Server{Port: storetest.Port(t)}
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 %d 1\n"+
		"sentinel down-after-milliseconds main %d\nsentinel failover-timeout main 5000\n", s.Port, primary.Port, down)
	for _, line := range lines {
		text += line + "\n"
	}
	testkit.OK(t, os.WriteFile(conf, []byte(text), 0o600))
	s.Command = []string{primary.Command[0], conf, "--sentinel"}
	testkit.OK(t, s.Start())
	t.Cleanup(s.Kill)
	return s
}

// durable are settings that keep acknowledged changes.
var durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

func (s server) address(settings ...string) string {
	return storetest.Patient(storetest.With("redis://"+s.Host()+"/0", settings...))
}
