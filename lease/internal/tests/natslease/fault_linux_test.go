package natslease_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/natslease"
)

// TestSilentHost has a host that does not answer, which leaves time for the other hosts.
func TestSilentHost(t *testing.T) {
	silent, srv := storetest.Silent(t), start(t)
	for range 4 { // the client tries hosts in random order
		storetest.Open(t, natslease.Open, "nats://"+silent+","+srv.Host()+"?timeout=2s")
	}
}

// create makes a stream again. It returns a store with the bucket, opened before the stream was there.
func create(t *testing.T, raw *client, c jetstream.StreamConfig, o natslease.Options) *natslease.Store {
	t.Helper()
	raw.js.DeleteStream(t.Context(), c.Name)
	o.Bucket = strings.TrimPrefix(c.Name, "KV_")
	s := raw.open(t, o)
	if _, err := raw.js.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return s
}

// madeBucket returns a client, the name of a bucket that a store has made, and its settings.
func madeBucket(t *testing.T) (raw *client, name string, made jetstream.StreamConfig) {
	t.Helper()
	raw = needGiven(t)
	name = buckets(t, raw)
	s := raw.open(t, natslease.Options{Bucket: name})
	storetest.Unprepared(t, s, none, name, "remedy: create")
	storetest.FindingsLose(t, s, true, raw.unsynced(), "on one server alone")
	stream, err := raw.js.Stream(t.Context(), "KV_"+name)
	testkit.OK(t, err)
	return raw, name, stream.CachedInfo().Config
}

// TestUnsafeBuckets has buckets and other streams that other programs have made or changed.
func TestUnsafeBuckets(t *testing.T) {
	raw, name, made := madeBucket(t)
	for _, c := range []struct {
		word   string
		remedy driver.Remedy
		change func(c *jetstream.StreamConfig)
	}{
		{"lets any replica answer", driver.RemedySettings, func(c *jetstream.StreamConfig) { c.AllowDirect = true }},
		{"not one of keys and values", driver.RemedyMove, func(c *jetstream.StreamConfig) { c.Subjects = []string{name + ".>"} }},
		{"not one of keys and values", driver.RemedyMove, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = -1 }},
		{"not one of keys and values", driver.RemedyMove, func(c *jetstream.StreamConfig) { c.NoAck = true }},
		{"a mirror", driver.RemedyAddress, func(c *jetstream.StreamConfig) {
			*c = jetstream.StreamConfig{Name: c.Name, MaxMsgsPerSubject: 1, Mirror: &jetstream.StreamSource{Name: "other"}}
		}},
	} {
		changed := made
		c.change(&changed)
		s := create(t, raw, changed, natslease.Options{})
		storetest.CallsFail(t, s, none, c.word, driver.ErrUnsafe, name, c.word, "remedy: "+string(c.remedy))
		found, err := s.Inspect(t.Context())
		if err != nil || !slices.ContainsFunc(found, func(f driver.Finding) bool { return !f.Loses && strings.Contains(f.Text, c.word) }) {
			t.Errorf("%s: Inspect finds %v, %v", c.word, found, err)
		}
	}
	// A bucket as package jetstream makes buckets.
	testkit.OK(t, raw.js.DeleteStream(t.Context(), made.Name))
	s := raw.open(t, natslease.Options{Bucket: name})
	if _, err := raw.js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: name}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(t.Context(), "a")
	storetest.Fails(t, "a bucket of other tools", err, driver.ErrUnsafe, "allow_direct", "remedy: settings")
}

func TestFindings(t *testing.T) {
	raw, name, made := madeBucket(t)
	unsynced := raw.unsynced()
	testkit.OK(t, raw.js.DeleteStream(t.Context(), made.Name))
	storetest.FindingsLose(t, raw.open(t, natslease.Options{Bucket: name}), false, "there is no bucket "+name)
	storetest.FindingsLose(t, create(t, raw, made, natslease.Options{}), true, unsynced, "on one server alone")
	if s := create(t, raw, made, natslease.Options{SyncAlways: true}); raw.old() {
		storetest.FindingsLose(t, s, true, cannotSync, "on one server alone")
	} else {
		storetest.FindingsLose(t, s, false, "on one server alone")
	}
	for _, c := range []struct {
		words  []string
		loses  bool
		change func(c *jetstream.StreamConfig)
	}{
		{[]string{"kept in memory", "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }},
		{[]string{"are 1h0m0s old", unsynced, "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
		{[]string{"deletes the oldest", unsynced, "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 100, jetstream.DiscardOld }},
		{[]string{"deletes the oldest", unsynced, "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.MaxBytes, c.Discard = 1<<20, jetstream.DiscardOld }},
		{[]string{unsynced, "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }},
		{[]string{unsynced, "can be deleted by users", "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.DenyDelete = false }},
		{[]string{unsynced, "can be deleted by users", "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.DenyPurge, c.AllowRollup = false, true }},
		{[]string{unsynced, "takes in messages of other streams", "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "other"}} }},
	} {
		changed := made
		c.change(&changed)
		storetest.FindingsLose(t, create(t, raw, changed, natslease.Options{}), c.loses, c.words...)
	}
}

// TestVersions has servers with and without sync_interval, whose setting the address repeats.
func TestVersions(t *testing.T) {
	srv := start(t)
	storetest.Prepare(t, natslease.Open, srv.address())
	for version, words := range map[string][]string{
		"2.9.":  {cannotSync, "on one server alone"},
		"2.10.": {"on one server alone"},
	} {
		s := storetest.Open(t, natslease.Open, at("nats://"+srv.called(t, version), "firn", "sync-always=true"))
		storetest.FindingsLose(t, s, len(words) > 1, words...)
	}
}

// TestFullBucket has a bucket that is full, or nearly full.
func TestFullBucket(t *testing.T) {
	raw, _, small := madeBucket(t)
	small.MaxBytes = 12_000
	s := create(t, raw, small, natslease.Options{})
	rev := storetest.Put(t, s, "a", "x", driver.None)
	storetest.Put(t, s, "b0", strings.Repeat("x", driver.MaxValue), driver.None)
	storetest.Put(t, s, "b1", strings.Repeat("x", driver.MaxValue), driver.None)
	_, err := s.Put(t.Context(), "b2", make([]byte, driver.MaxValue), driver.None)
	storetest.Fails(t, "full", err, driver.ErrUnavailable, "maximum bytes", "remedy: settings")
	storetest.Want(t, s, "a", "x", rev)
	storetest.Put(t, s, "b3", strings.Repeat("x", 2500), driver.None)
	storetest.FindingsLose(t, s, true, raw.unsynced(), "is nearly full", "on one server alone")
	storetest.Lists(t, s, 4)
}

// TestDeleted has a bucket that refuses to delete, and keys that other programs put and delete all the
// same.
func TestDeleted(t *testing.T) {
	raw, name, made := madeBucket(t)
	s := create(t, raw, made, natslease.Options{})
	storetest.Put(t, s, "a", "x", driver.None)
	stream, err := raw.js.Stream(t.Context(), made.Name)
	testkit.OK(t, err)
	bucket, err := raw.js.KeyValue(t.Context(), name)
	testkit.OK(t, err)
	for what, err := range map[string]error{"a deleted message": stream.DeleteMsg(t.Context(), 1), "a purged stream": stream.Purge(t.Context()), "a purged key": bucket.Purge(t.Context(), "a")} {
		if err == nil {
			t.Errorf("%s was let through", what)
		}
	}
	// Other programs can still put and delete keys.
	if _, err := bucket.PutString(t.Context(), "FOREIGN.key", "x"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != 1 || list[0].Key != "a" {
		t.Errorf("%v, %v", list, err)
	}
	testkit.OK(t, bucket.Delete(t.Context(), "a"))
	_, err = s.Get(t.Context(), "a")
	storetest.Fails(t, "a deleted key", err, driver.ErrDamaged, "was deleted", "remedy: recover")
	list, err := s.List(t.Context(), "")
	storetest.Fails(t, "a deleted key", err, driver.ErrDamaged, "was deleted")
	if len(list) != 1 || !errors.Is(list[0].Err, driver.ErrDamaged) {
		t.Fatalf("%v", list)
	}
	_, err = s.Put(t.Context(), "a", nil, driver.None) // a deleted key is not a missing key
	storetest.Fails(t, "a deleted key", err, driver.ErrConflict)
	storetest.Want(t, s, "a", "anew", storetest.Put(t, s, "a", "anew", list[0].Revision))
	if _, err := bucket.Put(t.Context(), "c", make([]byte, driver.MaxValue+1)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Get(t.Context(), "c")
	storetest.Fails(t, "a key of something else", err, driver.ErrDamaged, "more than an entry")
}

// TestMadeAgain has a bucket that is made again. A store remembers the first bucket.
func TestMadeAgain(t *testing.T) {
	raw, name, made := madeBucket(t)
	s := raw.open(t, natslease.Options{Bucket: name})
	storetest.Put(t, s, "d", "x", driver.None)
	e, err := s.Get(t.Context(), "d")
	testkit.OK(t, err)
	testkit.OK(t, raw.js.DeleteStream(t.Context(), made.Name))
	_, err = s.Get(t.Context(), "d")
	storetest.Fails(t, "a bucket that is gone", err, driver.ErrRefused, "no bucket", "remedy: create")
	fresh := create(t, raw, made, natslease.Options{})
	sequence, _, _ := strings.Cut(string(e.Revision), ".")
	var rev driver.Revision
	for range 100 { // to the same sequence
		rev = storetest.Put(t, fresh, "d", "y", revisionOf(t, fresh, "d"))
		if strings.HasPrefix(string(rev), sequence+".") {
			break
		}
	}
	if !strings.HasPrefix(string(rev), sequence+".") || rev == e.Revision {
		t.Fatalf("the revision was %s and is %s", e.Revision, rev)
	}
	_, err = fresh.Put(t.Context(), "d", nil, e.Revision)
	storetest.Fails(t, "a revision of another life", err, driver.ErrConflict)
	for range 2 {
		storetest.CallsFail(t, s, none, "made again", driver.ErrUnsafe, "deleted, and made again", "remedy: restored")
	}
}

func TestForgotten(t *testing.T) {
	srv := start(t)
	open := func() *natslease.Store { return storetest.Prepare(t, natslease.Open, srv.address()) }
	storetest.Forgotten(t, open, filepath.Join(filepath.Dir(srv.file), "jetstream"), srv.Kill, srv.Run)
}

// revisionOf returns the revision of an entry, or None.
func revisionOf(t *testing.T, s *natslease.Store, key string) driver.Revision {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil && !errors.Is(err, driver.ErrNotFound) {
		t.Fatal(err)
	}
	return e.Revision
}

func TestLogin(t *testing.T) {
	pair, err := nkeys.CreateUser()
	testkit.OK(t, err)
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	other, _ := nkeys.CreateUser()
	otherSeed, _ := other.Seed()
	allowed := `publish: ["$KV.firn.>", "$JS.API.STREAM.INFO.KV_firn", "$JS.API.STREAM.MSG.GET.KV_firn", "$JS.API.STREAM.CREATE.KV_firn", "$JS.API.CONSUMER.*.KV_firn.>"], subscribe: "_INBOX.>"`
	srv := start(t, fmt.Sprintf("authorization { users: [ { user: me, password: hunter2 }, { nkey: %s }, "+
		"{ user: some, password: hunter2, permissions: { %s } }, { user: none, password: hunter2, permissions: { publish: \"x\" } }, "+
		"{ user: reader, password: hunter2, permissions: { publish: \"$JS.API.>\" } } ] }", public, allowed))
	at := func(user string, settings ...string) string {
		return strings.Replace(srv.address(settings...), "nats://", "nats://"+user, 1)
	}
	for what, addr := range map[string]string{
		"nobody":           at(""),
		"a wrong password": at("me:hunter3@"),
		"no such user":     at("you:hunter2@"),
		"a token":          at("", "token=hunter3"),
		"another key":      at("", "nkey-file="+storetest.File(t, string(otherSeed)+"\n")),
	} {
		_, err := natslease.Open(t.Context(), addr)
		storetest.Fails(t, what, err, driver.ErrRefused, "uthorization", "remedy: permissions")
		if strings.Contains(err.Error(), "hunter") {
			t.Error(err)
		}
	}
	s := storetest.Prepare(t, natslease.Open, at("me@", "password-file="+storetest.File(t, "hunter2"+"\n")))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	storetest.Want(t, storetest.Open(t, natslease.Open, at("", "nkey-file="+storetest.File(t, string(seed)+"\n"))), "a", "x", rev)

	// The rights are enough.
	some := storetest.Prepare(t, natslease.Open, at("some:hunter2@"))
	rev = storetest.Put(t, some, "a", "y", rev)
	storetest.Lists(t, some, 1)
	if _, err := some.Watch(t.Context(), ""); err != nil {
		t.Error(err)
	}
	_, err = natslease.Open(t.Context(), at("none:hunter2@", "timeout=500ms"))
	storetest.Fails(t, "without rights", err, driver.ErrRefused, "ermissions violation", "remedy: permissions")
	reader := storetest.Open(t, natslease.Open, at("reader:hunter2@", "timeout=500ms"))
	storetest.Want(t, reader, "a", "y", rev)
	_, err = reader.Put(t.Context(), "a", nil, rev)
	storetest.Fails(t, "without the right to write", err, driver.ErrRefused, "ermissions violation", "remedy: permissions")

	token := start(t, `authorization { token: "hunter2" }`)
	storetest.Prepare(t, natslease.Open, token.address("token-file="+storetest.File(t, "hunter2"+"\n")))
	_, err = natslease.Open(t.Context(), token.address())
	storetest.Fails(t, "no token", err, driver.ErrUnavailable, "uthorization", "remedy: permissions")
}

func TestTLS(t *testing.T) {
	cert, key := storetest.Certify(t)
	srv := start(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, cert))
	s := storetest.Prepare(t, natslease.Open, srv.address("ca="+cert, "cert="+cert, "key="+key))
	storetest.Put(t, s, "a", "x", driver.None)
	for what, settings := range map[string][]string{
		"a certificate that nobody knows": {"tls=true", "cert=" + cert, "key=" + key},
		"a certificate of another":        {"ca=" + cert, "cert=" + cert, "key=" + key, "server-name=other"},
		"none of one's own":               {"ca=" + cert},
	} {
		_, err := natslease.Open(t.Context(), srv.address(settings...))
		storetest.Fails(t, what, err, driver.ErrUnavailable, "remedy: address")
	}
	_, err := natslease.Open(t.Context(), start(t).address("tls=true"))
	storetest.Fails(t, "no TLS", err, driver.ErrUnavailable, "remedy: address")
}

func TestServer(t *testing.T) {
	srv := start(t)
	srv.Kill()
	srv.configure(srv.Port)
	srv.Run()
	_, err := natslease.Open(t.Context(), srv.address("timeout=1s"))
	storetest.Fails(t, "no JetStream", err, driver.ErrUnavailable, "JetStream is switched off", "remedy: settings")

	_, err = natslease.Open(t.Context(), "nats://"+srv.called(t, "2.8."))
	storetest.Fails(t, "an old server", err, driver.ErrUnsafe, "NATS 2.8.", "is too old", "want 2.9 or later", "remedy: settings")

	small := start(t)
	small.Kill()
	small.configure(small.Port, fmt.Sprintf("jetstream { store_dir: %q, max_file_store: 10000 }", t.TempDir()))
	small.Run()
	s := storetest.Prepare(t, natslease.Open, small.address())
	for i := range 10 {
		if _, err = s.Put(t.Context(), strconv.Itoa(i), make([]byte, driver.MaxValue), driver.None); err != nil {
			break
		}
	}
	storetest.Fails(t, "a server that is full", err, driver.ErrUnavailable, "remedy: settings")
	s = storetest.Open(t, natslease.Open, at("nats://"+small.Host(), "other", "replicas=3"))
	storetest.Fails(t, "more replicas than servers", s.Prepare(t.Context()), driver.ErrUnavailable, "replicas", "remedy: address")
}

func TestWatch(t *testing.T) {
	srv := start(t)
	s, other := storetest.Prepare(t, natslease.Open, srv.address()), storetest.Open(t, natslease.Open, srv.address())
	storetest.Put(t, s, "pool/x/0", "", driver.None)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := func(ctx context.Context, prefix string) <-chan struct{} {
		t.Helper()
		changed, err := s.Watch(ctx, prefix)
		testkit.OK(t, err)
		return changed
	}
	everything, pool, part, empty := watch(t.Context(), ""), watch(ctx, "pool/"), watch(t.Context(), "pool/x/1"), watch(t.Context(), "nothing/")
	storetest.Untold(t, "what was there before", everything)
	storetest.Put(t, other, "other", "x", driver.None)
	storetest.Told(t, "everything", everything)
	rev := storetest.Put(t, other, "pool/x/0", "y", revisionOf(t, s, "pool/x/0"))
	storetest.Told(t, "everything", everything)
	storetest.Told(t, "pool", pool)
	storetest.Put(t, other, "pool/x/1", "x", driver.None)
	storetest.Told(t, "everything", everything)
	storetest.Told(t, "pool", pool)
	storetest.Told(t, "part", part)
	storetest.Untold(t, "part", part)
	storetest.Untold(t, "empty", empty)

	for round := range 3 {
		srv.Kill()
		srv.Run()
		for what, changed := range map[string]<-chan struct{}{"everything": everything, "pool": pool, "part": part, "empty": empty} {
			storetest.Told(t, what+", after doubt", changed)
		}
		wait.Until(t, "the other is connected", func() bool { _, err := other.Get(t.Context(), "other"); return err == nil })
		rev = storetest.Put(t, other, "pool/x/0", fmt.Sprint(round), rev)
		storetest.Told(t, "pool, again", pool)
		storetest.Told(t, "everything, again", everything)
	}
	storetest.Put(t, other, "nothing/x", "x", driver.None)
	storetest.Told(t, "empty", empty)

	cancel()
	wait.Closed(t, "a watch ends with its context", pool)
	s.Close()
	for _, changed := range []<-chan struct{}{everything, part, empty} {
		wait.Closed(t, "a watch of a closed store ends", changed)
	}
	_, err := s.Watch(t.Context(), "")
	storetest.Fails(t, "Watch after Close", err, driver.ErrUnavailable, "closed")
}

// TestNetwork has a bucket on three servers. The leader of the bucket is killed, and then another
// leader is stopped.
func TestNetwork(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	servers, hosts, _ := cluster(t, 3)
	addr := "nats://" + strings.Join(hosts, ",") + "/firn?timeout=2s"
	var s *natslease.Store
	wait.Until(t, "the cluster has a leader", func() bool {
		var err error
		if s == nil {
			if s, err = natslease.Open(t.Context(), addr); err != nil {
				return false
			}
			t.Cleanup(func() { s.Close() })
		}
		return s.Prepare(t.Context()) == nil
	})
	c := raw(t, "nats://"+strings.Join(hosts, ",nats://"))
	stream, err := c.js.Stream(t.Context(), "KV_firn")
	testkit.OK(t, err)
	if replicas := stream.CachedInfo().Config.Replicas; replicas != 3 {
		t.Fatalf("the bucket has %d replicas", replicas)
	}
	unsynced := c.unsynced()
	wait.Until(t, "all replicas keep up", func() bool { f, err := s.Inspect(t.Context()); return err == nil && len(f) == 1 })
	storetest.FindingsLose(t, s, true, unsynced)
	acknowledged := storetest.Put(t, s, "a", "0", driver.None)
	value := "0"
	for round := range 2 {
		var leader *server
		wait.Until(t, "there is a leader", func() bool {
			stream, err := c.js.Stream(t.Context(), "KV_firn")
			if err != nil {
				return false
			}
			info := stream.CachedInfo()
			if info.Cluster == nil || info.Cluster.Leader == "" {
				return false
			}
			n, err := strconv.Atoi(strings.TrimPrefix(info.Cluster.Leader, "n"))
			leader = servers[n]
			return err == nil
		})
		if round%2 == 0 {
			leader.Kill()
		} else {
			leader.Stop()
		}
		attempt := 0
		wait.Until(t, "another leads", func() bool {
			e, err := s.Get(t.Context(), "a")
			if err != nil {
				if errors.Is(err, driver.ErrUnsafe) {
					t.Fatal(err)
				}
				return false
			}
			if e.Revision != acknowledged && string(e.Value) != value || e.Revision == acknowledged && string(e.Value) != value {
				// The value may be of an attempt whose outcome is unknown.
				if !strings.HasPrefix(string(e.Value), fmt.Sprintf("%d.", round)) {
					t.Fatalf("it was %s at %s, and is %s at %s", value, acknowledged, e.Value, e.Revision)
				}
			}
			attempt++
			next := fmt.Sprintf("%d.%d", round, attempt)
			rev, err := s.Put(t.Context(), "a", []byte(next), e.Revision)
			if err == nil {
				acknowledged, value = rev, next
			}
			return err == nil
		})
		if round%2 == 0 {
			leader.Run()
		} else {
			leader.Resume()
		}
		wait.Until(t, "all are there again", func() bool { f, err := s.Inspect(t.Context()); return err == nil && len(f) == 1 })
		wait.Until(t, "what was acknowledged is there", func() bool {
			e, err := s.Get(t.Context(), "a")
			if err == nil && (string(e.Value) != value || e.Revision != acknowledged) {
				t.Fatalf("it is %s at %s, not %s at %s", e.Value, e.Revision, value, acknowledged)
			}
			return err == nil // the servers may choose yet another leader
		})
	}
	// Without a majority Put fails in time.
	servers[0].Kill()
	servers[1].Kill()
	if _, err := s.Put(t.Context(), "a", []byte("x"), acknowledged); err == nil {
		t.Error("a Put without a majority was acknowledged")
	} else {
		storetest.Fails(t, "no majority", err, driver.ErrUnavailable)
	}
}

// TestJoin has a lone server that joins a cluster. The cluster does not know the bucket of the server: the advice of Inspect
// warns of that.
func TestJoin(t *testing.T) {
	services.Full(t)
	srv := start(t)
	s := storetest.Prepare(t, natslease.Open, srv.address())
	storetest.Put(t, s, "a", "x", driver.None)
	found := storetest.Findings(t, s, raw(t, "nats://"+srv.Host()).unsynced(), "on one server alone")
	if len(found) == 2 && !strings.Contains(found[1].Advice, "do not make the server a member of a cluster") {
		t.Errorf("the advice is %q", found[1].Advice)
	}
	_, _, join := cluster(t, 3)
	srv.again(join)
	var err error
	wait.Until(t, "the cluster has a leader", func() bool {
		joined, e := natslease.Open(t.Context(), at("nats://"+srv.Host(), "firn", "timeout=1s"))
		if e != nil {
			return false
		}
		defer joined.Close()
		_, err = joined.Get(t.Context(), "a")
		return err == nil || errors.Is(err, driver.ErrRefused)
	})
	storetest.Fails(t, "a server that has joined", err, driver.ErrRefused, "there is no bucket firn", "remedy: create")
}

// TestClient has a connection that belongs to the caller.
func TestClient(t *testing.T) {
	srv := start(t)
	conn, err := nats.Connect("nats://" + srv.Host())
	testkit.OK(t, err)
	s, err := natslease.New(t.Context(), conn, natslease.Options{})
	testkit.OK(t, err)
	if want := "nats://" + srv.Host() + "/firn"; s.String() != want {
		t.Errorf("String = %s, want %s", s, want)
	}
	testkit.OK(t, s.Prepare(t.Context()))
	conn.Close()
	storetest.CallsFail(t, s, none, "a connection that its owner has closed", driver.ErrUnavailable, "closed")
	if _, err := natslease.New(t.Context(), conn, natslease.Options{Bucket: "a.b"}); !errors.Is(err, driver.ErrAddress) {
		t.Error(err)
	}
}

// TestRestart kills the server only, and the machine goes on. The server therefore loses nothing,
// although the server syncs the disk once a minute.
func TestRestart(t *testing.T) {
	services.Full(t)
	start(t).faults().Restart(t)
}

func TestStopped(t *testing.T) {
	services.Full(t)
	start(t).faults().Stopped(t)
}

func TestOutage(t *testing.T) {
	services.Full(t)
	start(t).faults().Outage(t)
}
