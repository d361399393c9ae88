// Package consullease keeps the entries of leases in the key/value store of Consul, for the
// processes of many machines.
//
// The entry of the key a/b is Consul's key prefix/a/b. Consul does not take every key with '.' or
// '@': the store writes ",p" and ",a" instead. The revision of an entry is Consul's ModifyIndex,
// the index of the change in the servers' log, which Consul never uses again.
//
// Put is a transaction of one operation, "cas" with the ModifyIndex. PUT /v1/kv/key?cas=index makes
// the same compare-and-swap, but does not return the new ModifyIndex; a read after the change could
// return the index of a later change. Consul ignores a write of the same value and makes no new
// revision. Each write therefore has other Flags, at random, and is a change.
//
// Reads are consistent (?consistent): the leader first asks a majority of the servers whether it
// still leads. A majority of the servers has every acknowledged change in its logs. The store uses
// no session, no lock and no time to live.
//
// The token needs key_prefix "prefix/" { policy = "write" }, including the right to read.
//
// # Tests
//
// On three real servers (dev/servers), the package passes the suite of
// lease/drivertest with the policy above. No acknowledged change is lost when the leader or all
// servers are killed, or when the leader is stopped. The same holds under torture (go run
// ./cmd/firn/internal/tests/faults -stores consul). A test server of the project (consultest) makes
// faults on demand, unlike a real server: lost, late and repeated requests, each error, stale reads
// unless they are consistent, refused keys. One test makes the same requests of both servers and
// compares the answers.
package consullease

import (
	"cmp"
	"context"
	"crypto/tls"
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
	// DefaultTimeout bounds each call, unless the context ends earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultPrefix is the prefix of the keys if the address has no prefix.
	DefaultPrefix = "firn"

	defaultPort = "8500"
)

// A Store keeps entries in Consul. It implements [driver.Store] by its [driver.Handle], and
// [driver.Confirmer], [driver.Watcher] and [driver.Inspector].
type Store struct {
	*driver.Handle
	client  *rest.Client
	prefix  string // with a slash
	timeout time.Duration
	scope   scope
	token   string
	exposed bool // the token crosses the network unencrypted
}

// A scope says where in Consul the keys are. "" means Consul's default.
type scope struct{ datacenter, namespace, partition string }

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Confirmer = (*Store)(nil)
	_ driver.Watcher   = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

func init() { driver.Register("consul", Open) }

// Open returns the store of an address such as
//
//	consul://host:8500,host2:8500/prefix?token-file=PATH
//
// and checks that Consul answers and lets the store read the prefix. The hosts are agents or
// servers of one datacenter, by default localhost, with port 8500. All keys begin with the prefix,
// by default firn. The settings are
//
//   - token-file, token-env or token;
//   - datacenter; namespace and partition, for Consul Enterprise;
//   - tls, ca, cert, key and server-name, for TLS;
//   - timeout, which bounds each call whose context does not end earlier.
func Open(ctx context.Context, addr string) (*Store, error) {
	a, err := address.Parse(addr)
	s, config, err := settle(a, err)
	if err != nil {
		return nil, err
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

// settle returns a store with the settings of an address, given the result of reading the address. The
// store has no client yet. [Open] and [Rights] read addresses here alone.
func settle(a *address.Address, err error) (*Store, *tls.Config, error) {
	if err != nil {
		return nil, nil, driver.OpenError("consul", err, driver.RemedyAddress)
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
		err = fmt.Errorf("%w: it begins with %s://, not consul://", driver.ErrAddress, a.Scheme)
	case a.User != "":
		err = fmt.Errorf("%w: Consul knows no users: give a token", driver.ErrAddress)
	case strings.ContainsFunc(s.token, func(r rune) bool { return r <= ' ' || r > '~' }):
		err = fmt.Errorf("%w: the token has a character that tokens do not have: give the token alone, without spaces and line breaks", driver.ErrAddress)
	default:
		err = checkPrefix(a.Path)
	}
	if err != nil {
		return nil, nil, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	return s, config, nil
}

// check reads the key named as the prefix alone. The key need not exist. A list would not do:
// Consul refuses no list, and silently leaves out keys forbidden to the token.
func (s *Store) check(ctx context.Context) error {
	_, err := s.read(ctx, s.prefix, url.Values{"consistent": {""}})
	return err
}

func (s *Store) close() error {
	s.client.Close()
	return nil
}

// A pair is a key of Consul with its value.
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

// Confirm returns the entry of a key now. Each read of the store is consistent: the leader hears from a
// majority of the servers that it still leads after the request came, and then reads.
func (s *Store) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return driver.Confirm(ctx, s.Handle, key, s.get)
}

// list returns the entries of one moment. It leaves out keys that no store can have written.
func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	pairs, err := s.pairs(ctx, s.prefix+escape.Replace(prefix), url.Values{"recurse": {""}, "consistent": {""}})
	if err != nil {
		return nil, err
	}
	var entries []driver.Entry
	for _, p := range pairs {
		name, ours := strings.CutPrefix(p.Key, s.prefix)
		if !ours || !strings.HasPrefix(name, escape.Replace(prefix)) {
			return nil, s.unexpected("the answer has keys outside of the request")
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

// flags bounds the Flags of a write: Consul reads JSON into a float64, exact below the bound.
const flags = 1 << 52

// put repeats a request only if the request could not be sent, or if Consul refused the request
// before doing anything.
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
			switch {
			case strings.HasSuffix(e.What, "index is stale"):
			case strings.Contains(e.What, "Permission denied"):
				return driver.None, s.failed(http.StatusForbidden, e.What)
			default:
				return driver.None, s.failed(reply.Status, e.What)
			}
		}
		if len(done.Errors) == 0 {
			return driver.None, s.unexpected("the answer says that it failed, but not why")
		}
		return driver.None, driver.ErrConflict
	}
	if len(done.Errors) > 0 || len(done.Results) != 1 || done.Results[0].KV == nil {
		return driver.None, &driver.Error{Err: fmt.Errorf("%w: the change was made, but the answer lacks the revision", driver.ErrUnavailable),
			Remedy: driver.RemedyPermissions} // the token may not read what it may write
	}
	if p := done.Results[0].KV; p.Key != o.Key || p.Flags != o.Flags || p.ModifyIndex <= index {
		return driver.None, s.unexpected("the answer is not about this change")
	}
	return revision(done.Results[0].KV.ModifyIndex), nil
}
