// Package natslease keeps the entries of leases in a key-value bucket of NATS JetStream, for
// processes on many machines. The store is one of best effort: by default, NATS can lose
// acknowledged changes.
//
// The address of a store is
//
//	nats://host:4222,host2:4222/bucket?creds-file=PATH
//
// The bucket is JetStream's stream KV_bucket, as the tools of NATS know it. An entry is the last
// message of its subject. A change is a message with the sequence of the last message, and the
// stream compares the sequence. A revision is the sequence of the entry's message and the time at
// which the stream was made. A stream that was made again has other revisions. Each call first asks
// for the last sequence and the time. If the sequences go back, or another stream answers, the
// store refuses all further calls.
//
// Reads go to the stream's leader. The store refuses a bucket that allows direct gets, as buckets
// of other tools do: replicas would answer with an older state. A leader that was cut off from the
// other servers goes on for some seconds. The leader's answers can then be old, but a
// compare-and-swap of an old revision fails.
//
// # What can be lost
//
// A server acknowledges a change when the operating system has the change. The server syncs the
// disk once in two minutes, unless the configuration has sync_interval: always. The crash of a
// process therefore loses nothing. The crash of a machine, or of a majority of a bucket's machines,
// loses acknowledged changes. [Store.Inspect] reports this, and other ways in which the bucket can
// lose changes. A client cannot see the configuration of the servers.
//
// NATS has sync_interval since 2.10. Before 2.10.23, the servers of a bucket with several replicas
// sync their common log once in five minutes, whatever the setting is. [Store.Inspect] reports these
// versions, also with [Options.SyncAlways]. A client sees the version of the connected server alone.
package natslease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

const (
	// DefaultTimeout bounds each call whose context does not end earlier.
	DefaultTimeout = 5 * time.Second
	// DefaultBucket is the bucket if the address has no bucket.
	DefaultBucket = "firn"

	defaultPort = "4222"
)

// Options are the settings of a store besides the settings of its connection.
type Options struct {
	// Bucket is the name of the bucket: up to 100 letters, digits, '_' and '-'. "" means
	// DefaultBucket.
	Bucket string

	// Timeout bounds each call whose context has no earlier deadline. 0 means 5 s.
	Timeout time.Duration

	// Replicas is the number of servers that get a bucket made by [Store.Prepare], 1 to 5. 0 means
	// 3 in a cluster of servers, and otherwise 1.
	Replicas int

	// MaxBytes is the size limit of a bucket made by [Store.Prepare]. Some providers require a
	// limit. 0 means no limit.
	MaxBytes int64

	// Domain is JetStream's domain, unless it is the domain of the connected server.
	Domain string

	// SyncAlways says that the servers sync each message to disk (sync_interval: always in their
	// configuration). A client cannot see this setting. SyncAlways only keeps Inspect from warning,
	// and only if the version of the connected server has the setting.
	SyncAlways bool
}

// A Store keeps entries in a bucket. It implements [driver.Store] by its [driver.Handle], and
// [driver.Preparer], [driver.Watcher] and [driver.Inspector].
//
// String returns the hosts and the bucket. Close closes the connection of [Open], and leaves the
// connection of [New] open.
type Store struct {
	*driver.Handle
	conn    *nats.Conn
	js      jetstream.JetStream
	own     bool // the connection is closed with the store
	options Options

	refused atomic.Pointer[refusal] // the server's last refusal
	created atomic.Int64            // when the stream was made, in Unix nanoseconds, once it was seen
	seen    driver.Progress         // the highest sequence that was seen
	kv      atomic.Pointer[jetstream.KeyValue]
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Preparer  = (*Store)(nil)
	_ driver.Watcher   = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

func init() { driver.Register("nats", Open) }

// Open connects to a server of an address, logs in, and checks that the server has JetStream. If
// the bucket exists, Open checks the bucket. Open never makes the bucket: see [Store.Prepare].
//
// The path of the address is the name of the bucket, by default firn. The hosts are some servers of
// one cluster; the client finds the other servers. The host is by default localhost, and the port
// 4222. The settings are
//
//   - timeout, replicas, max-bytes, domain and sync-always, the [Options];
//   - password-file=PATH, password-env=VARIABLE, or password, which go with a user;
//   - token-file=PATH, token-env=VARIABLE, or token;
//   - creds-file=PATH, the file with a user's JWT and key, or nkey-file=PATH, the file with the key
//     alone; each new connection reads the file again;
//   - tls, ca, cert, key and server-name, for TLS.
func Open(ctx context.Context, addr string) (*Store, error) {
	a, err := address.Parse(addr)
	o, c, err := settle(a, err)
	if err != nil {
		return nil, err
	}
	s := newStore(a.String(), o)
	s.own = true
	err = driver.Do(ctx, s.Handle, "open", func(ctx context.Context) error {
		if err := s.connect(ctx, a.Hosts, c); err != nil {
			return s.readable(err)
		}
		return s.start(ctx)
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// settle returns the settings of an address, with the result of reading the address, and sets the
// hosts and the path in the address that String returns. [Open] and [Rights] read addresses here alone.
func settle(a *address.Address, err error) (Options, []nats.Option, error) {
	if err != nil {
		return Options{}, nil, driver.OpenError("nats", err, driver.RemedyAddress)
	}
	secure := a.TLS()
	password, token := a.Secret("password"), a.Secret("token")
	creds, nkey := a.Text("creds-file", ""), a.Text("nkey-file", "")
	o := Options{
		Timeout:    a.Duration("timeout", DefaultTimeout),
		Replicas:   a.Number("replicas", 0, 1, 5),
		MaxBytes:   int64(a.Number("max-bytes", 0, 1<<20, min(1<<40, math.MaxInt))),
		Domain:     a.Text("domain", ""),
		SyncAlways: a.Bool("sync-always", false),
	}
	err = a.Err()
	o.Bucket = cmp.Or(strings.TrimRight(a.Path, "/"), DefaultBucket)
	a.Hosts, a.Path = a.Endpoints(defaultPort, "localhost"), o.Bucket
	ways := 0
	for _, way := range []string{a.User, token, creds, nkey} {
		if way != "" {
			ways++
		}
	}
	switch {
	case err != nil:
	case a.Scheme != "nats":
		err = fmt.Errorf("%w: it begins with %s://, not nats://", driver.ErrAddress, a.Scheme)
	case a.User == "" && password != "", a.User != "" && password == "" && !a.Alone():
		err = fmt.Errorf("%w: user and password go together; a token is given as token-file, token-env or token", driver.ErrAddress)
	case ways > 1:
		err = fmt.Errorf("%w: it has more than one of a user, a token, creds-file and nkey-file", driver.ErrAddress)
	default:
		err = o.check()
	}
	c := []nats.Option{nats.Name("firn"), nats.UserInfo(a.User, password), nats.Token(token), nats.Secure(secure)}
	if a.User == "" {
		c[1] = nil
	}
	if token == "" {
		c[2] = nil
	}
	if secure == nil {
		c[3] = nil
	}
	if err == nil && creds != "" && !a.Alone() {
		_, err = os.ReadFile(creds) // otherwise a missing file would show only later
		c = append(c, nats.UserCredentials(creds))
	}
	if err == nil && nkey != "" && !a.Alone() {
		var option nats.Option
		if option, err = nats.NkeyOptionFromSeed(nkey); err != nil {
			err = fmt.Errorf("nkey-file: %w", err)
		}
		c = append(c, option)
	}
	if err != nil {
		return Options{}, nil, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	return o, c, nil
}

// newStore returns a store without a connection.
func newStore(address string, o Options) *Store {
	s := &Store{options: o}
	s.Handle = driver.New(driver.Backend{
		Address: address, Timeout: o.Timeout, Get: s.get, List: s.list, Put: s.put, Close: s.close, Diagnose: s.diagnose,
	})
	return s
}

// check returns an error unless the options are valid.
func (o *Options) check() error {
	o.Bucket = cmp.Or(o.Bucket, DefaultBucket)
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	switch {
	case len(o.Bucket) > 100 || strings.ContainsFunc(o.Bucket, foreign):
		return fmt.Errorf("%w: bucket %.200q: want up to 100 letters (a to z, A to Z), digits, '_' and '-'", driver.ErrAddress, o.Bucket)
	case o.Replicas < 0 || o.Replicas > 5:
		return fmt.Errorf("%w: %d replicas, where at most 5 are possible", driver.ErrAddress, o.Replicas)
	}
	return nil
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// connect makes the connection, which lives until Close.
func (s *Store) connect(ctx context.Context, hosts []string, c []nats.Option) error {
	until, _ := ctx.Deadline()
	var servers []string
	for _, host := range hosts {
		servers = append(servers, "nats://"+host)
	}
	c = append(c,
		nats.Timeout(max(time.Until(until)/time.Duration(len(hosts)), time.Millisecond)), // a silent host leaves time for the others
		nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectBufSize(-1), // a message that cannot be sent now must not be sent much later
		nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.refused.Store(&refusal{err, time.Now()}) }),
	)
	type result struct {
		conn *nats.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := nats.Connect(strings.Join(servers, ","), c...)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		s.conn = r.conn
		return r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				r.conn.Close()
			}
		}()
		return ctx.Err()
	}
}

// New returns a store on the caller's connection, and checks what [Open] checks. The store never
// closes the connection, which should be set to reconnect by itself.
func New(ctx context.Context, conn *nats.Conn, o Options) (*Store, error) {
	a := address.Address{Scheme: "nats"}
	for _, server := range conn.Servers() {
		_, host, _ := strings.Cut(server, "://")
		a.Hosts = append(a.Hosts, host[strings.LastIndexByte(host, '@')+1:])
	}
	err := o.check()
	a.Path = o.Bucket
	if err != nil {
		return nil, driver.OpenError(a.String(), err, driver.RemedyAddress)
	}
	s := newStore(a.String(), o)
	s.conn = conn
	if err := driver.Do(ctx, s.Handle, "open", s.start); err != nil {
		return nil, err
	}
	return s, nil
}

// Versions of NATS, as [number] returns them.
const (
	oldest   = 2_009_000 // the first version that was tested
	hasSync  = 2_010_000 // the first version with sync_interval: before, a server refuses the setting
	syncsLog = 2_010_023 // the first version that syncs the log of a bucket's servers at that interval
)

// start checks that the server is suitable for leases.
func (s *Store) start(ctx context.Context) error {
	if v := s.conn.ConnectedServerVersion(); number(v) < oldest {
		return &driver.Error{Err: fmt.Errorf("%w: NATS %s is too old (want 2.9 or later)", driver.ErrUnsafe, v), Remedy: driver.RemedySettings}
	}
	var err error
	if s.options.Domain == "" {
		s.js, err = jetstream.New(s.conn)
	} else {
		s.js, err = jetstream.NewWithDomain(s.conn, s.options.Domain)
	}
	if err != nil {
		return s.readable(err)
	}
	_, _, err = s.stream(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = nil
	}
	return err
}

// number returns a version as a number: 2_009_010 for 2.9.10. An unknown form of version counts as
// new.
func number(version string) int {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return 1 << 30
	}
	return major*1_000_000 + minor*1_000 + patch
}

func (s *Store) close() error {
	if s.own && s.conn != nil {
		s.conn.Close()
	}
	return nil
}
