// Package redislease keeps the entries of leases in Redis or Valkey, for processes on many
// machines. The store is one of best effort: by default, Redis can lose acknowledged changes.
//
// The address of a store is
//
//	redis://user@host:6379/0?prefix=firn&password-file=PATH
//
// or rediss:// with TLS. All entries with a prefix are in two keys of Redis. The hash
// {prefix}:entries has a field for each entry, with the version before the value. The sorted set
// {prefix}:index has the keys of the entries as members. Keys, fields and members are never deleted
// and never expire. Every call checks that hash and set have the same number of entries. The braces
// keep both on the same server of a cluster.
//
// Each call is one script, which the server runs alone. The hash counts the changes of all its
// entries. A revision is this count together with a random name of the hash. A new hash gets a new
// name, and revisions do not come back even if all entries were lost and made again. If the count
// goes back, or the name changes, the store refuses all further calls.
//
// Only the primary answers reads, and refuses a read whenever it would refuse a change: the script
// of a read has a command for writing, without an effect.
//
// # What can be lost
//
// An acknowledged change is on the disk of the server only if appendonly is yes and appendfsync is
// always. If another server takes over, by Sentinel, in a Cluster or by hand, the latest changes
// may be missing there: a primary acknowledges a change before the replicas have the change. The
// setting wait-replicas makes this loss unlikely. The setting wait-aof makes appendfsync everysec
// sufficient. [Store.Inspect] reports how the server is set.
package redislease

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

const (
	// DefaultTimeout bounds each call whose context does not end earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultPrefix is the prefix of the keys if the address has no prefix.
	DefaultPrefix = "firn"
	// DefaultWaitTimeout bounds the time for which a call waits for replicas, or for the disk.
	DefaultWaitTimeout = time.Second

	defaultPort = "6379"
)

// Options are the settings of a store besides the settings of its connections.
type Options struct {
	// Prefix is the part in braces of the names of the store's keys in Redis: up to 100 letters,
	// digits, '.', '_', '-', ':' and '/'. "" means DefaultPrefix.
	Prefix string

	// Timeout bounds each call whose context has no earlier deadline. 0 means 5 s.
	Timeout time.Duration

	// WaitReplicas is the number of replicas that must have the changes or the entries of a call
	// before the call returns (WAIT). 0 means no waiting.
	WaitReplicas int

	// WaitAOF lets a call wait until the changes or entries are in the server's log on disk
	// (WAITAOF, of Redis 7.2 and Valkey).
	WaitAOF bool

	// WaitTimeout bounds the time for which a call waits for either before failing. 0 means 1 s.
	WaitTimeout time.Duration
}

// A Store keeps entries in Redis. It implements [driver.Store] by its [driver.Handle], and
// [driver.Clock], [driver.Preparer] and [driver.Inspector].
//
// String returns the hosts, the number of the database, and the settings that identify the store:
// sentinel, cluster, and prefix unless it is the DefaultPrefix. Close closes the client of [Open],
// and leaves the client of [New] open.
type Store struct {
	*driver.Handle
	client  redis.UniversalClient
	own     bool // the client is closed with the store
	reopen  func(context.Context) (*Store, error)
	keys    []string // of the hash and the index
	options Options

	name atomic.Pointer[string] // of the hash, once it was seen
	seen driver.Progress        // the highest count of changes that was seen
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Batcher   = (*Store)(nil)
	_ driver.Clock     = (*Store)(nil)
	_ driver.Preparer  = (*Store)(nil)
	_ driver.Reopener  = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

func init() {
	driver.Register("redis", Open)
	driver.Register("rediss", Open)
}

// Open connects to the server of an address, and checks that the server answers and takes changes.
// It needs no entries, and never makes keys: see [Store.Prepare].
//
// The path of the address is the number of the database, by default 0. The host is by default
// localhost, and the port 6379. The settings are
//
//   - prefix, timeout, wait-replicas, wait-aof and wait-timeout, the [Options];
//   - password-file=PATH, password-env=VARIABLE, or password;
//   - tls, ca, cert, key and server-name, for TLS;
//   - sentinel=NAME: the hosts are Sentinels, which know the primary of the name; sentinel-user and
//     sentinel-password-file, sentinel-password-env or sentinel-password log in to them;
//   - cluster=true: the hosts are servers of a Cluster. A call cannot wait for replicas then.
func Open(ctx context.Context, addr string) (*Store, error) {
	a, err := address.Parse(addr)
	u, o, err := settle(a, err)
	if err != nil {
		return nil, err
	}
	if u.TLSConfig != nil {
		a.Scheme = "rediss"
	}
	s := newStore(redis.NewUniversalClient(u), describe(a, o, u.MasterName, u.IsClusterMode), o)
	s.own = true
	s.reopen = func(ctx context.Context) (*Store, error) { return Open(ctx, addr) }
	if err := driver.Do(ctx, s.Handle, "open", s.check); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Reopen opens the store again after the server has forgotten changes, or another server has answered.
func (s *Store) Reopen(ctx context.Context) (driver.Store, error) {
	again, err := s.reopen(ctx)
	if err != nil {
		return nil, err
	}
	return again, nil
}

// settle returns the settings of an address, with the result of reading the address, and sets the
// hosts and the path in the address that String returns. [Open] and [Permissions] read addresses here alone.
func settle(a *address.Address, err error) (*redis.UniversalOptions, Options, error) {
	if err != nil {
		return nil, Options{}, driver.OpenError("redis", err, driver.RemedyAddress)
	}
	var o Options
	secure := a.Scheme == "rediss"
	u := &redis.UniversalOptions{
		Username: a.User, Password: a.Secret("password"), TLSConfig: a.TLS(),
		MasterName: a.Text("sentinel", ""), IsClusterMode: a.Bool("cluster", false),
		SentinelUsername: a.Text("sentinel-user", ""), SentinelPassword: a.Secret("sentinel-password"),
		MaxRetries:            -1, // a repeated Put could hide the outcome of the first Put
		ContextTimeoutEnabled: true,
		DialerRetries:         1,
		DisableIdentity:       true,
		Protocol:              2,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled},
	}
	o.Prefix = a.Text("prefix", DefaultPrefix)
	o.Timeout = a.Duration("timeout", DefaultTimeout)
	o.WaitReplicas = a.Number("wait-replicas", 0, 0, 100)
	o.WaitAOF = a.Bool("wait-aof", false)
	o.WaitTimeout = a.Duration("wait-timeout", DefaultWaitTimeout)
	err = a.Err()
	if err == nil {
		err = locate(a, u)
	}
	if err == nil && secure && u.TLSConfig == nil {
		if a.Text("tls", "") == "false" {
			err = fmt.Errorf("%w: rediss:// goes without tls=false", driver.ErrAddress)
		}
		u.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if err == nil {
		err = o.check(u.IsClusterMode)
	}
	if err != nil {
		return nil, Options{}, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	u.DialTimeout, u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = o.Timeout, o.Timeout, o.Timeout, o.Timeout
	return u, o, nil
}

// locate reads the parts of the address before its settings.
func locate(a *address.Address, u *redis.UniversalOptions) error {
	if path := strings.TrimRight(a.Path, "/"); path != "" {
		n, err := strconv.ParseUint(path, 10, 16)
		if err != nil {
			return fmt.Errorf("%w: the path is %q, where the number of a database is wanted, as in redis://host/0", driver.ErrAddress, path)
		}
		u.DB = int(n)
	}
	port := defaultPort
	if u.MasterName != "" {
		port = "26379"
	}
	u.Addrs = a.Endpoints(port, "localhost")
	a.Hosts, a.Path = u.Addrs, strconv.Itoa(u.DB)
	switch {
	case a.Scheme != "redis" && a.Scheme != "rediss":
		return fmt.Errorf("%w: it begins with %s://, not redis:// or rediss://", driver.ErrAddress, a.Scheme)
	case u.Username != "" && u.Password == "" && !a.Alone():
		return fmt.Errorf("%w: it has a user, but no password", driver.ErrAddress)
	case u.MasterName == "" && u.SentinelUsername+u.SentinelPassword != "":
		return fmt.Errorf("%w: sentinel-user and sentinel-password go with sentinel=NAME", driver.ErrAddress)
	case u.MasterName != "" && u.IsClusterMode:
		return fmt.Errorf("%w: sentinel=NAME goes without cluster=true", driver.ErrAddress)
	case len(u.Addrs) > 1 && u.MasterName == "" && !u.IsClusterMode:
		return fmt.Errorf("%w: it has more than one host: want sentinel=NAME or cluster=true as well", driver.ErrAddress)
	case u.IsClusterMode && u.DB != 0:
		return fmt.Errorf("%w: a Cluster has no database but 0", driver.ErrAddress)
	}
	return nil
}

// check returns an error unless the options are valid.
func (o *Options) check(cluster bool) error {
	o.Prefix = cmp.Or(o.Prefix, DefaultPrefix)
	o.Timeout = cmp.Or(max(o.Timeout, 0), DefaultTimeout)
	o.WaitTimeout = cmp.Or(max(o.WaitTimeout, 0), DefaultWaitTimeout)
	switch {
	case len(o.Prefix) > 100 || strings.ContainsFunc(o.Prefix, foreign):
		return fmt.Errorf("%w: prefix %.200q: want up to 100 letters (a to z, A to Z), digits, '.', '_', '-', ':' and '/'", driver.ErrAddress, o.Prefix)
	case o.WaitReplicas < 0:
		return fmt.Errorf("%w: wait-replicas is %d", driver.ErrAddress, o.WaitReplicas)
	case cluster && (o.WaitReplicas > 0 || o.WaitAOF):
		return fmt.Errorf("%w: wait-replicas and wait-aof are not available with cluster=true", driver.ErrAddress)
	}
	return nil
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:/", r)
}

// New returns a store on the caller's client, and checks that the server answers. The store never
// closes the client. Clients must not read from replicas, which refuse all calls (ReadOnly,
// RouteByLatency or RouteRandomly). If the client repeats commands (MaxRetries), Put may return
// ErrConflict for its own change, as [driver.Store] allows.
func New(ctx context.Context, client redis.UniversalClient, o Options) (*Store, error) {
	a := address.Address{Scheme: "redis"}
	switch c := client.(type) {
	case *redis.Client:
		a.Hosts, a.Path = []string{c.Options().Addr}, strconv.Itoa(c.Options().DB)
	case *redis.ClusterClient:
		a.Hosts, a.Path = slices.Clone(c.Options().Addrs), "0"
	}
	_, cluster := client.(*redis.ClusterClient)
	if err := o.check(cluster); err != nil {
		return nil, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	s := newStore(client, describe(&a, o, "", cluster), o)
	s.reopen = func(ctx context.Context) (*Store, error) { return New(ctx, client, o) }
	if err := driver.Do(ctx, s.Handle, "open", s.check); err != nil {
		return nil, err
	}
	return s, nil
}

// describe returns an address with the settings that identify the store.
func describe(a *address.Address, o Options, sentinel string, cluster bool) string {
	settings := make(url.Values)
	if o.Prefix != DefaultPrefix {
		settings.Set("prefix", o.Prefix)
	}
	if sentinel != "" {
		settings.Set("sentinel", sentinel)
	}
	if cluster {
		settings.Set("cluster", "true")
	}
	if len(settings) == 0 {
		return a.String()
	}
	return a.String() + "?" + settings.Encode()
}

func newStore(client redis.UniversalClient, address string, o Options) *Store {
	s := &Store{client: client, options: o, keys: []string{"{" + o.Prefix + "}:entries", "{" + o.Prefix + "}:index"}}
	s.Handle = driver.New(driver.Backend{
		Address: address, Timeout: o.Timeout, Get: s.get, List: s.list, Put: s.put, Close: s.close, Diagnose: s.diagnose,
	})
	return s
}

// oldest is the first version of Redis that replicates the effects of scripts. Replicas of older
// versions run scripts again.
const oldest = 5

// check checks that the server is suitable for leases.
func (s *Store) check(ctx context.Context) error {
	i, err := s.info(ctx)
	switch {
	case isPermission(err): // the version is not important enough to fail
	case err != nil:
		return err
	case i.major() < oldest:
		return &driver.Error{Err: fmt.Errorf("%w: %s is too old (want Redis %d or later, or Valkey)", driver.ErrUnsafe, i.product(), oldest), Remedy: driver.RemedySettings}
	}
	_, _, _, err = s.do(ctx, getScript, "-")
	if errors.Is(err, errUnprepared) {
		err = nil
	}
	return err
}

func (s *Store) close() error {
	if s.own {
		s.client.Close() // no caller can use its error
	}
	return nil
}

// Now returns the server's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return driver.Call(ctx, s.Handle, "now", func(ctx context.Context) (time.Time, error) {
		now, err := await(ctx, func() (time.Time, error) { return s.client.Time(ctx).Result() })
		return now.UTC(), err
	})
}

// await returns the results of a call, or the error of the context if the context ends first.
// go-redis heeds deadlines, but does not notice a cancelled context.
func await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := call()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
