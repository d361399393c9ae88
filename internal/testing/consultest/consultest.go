// Package consultest pretends to be Consul, for tests. The server is as unpleasant as the
// documentation and the source of Consul allow: reads without the parameter consistent are stale, a
// write without a change makes no new index, lists leave out keys that the token may not read, and
// undocumented requests are refused.
package consultest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/internal/testing/pretend"
)

// A Pair is a key with its value.
type Pair struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	CreateIndex uint64
	ModifyIndex uint64
	Session     string `json:",omitempty"`
}

// A Policy is the rights of a token. The zero value has no rights.
type Policy struct {
	Read, Write     func(key string) bool // nil for no key
	Operator, Agent bool
}

// All allows all keys.
func All(string) bool { return true }

// A Server answers like Consul. Set the exported fields before the first request or in Do.
type Server struct {
	Tokens      map[string]Policy // nil without ACLs; "" is the anonymous token
	Enterprise  bool              // knows namespaces and partitions
	Datacenter  string
	Peers       []string
	NoLeader    bool
	Raft        string // the body of /v1/operator/raft/configuration
	Self        string // the body of /v1/agent/self
	MaxValue    int    // kv_max_value_size
	MaxRequest  int    // txn_max_req_len
	Consistency string // the header X-Consul-Effective-Consistency; "" means no header, as Consul answers for keys

	*pretend.Server // connections and faults

	index  uint64
	spaces map[string]*space
	back   int // number of calls of SetIndex
}

// A space is the keys of a namespace in a partition.
type space struct {
	pairs, before map[string]Pair // before the last change, as on a server that is behind
	index         uint64          // of the space's last change
}

// New returns a server in a datacenter of three, without ACLs.
func New() *Server {
	s := &Server{Datacenter: "dc1", Peers: []string{"10.0.0.1:8300", "10.0.0.2:8300", "10.0.0.3:8300"}, MaxValue: 512 << 10, MaxRequest: 512 << 10,
		Raft: `{"Servers":[{"Node":"a","Leader":true,"Voter":true},{"Node":"b","Voter":true},{"Node":"c","Voter":true}],"Index":7}`,
		Self: `{"Config":{"Version":"1.20.1","Server":true},"DebugConfig":{"DevMode":false,"DiscoveryMaxStale":"0s"}}`,

		index: 10, spaces: make(map[string]*space)}
	s.Server = pretend.New(func(_ http.ResponseWriter, r *http.Request, body []byte) *pretend.Answer { return s.handle(r, body) })
	return s
}

// Set changes a pair as another client would, and makes a missing pair.
func (s *Server) Set(key string, change func(*Pair)) {
	s.Do(func() {
		sp := s.space("", "")
		p := sp.pairs[key]
		p.Key = key
		change(&p)
		s.write(sp, p)
	})
}

// Delete removes a key, which no store does.
func (s *Server) Delete(key string) {
	s.Do(func() {
		sp := s.space("", "")
		s.begin(sp)
		delete(sp.pairs, key)
		s.finish(sp)
	})
}

// SetIndex sets the index of the last change, forward or back, as a restored snapshot does.
// Requests that wait get an answer as if nothing had changed.
func (s *Server) SetIndex(index uint64) {
	s.Do(func() {
		sp := s.space("", "")
		s.index, sp.index = index, index
		s.back++
		for key, p := range sp.pairs {
			p.ModifyIndex = min(p.ModifyIndex, index)
			sp.pairs[key] = p
		}
		s.Changed()
	})
}

// Pairs returns all keys of the default namespace.
func (s *Server) Pairs() (pairs map[string]Pair) {
	s.Do(func() { pairs = maps.Clone(s.space("", "").pairs) })
	return pairs
}

func (s *Server) space(namespace, partition string) *space {
	name := partition + "/" + namespace
	if s.spaces[name] == nil {
		s.spaces[name] = &space{pairs: make(map[string]Pair), before: make(map[string]Pair)}
	}
	return s.spaces[name]
}

func (s *Server) begin(sp *space) {
	sp.before = maps.Clone(sp.pairs)
	s.index++
}

func (s *Server) finish(sp *space) {
	sp.index = s.index
	s.Changed()
}

// write sets a pair as Consul does: an equal pair is no change, and gets no new index. An empty
// value is null in JSON.
func (s *Server) write(sp *space, p Pair) Pair {
	if len(p.Value) == 0 {
		p.Value = nil
	}
	old, ok := sp.pairs[p.Key]
	if ok && old.Flags == p.Flags && bytes.Equal(old.Value, p.Value) && old.Session == p.Session {
		s.index++ // the log has an entry nevertheless
		return old
	}
	s.begin(sp)
	p.ModifyIndex = s.index
	p.CreateIndex = old.CreateIndex
	if !ok {
		p.CreateIndex = s.index
	}
	sp.pairs[p.Key] = p
	s.finish(sp)
	return p
}

// text returns an answer with a text.
func text(status int, form string, args ...any) *pretend.Answer {
	return pretend.Text(status, fmt.Sprintf(form, args...))
}

// known are the parameters of each method and path.
var known = []struct {
	method, path string
	names        []string
}{
	{"GET", "/v1/kv/", []string{"dc", "ns", "partition", "recurse", "keys", "separator", "raw", "consistent", "stale", "index", "wait"}},
	{"PUT", "/v1/kv/", []string{"dc", "ns", "partition", "cas", "flags", "acquire", "release"}},
	{"PUT", "/v1/txn", []string{"dc", "consistent", "stale"}},
	{"GET", "/v1/status/leader", []string{"dc"}},
	{"GET", "/v1/status/peers", []string{"dc"}},
	{"GET", "/v1/operator/raft/configuration", []string{"dc", "stale"}},
	{"GET", "/v1/agent/self", nil},
}

func (s *Server) handle(r *http.Request, body []byte) *pretend.Answer {
	query := r.URL.Query()
	path := ""
	for _, k := range known {
		if r.Method == k.method && (r.URL.Path == k.path || k.path == "/v1/kv/" && strings.HasPrefix(r.URL.Path, k.path)) {
			path = k.path
			for name := range query {
				if !slices.Contains(k.names, name) {
					return text(400, "Invalid query parameter: %q", name)
				}
				if what := map[string]string{"ns": "Namespaces", "partition": "Partitions"}[name]; what != "" && !s.Enterprise {
					return text(400, "Invalid query parameter: %q - %s are a Consul Enterprise feature", name, what)
				}
			}
		}
	}
	if path == "" {
		for _, k := range known {
			if r.URL.Path == k.path {
				return text(405, "method %s not allowed", r.Method)
			}
		}
		return text(404, "Invalid URL path: not a recognized HTTP API endpoint")
	}
	policy := Policy{Read: All, Write: All, Operator: true, Agent: true}
	if s.Tokens != nil {
		var ok bool
		if policy, ok = s.Tokens[r.Header.Get("X-Consul-Token")]; !ok {
			return text(403, "ACL not found")
		}
	}
	if dc := query.Get("dc"); dc != "" && dc != s.Datacenter {
		return text(500, "No path to datacenter")
	}
	if query.Has("stale") && query.Has("consistent") {
		return text(400, "Cannot specify ?stale with ?consistent, conflicting semantics.")
	}
	switch path {
	case "/v1/status/peers":
		return pretend.JSON(200, s.Peers)
	case "/v1/status/leader":
		if s.NoLeader {
			return pretend.JSON(200, "")
		}
		return pretend.JSON(200, s.Peers[0])
	case "/v1/agent/self":
		if !policy.Agent {
			return text(403, "Permission denied: token with AccessorID '1' lacks permission 'agent:read' on \"a\"")
		}
		return pretend.Text(200, s.Self)
	}
	if s.NoLeader && !query.Has("stale") {
		return text(500, "No cluster leader")
	}
	switch path {
	case "/v1/operator/raft/configuration":
		if !policy.Operator {
			return text(403, "Permission denied: token with AccessorID '1' lacks permission 'operator:read'")
		}
		return pretend.Text(200, s.Raft)
	case "/v1/txn":
		return s.txn(body, policy)
	}
	key := strings.TrimPrefix(r.URL.Path, "/v1/kv/")
	if why := refuses(key); key != "" && why != "" {
		return text(400, "%s", why)
	}
	sp := s.space(query.Get("ns"), query.Get("partition"))
	if r.Method == "PUT" {
		return s.put(sp, key, query, body, policy)
	}
	return s.get(r, sp, key, query, policy)
}

var plain = regexp.MustCompile(`^[a-zA-Z0-9,\-_./]+$`)

// refuses returns why some version of Consul does not take a key. Other versions take more: 1.22.7
// takes all keys in a transaction.
func refuses(key string) string {
	switch {
	case key == "" || key[0] == '/':
		return "key cannot be empty, or begin with a '/'"
	case !plain.MatchString(key):
		return "key contains an invalid character"
	case strings.Contains(key, "../"):
		return "key contains path traversal sequence"
	}
	for _, end := range []string{".js", ".json", ".txt", ".log", ".html", ".xml", ".sh", ".gz", ".go"} {
		if strings.HasSuffix(strings.ToLower(key), end) {
			return "key contains suspicious file extension"
		}
	}
	return ""
}

func (s *Server) put(sp *space, key string, query map[string][]string, body []byte, policy Policy) *pretend.Answer {
	if policy.Write == nil || !policy.Write(key) {
		return text(403, "Permission denied: token with AccessorID '1' lacks permission 'key:write' on %q", key)
	}
	if len(body) > s.MaxValue {
		return text(413, "Request body(%d bytes) too large, max size: %d bytes", len(body), s.MaxValue)
	}
	old := sp.pairs[key]
	p := Pair{Key: key, Value: body, Session: old.Session, LockIndex: old.LockIndex}
	if id, ok := query["acquire"]; ok {
		if old.Session != "" && old.Session != id[0] {
			return pretend.JSON(200, false)
		}
		if old.Session == "" {
			p.LockIndex++
		}
		p.Session = id[0]
	}
	if id, ok := query["release"]; ok { // which writes the value, too
		if id[0] == "" || old.Session != id[0] {
			return pretend.JSON(200, false)
		}
		p.Session = ""
	}
	if cas, ok := query["cas"]; ok {
		is, err := strconv.ParseUint(cas[0], 10, 64)
		if err != nil {
			return text(500, "%v", err)
		}
		if old.ModifyIndex != is {
			return pretend.JSON(200, false)
		}
	}
	s.write(sp, p)
	return pretend.JSON(200, true)
}

// txn answers a transaction of one operation, "cas" or "set".
func (s *Server) txn(body []byte, policy Policy) *pretend.Answer {
	if most := max(s.MaxValue, s.MaxRequest); len(body) > most {
		return text(413, "Request body(%d bytes) too large, max size: %d bytes. See %s.", len(body), most,
			"https://developer.hashicorp.com/docs/agent/config/config-files#txn_max_req_len")
	}
	var ops []struct {
		KV *struct {
			Verb, Key, Session   string
			Value                []byte
			Flags                float64 // as in Consul's own decoder
			Index                float64
			Namespace, Partition string
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&ops); err != nil || len(ops) != 1 || ops[0].KV == nil {
		return text(400, "Failed to parse body: %v", err)
	}
	op := ops[0].KV
	if len(op.Value) > s.MaxValue {
		return text(413, "Value for key %q is too large (%d > %d bytes)", op.Key, len(op.Value), s.MaxValue)
	}
	fails := func(form string, args ...any) *pretend.Answer {
		return pretend.JSON(409, map[string]any{"Results": nil, "Errors": []any{map[string]any{"OpIndex": 0, "What": fmt.Sprintf(form, args...)}}})
	}
	if !s.Enterprise { // which ignores both
		op.Namespace, op.Partition = "", ""
	}
	switch {
	case policy.Write == nil || !policy.Write(op.Key):
		return fails("Permission denied: token with AccessorID '1' lacks permission 'key:write' on %q", op.Key)
	case refuses(op.Key) != "":
		return fails("%s", refuses(op.Key))
	}
	sp := s.space(op.Namespace, op.Partition)
	old, ok := sp.pairs[op.Key]
	switch op.Verb {
	case "cas":
		if op.Index == 0 && ok || op.Index != 0 && old.ModifyIndex != uint64(op.Index) {
			return fails("failed to set key %q, index is stale", op.Key)
		}
	case "set":
	default:
		return fails("unknown KV operation: %s", op.Verb)
	}
	made := s.write(sp, Pair{Key: op.Key, Value: op.Value, Flags: uint64(op.Flags), Session: old.Session, LockIndex: old.LockIndex})
	made.Value = nil
	results := []any{}
	if policy.Read != nil && policy.Read(op.Key) {
		results = append(results, map[string]any{"KV": made})
	}
	return pretend.JSON(200, map[string]any{"Results": results, "Errors": nil})
}

func (s *Server) get(r *http.Request, sp *space, key string, query map[string][]string, policy Policy) *pretend.Answer {
	has := func(name string) bool { _, ok := query[name]; return ok }
	if key == "" && !has("recurse") && !has("keys") {
		return text(400, "Missing key name")
	}
	if policy.Read == nil {
		policy.Read = func(string) bool { return false }
	}
	under := s.under(sp, key)
	if has("index") {
		index, err := strconv.ParseUint(query["index"][0], 10, 64)
		if err != nil {
			return text(400, "Invalid index")
		}
		wait := 5 * time.Minute
		if has("wait") {
			if wait, err = time.ParseDuration(query["wait"][0]); err != nil {
				return text(400, "Invalid wait time")
			}
		}
		if index > 0 && s.block(r, sp, key, index, wait) {
			under = index
		} else {
			under = s.under(sp, key)
		}
	}
	pairs := sp.before // of a server that is behind, or of a former leader
	if has("consistent") || has("index") {
		pairs = sp.pairs
	}
	header := http.Header{"X-Consul-Index": {strconv.FormatUint(max(under, 1), 10)}, "X-Consul-Knownleader": {"true"}, "X-Consul-Lastcontact": {"0"}}
	if has("consistent") && s.Consistency != "" {
		header.Set("X-Consul-Effective-Consistency", s.Consistency)
	}
	done := func(a *pretend.Answer) *pretend.Answer {
		maps.Copy(a.Header, header)
		return a
	}
	if !has("recurse") && !has("keys") {
		p, ok := pairs[key]
		switch {
		case !policy.Read(key):
			return text(403, "Permission denied: token with AccessorID '1' lacks permission 'key:read' on %q", key)
		case !ok:
			return done(text(404, ""))
		}
		return done(pretend.JSON(200, []Pair{p}))
	}
	list, names := []Pair{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if !strings.HasPrefix(name, key) {
			continue
		}
		if !policy.Read(name) {
			header.Set("X-Consul-Results-Filtered-By-ACLs", "true")
			continue
		}
		list, names = append(list, pairs[name]), append(names, name)
	}
	switch {
	case len(list) == 0:
		return done(text(404, ""))
	case has("keys"):
		return done(pretend.JSON(200, names))
	}
	return done(pretend.JSON(200, list))
}

// under returns the index of the last change below a key or, like Consul, the index of the store if
// no key is there.
func (s *Server) under(sp *space, key string) uint64 {
	var index uint64
	for name, p := range sp.pairs {
		if strings.HasPrefix(name, key) {
			index = max(index, p.ModifyIndex)
		}
	}
	if index == 0 {
		return sp.index
	}
	return index
}

// block waits for a higher index, and reports whether SetIndex was called in the meantime.
func (s *Server) block(r *http.Request, sp *space, key string, index uint64, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for before := s.back; s.under(sp, key) <= index; {
		if s.back != before {
			return true
		}
		if !s.Await(r, timer) {
			return false
		}
	}
	return false
}
