// Package etcdtest runs clusters of real etcd servers for tests. The servers are processes of this
// machine on loopback ports. A test can kill and stop the servers, and cut the servers off from
// each other.
//
// The module in dev/pins/etcd pins the version of the server. The go command builds
// the server, and keeps the binary. FIRN_ETCD_SERVER names another binary to run instead. Members
// end with the process that started the cluster, on Linux even if that process is killed.
package etcdtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
)

// Config describes a cluster. The zero Config describes three members, which anybody may use.
type Config struct {
	Members int      // how many; 0 means 3
	Args    []string // more flags, for each member

	// CA, Cert and Key are files in PEM. With Cert and Key clients connect by TLS. With CA clients
	// also need a certificate of that authority.
	CA, Cert, Key string
}

// A Cluster is running members. The methods are safe for concurrent use. Members are numbered from
// 0.
type Cluster struct {
	dir     string
	nodes   []*process.Node
	members []member
	network *network
}

type member struct {
	client  string // host:port
	metrics string // host:port
	data    string
}

// Server returns the path of the server's binary. Server builds the binary first if need be.
func Server(ctx context.Context) (string, error) {
	if !process.Supported {
		return "", fmt.Errorf("clusters for tests take Linux, and this is %s", runtime.GOOS)
	}
	if path := os.Getenv("FIRN_ETCD_SERVER"); path != "" {
		return exec.LookPath(path)
	}
	return process.Tool(ctx, "../../../dev/pins/etcd", "go.etcd.io/etcd/server/v3")
}

// New starts a cluster that ends with the test. Without a server the test is skipped, or fails if
// FIRN_REQUIRE_SERVICES=1. A test that fails logs the last lines of the members' logs.
func New(t testing.TB, c Config) *Cluster {
	t.Helper()
	if _, err := Server(t.Context()); err != nil {
		services.Missing(t, "there is no etcd; it takes a network with Go modules, or FIRN_ETCD_SERVER: %v", err)
	}
	return process.ForTest(t, func(ctx context.Context) (*Cluster, error) { return Start(ctx, c) })
}

// Start starts a cluster, and returns when all members are healthy.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	server, err := Server(ctx)
	if err != nil {
		return nil, err
	}
	return process.Again(func() (*Cluster, error) { return start(ctx, server, config) })
}

func start(ctx context.Context, server string, config Config) (_ *Cluster, err error) {
	c := new(Cluster)
	if c.dir, err = os.MkdirTemp("", "firn-etcd-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, c.Logs())
			c.Close()
		}
	}()
	n := cmp.Or(config.Members, 3)
	ports, err := loopback.Ports(3 * n)
	if err != nil {
		return nil, err
	}
	port := func(member, i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[3*member+i]) }
	scheme := "http"
	if config.Cert != "" {
		scheme = "https"
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ETCD_") })
	for i := range n {
		name := fmt.Sprintf("m%d", i)
		c.nodes = append(c.nodes, &process.Node{Name: name, Log: filepath.Join(c.dir, name+".log"), Env: env})
		c.members = append(c.members, member{client: port(i, 0), metrics: port(i, 1), data: filepath.Join(c.dir, name)})
	}
	if c.network, err = newNetwork(n, func(i int) string { return port(i, 2) }, c.pids); err != nil {
		return nil, err
	}
	var all []string
	peer := func(i int) string { return "http://" + c.network.address(i) }
	for i, n := range c.nodes {
		all = append(all, n.Name+"="+peer(i))
	}
	token := fmt.Sprintf("firn-%x", rand.Uint64()) // gives each cluster an ID of its own
	for i, m := range c.members {
		node := c.nodes[i]
		node.Command = []string{
			server, "--name", node.Name, "--data-dir", m.data,
			"--listen-client-urls", scheme + "://" + m.client, "--advertise-client-urls", scheme + "://" + m.client,
			"--listen-peer-urls", "http://" + port(i, 2), "--initial-advertise-peer-urls", peer(i),
			"--initial-cluster", strings.Join(all, ","), "--initial-cluster-state", "new", "--initial-cluster-token", token,
			"--listen-metrics-urls", "http://" + m.metrics, "--log-level", "warn", "--log-outputs", "stderr",
		}
		if config.Cert != "" {
			node.Command = append(node.Command, "--cert-file", config.Cert, "--key-file", config.Key)
		}
		if config.CA != "" {
			node.Command = append(node.Command, "--trusted-ca-file", config.CA, "--client-cert-auth")
		}
		node.Command = append(node.Command, config.Args...)
		if err := node.Start(); err != nil {
			return nil, err
		}
	}
	return c, c.WaitHealthy(ctx)
}

// Close ends all members, and removes the data of the members.
func (c *Cluster) Close() {
	for _, n := range c.nodes {
		n.Kill()
	}
	if c.network != nil {
		c.network.close()
	}
	os.RemoveAll(c.dir)
}

// Len returns the number of members.
func (c *Cluster) Len() int { return len(c.members) }

// Endpoint returns where a member listens to clients, as host:port.
func (c *Cluster) Endpoint(i int) string { return c.members[i].client }

// Endpoints returns where the members listen to clients.
func (c *Cluster) Endpoints() []string {
	var all []string
	for _, m := range c.members {
		all = append(all, m.client)
	}
	return all
}

// Address returns the address of a store with the prefix.
func (c *Cluster) Address(prefix string) string {
	return "etcd://" + strings.Join(c.Endpoints(), ",") + "/" + prefix
}

// Data returns the folder of a member's data. Do not touch the folder while the member runs.
func (c *Cluster) Data(i int) string { return c.members[i].data }

// Log returns the file of a member's log.
func (c *Cluster) Log(i int) string { return c.nodes[i].Log }

// Kill ends a member at once (SIGKILL), as a crash of the process does, and returns when the
// process is gone.
func (c *Cluster) Kill(i int) { c.nodes[i].Kill() }

// Restart starts a member again with its data, and kills the member first if need be. Restart does
// not wait until the member is healthy.
func (c *Cluster) Restart(i int) error { return c.nodes[i].Start() }

// Stop freezes a member (SIGSTOP). Connections stay open, and the member sends nothing.
func (c *Cluster) Stop(i int) error { return c.nodes[i].Freeze() }

// Continue ends a Stop.
func (c *Cluster) Continue(i int) error { return c.nodes[i].Thaw() }

// Isolate cuts a member off from all other members until Heal: no message arrives. Clients still
// reach the member.
func (c *Cluster) Isolate(i int) { c.network.isolate(i) }

// Heal undoes each Isolate. Messages sent in the meantime now arrive, unless the senders
// have given up.
func (c *Cluster) Heal() { c.network.heal() }

// pids returns the process numbers of the members, 0 for a member that does not run.
func (c *Cluster) pids() (pids []int) {
	for _, n := range c.nodes {
		pids = append(pids, n.Pid())
	}
	return pids
}

// available reports which members run and are not stopped.
func (c *Cluster) available() (up []bool) {
	for _, n := range c.nodes {
		is, _ := n.Up()
		up = append(up, is)
	}
	return up
}

const ask = 500 * time.Millisecond // of one member

// WaitHealthy waits until all members serve reads and writes, except members that are down or
// stopped.
func (c *Cluster) WaitHealthy(ctx context.Context) error {
	return process.Until(ctx, "the members of etcd are not healthy", c.nodes, func(ctx context.Context) error {
		some := false
		for i, up := range c.available() {
			if !up {
				continue
			}
			some = true
			body, err := c.get(ctx, i, "/health?exclude=NOSPACE&exclude=CORRUPT")
			if err != nil || !bytes.Contains(body, []byte(`"health":"true"`)) {
				return fmt.Errorf("m%d: %s, %v", i, body, err)
			}
		}
		if !some {
			return errors.New("none of them runs")
		}
		return nil
	})
}

// Leader waits until a member leads a majority, and returns the number of the member.
func (c *Cluster) Leader(ctx context.Context) (leader int, err error) {
	err = process.Until(ctx, "etcd has no leader", nil, func(ctx context.Context) error {
		connected, up := 0, c.available()
		for i := range up {
			// A leader that has just been cut off still believes that it leads.
			if up[i] = up[i] && !c.network.isolated(i); up[i] {
				connected++
			}
		}
		var leaders []int
		for i := range up {
			if !up[i] || connected <= len(up)/2 {
				continue
			}
			if body, err := c.get(ctx, i, "/metrics"); err == nil && bytes.Contains(body, []byte("\netcd_server_is_leader 1\n")) {
				leaders = append(leaders, i)
			}
		}
		if len(leaders) != 1 {
			return fmt.Errorf("the members %v lead", leaders)
		}
		leader = leaders[0]
		return nil
	})
	return leader, err
}

// get sends a request to the HTTP server of a member.
func (c *Cluster) get(ctx context.Context, i int, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, ask)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.members[i].metrics+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := plain.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Logs returns the last lines of each member's log.
func (c *Cluster) Logs() string {
	var b strings.Builder
	for _, n := range c.nodes {
		b.WriteString(n.Said("etcdhttp/health.go")) // requests of WaitHealthy
	}
	return b.String()
}
