// Package consullease keeps the entries of leases in the key/value store of Consul, for the processes of many
// machines.
//
// The entry of the key a/b is Consul's key prefix/a/b, with '.' and '@' escaped as ",p" and ",a", since Consul does
// not take every key that has them. Its revision is Consul's ModifyIndex, the index of the change in the servers' log, which is
// never used again. Put is a transaction of one operation, "cas" with that index: it is the compare-and-swap of
// PUT /v1/kv/key?cas=index, but its answer has the new ModifyIndex, which a read after it could not
// tell from that of a later change. Consul makes no change of a value that is written again as it is, and so no new
// revision; each write has other Flags, at random, and is a change. Reads are consistent (?consistent): the leader asks
// a majority whether it still is one. What Consul has acknowledged a majority of its servers has in their logs.
// No session, no lock and no time to live is used.
//
// The token needs key_prefix "prefix/" { policy = "write" }, which includes to read.
//
// # What was shown, and how
//
// On three real servers (internal/servers/servertest), the package passes the suite of lease/drivertest with the policy above, and
// nothing acknowledged is lost when the leader or all servers are killed, or the leader is stopped; so it is under
// torture (go run ./cmd/firn/internal/faults -stores consul). The faults that a real server does not show on demand come from an HTTP
// server of the project's own (consultest): lost, late and repeated requests, each error, reads that are stale unless they
// are consistent, refused keys. A test makes the same requests of both and compares the answers.
package consullease

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rest"
)

const (
	// DefaultTimeout bounds a call whose context does not end earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultPrefix is that of the keys, where none is given.
	DefaultPrefix = "firn"

	defaultPort = "8500"
)

// A Store keeps entries in Consul. It implements [driver.Store] by its [driver.Handle], and [driver.Watcher] and
// [driver.Inspector].
type Store struct {
	*driver.Handle
	client  *rest.Client
	prefix  string // with a slash
	timeout time.Duration
	scope   scope
	token   string
	exposed bool // the token crosses the network unencrypted
}

// A scope says where in Consul the keys are; "" is what Consul takes for it.
type scope struct{ datacenter, namespace, partition string }

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Watcher   = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

// Open returns the store of an address such as
//
//	consul://host:8500,host2:8500/prefix?token-file=PATH
//
// and checks that it answers and lets the prefix be read. The hosts are agents or servers of one datacenter; without a
// port it is 8500, and without a host localhost. The prefix, without which it is firn, is that of the keys. The settings are
// token-file, token-env or token; datacenter; namespace and partition, of Consul Enterprise; tls, ca, cert, key
// and server-name for TLS; and timeout, which bounds each call whose context does not end earlier.
func Open(ctx context.Context, addr string) (*Store, error) {
	a, err := address.Parse(addr)
	if err != nil {
		return nil, driver.OpenError("consul", err, wantAddress)
	}
	config := a.TLS()
	s := &Store{
		timeout: a.Duration("timeout", DefaultTimeout),
		scope:   scope{datacenter: a.Text("datacenter", ""), namespace: a.Text("namespace", ""), partition: a.Text("partition", "")},
		token:   a.Secret("token"),
	}
	err = a.Err()
	a.Hosts, a.Path = a.Endpoints(defaultPort, "localhost"), cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix)
	s.prefix = a.Path + "/"
	switch {
	case err != nil:
	case a.Scheme != "consul":
		err = fmt.Errorf("%w: it begins with %s://, not consul://", address.ErrAddress, a.Scheme)
	case a.User != "":
		err = fmt.Errorf("%w: Consul knows no users: give a token", address.ErrAddress)
	case strings.ContainsFunc(s.token, func(r rune) bool { return r <= ' ' || r > '~' }):
		err = fmt.Errorf("%w: the token has a character that tokens do not have", address.ErrAddress)
	default:
		err = checkPrefix(a.Path)
	}
	if err != nil {
		return nil, driver.OpenError(a.String(), err, wantAddress)
	}
	s.exposed = s.token != "" && config == nil && slices.ContainsFunc(a.Hosts, rest.IsRemote)
	s.client = rest.New(a.Hosts, config, s.timeout)
	s.Handle = driver.New(driver.Backend{
		Address: a.String(), Timeout: s.timeout, Get: s.get, List: s.list, Put: s.put, Close: s.close, Diagnose: s.diagnose,
	})
	if err := driver.Do(ctx, s.Handle, "open", s.check); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

const wantAddress = "want consul://host:8500/prefix?setting=value"

// check reads the key whose name is the prefix alone, which need not exist. A list would not do: Consul refuses no
// list, and leaves out what the token may not read.
func (s *Store) check(ctx context.Context) error {
	_, err := s.read(ctx, s.prefix, url.Values{"consistent": {""}})
	return err
}

func (s *Store) close() error {
	s.client.Close()
	return nil
}

// A pair is what Consul has of a key.
type pair struct {
	Key         string
	Value       []byte // base64 in JSON
	Flags       uint64
	ModifyIndex uint64
	Session     string
}

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	name := s.prefix + escape.Replace(key)
	pairs, err := s.pairs(ctx, name, url.Values{"consistent": {""}})
	switch {
	case err != nil:
		return driver.Entry{}, err
	case len(pairs) == 0:
		return driver.Entry{}, driver.ErrNotFound
	case len(pairs) != 1 || pairs[0].Key != name:
		return driver.Entry{}, s.unexpected("the answer is not about the key")
	}
	return s.entry(key, pairs[0])
}

// list leaves out keys under the prefix of the store that no store has written. Its entries are of one moment.
func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	pairs, err := s.pairs(ctx, s.prefix+escape.Replace(prefix), url.Values{"recurse": {""}, "consistent": {""}})
	if err != nil {
		return nil, err
	}
	var entries []driver.Entry
	for _, p := range pairs {
		name, ours := strings.CutPrefix(p.Key, s.prefix)
		if !ours || !strings.HasPrefix(name, escape.Replace(prefix)) {
			return nil, s.unexpected("the answer has keys that were not asked for")
		}
		key, ok := keyOf(name)
		if !ok {
			continue
		}
		e, err := s.entry(key, p)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (s *Store) entry(key string, p pair) (driver.Entry, error) {
	if p.ModifyIndex == 0 {
		return driver.Entry{}, s.unexpected("the answer has no ModifyIndex")
	}
	return driver.Entry{Key: key, Value: p.Value, Revision: revision(p.ModifyIndex)}, nil
}

func revision(index uint64) driver.Revision { return driver.Revision(strconv.FormatUint(index, 10)) }

// flags are those that a write can have: JSON is read by way of a float64, which has them exactly.
const flags = 1 << 52

// put repeats a request only if the request could not be sent, or if Consul says that it refused the request before
// it did anything.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	var index uint64 // 0 is the index of no entry
	if rev != driver.None {
		var err error
		if index, err = strconv.ParseUint(string(rev), 10, 64); err != nil || index == 0 || revision(index) != rev {
			return driver.None, driver.ErrConflict // no entry has the revision
		}
	}
	type operation struct {
		Verb, Key string
		Value     []byte
		Flags     uint64
		Index     uint64
		Namespace string `json:",omitempty"`
		Partition string `json:",omitempty"`
	}
	if value == nil {
		value = []byte{} // not null
	}
	o := operation{Verb: "cas", Key: s.prefix + escape.Replace(key), Value: value, Flags: rand.Uint64N(flags), Index: index,
		Namespace: s.scope.namespace, Partition: s.scope.partition}
	body, err := json.Marshal([]map[string]operation{{"KV": o}})
	if err != nil {
		return driver.None, err
	}
	reply, err := s.do(ctx, rest.Request{Method: http.MethodPut, Path: "/v1/txn", Query: s.datacenter(), Body: body, Writes: true, Refused: refused})
	if err != nil {
		return driver.None, err
	}
	var done struct {
		Results []struct{ KV *pair }
		Errors  []struct{ What string }
	}
	if err := json.Unmarshal(reply.Body, &done); err != nil {
		return driver.None, s.unexpected("the answer is not what Consul says of a transaction: %v", err)
	}
	if reply.Status == http.StatusConflict { // nothing was changed, for whatever reason
		for _, e := range done.Errors {
			if !strings.HasSuffix(e.What, "index is stale") {
				return driver.None, s.failed(http.StatusForbidden, e.What)
			}
		}
		if len(done.Errors) == 0 {
			return driver.None, s.unexpected("the answer says that it failed, but not why")
		}
		return driver.None, driver.ErrConflict
	}
	if len(done.Errors) > 0 || len(done.Results) != 1 || done.Results[0].KV == nil {
		return driver.None, &driver.Error{Err: fmt.Errorf("%w: the change was made, but its revision not told", driver.ErrUnavailable),
			Advice: "see that the token may read what it may write"}
	}
	if p := done.Results[0].KV; p.Key != o.Key || p.Flags != o.Flags || p.ModifyIndex <= index {
		return driver.None, s.unexpected("the answer is not about this change")
	}
	return revision(done.Results[0].KV.ModifyIndex), nil
}
