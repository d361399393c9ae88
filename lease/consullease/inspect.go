package consullease

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/findings"
	"github.com/firn-id/firn/lease/internal/rest"
)

// Inspect looks at the servers, at the answering agent, and at the keys. Some checks need
// operator:read and agent:read. Inspect cannot see which disks hold the servers' data, or whether
// the disks were set back.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", func(ctx context.Context) ([]driver.Finding, error) {
		i := &inspection{store: s}
		if err := i.servers(ctx); err != nil {
			return nil, err
		}
		i.raft(ctx)
		i.agent(ctx)
		i.keys(ctx)
		if s.exposed {
			i.Note("use TLS: tls=true or ca", "the token goes over the network in clear")
		}
		return i.All(), nil
	})
}

type inspection struct {
	store *Store
	peers int
	findings.List
}

// get reads Consul's reports about itself.
func (i *inspection) get(ctx context.Context, path string, query url.Values, into any) error {
	return driver.Do(ctx, i.store.Handle, "inspect", func(ctx context.Context) error {
		reply, err := i.store.do(ctx, rest.Request{Method: http.MethodGet, Path: path, Query: query})
		switch {
		case err != nil:
			return err
		case reply.Status != http.StatusOK:
			return i.store.failed(reply.Status, reply.Reason())
		}
		if err := json.Unmarshal(reply.Body, into); err != nil {
			return i.store.unexpected("the answer of %s is not what Consul says: %v", path, err)
		}
		return nil
	})
}

// servers looks at the servers with a vote.
func (i *inspection) servers(ctx context.Context) error {
	var peers []string
	if err := i.get(ctx, "/v1/status/peers", i.store.datacenter(), &peers); err != nil {
		return err
	}
	i.peers = len(peers)
	switch i.peers {
	case 1:
		i.Loses("run three servers on three machines",
			"the datacenter has a single server: if its disk is lost, acknowledged changes are lost, and no lease can renew until the server is up again")
	case 2:
		i.Note("run three servers", "the datacenter has two servers: without either of them it stops")
	}
	var leader string
	switch err := i.get(ctx, "/v1/status/leader", i.store.datacenter(), &leader); {
	case err != nil:
		i.Unknown("which server is the leader", err)
	case leader == "":
		// Without -stale, the command wants a leader, too.
		i.Note("see that more than half of the servers are up and reach each other (consul operator raft list-peers -stale)",
			"the servers have no leader: nothing can be read or written")
	}
	return nil
}

// raft looks at the leader's list of servers without a vote.
func (i *inspection) raft(ctx context.Context) {
	var configuration struct {
		Servers []struct {
			Node   string
			Leader bool
			Voter  bool
		}
	}
	err := i.get(ctx, "/v1/operator/raft/configuration", i.store.datacenter(), &configuration)
	if err != nil {
		i.Unknown("which servers have a vote (this needs operator:read)", err)
		return
	}
	voters := 0
	for _, server := range configuration.Servers {
		if server.Voter {
			voters++
		}
		if server.Node == "(unknown)" {
			i.Note("remove it, if it is gone: consul operator raft remove-peer -id=ID", "a server counts for the majority that nobody knows any more")
		}
	}
	if voters == 1 && i.peers > 1 {
		i.Loses("see why the others have no vote (consul operator raft list-peers)",
			"only one server of %d has a vote: if its disk is lost, acknowledged changes are lost", len(configuration.Servers))
	}
}

// agent looks at the configuration of the answering agent.
func (i *inspection) agent(ctx context.Context) {
	var self struct {
		Config struct {
			Version string
			Server  bool
		}
		DebugConfig struct {
			DevMode           bool
			DiscoveryMaxStale string
		}
	}
	if err := i.get(ctx, "/v1/agent/self", nil, &self); err != nil {
		i.Unknown("how the agent is configured (this needs agent:read)", err)
		return
	}
	if self.DebugConfig.DevMode {
		i.Loses("run servers with a data_dir", "the agent runs with -dev: it has nothing on disk, and forgets all when it ends")
	}
	if before(self.Config.Version, 1, 11) {
		i.Note("upgrade it, or see that the token may read all keys under "+i.store.prefix,
			"the agent is Consul %s: it silently leaves keys that the token may not read out of lists", self.Config.Version)
	}
	if stale := self.DebugConfig.DiscoveryMaxStale; stale != "" && stale != "0s" {
		i.Note("", "the agent reads services stale by default (discovery_max_stale = %s); leases ask for consistent reads, whatever the default", stale)
	}
}

// before reports whether a version, such as 1.10.3+ent, is older than major.minor.
func before(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a < major || a == major && b < minor)
}

// keys looks at the keys under the prefix.
func (i *inspection) keys(ctx context.Context) {
	pairs, err := driver.Call(ctx, i.store.Handle, "inspect", func(ctx context.Context) ([]pair, error) {
		return i.store.pairs(ctx, i.store.prefix, url.Values{"recurse": {""}, "consistent": {""}})
	})
	if err != nil {
		i.Unknown("what is under the prefix", err)
	}
	foreign, tied, example, locked := 0, 0, "", ""
	for _, p := range pairs {
		if _, ok := keyOf(strings.TrimPrefix(p.Key, i.store.prefix)); !ok {
			foreign++
			example = p.Key
		} else if p.Session != "" {
			tied++
			locked = p.Key
		}
	}
	if tied > 0 {
		// A release writes the value, too: without a value it would empty the entry.
		i.Loses("see what has locked them (consul kv get -detailed KEY shows the session); stop all processes that use the pools, "+
			"then release each entry with its value: consul kv put -release -session=ID KEY \"$(consul kv get KEY)\"",
			"%d entries are locked by sessions of Consul's, which can delete them when they end: times that were given out would be given out again; "+
				"one is %.100q", tied, locked)
	}
	if foreign > 0 {
		i.Note("have it use a separate prefix", "something else writes under the prefix %s: %d keys do not belong to a store of leases, such as %.100q",
			i.store.prefix, foreign, example)
	}
}
