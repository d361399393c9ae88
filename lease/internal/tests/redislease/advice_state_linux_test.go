package redislease_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/redislease"
)

// dump returns the commands that restore the keys of a prefix as the keys are now.
func dump(t *testing.T, c *redis.Client, prefix string) (restore [][]any) {
	t.Helper()
	for _, name := range []string{"entries", "index"} {
		key := "{" + prefix + "}:" + name
		content, err := c.Dump(t.Context(), key).Result()
		testkit.OK(t, err)
		restore = append(restore, []any{"RESTORE", key, 0, content, "REPLACE"})
	}
	return restore
}

// contents are faults of what the keys have.
func contents(t *testing.T, plain server) []advice.Fault {
	raw := client(t, plain.Host())
	n := 0
	var name, addr, entries, index string
	var backup [][]any
	fresh := func() { // another prefix for each row
		n++
		name = fmt.Sprint("keys", n)
		addr = "redis://" + plain.Host() + "/0?prefix=" + name
		entries, index = "{"+name+"}:entries", "{"+name+"}:index"
	}
	open := func(t *testing.T) *redislease.Store { return storetest.Open(t, redislease.Open, addr) }
	pool := func(t *testing.T) *redislease.Store {
		fresh()
		s := open(t)
		testkit.OK(t, minter.Create(t.Context(), s))
		backup = dump(t, raw, name)
		return s
	}
	restore := func(t *testing.T) {
		for _, c := range backup {
			command(t, raw, c...)
		}
	}
	lookup := func(t *testing.T, s driver.Store) error {
		_, err := lease.Lookup(t.Context(), s, minter.Pool)
		return err
	}

	// theirs is a fault of keys that another program has made.
	theirs := func(what string, spoil ...any) advice.Fault {
		return advice.Fault{Name: what, Meet: func(t *testing.T) string {
			fresh()
			spoil[1] = entries
			command(t, raw, spoil...)
			return advice.Text(t, works(t, addr))
		}, Ways: advice.Ways{
			"name the prefix of the leases, prefix=…, in the address, under which firn pool create makes pools": func(t *testing.T) error {
				fresh()
				return works(t, addr)
			},
			"to go on with another prefix, " + moving: func(t *testing.T) error {
				fresh()
				return movesTo(t, open(t))
			},
		}}
	}
	var first *redislease.Store
	const stop, begin = "stop all processes that use its pools", "and rescue the pools before any of them is started again (lease.Rescue, with Layouts and Create if a pool is gone)"
	// lost is a fault of a store that lost changes that another open store has seen.
	lost := func(what string, spoil func(t *testing.T), rescue func(t *testing.T) error) advice.Fault {
		return advice.Fault{Name: what, Meet: func(t *testing.T) string {
			first = pool(t)
			_, err := storetest.Program(t.Context(), first)
			testkit.OK(t, err)
			spoil(t)
			return advice.Text(t, lookup(t, first))
		}, Ways: advice.Ways{
			stop:  func(*testing.T) error { return first.Close() },
			begin: rescue,
			"; firn pool doctor names the settings at fault": func(t *testing.T) error {
				storetest.Found(t, storetest.Open(t, redislease.Open, start(t).address()), "keeps no log") // a server that forgets
				return nil
			},
		}}
	}
	return []advice.Fault{
		theirs("a string", "SET", "", "x"),
		theirs("another hash", "HSET", "", "name", "x"),
		{Name: "no keys", Meet: func(t *testing.T) string {
			fresh()
			return advice.Text(t, lookup(t, open(t)))
		}, Ways: advice.Ways{
			"see that the address is right, with its database and prefix": func(t *testing.T) error {
				s := pool(t)
				return lookup(t, s)
			},
			"or create the pool, once, with firn pool create": func(t *testing.T) error {
				fresh()
				return works(t, addr)
			},
			"rescue each instead of creating it (lease.Rescue, with Layouts and Create)": func(t *testing.T) error {
				fresh()
				return movesTo(t, open(t))
			},
		}},
		{Name: "an index that is gone", Meet: func(t *testing.T) string {
			s := pool(t)
			command(t, raw, "DEL", index)
			return advice.Text(t, lookup(t, s))
		}, Ways: advice.Ways{
			"restore both from a backup, with all processes stopped that use them": func(t *testing.T) error {
				restore(t)
				return lookup(t, open(t))
			},
			"and rescue their pools before any of them is started again (lease.Rescue)": func(t *testing.T) error {
				return rescues(t, open(t), lease.RescueConfig{})
			},
			"to go on with another prefix, " + moving: func(t *testing.T) error {
				fresh()
				return movesTo(t, open(t))
			},
		}},
		{Name: "a damaged entry", Meet: func(t *testing.T) string {
			s := pool(t)
			_, err := storetest.Program(t.Context(), s)
			testkit.OK(t, err)
			list, err := s.List(t.Context(), minter.Pool+"/workers/")
			if err != nil || len(list) == 0 {
				t.Fatalf("%v, %v", list, err)
			}
			command(t, raw, "HSET", entries, list[0].Key, "x")
			_, err = s.Get(t.Context(), list[0].Key)
			return advice.Text(t, err)
		}, Ways: advice.Ways{
			"rescue the pool (lease.Rescue), which makes the entry again; do not repair, move or delete entries": func(t *testing.T) error {
				s := open(t)
				err := rescues(t, s, lease.RescueConfig{})
				_, listed := s.List(t.Context(), "")
				return errors.Join(err, listed)
			},
		}},
		lost("keys that are gone", func(t *testing.T) { command(t, raw, "DEL", entries, index) }, func(t *testing.T) error { return movesTo(t, open(t)) }),
		lost("keys of before", restore, func(t *testing.T) error { return rescues(t, open(t), lease.RescueConfig{}) }),
		lost("keys that were made again", func(t *testing.T) {
			command(t, raw, "DEL", entries, index)
			storetest.Prepare(t, redislease.Open, addr)
		}, func(t *testing.T) error { return movesTo(t, open(t)) }),
	}
}

// kept starts a server with a file of configuration, and with settings added to the file.
func kept(t *testing.T, lines ...string) server {
	t.Helper()
	dir := t.TempDir()
	conf := storetest.File(t, "save \"\"\n"+strings.Join(lines, "\n")+"\n")
	return server{storetest.Start(t, func(path string, port int) []string {
		return []string{path, conf, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no"}
	}, "redis-server", "valkey-server")}
}

// inspected are findings of Inspect.
func inspected(t *testing.T, plain server) []advice.Fault {
	srv := start(t, durable...)
	s := storetest.Open(t, redislease.Open, srv.address())
	// set is a finding after CONFIG SET. ways are parts of the advice, each with the setting that mends.
	set := func(word string, spoil []any, says string, mend ...any) advice.Fault {
		return advice.Fault{Name: word, Meet: func(t *testing.T) string {
			testkit.OK(t, sets(t, srv.Host(), spoil...))
			return storetest.Found(t, s, word)
		}, Ways: advice.Ways{says: func(t *testing.T) error {
			return errors.Join(sets(t, srv.Host(), mend...), storetest.Mended(t.Context(), s, word))
		}}}
	}
	// user is a finding of a user without a right. Without the right, an administrator sees the settings.
	user := func(word, right, says, yourself string) advice.Fault {
		return advice.Fault{Name: word, Meet: func(t *testing.T) string {
			command(t, client(t, srv.Host()), "ACL", "SETUSER", "some", "on", ">"+storetest.Secret, "~*", "+@all", "-"+right)
			return storetest.Found(t, storetest.Open(t, redislease.Open, "redis://some:"+storetest.Secret+"@"+srv.Host()+"/0"), word)
		}, Ways: advice.Ways{says: func(t *testing.T) error {
			command(t, client(t, srv.Host()), "ACL", "SETUSER", "some", "+"+right)
			return storetest.Mended(t.Context(), storetest.Open(t, redislease.Open, "redis://some:"+storetest.Secret+"@"+srv.Host()+"/0"), word)
		}, yourself: func(t *testing.T) error {
			_, pairs, _ := strings.Cut(yourself, " CONFIG GET has ")
			for pair := range strings.SplitSeq(strings.ReplaceAll(pairs, " and ", ", "), ", ") {
				name, value, _ := strings.Cut(pair, " ")
				if got := client(t, srv.Host()).ConfigGet(t.Context(), name).Val()[name]; got != value {
					t.Errorf("%s is %q, not %q", name, got, value)
				}
			}
			if found, err := s.Inspect(t.Context()); err != nil || len(found) > 0 {
				return fmt.Errorf("an administrator finds %+v: %w", found, err)
			}
			return nil
		}}}
	}
	logs := kept(t, "appendonly no")
	const noLog = "keeps no log"
	const lru, always = "maxmemory-policy", "appendfsync"
	everysec := set("once a second", []any{always, "everysec"}, "set appendfsync to always", always, "always")
	everysec.Ways["or wait-aof=true in the address"] = func(t *testing.T) error {
		return storetest.Mended(t.Context(), hooked(t, srv, "waitaof", []any{int64(1), int64(0)}, redislease.Options{WaitAOF: true}), "once a second")
	}
	cache := set("deletes any keys", []any{lru, "allkeys-lru", "maxmemory", "100mb"}, "set maxmemory-policy to noeviction", lru, "noeviction", "maxmemory", "0")
	cache.Ways["to go on on a server that is not a cache, "+moving] = func(t *testing.T) error { return movesToPrefix(t, plain.Host()) }
	waits := set("waits until the system writes the disk", nil, "set appendfsync to always or everysec")
	waits.Meet = func(t *testing.T) string {
		testkit.OK(t, sets(t, srv.Host(), always, "no"))
		return storetest.Found(t, hooked(t, srv, "waitaof", []any{int64(1), int64(0)}, redislease.Options{WaitAOF: true}), waits.Name)
	}
	waits.Ways["set appendfsync to always or everysec"] = func(t *testing.T) error {
		w := hooked(t, srv, "waitaof", []any{int64(1), int64(0)}, redislease.Options{WaitAOF: true})
		return errors.Join(sets(t, srv.Host(), always, "everysec"), storetest.Mended(t.Context(), w, waits.Name), sets(t, srv.Host(), always, "always"), storetest.Mended(t.Context(), w, waits.Name))
	}
	return []advice.Fault{
		{Name: noLog, Meet: func(t *testing.T) string {
			testkit.OK(t, works(t, logs.address()))
			return storetest.Found(t, storetest.Open(t, redislease.Open, logs.address()), noLog)
		}, Ways: advice.Ways{
			"set appendonly to yes and appendfsync to always by CONFIG SET": func(t *testing.T) error {
				if err := sets(t, logs.Host(), "appendonly", "yes", "appendfsync", "always"); err != nil {
					return err
				}
				return storetest.Mended(t.Context(), storetest.Open(t, redislease.Open, logs.address()), noLog)
			},
			"and only then in its file (CONFIG REWRITE)": func(t *testing.T) error {
				c := client(t, logs.Host())
				if err := c.ConfigRewrite(t.Context()).Err(); err != nil {
					return err
				}
				wait.Until(t, "the log has the data", func() bool {
					i := c.Info(t.Context(), "persistence").Val()
					return strings.Contains(i, "aof_rewrite_in_progress:0") && strings.Contains(i, "aof_rewrite_scheduled:0")
				})
				restarts(t, logs)
				after := storetest.Open(t, redislease.Open, logs.address())
				_, err := lease.Lookup(t.Context(), after, minter.Pool)
				return errors.Join(err, storetest.Mended(t.Context(), after, noLog))
			},
			"a restart that turns appendonly on begins without the data": func(t *testing.T) error {
				other := kept(t, "appendonly no")
				testkit.OK(t, errors.Join(works(t, other.address()), does(t, other.Host(), "SAVE")))
				other.Command = append(other.Command, "--appendonly", "yes")
				restarts(t, other)
				if left, err := client(t, other.Host()).DBSize(t.Context()).Result(); err != nil || left != 0 {
					return fmt.Errorf("it has %d keys, %w", left, err)
				}
				return nil
			},
		}},
		everysec,
		set("never synced", []any{always, "no"}, "set appendfsync to always", always, "always"),
		set("while it is rewritten", []any{"no-appendfsync-on-rewrite", "yes"}, "set no-appendfsync-on-rewrite to no", "no-appendfsync-on-rewrite", "no"),
		waits,
		cache,
		set("would delete leases", []any{lru, "allkeys-lru"}, "set maxmemory-policy to noeviction", lru, "noeviction"),
		user("INFO", "info", "allow it (+info)", "or see yourself that CONFIG GET has appendonly yes, appendfsync always and maxmemory-policy noeviction"),
		user("see appendfsync", "config|get", "allow it (+config|get)", "or see yourself that CONFIG GET has appendfsync always"),
	}
}

// hooked returns a store whose client answers a command itself.
func hooked(t *testing.T, s server, name string, answer any, o redislease.Options) *redislease.Store {
	t.Helper()
	c := client(t, s.Host())
	c.AddHook(&hook{name: name, answer: answer})
	store, err := redislease.New(t.Context(), c, o)
	testkit.OK(t, err)
	return store
}

// online waits until a primary has so many replicas that have all.
func online(t *testing.T, primary server, n int) {
	t.Helper()
	c := client(t, primary.Host())
	wait.Until(t, fmt.Sprintf("%d replicas have all", n), func() bool {
		i := c.Info(t.Context(), "replication").Val()
		return strings.Count(i, "state=online") == n && strings.Contains(i, fmt.Sprintf("connected_slaves:%d\r", n))
	})
}

// replicas are faults of replicas and Sentinels.
func replicas(t *testing.T) []advice.Fault {
	primary := start(t)
	of := []string{"--replicaof", "127.0.0.1 " + fmt.Sprint(primary.Port), "--repl-diskless-sync-delay", "0"}
	testkit.OK(t, sets(t, primary.Host(), "repl-diskless-sync-delay", "0"))
	testkit.OK(t, works(t, primary.address()))
	stale := storetest.Open(t, redislease.Open, primary.address())
	sentinel := watch(t, primary, 600000)
	locked := watch(t, primary, 600000, "requirepass "+storetest.Secret)
	watched := func(settings ...string) string { return storetest.With("redis://"+sentinel.Host()+"/0", settings...) }
	var replica, second server

	opensPrimary := func(t *testing.T) error { return opens(t, primary.address()) }
	const reads = "see that the hosts of the address are Sentinels, that they run, that they know the primary of that name (sentinel=NAME), and that sentinel-user and sentinel-password are right"
	sentinels := func(what, addr, mended string) advice.Fault {
		f := opening(addr, reads, mended)
		f.Name = what
		return f
	}
	patient := "wait-timeout=" + wait.Patience.String()
	waiting := func(t *testing.T, settings ...string) error {
		s, err := redislease.Open(t.Context(), primary.address(settings...))
		if err != nil {
			return err
		}
		defer s.Close()
		e, _ := s.Get(t.Context(), "a")
		_, err = s.Put(t.Context(), "a", nil, e.Revision) // replicas that have no news acknowledge at once
		return err
	}
	resumes := func(t *testing.T) error { replica.Resume(); return waiting(t, "wait-replicas=1", patient) }
	var both *redislease.Store
	return []advice.Fault{
		{Name: "too few replicas", Meet: func(t *testing.T) string {
			testkit.OK(t, sets(t, primary.Host(), "min-replicas-to-write", "1"))
			return advice.Text(t, opensPrimary(t))
		}, Ways: advice.Ways{"see that they run": func(*testing.T) error {
			replica = start(t, of...) // until all rows end
			online(t, primary, 1)
			return errors.Join(opensPrimary(t), sets(t, primary.Host(), "min-replicas-to-write", "0"))
		}}},
		{Name: "a replica", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, replica.address())) }, Ways: advice.Ways{
			"name the primary in the address":     opensPrimary,
			"or the Sentinels with sentinel=NAME": func(t *testing.T) error { return opens(t, watched("sentinel=main")) },
		}},
		{Name: "a replica without its primary", Meet: func(t *testing.T) string {
			alone := start(t, "--replicaof", "127.0.0.1 "+fmt.Sprint(storetest.Port(t)), "--replica-serve-stale-data", "no")
			return advice.Text(t, opens(t, alone.address()))
		}, Ways: advice.Ways{"name the primary in the address": opensPrimary}},
		{Name: "a replica, which Inspect sees", Meet: func(t *testing.T) string {
			c := client(t, replica.Host())
			command(t, c, "REPLICAOF", "NO", "ONE")
			s := storetest.Open(t, redislease.Open, replica.address())
			command(t, c, "REPLICAOF", "127.0.0.1", primary.Port)
			text := storetest.Found(t, s, "is a replica")
			online(t, primary, 1)
			return text
		}, Ways: advice.Ways{"name the primary in the address": func(t *testing.T) error { return storetest.Mended(t.Context(), stale, "is a replica") }}},
		{Name: "a replica that stands still", Meet: func(t *testing.T) string {
			testkit.OK(t, waiting(t, "wait-replicas=1", patient))
			replica.Stop()
			return advice.Text(t, waiting(t, "wait-replicas=1", "wait-timeout=100ms"))
		}, Ways: advice.Ways{
			"see that the replicas, or the disk, keep up": resumes,
			"ask for less (wait-replicas, wait-aof)": func(t *testing.T) error {
				replica.Stop()
				return waiting(t)
			},
			"or wait longer (wait-timeout, timeout)": func(t *testing.T) error {
				c := client(t, primary.Host())
				done := make(chan error, 1)
				go func() { done <- waiting(t, "wait-replicas=1", patient) }()
				wait.Until(t, "a call waits", func() bool { return !strings.Contains(c.Info(t.Context(), "clients").Val(), "blocked_clients:0") })
				replica.Resume()
				return <-done
			},
		}},
		{Name: "a replica that may take over", Meet: func(t *testing.T) string {
			return storetest.Found(t, stale, "get changes after they were acknowledged")
		}, Ways: advice.Ways{
			"set wait-replicas=1 in the address, which makes that unlikely": func(t *testing.T) error {
				return storetest.Mended(t.Context(), storetest.Open(t, redislease.Open, primary.address("wait-replicas=1", patient)), "get changes after they were acknowledged")
			},
			"or let none of them take over": func(t *testing.T) error {
				testkit.OK(t, sets(t, replica.Host(), "replica-priority", "0"))
				c := client(t, watch(t, primary, 600000).Host())
				wait.Until(t, "a Sentinel knows the replica", func() bool {
					known, err := redis.NewSentinelClient(c.Options()).Replicas(t.Context(), "main").Result()
					return err == nil && len(known) == 1 && known[0]["slave-priority"] == "0"
				})
				if err := c.Do(t.Context(), "SENTINEL", "FAILOVER", "main").Err(); !strings.Contains(fmt.Sprint(err), "NOGOODSLAVE") {
					return fmt.Errorf("a failover: %w", err)
				}
				return sets(t, replica.Host(), "replica-priority", "100")
			},
		}},
		{Name: "one of two replicas", Meet: func(*testing.T) string {
			second = start(t, of...) // until all rows end
			online(t, primary, 2)
			return storetest.Found(t, storetest.Open(t, redislease.Open, primary.address("wait-replicas=1", patient)), "changes wait for 1 of them")
		}, Ways: advice.Ways{"set wait-replicas=2": func(t *testing.T) error {
			return storetest.Mended(t.Context(), storetest.Open(t, redislease.Open, primary.address("wait-replicas=2", patient)), "changes wait for 1")
		}}},
		{Name: "a replica that was cut off", Meet: func(t *testing.T) string {
			return storetest.Found(t, storetest.Open(t, redislease.Open, primary.address("wait-replicas=2", patient)), "still be made the primary")
		}, Ways: advice.Ways{"to go on in a store that agrees before it acknowledges (etcd, or PostgreSQL with synchronous standbys), " + moving: movesAway}},
		{Name: "more than there are", Meet: func(t *testing.T) string {
			both = storetest.Open(t, redislease.Open, primary.address("wait-replicas=2", patient))
			second.Kill()
			online(t, primary, 1)
			return storetest.Found(t, both, "none can be made")
		}, Ways: advice.Ways{
			"ask for fewer": func(t *testing.T) error {
				return storetest.Mended(t.Context(), storetest.Open(t, redislease.Open, primary.address("wait-replicas=1", patient)), "none can be made")
			},
			"start them": func(t *testing.T) error {
				second.Run()
				online(t, primary, 2)
				return storetest.Mended(t.Context(), both, "none can be made")
			},
		}},
		sentinels("another name", watched("sentinel=other"), watched("sentinel=main")),
		sentinels("no Sentinels", storetest.With(primary.address(), "sentinel=main"), watched("sentinel=main")),
		sentinels("a Sentinel that is down", "redis://"+storetest.Gone(t)+"/0?sentinel=main", watched("sentinel=main")),
		sentinels("a Sentinel with a password", "redis://"+locked.Host()+"/0?sentinel=main",
			"redis://"+locked.Host()+"/0?sentinel=main&sentinel-password="+storetest.Secret),
		sentinels("a wrong password", "redis://"+locked.Host()+"/0?sentinel=main&sentinel-password=wrong",
			"redis://"+locked.Host()+"/0?sentinel=main&sentinel-user=default&sentinel-password="+storetest.Secret),
		opening("redis://"+sentinel.Host()+","+storetest.Gone(t)+"/0", "want sentinel=NAME", "redis://"+sentinel.Host()+","+storetest.Gone(t)+"/0?sentinel=main", wanted, primary.address("prefix=a")),
	}
}

// clusters are faults of a Cluster.
func clusters(t *testing.T, plain server) []advice.Fault {
	// A server waits about as long as the time-out of nodes until the server joins.
	member := []string{"--cluster-enabled", "yes", "--cluster-node-timeout", "1000"}
	one, two := start(t, member...), start(t, member...)
	up := func(t *testing.T, s server) {
		wait.Until(t, "the Cluster is up", func() bool {
			return strings.Contains(client(t, s.Host()).ClusterInfo(t.Context()).Val(), "cluster_state:ok")
		})
		testkit.OK(t, sets(t, s.Host(), "cluster-node-timeout", "60000"))
	}
	clustered := func(s server) func(t *testing.T) error {
		return func(t *testing.T) error { return works(t, s.address("cluster=true")) }
	}
	const leaving = "or in a store that agrees before it acknowledges (etcd, or PostgreSQL with synchronous standbys), " + moving
	return []advice.Fault{
		{Name: "a part without a server", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, one.address("cluster=true"))) }, Ways: advice.Ways{
			"see that all servers of the Cluster run": func(t *testing.T) error {
				testkit.OK(t, client(t, one.Host()).ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
				up(t, one)
				return clustered(one)(t)
			},
		}},
		{Name: "another server of the Cluster", Meet: func(t *testing.T) string {
			testkit.OK(t, client(t, two.Host()).ClusterMeet(t.Context(), "127.0.0.1", fmt.Sprint(one.Port)).Err())
			up(t, two)
			return advice.Text(t, opens(t, two.address()))
		}, Ways: advice.Ways{"add cluster=true to the address": clustered(two)}},
		{Name: "a database", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, "redis://"+one.Host()+"/1")) }, Ways: advice.Ways{
			"add cluster=true to the address, with the path /0": clustered(one),
		}},
		opening("redis://"+one.Host()+","+two.Host()+"/0", "want sentinel=NAME or cluster=true as well", "redis://"+one.Host()+","+two.Host()+"/0?cluster=true", wanted, plain.address("prefix=a")),
		permission("the rights in a Cluster", one, "0?cluster=true"),
		{Name: "what a Cluster loses", Meet: func(t *testing.T) string {
			return storetest.Found(t, storetest.Open(t, redislease.Open, one.address("cluster=true")), "of a Cluster")
		}, Ways: advice.Ways{
			"on a server outside a Cluster and without failover": func(t *testing.T) error {
				s := storetest.Open(t, redislease.Open, "redis://"+plain.Host()+"/0?prefix=outside")
				return errors.Join(movesTo(t, s), storetest.Mended(t.Context(), s, "of a Cluster"))
			},
			leaving: movesAway,
		}},
	}
}

// permission is a fault of a user without rights at the path of an address. The user gets the rights that the advice names.
func permission(what string, s server, path string) advice.Fault {
	user := strings.ReplaceAll(what, " ", "-")
	at := "redis://" + user + ":" + storetest.Secret + "@" + s.Host() + "/" + path
	var text string
	return advice.Fault{Name: what, Meet: func(t *testing.T) string {
		command(t, client(t, s.Host()), "ACL", "SETUSER", user, "on", ">"+storetest.Secret, "+ping")
		text = advice.Text(t, opens(t, at))
		return text
	}, Ways: advice.Ways{"allow the user what leases need: ACL SETUSER … ~{": func(t *testing.T) error {
		_, line, _ := strings.Cut(text, "what leases need: ")
		args := words(strings.Replace(line, "…", user, 1))
		command(t, client(t, s.Host()), args...)
		return works(t, at)
	}}}
}

// logins are faults of rights.
func logins(_ *testing.T, plain server) []advice.Fault {
	return []advice.Fault{
		permission("the rights", plain, "0"),
		permission("the rights with a database", plain, "3?prefix=a:b"),
	}
}

// secured are faults of TLS.
func secured(t *testing.T, plain server) []advice.Fault {
	cert, key := storetest.Certify(t)
	other, otherKey := storetest.Certify(t)
	begin := func(require, cert, key string) (port int) {
		port = storetest.Port(t)
		start(t, "--tls-port", fmt.Sprint(port), "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", require)
		return port
	}
	port, strict := begin("optional", cert, key), begin("yes", cert, key)
	wrong := begin("optional", other, otherKey)
	at := func(scheme string, port int, settings ...string) string {
		return storetest.With(fmt.Sprintf("%s://127.0.0.1:%d/0", scheme, port), settings...)
	}
	return []advice.Fault{
		opening(at("rediss", port), "see to tls, ca", at("rediss", port, "ca="+cert)),
		// The server says so, or has ended the connection before: the advice begins with "see to tls" or "see that".
		opening(at("rediss", strict, "ca="+cert), "see t", at("rediss", strict, "ca="+cert, "cert="+cert, "key="+key)),
		opening(at("rediss", port, "ca="+cert, "server-name=other"), "see to tls, ca, cert, key and server-name in the address", at("rediss", port, "ca="+cert, "server-name=127.0.0.1")),
		opening(at("rediss", wrong, "ca="+cert), "see to tls, ca, cert, key and server-name in the address, and to the server's certificate", at("rediss", port, "ca="+cert)),
		// The server answers the bytes of TLS or says nothing: the advice begins with "see to tls" or "see that".
		opening(at("rediss", plain.Port, "timeout=500ms"), "see t", at("redis", plain.Port)),
		opening(at("redis", port), "see that the server runs", at("redis", plain.Port), "a server with TLS takes rediss://", at("rediss", port, "ca="+cert)),
	}
}
