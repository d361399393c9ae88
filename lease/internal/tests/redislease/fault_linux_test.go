package redislease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/internal/tests/histories"
	"github.com/firn-id/firn/lease/redislease"
)

func command(t *testing.T, c *redis.Client, args ...any) {
	t.Helper()
	if err := c.Do(t.Context(), args...).Err(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// TestKeys has keys under the prefix that no store has written.
func TestKeys(t *testing.T) {
	raw := needGiven(t)
	p := prefix(t, raw)
	addr := given("prefix=" + p)
	entries, index := "{"+p+"}:entries", "{"+p+"}:index"
	s := storetest.Open(t, redislease.Open, addr)
	do := func(args ...any) { t.Helper(); command(t, raw, args...) }
	// each opens a store, spoils the keys by a command, and calls the store, which has seen no keys
	// before.
	each := func(what string, spoil []any, kind error, words ...string) {
		t.Helper()
		s := storetest.Open(t, redislease.Open, addr)
		do(spoil...)
		storetest.CallsFail(t, s, none, what, kind, words...)
		do("DEL", entries, index)
	}
	storetest.Unprepared(t, s, none, "has no leases", "remedy: create")
	do("DEL", entries, index)
	each("a string", []any{"SET", entries, "x"}, driver.ErrUnavailable, "WRONGTYPE", "remedy: move")
	each("an index of another type", []any{"SET", index, "x"}, driver.ErrUnavailable, "WRONGTYPE", "remedy: move")
	each("another hash", []any{"HSET", entries, "name", "x"}, driver.ErrUnavailable, "not of leases", "remedy: move")
	each("a later version", []any{"HSET", entries, ".schema", "2"}, driver.ErrVersion, "version 2", "remedy: version")
	each("an index without entries", []any{"ZADD", index, 0, "a"}, driver.ErrDamaged, "evicted", "remedy: move")
	for what, spoil := range map[string][]any{
		"an index that is gone": {"DEL", index},
		"a field that is gone":  {"HDEL", entries, "a"},
		"a member that is gone": {"ZREM", index, "a"},
		"a count that is gone":  {"HDEL", entries, ".count"},
		"a name that is gone":   {"HDEL", entries, ".store"},
		"a count that is none":  {"HSET", entries, ".count", "many"},
		"a field that is new":   {"HSET", entries, "b", "1 x"},
	} {
		late := storetest.Open(t, redislease.Open, addr)
		rev := storetest.Put(t, storetest.Prepare(t, redislease.Open, addr), "a", "x", driver.None)
		do(spoil...)
		_, err := late.Get(t.Context(), "a")
		storetest.Fails(t, what, err, driver.ErrDamaged)
		_, err = late.List(t.Context(), "")
		storetest.Fails(t, what, err, driver.ErrDamaged)
		if _, err = late.Put(t.Context(), "a", nil, rev); err == nil {
			t.Errorf("%s: Put went through", what)
		}
		do("DEL", entries, index)
	}

	// A damaged entry is listed beside the others. A Put at the revision of the damaged entry
	// replaces the entry, unless the entry has changed in the meantime.
	s = storetest.Prepare(t, redislease.Open, addr)
	storetest.Put(t, s, "b", "x", driver.None)
	for _, value := range []string{"x", "", "1", "x 1", "1 " + strings.Repeat("x", driver.MaxValue+1)} {
		before, _ := s.Get(t.Context(), "a")
		storetest.Put(t, s, "a", "x", before.Revision)
		do("HSET", entries, "a", value)
		e, err := s.Get(t.Context(), "a")
		storetest.Fails(t, value, err, driver.ErrDamaged, "remedy: recover")
		list, err := s.List(t.Context(), "")
		storetest.Fails(t, value, err, driver.ErrDamaged)
		if len(list) != 2 || !errors.Is(list[0].Err, driver.ErrDamaged) || list[0].Revision != e.Revision || list[1].Err != nil {
			t.Fatalf("%q: %v", value, list)
		}
		do("HSET", entries, "a", value+"!")
		if _, err := s.Put(t.Context(), "a", nil, e.Revision); !errors.Is(err, driver.ErrConflict) && !strings.HasPrefix(value, "1 ") {
			t.Errorf("%q: %v", value, err)
		}
		do("HSET", entries, "a", value)
		e, _ = s.Get(t.Context(), "a")
		storetest.Want(t, s, "a", "anew", storetest.Put(t, s, "a", "anew", e.Revision))
	}
	do("DEL", entries, index)

	// A read removes a time to live.
	s = storetest.Prepare(t, redislease.Open, addr)
	rev := storetest.Put(t, s, "a", "x", driver.None)
	do("EXPIRE", entries, 100)
	do("EXPIRE", index, 100)
	storetest.Want(t, s, "a", "x", rev)
	for _, key := range []string{entries, index} {
		if left := raw.TTL(t.Context(), key).Val(); left != -1 {
			t.Errorf("%s has %v to live", key, left)
		}
	}
}

// TestForgotten has a server lose acknowledged changes, and stores that remember the changes.
func TestForgotten(t *testing.T) {
	srv := start(t)
	raw := client(t, srv.Host())
	open := func() *redislease.Store { return storetest.Open(t, redislease.Open, srv.address()) }
	first := open()
	testkit.OK(t, first.Prepare(t.Context()))
	stale := storetest.Put(t, first, "a", "x", driver.None)
	refuses := func(s *redislease.Store, what, word string) {
		t.Helper()
		for range 2 {
			storetest.CallsFail(t, s, none, what, driver.ErrUnsafe, word, "remedy: restored")
		}
	}
	command(t, raw, "FLUSHALL")
	refuses(first, "flushed", "is gone")

	second := open()
	_, err := second.Get(t.Context(), "a")
	storetest.Fails(t, "a store that comes later", err, driver.ErrUnavailable, "remedy: create")
	testkit.OK(t, second.Prepare(t.Context()))
	third := open()
	_, err = third.Put(t.Context(), "a", nil, stale) // the revision is from before the loss
	storetest.Fails(t, "a revision from before", err, driver.ErrConflict)
	rev := storetest.Put(t, second, "a", "y", driver.None)
	if rev == stale {
		t.Errorf("the revision %s was used again", rev)
	}
	_, err = third.Put(t.Context(), "a", nil, stale)
	storetest.Fails(t, "a revision from before", err, driver.ErrConflict)
	refuses(first, "made again", "is gone")

	storetest.Put(t, second, "a", "z", rev)
	command(t, raw, "HSET", "{firn}:entries", ".count", "1", "a", strings.Replace(string(rev), ".", " ", 1))
	refuses(second, "set back", "forgotten some")
	storetest.Want(t, open(), "a", strings.SplitN(string(rev), ".", 2)[1], "1."+driver.Revision(strings.SplitN(string(rev), ".", 2)[1]))
}

func TestPassword(t *testing.T) {
	srv := start(t, "--requirepass", "hunter2")
	_, err := redislease.Open(t.Context(), srv.address())
	storetest.Fails(t, "no password", err, driver.ErrRefused, "NOAUTH", "remedy: permissions")
	_, err = redislease.Open(t.Context(), srv.address("password=hunter3"))
	storetest.Fails(t, "a wrong password", err, driver.ErrRefused, "WRONGPASS", "remedy: permissions")
	if strings.Contains(err.Error(), "hunter") {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "password")
	testkit.OK(t, os.WriteFile(file, []byte("hunter2\n"), 0o600))
	s := storetest.Prepare(t, redislease.Open, srv.address("password-file="+file))
	if strings.Contains(s.String(), "hunter2") {
		t.Error(s)
	}
	_, err = redislease.Open(t.Context(), "redis://nobody:hunter4@"+srv.Host())
	storetest.Fails(t, "no such user", err, driver.ErrRefused, "WRONGPASS")
}

func words(s string) (all []any) {
	for w := range strings.FieldsSeq(s) {
		all = append(all, w)
	}
	return all
}

func TestTLS(t *testing.T) {
	cert, key := storetest.Certify(t)
	plain := storetest.Port(t)
	srv := start(t, "--tls-port", fmt.Sprint(plain), "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "optional")
	testkit.OK(t, srv.Listening(fmt.Sprintf("127.0.0.1:%d", plain))) // a moment after its other port
	secure := fmt.Sprintf("rediss://127.0.0.1:%d/0", plain)
	s := storetest.Prepare(t, redislease.Open, storetest.With(secure, "ca="+cert))
	storetest.Put(t, s, "a", "x", driver.None)
	storetest.Open(t, redislease.Open, storetest.With(fmt.Sprintf("redis://127.0.0.1:%d/0", plain), "tls=true", "ca="+cert, "cert="+cert, "key="+key))
	_, err := redislease.Open(t.Context(), secure)
	storetest.Fails(t, "a certificate that nobody knows", err, driver.ErrUnavailable, "remedy: address")
	_, err = redislease.Open(t.Context(), storetest.With(secure, "ca="+cert, "server-name=other"))
	storetest.Fails(t, "a certificate of another", err, driver.ErrUnavailable, "remedy: address")
	_, err = redislease.Open(t.Context(), fmt.Sprintf("rediss://%s/0?timeout=500ms", srv.Host()))
	storetest.Fails(t, "no TLS", err, driver.ErrUnavailable, "remedy: connect")
	_, err = redislease.Open(t.Context(), fmt.Sprintf("redis://127.0.0.1:%d/0?timeout=500ms", plain))
	storetest.Fails(t, "only TLS", err, driver.ErrUnavailable, "remedy: connect")
}

func TestFull(t *testing.T) {
	srv := start(t)
	s := storetest.Prepare(t, redislease.Open, srv.address())
	rev := storetest.Put(t, s, "a", "x", driver.None)
	raw := client(t, srv.Host())
	command(t, raw, "CONFIG", "SET", "maxmemory", "1")
	for i := range 3 {
		_, err := s.Put(t.Context(), fmt.Sprint("b", i), make([]byte, driver.MaxValue), driver.None)
		storetest.Fails(t, "full: create", err, driver.ErrUnavailable, "OOM", "remedy: settings")
		_, err = s.Put(t.Context(), "a", make([]byte, driver.MaxValue), rev)
		storetest.Fails(t, "full: swap", err, driver.ErrUnavailable, "OOM", "remedy: settings")
	}
	storetest.Want(t, s, "a", "x", rev) // reads go on
	storetest.Lists(t, s, 1)
	command(t, raw, "CONFIG", "SET", "maxmemory", "0")
	storetest.Put(t, s, "a", "y", rev)
}

// TestDisk has a server that cannot write snapshots, and therefore refuses changes.
func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	testkit.OK(t, os.Mkdir(dir, 0o700))
	srv := start(t, "--dir", dir, "--save", "3600 1")
	s := storetest.Prepare(t, redislease.Open, srv.address())
	testkit.OK(t, os.RemoveAll(dir))
	raw := client(t, srv.Host())
	command(t, raw, "BGSAVE")
	wait.Until(t, "the snapshot failed", func() bool {
		return strings.Contains(raw.Info(t.Context(), "persistence").Val(), "rdb_last_bgsave_status:err")
	})
	storetest.CallsFail(t, s, none, "no disk", driver.ErrUnavailable, "MISCONF", "remedy: settings")
	findings(t, s, "keeps no log")
}

func TestReplica(t *testing.T) {
	primary := start(t, durable...)
	s := storetest.Prepare(t, redislease.Open, primary.address())
	rev := storetest.Put(t, s, "a", "x", driver.None)
	findings(t, s)
	replica := start(t, durable...)
	raw, rawPrimary := client(t, replica.Host()), client(t, primary.Host())
	before := storetest.Open(t, redislease.Open, replica.address())
	command(t, raw, "REPLICAOF", "127.0.0.1", primary.Port)
	wait.Until(t, "the replica has all", func() bool {
		return strings.Contains(rawPrimary.Info(t.Context(), "replication").Val(), "state=online")
	})
	_, err := redislease.Open(t.Context(), replica.address())
	storetest.Fails(t, "a replica", err, driver.ErrUnavailable, "READONLY", "remedy: address")
	// No call returns an answer, not even a conflict.
	storetest.CallsFail(t, before, none, "a replica", driver.ErrUnavailable, "READONLY", "remedy: address")
	findings(t, before, "is a replica")
	findings(t, s, "get changes after they were acknowledged")

	waiting := storetest.Open(t, redislease.Open, primary.address("wait-replicas=1", "wait-timeout=1s"))
	findings(t, waiting, "still be made the primary")
	rev = storetest.Put(t, waiting, "a", "y", rev)
	replica.Stop()
	_, err = waiting.Put(t.Context(), "a", []byte("z"), rev)
	storetest.Fails(t, "a replica that is stopped", err, driver.ErrUnavailable, "0 replicas of 1", "remedy: settings")
	// The server has made the change, but no store that waits for replicas reads the change before
	// the replica has it.
	_, err = waiting.Get(t.Context(), "a")
	storetest.Fails(t, "a replica that is stopped: get", err, driver.ErrUnavailable, "0 replicas of 1")
	fresh, err := redislease.Open(t.Context(), primary.address("wait-replicas=1", "wait-timeout=1s"))
	storetest.Fails(t, fmt.Sprint("a replica that is stopped: open ", fresh), err, driver.ErrUnavailable, "0 replicas of 1")
	replica.Resume()
	wait.Until(t, "the replica has it", func() bool { _, err := waiting.Get(t.Context(), "a"); return err == nil })
	e, err := waiting.Get(t.Context(), "a")
	if err != nil || string(e.Value) != "z" {
		t.Errorf("%s, %v", e.Value, err)
	}
	hooked := client(t, primary.Host())
	hooked.AddHook(&hook{name: "wait", answer: int64(2)}) // otherwise redislease.New fails
	two, err := redislease.New(t.Context(), hooked, redislease.Options{WaitReplicas: 2})
	testkit.OK(t, err)
	findings(t, two, "still be made the primary", "none can be made")
	command(t, rawPrimary, "CONFIG", "SET", "min-replicas-to-write", "2")
	storetest.CallsFail(t, s, none, "too few replicas", driver.ErrUnavailable, "NOREPLICAS", "remedy: settings")
}

// TestWaitAOF has a server without WAITAOF. A hook then answers WAITAOF as documented.
func TestWaitAOF(t *testing.T) {
	srv := start(t, "--appendonly", "yes")
	s := storetest.Prepare(t, redislease.Open, srv.address())
	findings(t, s, "once a second")
	if _, err := client(t, srv.Host()).Do(t.Context(), "WAITAOF", 0, 0, 1).Result(); err == nil {
		waiting := storetest.Prepare(t, redislease.Open, srv.address("wait-aof=true"))
		storetest.Put(t, waiting, "a", "x", driver.None)
		findings(t, waiting)
		return
	}
	_, err := redislease.Open(t.Context(), srv.address("wait-aof=true"))
	storetest.Fails(t, "a server without WAITAOF", err, driver.ErrUnavailable, "not on the server's disk", "remedy: settings")
	for local, want := range map[int64]error{1: nil, 0: driver.ErrUnavailable} {
		c := client(t, srv.Host())
		h := &hook{name: "waitaof", answer: []any{int64(1), int64(0)}}
		c.AddHook(h)
		waiting, err := redislease.New(t.Context(), c, redislease.Options{WaitAOF: true})
		testkit.OK(t, err)
		h.answer, h.asked = []any{local, int64(0)}, 0
		_, err = waiting.List(t.Context(), "")
		if !errors.Is(err, want) || h.asked == 0 {
			t.Errorf("with %d on disk: %v, after %d questions", local, err, h.asked)
		}
		findings(t, waiting)
	}
}

// An aging hook has servers say that they are Redis 4.
type aging struct{ hook }

var version = regexp.MustCompile(`redis_version:\S+`)

func (*aging) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if info, ok := cmd.(*redis.StringCmd); ok && cmd.Name() == "info" {
			info.SetVal(version.ReplaceAllString(info.Val(), "redis_version:4.0.14"))
		}
		return err
	}
}

func TestOld(t *testing.T) {
	raw := needGiven(t)
	raw.AddHook(new(aging))
	_, err := redislease.New(t.Context(), raw, redislease.Options{Prefix: prefix(t, raw)})
	storetest.Fails(t, "an old server", err, driver.ErrUnsafe, "Redis 4.0.14 is too old", "want Redis 5 or later", "remedy: settings")
}

// TestSentinel has a Sentinel that knows the primary, and makes a replica the primary.
func TestSentinel(t *testing.T) {
	services.Full(t)
	primary := start(t, durable...)
	start(t, append(durable, "--replicaof", "127.0.0.1 "+fmt.Sprint(primary.Port))...)
	sentinel := watch(t, primary, 500)
	addr := "redis://" + sentinel.Host() + "/0?sentinel=main"
	_, err := redislease.Open(t.Context(), strings.Replace(addr, "=main", "=other", 1))
	storetest.Fails(t, "a name that the Sentinel does not know", err, driver.ErrUnavailable, "remedy: address")
	s := storetest.Prepare(t, redislease.Open, addr)
	rev := storetest.Put(t, s, "a", "x", driver.None)
	writer := client(t, primary.Host()).Conn()
	defer writer.Close()
	wait.Until(t, "the Sentinel knows the replica, and that has all", func() bool {
		c := redis.NewSentinelClient(&redis.Options{Addr: sentinel.Host()})
		defer c.Close()
		known, err := c.Replicas(t.Context(), "main").Result()
		return err == nil && len(known) == 1 && known[0]["master-link-status"] == "ok" &&
			// A replica with this change also has all changes before it.
			writer.Set(t.Context(), "another", "x", 0).Err() == nil && writer.Do(t.Context(), "WAIT", 1, 100).Val() == int64(1)
	})
	findings(t, s, "get changes after they were acknowledged")
	primary.Kill()
	wait.Until(t, "the replica is the primary", func() bool { _, err := s.Get(t.Context(), "a"); return err == nil })
	storetest.Want(t, s, "a", "x", rev)
	storetest.Put(t, s, "a", "y", rev)
}

// form makes a server a Cluster of its own.
func form(t *testing.T, c *redis.Client) {
	t.Helper()
	testkit.OK(t, c.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	wait.Until(t, "the Cluster is up", func() bool {
		return strings.Contains(c.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
}

// TestCluster has a Cluster of one server.
func TestCluster(t *testing.T) {
	services.Full(t)
	srv := start(t, append(durable, "--cluster-enabled", "yes")...)
	_, err := redislease.Open(t.Context(), srv.address())
	storetest.Fails(t, "a Cluster that is down", err, driver.ErrUnavailable, "CLUSTERDOWN", "remedy: connect")
	c := client(t, srv.Host())
	form(t, c)
	s := storetest.Prepare(t, redislease.Open, srv.address("cluster=true"))
	storetest.Put(t, s, "a", "x", driver.None)
	findings(t, s, "of a Cluster")
	_, err = s.Now(t.Context())
	testkit.OK(t, err)
	drivertest.Run(t, spaces("space", srv.address("cluster=true"), nil), storetest.Secret)

	single := start(t)
	_, err = redislease.Open(t.Context(), single.address("cluster=true", "timeout=2s"))
	storetest.Fails(t, "no Cluster", err, driver.ErrUnavailable, "remedy: address")
}

func TestInspect(t *testing.T) {
	srv := start(t)
	raw := client(t, srv.Host())
	s := storetest.Open(t, redislease.Open, srv.address())
	findings(t, s, "keeps no log")
	command(t, raw, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	findings(t, s, "keeps no log")
	command(t, raw, "CONFIG", "SET", "maxmemory", "100mb")
	findings(t, s, "keeps no log", "deletes any keys")
	command(t, raw, "CONFIG", "SET", "maxmemory-policy", "volatile-lru") // entries have no time to live
	findings(t, s, "keeps no log")
	command(t, raw, "CONFIG", "SET", "appendonly", "yes")
	command(t, raw, "CONFIG", "SET", "appendfsync", "no")
	findings(t, s, "never synced")
	command(t, raw, "CONFIG", "SET", "appendfsync", "everysec")
	findings(t, s, "once a second")
	command(t, raw, "CONFIG", "SET", "appendfsync", "always")
	findings(t, s)
	command(t, raw, "CONFIG", "SET", "no-appendfsync-on-rewrite", "yes")
	findings(t, s, "while it is rewritten")
	command(t, raw, "ACL", "SETUSER", "some", "on", ">hunter2", "~*", "+@all", "-config")
	findings(t, storetest.Open(t, redislease.Open, fmt.Sprintf("redis://some:hunter2@%s/0", srv.Host())), "does not let this user see appendfsync")
	command(t, raw, "ACL", "SETUSER", "some", "-info")
	findings(t, storetest.Open(t, redislease.Open, fmt.Sprintf("redis://some:hunter2@%s/0", srv.Host())), "cannot be checked")
}

// blocking are parts of the findings that lose nothing, and refuse leases.
var blocking = []string{"is a replica", "none can be made"}

// findings calls storetest.Findings. All findings but the blocking ones must lose changes.
func findings(t testing.TB, s *redislease.Store, words ...string) {
	t.Helper()
	for i, f := range storetest.Findings(t, s, words...) {
		if blocks := slices.Contains(blocking, words[i]); f.Blocks != blocks || f.Loses == blocks {
			t.Errorf("Inspect finds %+v, want Blocks to be %v", f, blocks)
		}
	}
}

// TestRestart has a server that syncs each change to the disk. It is killed again and again while clients make
// random calls.
func TestRestart(t *testing.T) {
	services.Full(t)
	s := start(t, durable...)
	addr := s.address("timeout=2s")
	storetest.Prepare(t, redislease.Open, addr)
	histories.Under(t, func() driver.Store { return storetest.Open(t, redislease.Open, addr) }, func() error {
		time.Sleep(300 * time.Millisecond) // in which some calls are made
		s.Kill()
		return s.Start()
	})
}

func TestStopped(t *testing.T) {
	services.Full(t)
	s := start(t)
	storetest.Faulty[*redislease.Store]{Server: s, Open: redislease.Open, Addr: s.address, None: none}.Stopped(t)
}
