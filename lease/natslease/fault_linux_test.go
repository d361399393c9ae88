package natslease

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
)

// Bad addresses, and hosts where there is no NATS.
func TestOpen(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	for addr, words := range map[string][]string{
		"nonsense":                          {"invalid address"},
		"http://u:hunter2@h/b":              {"invalid address", "not nats://", "http://h:4222/b"},
		"nats://u:hunter2@h/b?password=x":   {"invalid address", "two passwords"},
		"nats://u@h/b":                      {"invalid address", "go together"},
		"nats://h/b?password=hunter2":       {"invalid address", "go together"},
		"nats://u:hunter2@h/b?token=x":      {"invalid address", "more than one"},
		"nats://h/b?colour=red":             {"invalid address", "no setting colour"},
		"nats://h/a.b":                      {"invalid address", "bucket"},
		"nats://h/a/b":                      {"invalid address", "bucket"},
		"nats://h/b?replicas=6":             {"invalid address", "replicas=6"},
		"nats://h/b?creds-file=/not/there":  {"/not/there"},
		"nats://h/b?nkey-file=/not/there":   {"/not/there"},
		"nats://u:hunter2@" + gone:          {"no servers available", "see that the servers run", "nats://" + gone + "/firn"},
		"nats://nowhere.invalid?timeout=3s": {"nowhere.invalid", "see that"},
		"nats://u:hunter2@" + silent.Addr().String() + "?timeout=300ms":    {"see that the servers run"},
		"nats://" + silent.Addr().String() + "?timeout=300ms&tls=true":     {"see that"},
		"nats://" + silent.Addr().String() + "," + gone + "?timeout=300ms": {"see that"},
	} {
		begin := time.Now()
		s, err := Open(t.Context(), addr)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", addr)
			continue
		}
		fails(t, addr, err, driver.ErrUnavailable, words...)
		if words[0] == "invalid address" && !errors.Is(err, address.ErrAddress) {
			t.Errorf("%v is not ErrAddress", err)
		}
		if took := time.Since(begin); took > 20*time.Second { // far longer than any time-out
			t.Errorf("%s took %s", addr, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begin := time.Now()
	_, err = Open(ctx, "nats://u:hunter2@"+silent.Addr().String()+"?timeout=1m")
	fails(t, "cancelled", err, driver.ErrUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second { // half of the time-out
		t.Errorf("cancelled: it took %s", took)
	}
	// One host that does not answer leaves time for the others.
	srv := start(t)
	for range 4 { // they are taken in any order
		mustOpen(t, "nats://"+silent.Addr().String()+","+srv.Host()+"?timeout=2s")
	}
}

func create(t *testing.T, s *Store, c jetstream.StreamConfig) {
	t.Helper()
	s.js.DeleteStream(t.Context(), c.Name)
	if _, err := s.js.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// TestBuckets has buckets, and streams that are none, that others have made, or changed.
func TestBuckets(t *testing.T) {
	raw := needGiven(t)
	name := buckets(t, raw)
	unsynced := "syncs its disk once a minute"
	if raw.version() >= 2_10 {
		unsynced = "sync_interval: always"
	}
	open := func() *Store { // that has not looked yet
		s := &Store{conn: raw.conn, js: raw.js, address: "nats://given", options: raw.options}
		s.options.Bucket, s.ctx = name, t.Context()
		return s
	}
	for call, err := range all(t.Context(), open()) {
		if call != "prepare" {
			fails(t, "no bucket: "+call, err, driver.ErrUnavailable, name, "firn pool create", "if there were pools, they are lost: rescue each")
		}
	}
	if err := raw.js.DeleteStream(t.Context(), "KV_"+name); err != nil {
		t.Error(err)
	}
	findings(t, open(), false, "there is no bucket "+name)
	good := open().config()
	create(t, raw, good)
	findings(t, open(), true, unsynced, "on one server alone")
	synced := open()
	synced.options.SyncAlways = true
	findings(t, synced, false, "on one server alone")

	for _, c := range []struct {
		word   string
		change func(c *jetstream.StreamConfig)
	}{
		{"lets any replica answer", func(c *jetstream.StreamConfig) { c.AllowDirect = true }},
		{"not one of keys and values", func(c *jetstream.StreamConfig) { c.Subjects = []string{name + ".>"} }},
		{"not one of keys and values", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = -1 }},
		{"not one of keys and values", func(c *jetstream.StreamConfig) { c.NoAck = true }},
		{"a mirror", func(c *jetstream.StreamConfig) {
			*c = jetstream.StreamConfig{Name: c.Name, MaxMsgsPerSubject: 1, Mirror: &jetstream.StreamSource{Name: "other"}}
		}},
	} {
		changed := good
		c.change(&changed)
		create(t, raw, changed)
		s := open()
		for call, err := range all(t.Context(), s) {
			fails(t, c.word+": "+call, err, driver.ErrUnsafe, name, c.word, "which firn pool create makes", "stop all processes that use this one, and rescue")
		}
		found, err := s.Inspect(t.Context())
		if err != nil || !slices.ContainsFunc(found, func(f driver.Finding) bool { return !f.Loses && strings.Contains(f.Text, c.word) }) {
			t.Errorf("%s: Inspect finds %v, %v", c.word, found, err)
		}
	}
	// As package jetstream makes them.
	if err := raw.js.DeleteStream(t.Context(), good.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: name}); err != nil {
		t.Fatal(err)
	}
	_, err := open().Get(t.Context(), "a")
	fails(t, "a bucket of other tools", err, driver.ErrUnsafe, "allow_direct", "--no-allow-direct")

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
		{[]string{unsynced, "takes in what others hold", "on one server alone"}, true, func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "other"}} }},
	} {
		changed := good
		c.change(&changed)
		create(t, raw, changed)
		findings(t, open(), c.loses, c.words...)
	}

	// Full, nearly or altogether.
	small := good
	small.MaxBytes = 12_000
	create(t, raw, small)
	s := open()
	rev := mustPut(t, s, "a", "x", driver.None)
	mustPut(t, s, "b0", strings.Repeat("x", driver.MaxValue), driver.None)
	mustPut(t, s, "b1", strings.Repeat("x", driver.MaxValue), driver.None)
	_, err = s.Put(t.Context(), "b2", make([]byte, driver.MaxValue), driver.None)
	fails(t, "full", err, driver.ErrUnavailable, "maximum bytes", "is full")
	want(t, s, "a", "x", rev)
	mustPut(t, s, "b3", strings.Repeat("x", 2500), driver.None)
	findings(t, s, true, unsynced, "is nearly full", "on one server alone")
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != 4 {
		t.Errorf("%d entries, %v", len(list), err)
	}

	// What nobody may do.
	create(t, raw, good)
	s = open()
	mustPut(t, s, "a", "x", driver.None)
	stream, _, err := s.stream(t.Context(), "test", "")
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := s.bucket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"a deleted message": stream.DeleteMsg(t.Context(), 1), "a purged stream": stream.Purge(t.Context()), "a purged key": bucket.Purge(t.Context(), "a")} {
		if err == nil {
			t.Errorf("%s was let through", what)
		}
	}
	// What can be done all the same.
	if _, err := bucket.PutString(t.Context(), "FOREIGN.key", "x"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != 1 || list[0].Key != "a" {
		t.Errorf("%v, %v", list, err)
	}
	if err := bucket.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Get(t.Context(), "a")
	fails(t, "a deleted key", err, driver.ErrDamaged, "was deleted", "rescue the pool")
	list, err := s.List(t.Context(), "")
	fails(t, "a deleted key", err, driver.ErrDamaged, "was deleted")
	if len(list) != 1 || !errors.Is(list[0].Err, driver.ErrDamaged) {
		t.Fatalf("%v", list)
	}
	_, err = s.Put(t.Context(), "a", nil, driver.None) // it is not taken for one that never was
	fails(t, "a deleted key", err, driver.ErrConflict)
	mustPut(t, s, "a", "anew", list[0].Revision)
	if e, err := s.Get(t.Context(), "a"); err != nil || string(e.Value) != "anew" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := bucket.Put(t.Context(), "c", make([]byte, driver.MaxValue+1)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Get(t.Context(), "c")
	fails(t, "a key of something else", err, driver.ErrDamaged, "more than an entry")

	// Made again, under a store that knows better.
	s = open()
	mustPut(t, s, "d", "x", driver.None)
	e, err := s.Get(t.Context(), "d")
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.js.DeleteStream(t.Context(), good.Name); err != nil {
		t.Fatal(err)
	}
	_, err = s.Get(t.Context(), "d")
	fails(t, "a bucket that is gone", err, driver.ErrUnavailable, "no bucket", "rescue each")
	create(t, raw, good)
	fresh := open()
	sequence, _, _ := strings.Cut(string(e.Revision), ".")
	for range 100 { // to the same sequence
		rev = mustPut(t, fresh, "d", "y", revisionOf(t, fresh, "d"))
		if strings.HasPrefix(string(rev), sequence+".") {
			break
		}
	}
	if !strings.HasPrefix(string(rev), sequence+".") || rev == e.Revision {
		t.Fatalf("the revision was %s and is %s", e.Revision, rev)
	}
	_, err = fresh.Put(t.Context(), "d", nil, e.Revision)
	fails(t, "a revision of another life", err, driver.ErrConflict)
	for range 2 {
		for call, err := range all(t.Context(), s) {
			fails(t, "made again: "+call, err, driver.ErrUnsafe, "deleted, and made again", "stop all processes that use its pools, and rescue the pools")
		}
	}
	// Set back.
	fresh.saw(1000)
	_, err = fresh.Get(t.Context(), "d")
	fails(t, "set back", err, driver.ErrUnsafe, "forgotten some")
	_, err = fresh.Put(t.Context(), "d", nil, rev)
	fails(t, "set back", err, driver.ErrUnsafe, "forgotten some")
}

// revisionOf returns the revision that an entry has, or None.
func revisionOf(t *testing.T, s *Store, key string) driver.Revision {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil && !errors.Is(err, driver.ErrNotFound) {
		t.Fatal(err)
	}
	return e.Revision
}

// findings fails the test unless Inspect finds what has these words, in this order, and nothing else; the first of it
// loses changes, or not.
func findings(t testing.TB, s *Store, loses bool, words ...string) {
	t.Helper()
	found, err := s.Inspect(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	if len(found) != len(words) {
		t.Errorf("Inspect finds %+v, want what has %q", found, words)
		return
	}
	for i, f := range found {
		if !strings.Contains(f.Text, words[i]) || strings.HasSuffix(f.Text, ".") || f.Advice == "" {
			t.Errorf("Inspect finds %+v, want what has %q", f, words[i])
		}
		if testing.Verbose() {
			t.Logf("%+v", f)
		}
	}
	if found[0].Loses != loses {
		t.Errorf("Inspect finds %+v, want Loses to be %v", found[0], loses)
	}
}

func secret(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLogin(t *testing.T) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
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
		"another key":      at("", "nkey-file="+secret(t, string(otherSeed))),
	} {
		_, err := Open(t.Context(), addr)
		fails(t, what, err, driver.ErrUnavailable, "uthorization", "see that what logs in is right")
		if strings.Contains(err.Error(), "hunter") {
			t.Error(err)
		}
	}
	s := prepared(t, at("me@", "password-file="+secret(t, "hunter2")))
	rev := mustPut(t, s, "a", "x", driver.None)
	want(t, mustOpen(t, at("", "nkey-file="+secret(t, string(seed)))), "a", "x", rev)

	// What the advice gives as the rights that leases need is enough.
	some := prepared(t, at("some:hunter2@"))
	rev = mustPut(t, some, "a", "y", rev)
	if list, err := some.List(t.Context(), ""); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := some.Watch(t.Context(), ""); err != nil {
		t.Error(err)
	}
	_, err = Open(t.Context(), at("none:hunter2@", "timeout=500ms"))
	fails(t, "without rights", err, driver.ErrUnavailable, "ermissions violation", "allow the user to publish to $KV.firn.>")
	reader := mustOpen(t, at("reader:hunter2@", "timeout=500ms"))
	want(t, reader, "a", "y", rev)
	_, err = reader.Put(t.Context(), "a", nil, rev)
	fails(t, "without the right to write", err, driver.ErrUnavailable, "ermissions violation", "allow the user to publish to $KV.firn.>")

	token := start(t, `authorization { token: "hunter2" }`)
	prepared(t, token.address("token-file="+secret(t, "hunter2")))
	_, err = Open(t.Context(), token.address())
	fails(t, "no token", err, driver.ErrUnavailable, "uthorization", "token-file")
}

func TestTLS(t *testing.T) {
	cert, key := certify(t)
	srv := start(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, cert))
	s := prepared(t, srv.address("ca="+cert, "cert="+cert, "key="+key))
	mustPut(t, s, "a", "x", driver.None)
	for what, settings := range map[string][]string{
		"a certificate that nobody knows": {"tls=true", "cert=" + cert, "key=" + key},
		"a certificate of another":        {"ca=" + cert, "cert=" + cert, "key=" + key, "server-name=other"},
		"none of one's own":               {"ca=" + cert},
	} {
		_, err := Open(t.Context(), srv.address(settings...))
		fails(t, what, err, driver.ErrUnavailable, "see to tls, ca")
	}
	_, err := Open(t.Context(), start(t).address("tls=true"))
	fails(t, "no TLS", err, driver.ErrUnavailable, "see to tls, ca")
}

func TestServer(t *testing.T) {
	srv := start(t)
	srv.Kill()
	srv.configure(fmt.Sprintf("listen: 127.0.0.1:%d", srv.Port))
	srv.run()
	_, err := Open(t.Context(), srv.address("timeout=1s"))
	fails(t, "no JetStream", err, driver.ErrUnavailable, "witch", "JetStream")
	defer func(was int) { oldest = was }(oldest)
	oldest = 99_00
	_, err = Open(t.Context(), srv.address())
	fails(t, "an old server", err, driver.ErrUnsafe, "is too old", "use NATS 99.0")
	oldest = 2_09

	small := start(t)
	small.Kill()
	small.configure(fmt.Sprintf("listen: 127.0.0.1:%d", small.Port), fmt.Sprintf("jetstream { store_dir: %q, max_file_store: 10000 }", t.TempDir()))
	small.run()
	s := prepared(t, small.address())
	for i := range 10 {
		if _, err = s.Put(t.Context(), strconv.Itoa(i), make([]byte, driver.MaxValue), driver.None); err != nil {
			break
		}
	}
	fails(t, "a server that is full", err, driver.ErrUnavailable, "is full")
	s = mustOpen(t, at("nats://"+small.Host(), "other", "replicas=3"))
	fails(t, "more replicas than servers", s.Prepare(t.Context()), driver.ErrUnavailable, "replicas")
}

// TestRestart kills a server, again and again, while stores put: nothing that it acknowledged is lost, since its
// machine lives.
func TestRestart(t *testing.T) {
	srv := start(t)
	s := prepared(t, srv.address("timeout=2s"))
	const writers = 4
	last := make([]driver.Entry, writers)
	number := func(rev driver.Revision) int {
		sequence, _, _ := strings.Cut(string(rev), ".")
		n, _ := strconv.Atoi(sequence)
		return n
	}
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("the last answer: %v", err)
		}
	}()
	for round := range 4 {
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				key := fmt.Sprintf("w/%d", w)
				for n := 0; ; n++ {
					value := fmt.Sprintf("%d-%d", round, n)
					rev, err := s.Put(t.Context(), key, []byte(value), last[w].Revision)
					if err != nil {
						return
					}
					last[w] = driver.Entry{Key: key, Value: []byte(value), Revision: rev}
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		srv.Kill()
		all.Wait()
		_, err = s.Get(t.Context(), "w/0")
		fails(t, "killed", err, driver.ErrUnavailable, "see that the servers run")
		srv.run()
		// The store goes on, by a connection of its own.
		eventually(t, "the store is connected again", func() bool { _, err = s.Get(t.Context(), "w/0"); return err == nil || errors.Is(err, driver.ErrUnsafe) })
		for w := range writers {
			e, err := s.Get(t.Context(), fmt.Sprintf("w/%d", w))
			if err != nil {
				t.Fatal(err)
			}
			if number(e.Revision) < number(last[w].Revision) || e.Revision == last[w].Revision && string(e.Value) != string(last[w].Value) {
				t.Errorf("round %d: %s was %s at %s, and is %s at %s", round, e.Key, last[w].Value, last[w].Revision, e.Value, e.Revision)
			}
			last[w] = e
		}
	}
}

// TestStopped has a server that does not answer for a while.
func TestStopped(t *testing.T) {
	srv := start(t)
	s := prepared(t, srv.address())
	rev := mustPut(t, s, "a", "x", driver.None)
	srv.stop()
	s.options.Timeout = 300 * time.Millisecond
	for call, err := range all(t.Context(), s) {
		fails(t, "stopped: "+call, err, driver.ErrUnavailable, "no answer in time", "see that the servers run")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped: %s: %v is not DeadlineExceeded", call, err)
		}
	}
	_, err := s.Inspect(t.Context())
	fails(t, "stopped: inspect", err, driver.ErrUnavailable, "no answer in time")
	_, err = s.Watch(t.Context(), "")
	fails(t, "stopped: watch", err, driver.ErrUnavailable, "no answer in time")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := s.Get(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	srv.resume()
	s.options.Timeout = DefaultTimeout
	eventually(t, "it answers again", func() bool { _, err := s.Get(t.Context(), "a"); return err == nil })
	want(t, s, "a", "x", rev)
	s.Close()
	for call, err := range all(t.Context(), s) {
		fails(t, "closed: "+call, err, driver.ErrUnavailable, "closed")
	}
}

func told(t *testing.T, what string, changed <-chan struct{}) {
	t.Helper()
	select {
	case _, ok := <-changed:
		if !ok {
			t.Fatalf("%s: the channel was closed", what)
		}
	case <-time.After(time.Minute): // far longer than it takes
		t.Fatalf("%s: nobody was told", what)
	}
}

// untold fails the test if there is a hint that nobody has received. What comes late is not seen.
func untold(t *testing.T, what string, changed <-chan struct{}) {
	t.Helper()
	select {
	case _, ok := <-changed:
		t.Errorf("%s: told, %v", what, ok)
	default:
	}
}

func TestWatch(t *testing.T) {
	srv := start(t)
	s, other := prepared(t, srv.address()), mustOpen(t, srv.address())
	mustPut(t, s, "pool/x/0", "", driver.None)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := func(ctx context.Context, prefix string) <-chan struct{} {
		t.Helper()
		changed, err := s.Watch(ctx, prefix)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	everything, pool, part, empty := watch(t.Context(), ""), watch(ctx, "pool/"), watch(t.Context(), "pool/x/1"), watch(t.Context(), "nothing/")
	untold(t, "what was there before", everything)
	mustPut(t, other, "other", "x", driver.None)
	told(t, "everything", everything)
	rev := mustPut(t, other, "pool/x/0", "y", revisionOf(t, s, "pool/x/0"))
	told(t, "everything", everything)
	told(t, "pool", pool)
	mustPut(t, other, "pool/x/1", "x", driver.None)
	told(t, "everything", everything)
	told(t, "pool", pool)
	told(t, "part", part)
	untold(t, "part", part)
	untold(t, "empty", empty)

	for round := range 3 {
		srv.Kill()
		srv.run()
		for what, changed := range map[string]<-chan struct{}{"everything": everything, "pool": pool, "part": part, "empty": empty} {
			told(t, what+", after doubt", changed)
		}
		eventually(t, "the other is connected", func() bool { _, err := other.Get(t.Context(), "other"); return err == nil })
		rev = mustPut(t, other, "pool/x/0", fmt.Sprint(round), rev)
		told(t, "pool, again", pool)
		told(t, "everything, again", everything)
	}
	mustPut(t, other, "nothing/x", "x", driver.None)
	told(t, "empty", empty)

	cancel()
	eventually(t, "the channel is closed", func() bool {
		select {
		case _, ok := <-pool:
			return !ok
		default:
			return false
		}
	})
	s.Close()
	for _, changed := range []<-chan struct{}{everything, part, empty} {
		eventually(t, "the channel is closed", func() bool {
			select {
			case _, ok := <-changed:
				return !ok
			default:
				return false
			}
		})
	}
	_, err := s.Watch(t.Context(), "")
	fails(t, "Watch after Close", err, driver.ErrUnavailable, "closed")
}

// TestNetwork has three servers with a bucket on each. The one that leads the bucket is killed, and stopped.
func TestNetwork(t *testing.T) {
	var ports, routes []string
	for range 3 {
		ports = append(ports, strconv.Itoa(freePort(t)))
		routes = append(routes, "nats://127.0.0.1:"+ports[len(ports)-1])
	}
	var servers []*server
	var hosts []string
	for i := range 3 {
		srv := start(t, fmt.Sprintf("server_name: n%d", i),
			fmt.Sprintf("cluster { name: c, listen: \"127.0.0.1:%s\", routes: [%s] }", ports[i], strings.Join(routes, ", ")))
		servers, hosts = append(servers, srv), append(hosts, srv.Host())
	}
	addr := "nats://" + strings.Join(hosts, ",") + "/firn?timeout=2s"
	var s *Store
	eventually(t, "the cluster has a leader", func() bool {
		var err error
		if s == nil {
			if s, err = Open(t.Context(), addr); err != nil {
				return false
			}
			t.Cleanup(func() { s.Close() })
		}
		return s.Prepare(t.Context()) == nil
	})
	_, info, err := s.stream(t.Context(), "test", "")
	if err != nil || info.Config.Replicas != 3 {
		t.Fatalf("the bucket has %d replicas, %v", info.Config.Replicas, err)
	}
	unsynced := "syncs its disk once a minute"
	if s.version() >= 2_10 {
		unsynced = "sync_interval: always"
	}
	eventually(t, "all replicas keep up", func() bool { f, err := s.Inspect(t.Context()); return err == nil && len(f) == 1 })
	findings(t, s, true, unsynced)
	acknowledged := mustPut(t, s, "a", "0", driver.None)
	value := "0"
	for round := range 2 {
		var leader *server
		eventually(t, "there is a leader", func() bool {
			_, info, err := s.stream(t.Context(), "test", "")
			if err != nil || info.Cluster == nil || info.Cluster.Leader == "" {
				return false
			}
			n, err := strconv.Atoi(strings.TrimPrefix(info.Cluster.Leader, "n"))
			leader = servers[n]
			return err == nil
		})
		if round%2 == 0 {
			leader.Kill()
		} else {
			leader.stop()
		}
		attempt := 0
		eventually(t, "another leads", func() bool {
			e, err := s.Get(t.Context(), "a")
			if err != nil {
				if errors.Is(err, driver.ErrUnsafe) {
					t.Fatal(err)
				}
				return false
			}
			if e.Revision != acknowledged && string(e.Value) != value || e.Revision == acknowledged && string(e.Value) != value {
				// It may be one of the attempts whose outcome was not told.
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
			leader.run()
		} else {
			leader.resume()
		}
		eventually(t, "all are there again", func() bool { f, err := s.Inspect(t.Context()); return err == nil && len(f) == 1 })
		eventually(t, "what was acknowledged is there", func() bool {
			e, err := s.Get(t.Context(), "a")
			if err == nil && (string(e.Value) != value || e.Revision != acknowledged) {
				t.Fatalf("it is %s at %s, not %s at %s", e.Value, e.Revision, value, acknowledged)
			}
			return err == nil // they may choose another leader still
		})
	}
	// Without a majority there is an error in time, and it has the leader as its cause or the silence.
	servers[0].Kill()
	servers[1].Kill()
	if _, err := s.Put(t.Context(), "a", []byte("x"), acknowledged); err == nil {
		t.Error("a Put without a majority was acknowledged")
	} else {
		fails(t, "no majority", err, driver.ErrUnavailable)
	}
}

// TestOutage has a server that is away for longer than a window: minting ends where the times do, and goes on when it is back.
func TestOutage(t *testing.T) {
	srv := start(t)
	s := prepared(t, srv.address("timeout=2s"))
	g, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, leased.Options{Store: s, Create: true, Lease: lease.Config{Window: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seen := make(map[nanoflake.ID]bool)
	mint := func() error {
		for range 10 {
			id, err := g.TryNext()
			if err != nil {
				if errors.Is(err, nanoflake.ErrExhausted) {
					return nil
				}
				return err
			}
			if seen[id] {
				t.Fatalf("%v comes twice", id)
			}
			seen[id] = true
		}
		return nil
	}
	for round := range 2 {
		srv.Kill()
		eventually(t, "the times have run out", func() bool { return errors.Is(mint(), lease.ErrLeaseExpired) })
		if l.Err() == nil || !errors.Is(l.Err(), driver.ErrUnavailable) {
			t.Errorf("round %d: the lease's error is %v", round, l.Err())
		}
		srv.run()
		eventually(t, "minting goes on", func() bool { return mint() == nil })
	}
}

// TestClient has the errors of a connection that is the caller's.
func TestClient(t *testing.T) {
	srv := start(t)
	conn, err := nats.Connect("nats://" + srv.Host())
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), conn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "nats://" + srv.Host() + "/firn"; s.String() != want {
		t.Errorf("String = %s, want %s", s, want)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for call, err := range all(t.Context(), s) {
		fails(t, "a connection that its owner has closed: "+call, err, driver.ErrUnavailable, "closed")
	}
	if _, err := New(t.Context(), conn, Options{Bucket: "a.b"}); !errors.Is(err, address.ErrAddress) {
		t.Error(err)
	}
}
