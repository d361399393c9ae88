package rehearsal

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/process"
)

// stores are the stores of the rehearsal. The servers of Consul and Kubernetes pretend: real servers
// take minutes to build.
var stores = []store{
	{"consullease", "consul", startConsul},
	{"etcdlease", "etcd", startEtcd},
	{"kubelease", "kubernetes", startKubernetes},
	{"natslease", "nats", startNATS},
	{"pglease", "postgres", startPostgres},
	{"redislease", "redis", startRedis},
}

func startConsul(context.Context) (string, func(), error) {
	s := httptest.NewServer(consultest.New())
	return "consul://" + s.Listener.Addr().String() + "/firn", s.Close, nil
}

func startKubernetes(context.Context) (string, func(), error) {
	s := httptest.NewServer(kubetest.New())
	return "kubernetes://test/firn?server=" + s.URL, s.Close, nil
}

func startEtcd(ctx context.Context) (string, func(), error) {
	c, err := etcdtest.Start(ctx, etcdtest.Config{Members: 1})
	if err != nil {
		return "", nil, err
	}
	return c.Address("firn"), c.Close, nil
}

func startPostgres(ctx context.Context) (string, func(), error) {
	s, err := pgtest.Start(ctx, pgtest.Config{})
	if err != nil {
		return "", nil, err
	}
	return s.Address(), func() { s.Close() }, nil
}

func startRedis(context.Context) (string, func(), error) {
	host, stop, err := startProcess("redis-server", func(dir string, port int) []string {
		return []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", ""}
	})
	return "redis://" + host + "/0", stop, err
}

func startNATS(context.Context) (string, func(), error) {
	host, stop, err := startProcess("nats-server", func(dir string, port int) []string {
		return []string{"--addr", "127.0.0.1", "--port", strconv.Itoa(port), "--jetstream", "--store_dir", dir}
	})
	return "nats://" + host + "/firn", stop, err
}

// startProcess starts a program that is in PATH or in /usr/sbin. The function args returns its
// arguments, for a folder of the server's own and a port.
func startProcess(name string, args func(dir string, port int) []string) (host string, stop func(), err error) {
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath(filepath.Join("/usr/sbin", name)); err != nil {
			return "", nil, fmt.Errorf("%s is not installed: run .ci/run services", name)
		}
	}
	dir, err := os.MkdirTemp("", "firn-"+name+"-")
	if err != nil {
		return "", nil, err
	}
	s, err := process.Again(func() (*process.Server, error) {
		port, err := loopback.Port()
		if err != nil {
			return nil, err
		}
		s := &process.Server{Command: append([]string{path}, args(dir, port)...), Port: port}
		return s, s.Start()
	})
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return s.Host(), func() { s.Kill(); os.RemoveAll(dir) }, nil
}
