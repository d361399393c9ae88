package consullease_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
)

// TestAdvice meets the errors and findings of the store, and follows their advice.
func TestAdvice(t *testing.T) {
	if addr := os.Getenv(trusting); addr != "" {
		testkit.OK(t, use(t, addr))
		return
	}
	texts := append(sources.Texts(t, "."), sources.Texts(t, filepath.Join("..", "internal", "rest"))...)
	advice.Check(t, advice.Test{
		Tables: [][]advice.Fault{addresses(), certificates(), network(), tokens(), replies(), entries(), findings(), unknown()},
		Texts:  texts, Least: 39,
	})
}

// use opens the store at an address, and makes the calls of a store.
func use(t *testing.T, addr string) error {
	t.Helper()
	s, err := consullease.Open(t.Context(), storetest.Patient(addr))
	if err != nil {
		return err
	}
	defer s.Close()
	return call(t, s, "x")
}

// call makes the calls of a store.
func call(t *testing.T, s *consullease.Store, value string) error {
	t.Helper()
	e, err := s.Get(t.Context(), "a")
	if err != nil && !errors.Is(err, driver.ErrNotFound) {
		return err
	}
	if _, err := s.Put(t.Context(), "a", []byte(value), e.Revision); err != nil {
		return err
	}
	_, err = s.List(t.Context(), "")
	return err
}

// A change is done to a server.
type change func(*consultest.Server)

// set returns a change of the fields of a server.
func set(f change) change {
	return func(s *consultest.Server) { s.Do(func() { f(s) }) }
}

// A mend is a part of an advice, and what mends the server or the use of the store.
type mend struct {
	says string
	do   change
	use  func(t *testing.T, addr string) error // nil means that of the fault
}

// broken is a fault of a server, whose address is used before and after each mend.
func broken(name string, use func(t *testing.T, addr string) error, breaks change, mends ...mend) advice.Fault {
	var server *consultest.Server
	var addr string
	f := advice.Fault{Name: name, Ways: advice.Ways{}}
	f.Meet = func(t *testing.T) string {
		server = consultest.New()
		addr = start(t, server)
		breaks(server)
		return advice.Text(t, use(t, addr))
	}
	for _, m := range mends {
		f.Ways[m.says] = func(t *testing.T) error {
			breaks(server) // also for the second way
			advice.Text(t, use(t, addr))
			if m.do != nil {
				m.do(server)
			}
			if m.use != nil {
				return m.use(t, addr)
			}
			return use(t, addr)
		}
	}
	return f
}

// with returns a use of the store at an address with settings.
func with(settings ...string) func(t *testing.T, addr string) error {
	return func(t *testing.T, addr string) error { return use(t, storetest.With(addr, settings...)) }
}

// nothing changes nothing.
func nothing(*consultest.Server) {}

// addresses are faults of an address.
func addresses() []advice.Fault {
	const want = "want consul://host:8500/prefix?setting=value"
	instead := func(form string) func(*testing.T, string) error {
		return func(t *testing.T, addr string) error {
			host, _, _ := strings.Cut(strings.TrimPrefix(addr, "consul://"), "/")
			return use(t, strings.ReplaceAll(form, "HOST", host))
		}
	}
	right := mend{says: want, use: instead("consul://HOST/prefix?timeout=2m")}
	return []advice.Fault{
		broken("no address", instead("HOST"), nothing, right),
		broken("another kind", instead("etcd://HOST/p"), nothing, right),
		broken("a setting that is none", with("colour=red"), nothing, right),
		broken("a prefix that is none", instead("consul://HOST/a//b"), nothing, right),
		broken("a user", instead("consul://user:"+secret+"@HOST/p"), acl, mend{says: "give a token", use: with("token=" + secret)},
			mend{says: want, use: instead("consul://HOST/p?token=" + secret)}),
		broken("a name of no host", instead("consul://no-such-host.invalid/p"), nothing, mend{says: "look at the names of the hosts", use: with()}),
		broken("another datacenter", with("datacenter=dc9"), nothing, mend{says: "look at datacenter", use: with("datacenter=dc1")}),
		broken("Enterprise", with("namespace=a"), nothing, mend{says: "leave out namespace", use: with()}),
		broken("Enterprise, too", with("partition=a"), nothing, mend{says: "and partition", use: with()}, mend{says: "leave out namespace", use: with()}),
		broken("rights of a user", func(_ *testing.T, addr string) error { return testkit.Err(consullease.Rights(addr, "user")) }, acl,
			mend{says: "give the policy to a token", use: func(t *testing.T, addr string) error {
				text, err := consullease.Rights(addr, "")
				if err != nil || !strings.Contains(text, `key_prefix "p/" { policy = "write" }`) {
					return fmt.Errorf("%s, %w", text, err)
				}
				return use(t, addr+"?token="+secret) // whose policy is that
			}}),
	}
}

// acl has a server with ACLs, and the token secret with the policy that leases need.
func acl(s *consultest.Server) { policy("p/", false, false)(s) }

// policy gives the token secret a policy for a prefix. Other tokens are unknown, and no token has no rights.
func policy(prefix string, operator, agent bool) change {
	below := func(key string) bool { return strings.HasPrefix(key, prefix) }
	return set(func(s *consultest.Server) {
		s.Tokens = map[string]consultest.Policy{"": {}, secret: {Read: below, Write: below, Operator: operator, Agent: agent}}
	})
}

// says has a server give an answer to the requests with a beginning such as "PUT /v1/txn". The client does not try again.
func says(request string, status int, text string) change {
	return set(func(s *consultest.Server) {
		s.Answer = func(r *http.Request) *pretend.Answer {
			if !strings.HasPrefix(r.Method+" "+r.URL.Path, request) {
				return nil
			}
			answer := pretend.Text(status, text)
			answer.Header.Set("Retry-After", "3600")
			return answer
		}
	})
}

// well ends what says began.
var well = set(func(s *consultest.Server) { s.Answer = nil })

// unled takes the leader from a server. The client does not try again. led gives the leader back.
var unled = set(func(s *consultest.Server) {
	s.NoLeader = true
	s.Filter = func(_ *http.Request, a *pretend.Answer) { a.Header.Set("Retry-After", "3600") }
})

var led = set(func(s *consultest.Server) { s.NoLeader, s.Filter = false, nil })

// peers makes the request of consul operator raft list-peers -stale of the server of an address.
func peers(t *testing.T, addr string) error {
	t.Helper()
	return testkit.Err(kv(t, addr, http.MethodGet, "/v1/operator/raft/configuration?stale", ""))
}

// kv makes a request of the server of an address, and returns the body of the answer.
func kv(t *testing.T, addr, method, path, body string) (string, error) {
	t.Helper()
	r := testkit.Must(http.NewRequestWithContext(t.Context(), method, "http://"+strings.Split(addr, "/")[2]+path, strings.NewReader(body)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return string(text), err
}

// tokens are faults of tokens and policies.
func tokens() []advice.Fault {
	file := func(t *testing.T, addr string) error {
		return use(t, addr+"?token-file="+storetest.File(t, secret+"\n"))
	}
	env := func(t *testing.T, addr string) error {
		t.Setenv("FIRN_TEST_TOKEN", secret)
		return use(t, addr+"?token-env=FIRN_TEST_TOKEN")
	}
	part := set(func(s *consultest.Server) {
		below := func(key string) bool { return key == "p/" || strings.HasPrefix(key, "p/a") }
		s.Tokens = map[string]consultest.Policy{secret: {Read: below, Write: below}}
	})
	foreign := func(s *consultest.Server) {
		part(s)
		s.Set("p/b", func(p *consultest.Pair) { p.Value = []byte("x") })
	}
	const rule = `whose policy has key_prefix "p/" { policy = "write" }`
	return []advice.Fault{
		broken("a token that is none", with("token=unknown"), acl, mend{says: "look at the token (token-file", use: file}, mend{says: ", token-env)", use: env}),
		broken("a token and more", func(t *testing.T, addr string) error {
			return use(t, addr+"?token-file="+storetest.File(t, "token\n"+secret))
		}, acl, mend{says: "give the token alone, without spaces and line breaks: want consul://host:8500/prefix?setting=value", use: file}),
		broken("no token", with(), acl, mend{says: "give a token (token-file", use: file}, mend{says: ", token-env) " + rule, use: env}),
		broken("a token for a part of the keys", with("token="+secret), foreign, mend{says: "give a token (token-file, token-env) " + rule, do: acl}),
		broken("a token that may only read", with("token="+secret), func(s *consultest.Server) {
			acl(s)
			s.Do(func() { s.Tokens[secret] = consultest.Policy{Read: consultest.All} })
		}, mend{says: "give a token (token-file, token-env) " + rule, do: acl}),
		broken("a token that may only write", func(t *testing.T, addr string) error {
			s := storetest.Open(t, consullease.Open, addr+"?token="+secret)
			key := fmt.Sprintf("c/%d", time.Now().UnixNano()) // of no entry
			return testkit.Err(s.Put(t.Context(), key, nil, driver.None))
		}, func(s *consultest.Server) {
			acl(s)
			s.Do(func() {
				s.Tokens[secret] = consultest.Policy{Read: func(key string) bool { return key == "p/" }, Write: consultest.All}
			})
		}, mend{says: "see that the token may read what it may write", do: acl}),
	}
}

// replies are refusals of a server that has all rights.
func replies() []advice.Fault {
	const busy = "Your IP is issuing too many concurrent connections, please rate limit your calls"
	large := func(t *testing.T, addr string) error {
		return call(t, storetest.Open(t, consullease.Open, addr), strings.Repeat("x", driver.MaxValue))
	}
	limits := func(value, request int) change {
		return set(func(s *consultest.Server) { s.MaxValue, s.MaxRequest = value, request })
	}
	const limit = "raise limits of the agent: kv_max_value_size to 4096 or more, and txn_max_req_len to 8192 or more"
	return []advice.Fault{
		broken("no leader", with(), unled, mend{says: "see that more than half of the servers are up and reach each other", do: led}),
		broken("an agent that blocks paths", with(), says("PUT /v1/txn", 403, "Endpoint is blocked by agent configuration"),
			mend{says: "take the path out of block_endpoints of the agent (http_config)", do: well}),
		broken("an agent that takes writes of others", with(), says("PUT", 403, "Access is restricted"),
			mend{says: "add the network of this machine to allow_write_http_from of the agent (http_config)", do: well}),
		broken("large values", large, limits(100, 100), mend{says: limit, do: limits(4096, 8192)}),
		broken("large requests", large, limits(4096, 4096), mend{says: limit, do: limits(4096, 8192)}),
		broken("many connections", with(), says("", 429, busy), mend{says: "raise limits: http_max_conns_per_client", do: well}),
		broken("many calls of an agent", with(), says("PUT", 429, ""), mend{says: "raise limits: http_max_conns_per_client or rpc_rate of the agent", do: well}),
		broken("many requests of the leader", with(), says("PUT", 503, "rate limit exceeded, try again later"),
			mend{says: "try again later: raise limits: http_max_conns_per_client or rpc_rate of the agent, or request_limits of the servers", do: well}),
		broken("a server with a fault", with(), says("PUT", 500, "mdb_put: no space left"), mend{says: "see what the agent and the servers say in their logs", do: well}),
	}
}

// entries are faults of entries.
func entries() []advice.Fault {
	var server *consultest.Server
	var s *consullease.Store
	var key string
	short := lease.Config{Window: time.Second}
	return []advice.Fault{{Name: "a damaged entry", Meet: func(t *testing.T) string {
		server = consultest.New()
		s = storetest.Open(t, consullease.Open, start(t, server))
		testkit.OK(t, minter.Create(t.Context(), s))
		_, l, err := minter.Start(t.Context(), s, short)
		testkit.OK(t, err)
		testkit.OK(t, l.Close())
		for name := range server.Pairs() {
			if strings.Contains(name, "/workers/") {
				server.Set(name, func(p *consultest.Pair) { p.Value = make([]byte, driver.MaxValue+1) })
				key = strings.TrimPrefix(name, "p/")
			}
		}
		return advice.Text(t, testkit.Err(s.Get(t.Context(), key)))
	}, Ways: advice.Ways{
		"see what else writes under the prefix p/": func(*testing.T) error { return nil }, // it is the test, which has ended
		"then rescue the pool (lease.Rescue), which makes the entry again; do not repair, move or delete entries": func(t *testing.T) error {
			if _, err := lease.Rescue(t.Context(), s, minter.Pool, lease.RescueConfig{Window: time.Second, Skew: time.Millisecond}); err != nil {
				return err
			}
			_, l, err := minter.Start(t.Context(), s, short)
			if err != nil {
				return err
			}
			return errors.Join(testkit.Err(s.Get(t.Context(), key)), l.Close())
		},
	}}}
}

// inspect returns a use of the store whose error is the finding that has the words. The store is opened with
// settings.
func inspect(words string, settings ...string) func(t *testing.T, addr string) error {
	return func(t *testing.T, addr string) error {
		t.Helper()
		return storetest.Mended(t.Context(), storetest.Open(t, consullease.Open, storetest.With(addr, settings...)), words)
	}
}

// findings are what Inspect finds.
func findings() []advice.Fault {
	peers := func(n int) change {
		return set(func(s *consultest.Server) { s.Peers = []string{"10.0.0.1:8300", "10.0.0.2:8300", "10.0.0.3:8300"}[:n] })
	}
	raft := func(text string) change { return set(func(s *consultest.Server) { s.Raft = text }) }
	self := func(text string) change { return set(func(s *consultest.Server) { s.Self = text }) }
	voters := raft(`{"Servers":[{"Node":"a","Voter":true},{"Node":"b","Voter":true},{"Node":"c","Voter":true}]}`)
	recent := self(`{"Config":{"Version":"1.20.1"}}`)
	return []advice.Fault{
		broken("one server", inspect("a single server"), peers(1), mend{says: "run three servers on three machines", do: peers(3)}),
		broken("two servers", inspect("two servers"), peers(2), mend{says: "run three servers", do: peers(3)}),
		broken("one vote", inspect("only one server of 3 has a vote"), raft(`{"Servers":[{"Voter":true},{},{}]}`),
			mend{says: "see why the others have no vote", do: voters}),
		broken("a server that is gone", inspect("nobody knows"), raft(`{"Servers":[{"Voter":true},{"Voter":true},{"Node":"(unknown)","Voter":true}]}`),
			mend{says: "remove it, if it is gone: consul operator raft remove-peer -id=ID", do: voters}),
		broken("no disk", inspect("runs with -dev"), self(`{"DebugConfig":{"DevMode":true}}`), mend{says: "run servers with a data_dir", do: recent}),
		broken("another writer", inspect("something else writes"), func(s *consultest.Server) {
			s.Set("p/Upper", func(p *consultest.Pair) { p.Value = []byte("x") })
		}, mend{says: "have it use a separate prefix", do: func(s *consultest.Server) {
			s.Delete("p/Upper")
			s.Set("other/Upper", func(p *consultest.Pair) { p.Value = []byte("x") })
		}}),
		leaderlessFinding(),
		old(recent),
		locked(),
		exposed(),
	}
}

// leaderlessFinding is a datacenter that loses its leader after the store was opened.
func leaderlessFinding() advice.Fault {
	const words = "the servers have no leader"
	var server *consultest.Server
	var s *consullease.Store
	var addr string
	return advice.Fault{Name: "no leader", Meet: func(t *testing.T) string {
		server = consultest.New()
		addr = start(t, server)
		s = storetest.Open(t, consullease.Open, addr)
		unled(server)
		return advice.Text(t, storetest.Mended(t.Context(), s, words))
	}, Ways: advice.Ways{"see that more than half of the servers are up and reach each other (consul operator raft list-peers -stale)": func(t *testing.T) error {
		if err := peers(t, addr); err != nil {
			return err
		}
		led(server)
		return errors.Join(storetest.Mended(t.Context(), s, words), call(t, s, "x"))
	}}}
}

// old is an old version, whose lists silently lack keys. If the token may read all keys, the finding stays: Inspect
// cannot see what a token may read.
func old(recent change) advice.Fault {
	lists := func(t *testing.T, addr string) error {
		s := storetest.Open(t, consullease.Open, addr+"?token="+secret)
		if list, err := s.List(t.Context(), ""); err != nil || len(list) != 2 {
			return fmt.Errorf("the list is %v, %w", list, err)
		}
		return nil
	}
	whole := func(s *consultest.Server) { policy("p/", true, true)(s) }
	return broken("an old version", func(t *testing.T, addr string) error {
		if lists(t, addr) == nil {
			t.Error("the list does not lack keys")
		}
		return inspect("silently leaves keys", "token="+secret)(t, addr)
	}, func(s *consultest.Server) {
		whole(s)
		for _, key := range []string{"p/a", "p/b"} {
			s.Set(key, func(p *consultest.Pair) { p.Value = []byte("x") })
		}
		s.Do(func() {
			p := s.Tokens[secret]
			p.Read = func(key string) bool { return key != "p/b" }
			s.Tokens[secret] = p
			s.Self = `{"Config":{"Version":"1.10.12+ent"}}`
			s.Filter = func(_ *http.Request, a *pretend.Answer) { a.Header.Del("X-Consul-Results-Filtered-By-ACLs") }
		})
	}, mend{says: "upgrade it", do: func(s *consultest.Server) {
		recent(s)
		s.Do(func() { s.Filter = nil })
	}, use: inspect("silently leaves keys", "token="+secret)},
		mend{says: "or see that the token may read all keys under p/", do: whole, use: lists})
}

// locked is an entry with a session. The test makes the requests of the commands that the advice names.
func locked() advice.Fault {
	const says = "see what has locked them (consul kv get -detailed KEY shows the session); stop all processes that use the pools, " +
		`then release each entry with its value: consul kv put -release -session=ID KEY "$(consul kv get KEY)"`
	var s *consullease.Store
	var addr, key string
	return advice.Fault{Name: "a session", Meet: func(t *testing.T) string {
		server := consultest.New()
		addr = start(t, server)
		s = storetest.Open(t, consullease.Open, addr)
		testkit.OK(t, minter.Create(t.Context(), s))
		for name := range server.Pairs() {
			key = name
			server.Set(name, func(p *consultest.Pair) { p.Session = "5f0e1c9a-1d3b-4c55-9a40-000000000001" })
		}
		return advice.Text(t, storetest.Mended(t.Context(), s, "locked by sessions"))
	}, Ways: advice.Ways{says: func(t *testing.T) error {
		text, err := kv(t, addr, http.MethodGet, "/v1/kv/"+key+"?consistent", "")
		if err != nil {
			return err
		}
		var pairs []consultest.Pair
		if err := json.Unmarshal([]byte(text), &pairs); err != nil || len(pairs) != 1 || pairs[0].Session == "" {
			return fmt.Errorf("%s: %w", text, err)
		}
		value := strings.TrimRight(string(pairs[0].Value), "\n") // as the shell does
		if released, err := kv(t, addr, http.MethodPut, "/v1/kv/"+key+"?release="+pairs[0].Session, value); err != nil || released != "true" {
			return fmt.Errorf("released: %s, %w", released, err)
		}
		if err := storetest.Mended(t.Context(), s, "locked by sessions"); err != nil {
			return err
		}
		_, l, err := minter.Start(t.Context(), s, lease.Config{})
		if err != nil {
			return err
		}
		return l.Close()
	}}}
}

// exposed is a token that goes in clear to a host that seems to be remote: 0.0.0.0 is this machine, but no address
// of loopback.
func exposed() advice.Fault {
	const words = "in clear"
	host := func(addr string) string { return strings.Replace(addr, "127.0.0.1", "0.0.0.0", 1) + "?token=" + secret }
	var server *secured
	mended := func(t *testing.T) error {
		return inspect(words, "server-name=127.0.0.1", "ca="+server.ca)(t, host(server.addr))
	}
	return advice.Fault{Name: "a token in clear", Meet: func(t *testing.T) string {
		return advice.Text(t, inspect(words)(t, host(start(t, consultest.New()))))
	}, Ways: advice.Ways{"use TLS: tls=true": func(t *testing.T) error {
		server = secure(t, later())
		return errors.Join(mended(t), server.trusted(t, "tls=true", "token="+secret))
	}, "or ca": mended}}
}

// unknown are checks of Inspect that the token, or the agent, does not allow.
func unknown() []advice.Fault {
	inspects := func(words string) func(t *testing.T, addr string) error { return inspect(words, "token="+secret) }
	return []advice.Fault{
		broken("a token that may not read about servers", inspects("needs operator:read"), policy("p/", false, true),
			mend{says: `to find out, add operator = "read" to the policy of the token`, do: policy("p/", true, true)}),
		broken("a token that may not read about agents", inspects("needs agent:read"), policy("p/", true, false),
			mend{says: `to find out, add agent_prefix "" { policy = "read" } to the policy of the token`, do: policy("p/", true, true)}),
		broken("an agent that blocks its paths", inspect("how the agent is configured"), says("GET /v1/agent/", 403, "Endpoint is blocked by agent configuration"),
			mend{says: "take the path out of block_endpoints of the agent (http_config)", do: well}),
	}
}
