// Package etcdlease keeps the entries of leases in etcd, for the processes of many machines.
//
// The entry of the key a/b is etcd's key prefix/a/b, its value as it is, and its revision etcd's
// mod_revision, which the cluster counts for all its keys and never uses again. Put is a transaction
// that compares the mod_revision; reads are linearizable. etcd acknowledges a transaction after a majority
// of members has it on disk, so what Put acknowledged outlasts the loss of any minority. No TTL, no lock and
// no clock of etcd's is used.
//
// A user of etcd with authentication needs the permission to read and write the keys with the prefix.
package etcdlease

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/advice"
)

const (
	// DefaultTimeout bounds a call whose context does not end earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultPrefix is that of the keys, where none is given.
	DefaultPrefix = "firn"

	defaultPort = "2379"
	pageSize    = 1000 // the most entries to ask for at a time
)

// A Store is a [driver.Store] in etcd. It is a [driver.Watcher] and a [driver.Inspector] too.
type Store struct {
	client  *clientv3.Client
	own     bool // the client is closed with the store
	prefix  string
	address string
	timeout time.Duration
	tls     *tls.Config // nil without, or if it is the client's
	login   bool        // with a password
	exposed bool        // which goes over the network in clear

	cluster uint64                // the ID of the cluster
	seen    atomic.Int64          // the highest revision of the cluster that was seen
	unsafe  atomic.Pointer[error] // why the store must not be used any more
	closed  atomic.Bool
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Watcher   = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

// Open connects to the cluster of an address such as
//
//	etcd://host:2379,host2:2379/prefix?timeout=5s
//
// and checks that it answers. The hosts are some of its members, best all; without a port it is 2379, and
// without a host localhost. The prefix, without which it is firn, is that of the keys. It logs in with user@
// and the setting password-file, password-env or password, and connects by TLS with tls=true, ca, cert, key
// or server-name. The timeout bounds each call whose context does not end earlier.
func Open(ctx context.Context, addr string) (*Store, error) {
	a, err := address.Parse(addr)
	if err != nil {
		return nil, openError("etcd", err)
	}
	c := clientv3.Config{TLS: a.TLS(), Username: a.User, Password: a.Secret("password")}
	timeout := a.Duration("timeout", DefaultTimeout)
	err = a.Err()
	c.Endpoints = a.Endpoints(defaultPort, "localhost")
	a.Hosts, a.Path = c.Endpoints, cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix)
	switch {
	case err != nil:
	case a.Scheme != "etcd":
		err = fmt.Errorf("%w: it begins with %s://, not etcd://", address.ErrAddress, a.Scheme)
	case c.Username != "" && c.Password == "":
		err = fmt.Errorf("%w: it has a user, but no password", address.ErrAddress)
	case c.Username == "" && c.Password != "":
		err = fmt.Errorf("%w: it has a password, but no user", address.ErrAddress)
	}
	if err != nil {
		return nil, openError(a.String(), err)
	}
	s := &Store{own: true, prefix: a.Path + "/", address: a.String(), timeout: timeout, tls: c.TLS,
		login: c.Username != "", exposed: c.Username != "" && c.TLS == nil && slices.ContainsFunc(c.Endpoints, isRemote)}
	if err := s.connect(ctx, c); err != nil {
		return nil, err
	}
	return s, nil
}

// New returns the store with that prefix in the cluster of a client, and checks that it answers. The client is
// the caller's to close. Its own repetition of requests does no harm: at worst, Put returns ErrConflict for a change
// that it has made itself, as [driver.Store] allows.
func New(ctx context.Context, client *clientv3.Client, prefix string) (*Store, error) {
	a := address.Address{Scheme: "etcd", Path: cmp.Or(strings.TrimRight(prefix, "/"), DefaultPrefix)}
	for _, endpoint := range client.Endpoints() {
		a.Hosts = append(a.Hosts, hostOf(endpoint))
	}
	s := &Store{client: client, prefix: a.Path + "/", address: a.String(), timeout: DefaultTimeout, login: client.Username != ""}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// connect makes the client, which logs in.
func (s *Store) connect(ctx context.Context, c clientv3.Config) error {
	ctx, cancel := s.within(ctx)
	defer cancel()
	// The client lives longer than ctx, but is to give up with it here.
	life, end := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, end)
	c.Context = life
	c.Logger = zap.NewNop()                                                     // what it would say is in the errors
	c.DialKeepAliveTime, c.DialKeepAliveTimeout = 10*time.Second, 3*time.Second // gRPC takes no less
	c.MaxUnaryRetries = 1                                                       // that is, one try: what may be repeated, and what not, is decided by again
	c.DialOptions = []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(failFast),
		// gRPC waits up to two minutes between tries to connect, which a lease has not.
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 2 * time.Second,
			Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond}}),
	}
	if c.TLS != nil && c.TLS.ServerName != "" { // which gRPC does not look at, since each host has a name of its own
		c.DialOptions = append(c.DialOptions, grpc.WithAuthority(c.TLS.ServerName))
	}
	client, err := clientv3.New(c)
	for err != nil && refused(err) && sleep(ctx, longest) == nil {
		client, err = clientv3.New(c)
	}
	if err != nil {
		end()
		return s.fail(ctx, "open", "", err)
	}
	s.client = client
	err = s.start(ctx)
	if err == nil && !stop() { // ctx has ended, and the client with it
		err = s.fail(ctx, "open", "", ctx.Err())
	}
	if err != nil {
		client.Close()
		end()
	}
	return err
}

// failFast returns the error if no member can be reached, rather than wait for one: the time is better used by
// the caller, who may ask again, and knows why.
func failFast(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, req, reply, cc, append(opts, grpc.WaitForReady(false))...)
}

// start checks that the store answers, and finds out which cluster it is.
func (s *Store) start(ctx context.Context) error {
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s.call(ctx, "open", "", reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := s.client.Get(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		s.cluster = r.Header.ClusterId
		return r.Header, nil
	})
}

// String returns the address: the hosts and the prefix.
func (s *Store) String() string { return s.address }

// Close closes the connections, and the channels of Watch.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.stop()
	if s.own {
		s.client.Close() // which returns that it was closed
	}
	return nil
}

// Get is as [driver.Store] says.
func (s *Store) Get(ctx context.Context, key string) (driver.Entry, error) {
	if err := driver.CheckKey(key); err != nil {
		return driver.Entry{}, s.error("get", "", err, "")
	}
	var found []driver.Entry
	err := s.call(ctx, "get", key, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := s.client.Get(ctx, s.prefix+key)
		if err != nil {
			return nil, err
		}
		found = nil
		for _, kv := range r.Kvs {
			found = append(found, entry(key, kv.Value, kv.ModRevision))
		}
		return r.Header, nil
	})
	switch {
	case err != nil:
		return driver.Entry{}, err
	case len(found) == 0:
		return driver.Entry{}, s.error("get", key, driver.ErrNotFound, "")
	}
	return found[0], s.checkEntry("get", found[0])
}

func entry(key string, value []byte, modRevision int64) driver.Entry {
	return driver.Entry{Key: key, Value: value, Revision: driver.Revision(strconv.FormatInt(modRevision, 10))}
}

// checkEntry returns an error if an entry is none that a store has written.
func (s *Store) checkEntry(op string, e driver.Entry) error {
	if len(e.Value) <= driver.MaxValue {
		return nil
	}
	return s.error(op, e.Key, fmt.Errorf("%w: it has %d bytes, more than an entry", driver.ErrDamaged, len(e.Value)),
		"see what else writes under the prefix "+s.prefix+"; then "+advice.Damaged)
}

// List is as [driver.Store] says. It leaves out keys with the prefix of the store that are none of its own.
func (s *Store) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	var entries []driver.Entry
	var damaged error
	err := s.scan(ctx, "list", prefix, func(r *clientv3.GetResponse) error {
		for _, kv := range r.Kvs {
			key := string(kv.Key[len(s.prefix):])
			if driver.CheckKey(key) != nil {
				continue
			}
			e := entry(key, kv.Value, kv.ModRevision)
			if e.Err = s.checkEntry("list", e); e.Err != nil {
				e.Value, damaged = nil, cmp.Or(damaged, e.Err)
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, damaged
}

// scan reads all that is under a prefix, in the order of keys, some at a time. Nothing is ever deleted, so it does not
// matter that the pages are not of one moment.
func (s *Store) scan(ctx context.Context, op, prefix string, page func(*clientv3.GetResponse) error) error {
	ctx, cancel := s.within(ctx)
	defer cancel()
	next, end := s.prefix+prefix, clientv3.GetPrefixRangeEnd(s.prefix+prefix)
	for {
		var got *clientv3.GetResponse
		err := s.call(ctx, op, "", reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
			r, err := s.client.Get(ctx, next, clientv3.WithRange(end), clientv3.WithLimit(pageSize))
			if err != nil {
				return nil, err
			}
			got = r
			return r.Header, nil
		})
		if err == nil {
			err = page(got)
		}
		if err != nil || !got.More || len(got.Kvs) == 0 {
			return err
		}
		next = string(got.Kvs[len(got.Kvs)-1].Key) + "\x00"
	}
}

// Put is as [driver.Store] says. It repeats a request only if etcd has said that it refused it before it
// did anything.
func (s *Store) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	err := driver.CheckKey(key)
	if err == nil && len(value) > driver.MaxValue {
		err = fmt.Errorf("%w: a value of %d bytes, where at most %d are taken", driver.ErrKey, len(value), driver.MaxValue)
	}
	if err != nil {
		return driver.None, s.error("put", "", err, "")
	}
	var is int64 // 0 compares equal to no entry
	if rev != driver.None {
		if is, err = strconv.ParseInt(string(rev), 10, 64); err != nil || is <= 0 || strconv.FormatInt(is, 10) != string(rev) {
			return driver.None, s.error("put", key, driver.ErrConflict, "") // nothing has it
		}
	}
	var done *clientv3.TxnResponse
	err = s.call(ctx, "put", key, writing, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(s.prefix+key), "=", is)).
			Then(clientv3.OpPut(s.prefix+key, string(value))).
			Commit()
		if err != nil {
			return nil, err
		}
		done = r
		return r.Header, nil
	})
	switch {
	case err != nil:
		return driver.None, err
	case !done.Succeeded:
		return driver.None, s.error("put", key, driver.ErrConflict, "")
	}
	// What a transaction writes has the revision of the transaction.
	return driver.Revision(strconv.FormatInt(done.Header.Revision, 10)), nil
}

// admit returns an error if there is no point in beginning.
func (s *Store) admit(ctx context.Context, op, key string) error {
	if s.closed.Load() {
		return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, os.ErrClosed), "")
	}
	if err := s.unsafe.Load(); err != nil {
		return s.error(op, key, *err, adviceUnsafe)
	}
	if err := ctx.Err(); err != nil {
		return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, err), "")
	}
	return nil
}

// within bounds the time of a call.
func (s *Store) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

// knows looks at what each reply says of the cluster: which it is, and how many changes it has seen, of which
// no later reply has fewer. If it is another cluster, or this one has forgotten some, the store refuses all
// further calls.
//
// The revisions of another cluster, or of one that was restored from a backup, can be those of other
// changes: a compare-and-swap says nothing there. This finds it out for the life of a store. A restart after
// that it cannot see, and no store can whose memory is the one that was put back; hence no ID of the cluster
// in the revisions, which live no longer than the store.
func (s *Store) knows(h *pb.ResponseHeader, before int64) bool {
	var err error
	switch {
	case h == nil:
		return true
	case s.cluster != 0 && h.ClusterId != s.cluster:
		err = fmt.Errorf("%w: the answer came from the cluster %x, but before that from %x", driver.ErrUnsafe, h.ClusterId, s.cluster)
	case h.Revision < before:
		err = fmt.Errorf("%w: the cluster is at revision %d, but was at %d: it has forgotten changes", driver.ErrUnsafe, h.Revision, before)
	default:
		for seen := s.seen.Load(); h.Revision > seen && !s.seen.CompareAndSwap(seen, h.Revision); seen = s.seen.Load() {
		}
		return true
	}
	s.unsafe.CompareAndSwap(nil, &err)
	return false
}

const adviceUnsafe = "see that all hosts of the address are members of one cluster. If it was restored from a backup, or its disks were set back, " +
	"times that were given out can be given out again: " + advice.Forgotten
