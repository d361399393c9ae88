package servertest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
)

// A Consul is a datacenter of three servers, which refuse all requests without a token that allows
// the request. The methods are safe for concurrent use. Servers are numbered from 0.
type Consul struct {
	dir     string
	manager string // a token for everything
	nodes   []*process.Node
	http    []string // host:port of each
	raft    []string
}

// NewConsul starts servers that end with the test. Unless FIRN_REAL_SERVERS=1 the test is skipped.
// A test that fails logs the last lines of the servers' logs.
func NewConsul(t testing.TB) *Consul {
	t.Helper()
	Require(t)
	return process.ForTest(t, StartConsul)
}

// StartConsul starts servers, and returns when the servers are healthy.
func StartConsul(ctx context.Context) (*Consul, error) {
	program, err := program(ctx, "FIRN_CONSUL_SERVER", "consul", "github.com/hashicorp/consul")
	if err != nil {
		return nil, err
	}
	return process.Again(func() (*Consul, error) { return startConsul(ctx, program) })
}

func startConsul(ctx context.Context, program string) (_ *Consul, err error) {
	c := &Consul{manager: uuid()}
	if c.dir, err = os.MkdirTemp("", "firn-consul-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, c.Logs())
			c.Close()
		}
	}()
	const n = 3
	ports, err := loopback.Ports(3 * n)
	if err != nil {
		return nil, err
	}
	var serf []string
	for i := range n {
		serf = append(serf, fmt.Sprintf("127.0.0.1:%d", ports[3*i]))
		c.raft = append(c.raft, fmt.Sprintf("127.0.0.1:%d", ports[3*i+1]))
		c.http = append(c.http, fmt.Sprintf("127.0.0.1:%d", ports[3*i+2]))
	}
	for i := range n {
		name := fmt.Sprintf("m%d", i)
		config, err := json.Marshal(map[string]any{
			"node_name": name, "server": true, "bootstrap_expect": n, "retry_join": serf, "retry_interval": "1s",
			"data_dir": filepath.Join(c.dir, name), "bind_addr": "127.0.0.1", "client_addr": "127.0.0.1",
			"ports": map[string]int{"serf_lan": ports[3*i], "server": ports[3*i+1], "http": ports[3*i+2],
				"serf_wan": -1, "dns": -1, "grpc": -1, "grpc_tls": -1},
			"performance": map[string]any{"raft_multiplier": 1}, "log_level": "warn", "disable_update_check": true,
			"acl": map[string]any{"enabled": true, "default_policy": "deny", "tokens": map[string]string{"initial_management": c.manager}},
		})
		if err != nil {
			return nil, err
		}
		file := filepath.Join(c.dir, name+".json")
		if err := os.WriteFile(file, config, 0o600); err != nil {
			return nil, err
		}
		m := &process.Node{Name: "Consul " + name, Log: filepath.Join(c.dir, name+".log"), Command: []string{program, "agent", "-config-file", file}}
		c.nodes = append(c.nodes, m)
		if err := m.Start(); err != nil {
			return nil, err
		}
	}
	return c, c.WaitHealthy(ctx)
}

// Close ends all servers, and removes the data.
func (c *Consul) Close() {
	for _, n := range c.nodes {
		n.Kill()
	}
	os.RemoveAll(c.dir)
}

// Len returns the number of servers.
func (c *Consul) Len() int { return len(c.nodes) }

// Endpoints returns where the servers listen to clients, as host:port.
func (c *Consul) Endpoints() []string { return c.http }

// Kill ends a server at once (SIGKILL), as a crash of the process does.
func (c *Consul) Kill(i int) { c.nodes[i].Kill() }

// Restart starts a server again with its data, and does not wait until the server is healthy.
func (c *Consul) Restart(i int) error { return c.nodes[i].Start() }

// Stop freezes a server (SIGSTOP). Connections stay open, and the server sends nothing.
func (c *Consul) Stop(i int) error { return c.nodes[i].Freeze() }

// Continue ends a Stop.
func (c *Consul) Continue(i int) error { return c.nodes[i].Thaw() }

// Logs returns the last lines of each server's log.
func (c *Consul) Logs() string {
	var b strings.Builder
	for _, n := range c.nodes {
		b.WriteString(n.Said(""))
	}
	return b.String()
}

func (c *Consul) do(ctx context.Context, i int, method, path, token string, body, into any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	return request{client: plain, method: method, url: "http://" + c.http[i] + path, token: token, body: content, into: into}.do(ctx)
}

var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// WaitHealthy waits until all servers serve consistent reads, except servers that are down or
// stopped.
func (c *Consul) WaitHealthy(ctx context.Context) error {
	return process.Until(ctx, "the servers of Consul are not healthy", c.nodes, func(ctx context.Context) error {
		some := false
		for i, n := range c.nodes {
			if up, _ := n.Up(); !up {
				continue
			}
			some = true
			if err := c.do(ctx, i, "GET", "/v1/kv/?keys&consistent", c.manager, nil, nil); err != nil && !is(err, http.StatusNotFound) {
				return err
			}
		}
		if !some {
			return errors.New("none of them runs")
		}
		return nil
	})
}

// Leader waits until the running servers agree on a leader, and returns the number of the leader.
func (c *Consul) Leader(ctx context.Context) (leader int, err error) {
	err = process.Until(ctx, "the servers of Consul have no leader", c.nodes, func(ctx context.Context) error {
		leader = -1
		for i, n := range c.nodes {
			if up, _ := n.Up(); !up {
				continue
			}
			var raft string
			if err := c.do(ctx, i, "GET", "/v1/status/leader", c.manager, nil, &raft); err != nil {
				return err
			}
			says := slices.Index(c.raft, raft)
			if says < 0 || leader >= 0 && says != leader {
				return fmt.Errorf("%s says that %q leads", n.Name, raft)
			}
			leader = says
		}
		if leader < 0 {
			return errors.New("none of them runs")
		}
		if up, _ := c.nodes[leader].Up(); !up {
			return fmt.Errorf("%s, which does not run, is said to lead", c.nodes[leader].Name)
		}
		return nil
	})
	return leader, err
}

// Snapshot returns a backup of everything.
func (c *Consul) Snapshot(ctx context.Context) (backup []byte, err error) {
	err = c.do(ctx, 0, "GET", "/v1/snapshot", c.manager, nil, &backup)
	return backup, err
}

// Restore sets everything back to a backup, and waits until the servers are healthy.
func (c *Consul) Restore(ctx context.Context, backup []byte) error {
	err := request{client: plain, method: "PUT", url: "http://" + c.http[0] + "/v1/snapshot", token: c.manager, body: backup}.do(ctx)
	if err != nil {
		return err
	}
	return c.WaitHealthy(ctx)
}

var policyInDocument = regexp.MustCompile("`key_prefix \"(prefix)/\" \\{ policy = \"write\" \\}`")

// Token returns a new token with the policy of docs/stores.md for a prefix. Pairs of texts, old and
// new, change the policy.
func (c *Consul) Token(ctx context.Context, prefix string, replace ...string) (string, error) {
	text, err := document()
	if err != nil {
		return "", err
	}
	at := policyInDocument.FindStringSubmatchIndex(text)
	if at == nil {
		return "", errors.New("docs/stores.md has no policy for Consul")
	}
	rules := strings.NewReplacer(replace...).Replace(text[at[0]+1:at[2]] + prefix + text[at[3]:at[1]-1])
	name := strings.ToLower(rand.Text())
	if err := c.do(ctx, 0, "PUT", "/v1/acl/policy", c.manager, map[string]string{"Name": name, "Rules": rules}, nil); err != nil {
		return "", err
	}
	var token struct{ SecretID string }
	if err := c.do(ctx, 0, "PUT", "/v1/acl/token", c.manager, map[string]any{"Policies": []any{map[string]string{"Name": name}}}, &token); err != nil {
		return "", err
	}
	return token.SecretID, process.Until(ctx, "not all servers of Consul know a new token", c.nodes, func(ctx context.Context) error {
		for i := range c.nodes {
			if err := c.do(ctx, i, "GET", "/v1/acl/token/self?stale", token.SecretID, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// uuid returns a new token in the form of Consul's tokens.
func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
