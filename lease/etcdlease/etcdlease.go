// Package etcdlease keeps the entries of leases in etcd, for the processes of many machines.
//
// The entry of the key a/b is etcd's key prefix/a/b, with the same value. The revision of an entry
// is etcd's mod_revision: the cluster counts the changes of all its keys, and never uses a number
// again. Put is a transaction that compares the mod_revision. Reads are linearizable. etcd
// acknowledges a transaction when a majority of members has it on disk, so acknowledged changes
// outlast the loss of any minority. The store uses no TTL, no lock and no clock of etcd.
//
// A user of etcd with authentication needs the permission to read and write the keys with the
// prefix.
package etcdlease

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

const (
	// DefaultTimeout bounds each call whose context does not end earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultPrefix is the prefix of the keys if the address has no prefix.
	DefaultPrefix = "firn"

	defaultPort = "2379"
	pageSize    = 1000 // the most entries to ask for at a time
)

// A Store keeps entries in etcd. It implements [driver.Store] by its [driver.Handle], and
// [driver.Confirmer], [driver.Watcher] and [driver.Inspector].
//
// String returns the hosts and the prefix. Close closes the client of [Open], and leaves the client
// of [New] open.
type Store struct {
	*driver.Handle
	client *clientv3.Client
	own    bool // the client is closed with the store
	prefix string
	login  bool // the client logs in with a password
	reopen func(context.Context) (*Store, error)

	cluster uint64          // the ID of the cluster
	seen    driver.Progress // the highest revision of the cluster that was seen
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Batcher   = (*Store)(nil)
	_ driver.Confirmer = (*Store)(nil)
	_ driver.Reopener  = (*Store)(nil)
	_ driver.Watcher   = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

func init() { driver.Register("etcd", Open) }

// Open connects to the cluster of an address such as
//
//	etcd://host:2379,host2:2379/prefix?timeout=5s
//
// and checks that the cluster answers. The hosts are some members of the cluster, or better all
// members. The host is by default localhost, and the port 2379. All keys begin with the prefix, by
// default firn. Open logs in with user@ and the setting password-file, password-env or password. It
// connects by TLS with tls=true, ca, cert, key or server-name. The timeout bounds each call whose
// context does not end earlier.
func Open(ctx context.Context, addr string) (*Store, error) {
	a, err := address.Parse(addr)
	c, timeout, err := settle(a, err)
	if err != nil {
		return nil, err
	}
	s := newStore(a, timeout)
	s.own, s.login = true, c.Username != ""
	s.reopen = func(ctx context.Context) (*Store, error) { return Open(ctx, addr) }
	if err := driver.Do(ctx, s.Handle, "open", func(ctx context.Context) error { return s.connect(ctx, c) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// settle returns the settings of an address, with the result of reading the address, and sets the
// hosts and the path in the address that String returns. [Open] and [Permissions] read addresses here alone.
func settle(a *address.Address, err error) (clientv3.Config, time.Duration, error) {
	if err != nil {
		return clientv3.Config{}, 0, driver.OpenError("etcd", err, driver.RemedyAddress)
	}
	c := clientv3.Config{TLS: a.TLS(), Username: a.User, Password: a.Secret("password")}
	timeout := a.Duration("timeout", DefaultTimeout)
	err = a.Err()
	c.Endpoints = a.Endpoints(defaultPort, "localhost")
	a.Hosts, a.Path = c.Endpoints, cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix)
	switch {
	case err != nil:
	case a.Scheme != "etcd":
		err = fmt.Errorf("%w: it begins with %s://, not etcd://", driver.ErrAddress, a.Scheme)
	case c.Username != "" && c.Password == "" && !a.Alone():
		err = fmt.Errorf("%w: it has a user, but no password", driver.ErrAddress)
	case c.Username == "" && c.Password != "":
		err = fmt.Errorf("%w: it has a password, but no user", driver.ErrAddress)
	}
	if err != nil {
		return c, 0, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	return c, timeout, nil
}

// newStore returns a store that has no client yet.
func newStore(a *address.Address, timeout time.Duration) *Store {
	s := &Store{prefix: a.Path + "/"}
	s.Handle = driver.New(driver.Backend{
		Address: a.String(), Timeout: timeout, Get: s.get, List: s.list, Put: s.put, Close: s.close, Diagnose: s.diagnose,
	})
	return s
}

// New returns the store with a prefix in the cluster of the caller's client, and checks that the
// cluster answers. The store never closes the client. The client may repeat requests: at worst, Put
// returns ErrConflict for its own change, as [driver.Store] allows.
func New(ctx context.Context, client *clientv3.Client, prefix string) (*Store, error) {
	if err := driver.CheckPath(prefix); err != nil {
		return nil, driver.OpenError("etcd", err, driver.RemedyAddress)
	}
	a := address.Address{Scheme: "etcd", Path: cmp.Or(strings.TrimRight(prefix, "/"), DefaultPrefix)}
	for _, endpoint := range client.Endpoints() {
		a.Hosts = append(a.Hosts, hostOf(endpoint))
	}
	s := newStore(&a, DefaultTimeout)
	s.client, s.login = client, client.Username != ""
	s.reopen = func(ctx context.Context) (*Store, error) { return New(ctx, client, prefix) }
	if err := driver.Do(ctx, s.Handle, "open", s.start); err != nil {
		return nil, err
	}
	return s, nil
}

// connect makes the client, and logs in.
func (s *Store) connect(ctx context.Context, c clientv3.Config) error {
	// The client lives longer than ctx, but must give up here when ctx ends.
	life, end := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, end)
	c.Context = life
	c.Logger = zap.NewNop()                                                     // the errors have its information
	c.DialKeepAliveTime, c.DialKeepAliveTimeout = 10*time.Second, 3*time.Second // gRPC takes no less
	c.MaxUnaryRetries = 1                                                       // one try: the method again decides about more
	c.DialOptions = []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(failFast),
		// By default gRPC waits up to two minutes between tries to connect. A lease cannot wait
		// that long.
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 2 * time.Second,
			Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond}}),
	}
	if c.TLS != nil && c.TLS.ServerName != "" { // gRPC ignores ServerName, since each host has a name of its own
		c.DialOptions = append(c.DialOptions, grpc.WithAuthority(c.TLS.ServerName))
	}
	client, err := clientv3.New(c)
	for err != nil && refused(err) && pause.For(ctx, longest) == nil {
		client, err = clientv3.New(c)
	}
	if err != nil {
		end()
		return readable(ctx, err)
	}
	s.client = client
	err = s.start(ctx)
	if err == nil && !stop() { // ctx has ended, and the client with it
		err = ctx.Err()
	}
	if err != nil {
		end()
	}
	return err
}

// failFast returns an error if no member can be reached, instead of waiting for a member. The
// caller can use the time to ask again, and knows the reason.
func failFast(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, req, reply, cc, append(opts, grpc.WaitForReady(false))...)
}

// start checks that the cluster answers, and notes its ID.
func (s *Store) start(ctx context.Context) error {
	return s.call(ctx, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := s.client.Get(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		s.cluster = r.Header.ClusterId
		return r.Header, nil
	})
}

// Reopen opens the store again after the cluster has forgotten changes, or another cluster has answered.
func (s *Store) Reopen(ctx context.Context) (driver.Store, error) {
	again, err := s.reopen(ctx)
	if err != nil {
		return nil, err
	}
	return again, nil
}

func (s *Store) close() error {
	if s.own && s.client != nil {
		s.client.Close() // its error says only that it was closed
	}
	return nil
}

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	var found []driver.Entry
	err := s.call(ctx, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := s.client.Get(ctx, s.prefix+key)
		if err != nil {
			return nil, err
		}
		found = nil
		for _, kv := range r.Kvs {
			found = append(found, s.entry(key, kv.Value, kv.ModRevision))
		}
		return r.Header, nil
	})
	switch {
	case err != nil:
		return driver.Entry{}, err
	case len(found) == 0:
		return driver.Entry{Place: s.place()}, driver.ErrNotFound
	}
	return found[0], nil
}

// Confirm returns the entry of a key now. Each read of the store is linearizable: the leader notes its
// last change after the request came, then hears from a majority that it still leads, and only then a
// member with that change answers.
func (s *Store) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return driver.Confirm(ctx, s.Handle, key, s.get)
}

func (s *Store) entry(key string, value []byte, modRevision int64) driver.Entry {
	return driver.Entry{Key: key, Value: value, Revision: driver.Revision(strconv.FormatInt(modRevision, 10)), Place: s.place()}
}

// place returns the ID of the cluster, and the prefix. A mirror and most restored snapshots have another ID; a snapshot
// that is restored with the same name, token and peers has the same.
func (s *Store) place() string { return fmt.Sprintf("%x/%s", s.cluster, s.prefix) }

func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	var entries []driver.Entry
	err := s.scan(ctx, prefix, func(r *clientv3.GetResponse) {
		for _, kv := range r.Kvs {
			entries = append(entries, s.entry(string(kv.Key[len(s.prefix):]), kv.Value, kv.ModRevision))
		}
	})
	return entries, err
}

// scan reads all keys with a prefix, in the order of keys, page by page. The pages show different
// moments. This does no harm, since nothing is ever deleted.
func (s *Store) scan(ctx context.Context, prefix string, page func(*clientv3.GetResponse)) error {
	next, end := s.prefix+prefix, clientv3.GetPrefixRangeEnd(s.prefix+prefix)
	for {
		var got *clientv3.GetResponse
		err := s.call(ctx, reading, func(ctx context.Context) (*pb.ResponseHeader, error) {
			r, err := s.client.Get(ctx, next, clientv3.WithRange(end), clientv3.WithLimit(pageSize))
			if err != nil {
				return nil, err
			}
			got = r
			return r.Header, nil
		})
		if err != nil {
			return err
		}
		page(got)
		if !got.More || len(got.Kvs) == 0 {
			return nil
		}
		next = string(got.Kvs[len(got.Kvs)-1].Key) + "\x00"
	}
}

// put repeats a request only if etcd refused the request before doing anything.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	var modified int64 // 0 compares equal to no entry
	if rev != driver.None {
		var err error
		if modified, err = strconv.ParseInt(string(rev), 10, 64); err != nil || modified <= 0 || strconv.FormatInt(modified, 10) != string(rev) {
			return driver.None, driver.ErrConflict // no entry has the revision
		}
	}
	done, err := s.txn(ctx, writing, func(t clientv3.Txn) clientv3.Txn {
		return t.If(clientv3.Compare(clientv3.ModRevision(s.prefix+key), "=", modified)).Then(clientv3.OpPut(s.prefix+key, string(value)))
	})
	switch {
	case err != nil:
		return driver.None, err
	case !done.Succeeded:
		return driver.None, driver.ErrConflict
	}
	// The keys that a transaction writes get the revision of the transaction.
	return driver.Revision(strconv.FormatInt(done.Header.Revision, 10)), nil
}

// Batch returns 100: by default, a transaction has at most 128 operations.
func (s *Store) Batch() int { return 100 }

// GetAll returns the entries of keys, as of one moment.
func (s *Store) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return driver.GetAll(ctx, s.Handle, keys, func(ctx context.Context, keys []string) ([]driver.Entry, error) {
		gets := make([]clientv3.Op, len(keys))
		for i, key := range keys {
			gets[i] = clientv3.OpGet(s.prefix + key)
		}
		got, err := s.txn(ctx, reading, func(t clientv3.Txn) clientv3.Txn { return t.Then(gets...) })
		if err != nil {
			return nil, err
		}
		var entries []driver.Entry
		for i, r := range got.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				entries = append(entries, s.entry(keys[i], kv.Value, kv.ModRevision))
			}
		}
		return entries, nil
	})
}

// CreateAll creates all entries that don't exist by one transaction. If some exist, it tries again without them.
func (s *Store) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return driver.CreateAll(ctx, s.Handle, entries, func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
		revs := make([]driver.Revision, len(entries))
		var lacking []int
		for i := range entries {
			lacking = append(lacking, i)
		}
		for len(lacking) > 0 {
			var none []clientv3.Cmp
			var puts, gets []clientv3.Op
			for _, i := range lacking {
				key := s.prefix + entries[i].Key
				none = append(none, clientv3.Compare(clientv3.ModRevision(key), "=", 0))
				puts = append(puts, clientv3.OpPut(key, string(entries[i].Value)))
				gets = append(gets, clientv3.OpGet(key, clientv3.WithKeysOnly()))
			}
			done, err := s.txn(ctx, writing, func(t clientv3.Txn) clientv3.Txn { return t.If(none...).Then(puts...).Else(gets...) })
			if err != nil {
				return nil, err
			}
			if done.Succeeded {
				for _, i := range lacking {
					revs[i] = driver.Revision(strconv.FormatInt(done.Header.Revision, 10))
				}
				break
			}
			var rest []int
			for i, r := range done.Responses {
				if len(r.GetResponseRange().Kvs) == 0 {
					rest = append(rest, lacking[i])
				}
			}
			lacking = rest
		}
		return revs, nil
	})
}

// txn commits a transaction.
func (s *Store) txn(ctx context.Context, does purpose, build func(clientv3.Txn) clientv3.Txn) (*clientv3.TxnResponse, error) {
	var done *clientv3.TxnResponse
	err := s.call(ctx, does, func(ctx context.Context) (*pb.ResponseHeader, error) {
		r, err := build(s.client.Txn(ctx)).Commit()
		if err != nil {
			return nil, err
		}
		done = r
		return r.Header, nil
	})
	return done, err
}

// backwards returns an error that latches the handle if a reply comes from another cluster, or if
// the cluster's revision is lower than before.
//
// In another cluster, or after a restore from a backup, other changes can have the same revisions,
// and a compare-and-swap proves nothing. backwards sees no loss from before this store was opened.
// An ID of the cluster in the revisions would not help: revisions live no longer than the store.
func (s *Store) backwards(h *pb.ResponseHeader, before uint64) error {
	var err error
	switch {
	case h == nil:
		return nil
	case s.cluster != 0 && h.ClusterId != s.cluster:
		err = fmt.Errorf("%w: the answer came from the cluster %x, but before that from %x", driver.ErrUnsafe, h.ClusterId, s.cluster)
	case uint64(h.Revision) < before:
		err = fmt.Errorf("%w: the cluster is at revision %d, but was at %d: it has forgotten changes", driver.ErrUnsafe, h.Revision, before)
	default:
		s.seen.Advance(uint64(h.Revision))
		return nil
	}
	return driver.Latch(&driver.Error{Err: err, Remedy: driver.RemedyRestored})
}
