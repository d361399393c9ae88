package redislease_test

import (
	"fmt"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/redislease"
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

// durable are settings that keep acknowledged changes.
var durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

func (s server) address(settings ...string) string {
	return storetest.Patient(storetest.With("redis://"+s.Host()+"/0", settings...))
}

// faults returns the suite of faults on a server.
func (s server) faults() storetest.Faulty[*redislease.Store] {
	return storetest.Faulty[*redislease.Store]{Server: s.Server, Open: redislease.Open, Addr: s.address, Advice: "see that the server runs", None: none}
}
