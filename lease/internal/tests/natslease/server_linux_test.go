package natslease_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/natslease"
)

// A server is a NATS of the test's own.
type server struct {
	*storetest.Server
	t    *testing.T
	file string // its configuration
}

// start starts a server with JetStream, and with parts of a configuration added.
func start(t *testing.T, config ...string) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{t: t, file: filepath.Join(dir, "nats.conf")}
	s.Server = storetest.Start(t, func(path string, port int) []string {
		s.configure(port, append([]string{fmt.Sprintf("jetstream { store_dir: %q }", dir)}, config...)...)
		return []string{path, "-c", s.file}
	}, "nats-server", "/usr/sbin/nats-server")
	return s
}

// cluster starts the servers of a cluster. Their names are n0, n1 and so on. join is the configuration of another member.
func cluster(t *testing.T, n int) (servers []*server, hosts []string, join string) {
	t.Helper()
	var ports, routes []string
	for range n {
		ports = append(ports, strconv.Itoa(storetest.Port(t)))
		routes = append(routes, "nats://127.0.0.1:"+ports[len(ports)-1])
	}
	member := func(name, port string) string {
		return fmt.Sprintf("server_name: %s\ncluster { name: c, listen: \"127.0.0.1:%s\", routes: [%s] }", name, port, strings.Join(routes, ", "))
	}
	for i := range n {
		srv := start(t, member(fmt.Sprintf("n%d", i), ports[i]))
		servers, hosts = append(servers, srv), append(hosts, srv.Host())
	}
	return servers, hosts, member("another", strconv.Itoa(storetest.Port(t)))
}

// again starts the server with JetStream and another configuration.
func (s *server) again(config ...string) {
	s.t.Helper()
	s.Kill()
	s.configure(s.Port, append([]string{fmt.Sprintf("jetstream { store_dir: %q }", filepath.Dir(s.file))}, config...)...)
	s.Run()
}

// configure writes the configuration of the server.
func (s *server) configure(port int, config ...string) {
	s.t.Helper()
	config = append([]string{fmt.Sprintf("listen: 127.0.0.1:%d", port)}, config...)
	if err := os.WriteFile(s.file, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// called returns the host of a proxy, through which the server has a version with the beginning.
func (s *server) called(t *testing.T, beginning string) string {
	t.Helper()
	version := raw(t, "nats://"+s.Host()).ConnectedServerVersion()
	other := beginning + strings.Repeat("0", len(version)-len(beginning))
	return storetest.Replacing(t, s.Host(), `"version":"`+version+`"`, `"version":"`+other+`"`)
}

func (s *server) address(settings ...string) string {
	return storetest.Patient(at("nats://"+s.Host(), "firn", settings...))
}

// faults returns the suite of faults on a server.
func (s *server) faults() storetest.Faulty[*natslease.Store] {
	return storetest.Faulty[*natslease.Store]{Server: s.Server, Open: natslease.Open, Addr: s.address, None: none}
}
