package redislease

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/lease/driver"
)

// Inspect looks for what loses changes, and for what refuses them: at the settings and the replicas of the server, by
// INFO and CONFIG GET. Some providers do not allow these commands. Inspect then reports the missing checks.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", s.inspect)
}

func (s *Store) inspect(ctx context.Context) ([]driver.Finding, error) {
	var found []driver.Finding
	loses := func(text, advice string) {
		found = append(found, driver.Finding{Loses: true, Text: text, Advice: advice})
	}
	i, err := s.info(ctx)
	switch {
	case isPermission(err):
		loses("the server does not allow this user INFO: whether it keeps acknowledged changes cannot be checked",
			"allow it (+info), or see yourself that CONFIG GET has appendonly yes, appendfsync always and maxmemory-policy noeviction")
		return found, nil
	case err != nil:
		return nil, err
	case i["aof_enabled"] == "0":
		loses("the server keeps no log on disk (appendonly is no): when it is restarted, or crashes, acknowledged changes are lost, and without snapshots all of them",
			"set appendonly to yes and appendfsync to always by CONFIG SET, and only then in its file (CONFIG REWRITE): "+
				"a restart that turns appendonly on begins without the data")
	case !s.options.WaitAOF:
		s.inspectLog(ctx, loses)
	}
	if policy := i["maxmemory_policy"]; strings.HasPrefix(policy, "allkeys") && i["maxmemory"] != "" && i["maxmemory"] != "0" {
		loses("the server deletes any keys when its memory is full (maxmemory-policy is "+policy+"): all leases at once can be deleted",
			"set maxmemory-policy to noeviction")
	}
	found = append(found, s.inspectReplicas(i)...)
	return driver.WorstFirst(append(found, i.refusals()...)), nil
}

// refusals returns what makes the server refuse changes.
func (i info) refusals() (found []driver.Finding) {
	if i["role"] == "slave" {
		found = append(found, driver.Finding{Blocks: true, Text: "the server is a replica: leases are refused on it", Advice: "name the primary in the address"})
	}
	if i["aof_last_write_status"] == "err" {
		found = append(found, driver.Finding{Blocks: true, Advice: "free some space there; see the server's log",
			Text: "the server could not write its log on disk (aof_last_write_status is err): it refuses changes until it can"})
	}
	return found
}

// inspectLog looks at the times of the server's syncs of the log.
func (s *Store) inspectLog(ctx context.Context, loses func(text, advice string)) {
	sync, err := s.config(ctx, "appendfsync")
	var rewrite string
	if err == nil {
		rewrite, err = s.config(ctx, "no-appendfsync-on-rewrite")
	}
	switch {
	case err != nil:
		loses("the server does not let this user see appendfsync (CONFIG GET): unless it is always, acknowledged changes are lost when the server's machine fails",
			"allow it (+config|get), or see yourself that CONFIG GET has appendfsync always")
	case sync == "everysec":
		loses("the log is synced to disk once a second (appendfsync is everysec): when the server's machine fails, what was acknowledged in the last second or two is lost",
			"set appendfsync to always, or wait-aof=true in the address")
	case sync == "no":
		loses("the log is never synced to disk (appendfsync is no): when the server's machine fails, what was acknowledged in the last half minute or so is lost",
			"set appendfsync to always")
	case rewrite == "yes":
		loses("the log is not synced while it is rewritten (no-appendfsync-on-rewrite is yes): when the server's machine fails then, acknowledged changes are lost",
			"set no-appendfsync-on-rewrite to no")
	}
}

// inspectReplicas looks at the servers that can take over.
func (s *Store) inspectReplicas(i info) (found []driver.Finding) {
	const after = ": after a failover to one that did not have them, acknowledged changes are missing"
	const agreeing = "a store that agrees before it acknowledges (etcd, or PostgreSQL with synchronous standbys)"
	replicas, _ := strconv.Atoi(i["connected_slaves"])
	wait := s.options.WaitReplicas
	_, cluster := s.client.(*redis.ClusterClient)
	loses := driver.Finding{Loses: true}
	switch {
	case cluster || i["cluster_enabled"] == "1":
		loses.Text = "the server is of a Cluster, whose replicas get changes after they were acknowledged" + after
		loses.Advice = "use a server outside a Cluster and without failover, or " + agreeing
		loses.Remedy = driver.RemedyMove
		return append(found, loses)
	case wait > replicas:
		found = append(found, driver.Finding{Blocks: true, Advice: "start them, or ask for fewer",
			Text: fmt.Sprintf("changes wait for %d replicas (wait-replicas), and %d are connected: none can be made", wait, replicas)})
	}
	switch {
	case replicas == 0:
		return found
	case wait == 0:
		loses.Text = fmt.Sprintf("the server has replicas (%d), which get changes after they were acknowledged", replicas) + after
		loses.Advice = fmt.Sprintf("set wait-replicas=%d in the address, which makes that unlikely, or let none of them take over", replicas)
	case wait < replicas:
		loses.Text = fmt.Sprintf("the server has %d replicas, and changes wait for %d of them", replicas, wait) + after
		loses.Advice = fmt.Sprintf("set wait-replicas=%d", replicas)
	default:
		loses.Text = fmt.Sprintf("changes wait for %d replicas, but one that was cut off for a time can still be made the primary", wait)
		loses.Advice = "if that is too much, use " + agreeing
		loses.Remedy = driver.RemedyMove
	}
	return append(found, loses)
}

// info holds the answer of INFO.
type info map[string]string

// one returns a client of one server: in a cluster, the server with the entries.
func (s *Store) one(ctx context.Context) (redis.Cmdable, error) {
	if c, ok := s.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, s.keys[0])
	}
	return s.client, nil
}

func (s *Store) info(ctx context.Context) (info, error) {
	reply, err := await(ctx, func() (string, error) {
		c, err := s.one(ctx)
		if err != nil {
			return "", err
		}
		return c.Info(ctx).Result()
	})
	if err != nil {
		return nil, err
	}
	i := make(info)
	for line := range strings.Lines(reply) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			i[name] = value
		}
	}
	return i, nil
}

func (s *Store) config(ctx context.Context, name string) (string, error) {
	values, err := await(ctx, func() (map[string]string, error) {
		c, err := s.one(ctx)
		if err != nil {
			return nil, err
		}
		return c.ConfigGet(ctx, name).Result()
	})
	if err == nil && values[name] == "" {
		err = fmt.Errorf("the server has no %s", name)
	}
	return values[name], err
}

// product returns the name and the version of the server.
func (i info) product() string {
	if v := i["valkey_version"]; v != "" {
		return "Valkey " + v
	}
	return "Redis " + i["redis_version"]
}

// major returns the major version of Redis in the server. A server without a version counts as
// oldest.
func (i info) major() int {
	major, _, _ := strings.Cut(i["redis_version"], ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return oldest
	}
	return n
}
