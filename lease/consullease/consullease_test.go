package consullease_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
)

const secret = storetest.Secret + "-" + storetest.Secret

// start serves, and returns the address of the store without settings.
func start(t *testing.T, server *consultest.Server) string {
	return "consul://" + server.Start(t).Listener.Addr().String() + "/p"
}

// TestOpen has addresses with mistakes, and hosts without Consul.
func TestOpen(t *testing.T) {
	silent, gone := storetest.Silent(t), storetest.Gone(t)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler(web.URL, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	secure := httptest.NewTLSServer(consultest.New())
	defer secure.Close()
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	storetest.Refused(t, consullease.Open, map[string][]string{
		"nonsense":                                              {"invalid address"},
		"etcd://h/p?token=" + secret:                            {"not consul://", "etcd://h:8500/p"},
		"consul://u:" + secret + "@h/p":                         {"no users"},
		"consul://h/p?colour=red":                               {"no setting colour, only ca, cert, datacenter"},
		"consul://h/p?timeout=0":                                {"timeout=0"},
		"consul://h/p?token=a%20" + secret:                      {"a character that tokens do not have"},
		"consul://h/p?token-file=/not/there":                    {"/not/there"},
		"consul://h/p?ca=/not/there":                            {"/not/there"},
		"consul://h/a//b":                                       {"the prefix"},
		"consul://h/a/../b":                                     {"the prefix"},
		"consul://h/a%20b":                                      {"the prefix"},
		"consul://h/a@b":                                        {"the prefix"},
		"consul://" + gone + "/p":                               {"connection refused", "remedy: connect", gone + "/p"},
		"consul://" + host(web):                                 {"404, without X-Consul-Index", "remedy: address"},
		"consul://" + host(elsewhere) + "/p":                    {"307", "remedy: address"},
		"consul://" + host(secure) + "/p":                       {"HTTPS", "remedy: address"},
		"consul://" + host(web) + "?tls=true":                   {"remedy: address"},
		"consul://" + host(secure) + "/p?tls=true":              {"remedy: address"},
		"consul://no-such-host.invalid/p?timeout=2s":            {"remedy: address"},
		"consul://" + silent + "?timeout=300ms&token=" + secret: {"deadline exceeded", "remedy: connect"},
	})
	// If the time is up before the machine has asked the second host, the error names the first.
	wait.Until(t, "the error is about the second host", func() bool {
		_, err := consullease.Open(t.Context(), "consul://"+gone+","+silent+"/p?timeout=300ms")
		storetest.Fails(t, "the error", err, driver.ErrUnavailable)
		return strings.Contains(err.Error(), silent+": ")
	})
	wait.Until(t, "the third host is asked in time", func() bool {
		_, err := consullease.Open(t.Context(), "consul://"+silent+","+gone+","+host(web)+"/p?timeout=2s&tls=false")
		storetest.Fails(t, "the error", err, driver.ErrUnavailable)
		return strings.Contains(err.Error(), "404")
	})
	storetest.Cancelled(t, consullease.Open, "consul://"+silent+"/p")
}

// TestErrors has tokens without rights, and servers with faults.
func TestErrors(t *testing.T) {
	below := func(prefix string) func(string) bool {
		return func(key string) bool { return strings.HasPrefix(key, prefix) }
	}
	server := consultest.New()
	server.Tokens = map[string]consultest.Policy{
		secret:      {Read: consultest.All, Write: consultest.All},
		"reader":    {Read: consultest.All},
		"writer":    {Read: consultest.All, Write: consultest.All},
		"part":      {Read: consultest.All, Write: consultest.All},
		"anonymous": {},
	}
	addr := start(t, server)
	// Without keys, the answer to a list does not show that the token may not read.
	_, err := consullease.Open(t.Context(), addr+"?token=anonymous")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "Permission denied", "remedy: permissions")
	all := storetest.Open(t, consullease.Open, addr+"?timeout=1m&token="+secret)
	rev := storetest.Put(t, all, "a", "x", driver.None)

	_, err = consullease.Open(t.Context(), addr+"?token=unknown")
	storetest.Fails(t, "the error", err, driver.ErrRefused, "403: ACL not found", "remedy: permissions")
	storetest.Put(t, all, "b", "x", driver.None)
	reader := storetest.Open(t, consullease.Open, addr+"?token=reader")
	storetest.Want(t, reader, "a", "x", rev)
	_, err = reader.Put(t.Context(), "a", nil, rev)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "Permission denied", "remedy: permissions")
	if errors.Is(err, driver.ErrConflict) {
		t.Errorf("a denied write is a conflict: %v", err)
	}
	// Tokens lose rights after the store was opened.
	writer, part := storetest.Open(t, consullease.Open, addr+"?token=writer"), storetest.Open(t, consullease.Open, addr+"?token=part")
	server.Do(func() {
		server.Tokens["writer"] = consultest.Policy{Read: below("p/a"), Write: consultest.All}
		server.Tokens["part"] = consultest.Policy{Read: below("p/a"), Write: below("p/a")}
	})
	_, err = writer.Put(t.Context(), "c", nil, driver.None)
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "lacks the revision", "remedy: permissions")
	storetest.Fails(t, "the error", testkit.Err(part.Get(t.Context(), "b")), driver.ErrRefused, "403", "key:read")
	storetest.Fails(t, "the error", testkit.Err(part.List(t.Context(), "")), driver.ErrUnavailable, "remedy: permissions")
	if list, err := part.List(t.Context(), "a"); len(list) != 1 || err != nil {
		t.Errorf("List of what may be read: %v, %v", list, err)
	}

	// Answers of a server, or of something before it, to each call.
	storetest.Replies(t, server.Server, all, rev, map[*pretend.Answer][]string{
		pretend.Text(500, "No cluster leader"):                                                                  {"500: No cluster leader", "remedy: connect"},
		pretend.Text(500, "rpc error making call: No cluster leader"):                                           {"remedy: connect"},
		pretend.Text(500, "leadership lost while committing log"):                                               {"remedy: connect"},
		pretend.Text(500, "No path to datacenter"):                                                              {"remedy: address"},
		pretend.Text(500, "oh"):                                                                                 {"500: oh", "remedy: settings"},
		pretend.Text(429, "Your IP is issuing too many concurrent connections, please rate limit your calls\n"): {"429", "remedy: settings"},
		pretend.Text(503, ""):                                                                                   {"503: Service Unavailable", "remedy: settings"},
		pretend.Text(413, "Request body too large"):                                                             {"413", "remedy: settings"},
		pretend.Text(403, "Permission denied for "+secret):                                                      {"Permission denied for (token)"},
		pretend.Text(405, ""):                                                                                   {"remedy: address"},
		pretend.Text(302, ""):                                                                                   {"remedy: address"},
		pretend.Text(200, "<html>welcome</html>"):                                                               {"remedy: address"},
		pretend.Text(200, ""):                                                                                   {"remedy: address"},
		pretend.Text(200, "null"):                                                                               {""},
		pretend.Text(200, "[]"):                                                                                 {"remedy: address"},
		pretend.Text(200, `{"Results":[{"KV":{"Key":"p/b","ModifyIndex":5000}}]}`):                              {"remedy: address"},
		pretend.Text(409, ""):                                                                                   {""},
	})
	// A 404 without Consul's headers does not stand for a missing key.
	server.Do(func() { server.Answer = func(*http.Request) *pretend.Answer { return pretend.Text(404, "") } })
	_, err = all.Get(t.Context(), "a")
	if errors.Is(err, driver.ErrNotFound) {
		t.Errorf("a 404 of something else is %v", err)
	}
	server.Do(func() { server.Answer, server.Consistency = nil, "stale" })
	storetest.Fails(t, "the error", testkit.Err(all.Get(t.Context(), "a")), driver.ErrUnsafe, `"stale"`)
	server.Do(func() { server.Consistency = "" })
	storetest.Want(t, all, "a", "x", rev)

	// Without a leader calls fail in time. A call whose time is long enough waits for a leader.
	server.Do(func() { server.NoLeader = true })
	leaderless(t, func(ctx context.Context) error { _, err := all.Put(ctx, "a", []byte("y"), rev); return err })
	elects(server, "GET /v1/kv/p/")
	patient := storetest.Open(t, consullease.Open, addr+"?timeout=2m&token="+secret)
	elects(server, "PUT /v1/txn")
	storetest.Put(t, patient, "a", "y", rev)
}

// elects leaves a server without a leader until the second request, such as "PUT /v1/txn". The
// server has then refused the first.
func elects(server *consultest.Server, request string) {
	server.Do(func() { server.NoLeader = true })
	before := server.Count(request)
	go func() {
		wait.For(func() bool { return server.Count(request) >= before+2 })
		server.Do(func() { server.NoLeader = false })
	}()
}

// leaderless checks that a call with little time fails, and that the error says why. On a busy
// machine the time may be up before the answer.
func leaderless(t *testing.T, call func(context.Context) error) {
	t.Helper()
	wait.Until(t, "the error is that there is no leader", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := call(ctx)
		storetest.Fails(t, "the error", err, driver.ErrUnavailable)
		return strings.Contains(err.Error(), "No cluster leader")
	})
}

func TestDamaged(t *testing.T) {
	server := consultest.New()
	s := storetest.Open(t, consullease.Open, start(t, server))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	for _, name := range []string{"Upper", "a//b", "a.b", "a,b", "a,", ",p", "x,pp,q"} {
		server.Set("p/"+name, func(p *consultest.Pair) { p.Value = []byte("foreign") })
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Key != "a" {
		t.Errorf("List = %v, %v", list, err)
	}
	findings, err := s.Inspect(t.Context())
	if err != nil || len(findings) != 1 || findings[0].Loses || !strings.Contains(findings[0].Text, "7 keys") {
		t.Errorf("Inspect = %v, %v", findings, err)
	}
	server.Set("p/b", func(p *consultest.Pair) { p.Value = make([]byte, driver.MaxValue+1) })
	storetest.Damaged(t, s, "b")
	storetest.Want(t, s, "a", "x", rev)
	storetest.Conflicts(t, s, "0", "-1", "x", "1 ", "+"+rev, "0"+rev, rev+"0", "99999999999999999999")
	// A key that is deleted and made again has another revision.
	server.Delete("p/a")
	storetest.Fails(t, "the error", testkit.Err(s.Put(t.Context(), "a", []byte("y"), rev)), driver.ErrConflict)
	if again := storetest.Put(t, s, "a", "x", driver.None); again == rev {
		t.Errorf("the revision %q came again", rev)
	}
}

// TestFaults loses, delays and repeats requests.
func TestFaults(t *testing.T) {
	server, spare := consultest.New(), consultest.New()
	host, other := server.Start(t).Listener.Addr().String(), spare.Start(t).Listener.Addr().String()
	s := storetest.Open(t, consullease.Open, "consul://"+host+","+other+"/p?timeout=1m")
	storetest.Faults(t, server.Server, s)
	if n := spare.Count("PUT /v1/txn"); n != 0 {
		t.Errorf("writes were sent %d times to another host", n)
	}
	// A read goes to the other host. The other host has another cluster here, and so another value.
	storetest.Put(t, storetest.Open(t, consullease.Open, "consul://"+other+"/p"), "a", "spare", driver.None)
	for fault, timeout := range map[pretend.Fault]string{pretend.Cut: "1m", pretend.HalfReply: "1m", pretend.Hang: "10s"} {
		s := storetest.Open(t, consullease.Open, "consul://"+host+","+other+"/p?timeout="+timeout)
		server.Do(func() { server.Fault = func(*http.Request) pretend.Fault { return fault } })
		e, err := s.Get(t.Context(), "a")
		if err != nil || string(e.Value) != "spare" {
			t.Errorf("fault %d: a read of the other host is %q, %v", fault, e.Value, err)
		}
		server.Do(func() { server.Fault = nil })
	}
}

// TestHosts has hosts that are down or refuse requests. A write goes to another host.
func TestHosts(t *testing.T) {
	gone := storetest.Gone(t)
	server, busy := consultest.New(), consultest.New()
	host, second := server.Start(t).Listener.Addr().String(), busy.Start(t).Listener.Addr().String()
	s := storetest.Open(t, consullease.Open, "consul://"+gone+","+host+"/p")
	rev := storetest.Put(t, s, "a", "x", driver.None)
	both := storetest.Open(t, consullease.Open, "consul://"+second+","+host+"/p")
	busy.Do(func() {
		busy.Answer = func(*http.Request) *pretend.Answer { return pretend.Text(429, "") }
	})
	rev = storetest.Put(t, both, "a", "y", rev)
	storetest.Want(t, s, "a", "y", rev)
	if busy.Count("PUT /v1/txn") != 1 {
		t.Errorf("the busy host was asked %d times", busy.Count("PUT /v1/txn"))
	}
	storetest.Want(t, both, "a", "y", rev)
	if got := busy.Count("GET /v1/kv/p/a"); got != 0 {
		t.Errorf("the busy host was asked again, %d times", got)
	}

	// One host is down, and the other has no leader, or has a leader soon.
	patient := storetest.Open(t, consullease.Open, "consul://"+host+","+gone+"/p?timeout=2m")
	server.Do(func() { server.NoLeader = true })
	leaderless(t, func(ctx context.Context) error { _, err := patient.Get(ctx, "a"); return err })
	leaderless(t, func(ctx context.Context) error { _, err := patient.Put(ctx, "a", nil, rev); return err })
	elects(server, "PUT /v1/txn")
	rev = storetest.Put(t, patient, "a", "z", rev)
	storetest.Want(t, patient, "a", "z", rev)
}

func TestScope(t *testing.T) {
	server := consultest.New()
	addr := start(t, server)
	_, err := consullease.Open(t.Context(), addr+"?namespace=team")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "remedy: address")
	_, err = consullease.Open(t.Context(), addr+"?datacenter=dc9")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "remedy: address")
	storetest.Put(t, storetest.Open(t, consullease.Open, addr+"?datacenter=dc1"), "a", "x", driver.None)
	server = consultest.New()
	server.Enterprise = true
	addr = start(t, server)
	for _, scope := range []string{"", "?namespace=a", "?namespace=b", "?partition=a", "?namespace=a&partition=a"} {
		s := storetest.Open(t, consullease.Open, addr+scope)
		storetest.Want(t, s, "k", scope, storetest.Put(t, s, "k", scope, driver.None)) // which none of the others has
	}
}

func TestTLS(t *testing.T) {
	server := consultest.New()
	server.Tokens = map[string]consultest.Policy{secret: {Read: consultest.All, Write: consultest.All}}
	web := server.StartWith(t, (*httptest.Server).StartTLS)
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca"), filepath.Join(dir, "token")
	testkit.OK(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600))
	testkit.OK(t, os.WriteFile(token, []byte(secret+"\n"), 0o600))
	addr := "consul://" + web.Listener.Addr().String() + "/p?token-file=" + token + "&ca=" + ca
	s := storetest.Open(t, consullease.Open, addr)
	storetest.Want(t, s, "a", "x", storetest.Put(t, s, "a", "x", driver.None))
	if strings.Contains(s.String(), "token") || s.String() != "consul://"+web.Listener.Addr().String()+"/p" {
		t.Errorf("String = %s", s)
	}
	_, err := consullease.Open(t.Context(), addr+"&server-name=consul.example")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable, "remedy: address")
}

func TestWatch(t *testing.T) {
	server := consultest.New()
	web := server.Start(t)
	addr := "consul://" + web.Listener.Addr().String() + "/p"
	s, other := storetest.Open(t, consullease.Open, addr), storetest.Open(t, consullease.Open, addr)
	rev := storetest.Put(t, other, "pool/a", "x", driver.None)
	ctx, cancel := context.WithCancel(t.Context())
	c := testkit.Must(s.Watch(ctx, "pool/"))
	for i := range 5 {
		rev = storetest.Put(t, other, "pool/a", fmt.Sprint(i), rev)
		storetest.Told(t, "a change", c)
	}
	// The index goes back, as after the restore of a snapshot, and a change gets an index for the
	// second time.
	wait.Until(t, "the index goes back while a request waits", func() bool {
		server.SetIndex(12)
		select {
		case <-c:
			return true
		default:
			return false
		}
	})
	for range 2 { // the second value is for changes while the watch began again
		storetest.Put(t, other, fmt.Sprintf("pool/%d", server.Count("PUT /v1/txn")), "x", driver.None)
		storetest.Told(t, "a change after that", c)
	}
	// The server is out of reach, and there again.
	var cut atomic.Int64
	server.Do(func() {
		server.Fault = func(*http.Request) pretend.Fault { cut.Add(1); return pretend.Cut }
	})
	web.CloseClientConnections()
	wait.Until(t, "the watch has asked the server", func() bool { return cut.Load() > 0 })
	server.Do(func() { server.Fault = nil })
	storetest.Put(t, other, "pool/b", "x", driver.None)
	storetest.Told(t, "a change after an outage", c)
	cancel()
	wait.Closed(t, "the watch ends with its context", c)
	c = testkit.Must(s.Watch(t.Context(), "//"))
	s.Close()
	if _, ok := wait.Receive(t, "the end of the watch", c); ok {
		t.Error("a value under a prefix that no key has")
	}
	_, err := s.Watch(t.Context(), "")
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("Watch after Close: %v", err)
	}
}

func TestInspect(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*consultest.Server)
		loses  bool
		want   string // in the text of the first finding; "" for none
	}{
		"well":        {func(*consultest.Server) {}, false, ""},
		"one server":  {func(s *consultest.Server) { s.Peers = s.Peers[:1] }, true, "a single server"},
		"two servers": {func(s *consultest.Server) { s.Peers = s.Peers[:2] }, false, "two servers"},
		"no leader":   {func(s *consultest.Server) { s.NoLeader = true }, false, "have no leader"},
		"development": {func(s *consultest.Server) { s.Self = `{"Config":{"Version":"1.20.1"},"DebugConfig":{"DevMode":true}}` }, true, "runs with -dev"},
		"old":         {func(s *consultest.Server) { s.Self = `{"Config":{"Version":"1.10.12+ent"}}` }, false, "silently leaves"},
		"stale":       {func(s *consultest.Server) { s.Self = `{"DebugConfig":{"DiscoveryMaxStale":"87600h0m0s"}}` }, false, "discovery_max_stale = 87600h0m0s"},
		"one voter":   {func(s *consultest.Server) { s.Raft = `{"Servers":[{"Voter":true,"Leader":true},{},{}]}` }, true, "only one server of 3 has a vote"},
		"unknown server": {func(s *consultest.Server) {
			s.Raft = `{"Servers":[{"Voter":true},{"Voter":true},{"Node":"(unknown)","Voter":true}]}`
		}, false, "nobody knows"},
		"session": {func(s *consultest.Server) {
			s.Set("p/a", func(p *consultest.Pair) { p.Session = "5f0e" })
		}, true, "locked by sessions"},
		"no permissions": {func(s *consultest.Server) {
			s.Tokens = map[string]consultest.Policy{"": {Read: consultest.All, Write: consultest.All}}
		}, false, "'operator:read'  permissions"},
		"no agent": {func(s *consultest.Server) {
			s.Tokens = map[string]consultest.Policy{"": {Read: consultest.All, Write: consultest.All, Operator: true}}
		}, false, "'agent:read' on \"a\"  permissions"},
		"not Consul": {func(s *consultest.Server) { s.Raft = "<html>" }, false, "address"},
	} {
		t.Run(name, func(t *testing.T) {
			server := consultest.New()
			s := storetest.Open(t, consullease.Open, start(t, server)+"?timeout=5s")
			if name == "session" {
				c.change(server)
			} else {
				server.Do(func() { c.change(server) })
			}
			findings, err := s.Inspect(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == "" && len(findings) == 0:
			case c.want == "" || len(findings) == 0 || findings[0].Loses != c.loses || !strings.Contains(fmt.Sprint(findings), c.want):
				t.Errorf("Inspect = %v; want %q, loses: %v", findings, c.want, c.loses)
			}
		})
	}
	s := storetest.Open(t, consullease.Open, start(t, consultest.New()))
	s.Close()
	testkit.Is(t, testkit.Err(s.Inspect(t.Context())), os.ErrClosed, "Inspect after Close")
}
