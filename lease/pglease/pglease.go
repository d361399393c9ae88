// Package pglease keeps the entries of leases in a table of a PostgreSQL database, for processes on
// many machines.
//
// The address of a store is
//
//	postgres://user@host:5432,host2:5432/database?table=schema.name&password-file=PATH&sslmode=verify-full
//
// A row is an entry, with key, version and value. A change is one UPDATE of the row with the expected
// version, or one INSERT if the row is missing. The database makes one writer of a row wait for another
// writer, and the store needs nothing else. The store holds no lock between two calls.
//
// Each call is one message of several statements. The server runs the message as one transaction. A
// connection can break in the middle without leaving a transaction open, and no call depends on the
// connection of an earlier call. The store therefore works through proxies that give a client
// another connection for each transaction (PgBouncer with pool_mode=transaction). LISTEN does not
// work through these proxies, and the store is not a [driver.Watcher].
//
// Each transaction makes the settings on which the promises rest, whatever the defaults of the
// server, the database and the user are:
//
//   - synchronous_commit is at least on. A change is on the disk before the server acknowledges the
//     change and before anybody can read it, and on the disks of synchronous standbys too.
//   - The isolation level is read committed. A late compare-and-swap changes no row, and a read
//     sees all changes committed before the read.
//   - lock_timeout is half of the time for the call. If somebody else holds a lock on the table,
//     the call reports the lock, and waiting connections do not pile up.
//
// The store refuses a standby. With synchronous standbys, a read waits until the standbys have the
// rows of the read. A writer whose wait for the standby was cut short got no answer; until the
// change would survive a failover, nobody believes the change. For the same reason an abandoned
// call does not ask the server to cancel the transaction. The cancellation would end the wait, and
// others would see a change of one server only.
//
// Triggers, checks and rules of a table run with the rights of the user who writes. A superuser, or a user with
// CREATEROLE, therefore uses only a table whose owner has these rights too. The store refuses other tables, and
// [Store.Inspect] reports them.
//
// The store cannot make an asynchronous failover safe: acknowledged changes are missing afterwards.
// [Store.Inspect] reports asynchronous standbys.
package pglease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

const (
	// DefaultTable is the table if the address has no table.
	DefaultTable = "public.firn_leases"
	// DefaultTimeout bounds each call whose context does not end earlier.
	DefaultTimeout = 5 * time.Second
)

// Options are the settings of a store besides the settings of its connections.
type Options struct {
	// Table is the name of the table, schema.name, each up to 63 letters, digits and '_', '-' and
	// '$', as in the database: the store does not change upper case into lower case. A name without
	// schema is a table in public, whatever the search_path. "" means DefaultTable.
	Table string

	// Timeout bounds each call whose context has no earlier deadline. 0 means 5 s.
	Timeout time.Duration
}

// A Store keeps entries in a table. It implements [driver.Store] by a [driver.Handle], and
// [driver.Confirmer], [driver.Clock], [driver.Preparer] and [driver.Inspector].
//
// String returns postgres://, the hosts with ports, the database, and the table unless it is the
// DefaultTable. Close closes the connections of [Open], and waits at most a second for calls under
// way. It leaves the pool of [New] open.
type Store struct {
	*driver.Handle
	name  name
	table string // its name in a statement
	pool  *pgxpool.Pool
	own   bool
	slots chan struct{}          // one slot for each call at a time; nil for a caller's pool
	admin bool                   // the user is a superuser or may make roles
	place atomic.Pointer[string] // of the table, once it was seen
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Batcher   = (*Store)(nil)
	_ driver.Confirmer = (*Store)(nil)
	_ driver.Clock     = (*Store)(nil)
	_ driver.Preparer  = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
)

func init() { driver.Register("postgres", Open) }

// Open returns the store at an address, and checks that the server answers. It needs no table and
// never makes a table: see [Store.Prepare].
//
// The settings of the address are
//
//   - table and timeout, the [Options];
//   - password-file=PATH, password-env=VARIABLE, or password; the file is read for each connection, since
//     passwords change;
//   - host and port, if there is no host before the path: a folder for a Unix socket, as libpq has
//     it;
//   - target_session_attrs: primary (the default) or read-write, which also skips a server where
//     default_transaction_read_only is on. With several hosts, Open uses the first suitable host;
//   - pool_max_conns, the number of calls at a time, each on a connection, by default 4; and
//     pool_min_conns, pool_min_idle_conns, pool_max_conn_lifetime, pool_max_conn_lifetime_jitter,
//     pool_max_conn_idle_time (by default 1m), pool_health_check_period and pool_ping_timeout (by
//     default 1s), as package pgxpool has them;
//   - application_name (by default firn), channel_binding, connect_timeout (in seconds), krbspn,
//     krbsrvname, max_protocol_version, min_protocol_version, options, passfile, require_auth,
//     service, servicefile, sslcert, sslcertmode, sslkey, sslmode, sslnegotiation, sslrootcert and
//     sslsni, as libpq has them.
//
// Other settings come from libpq's environment (PGHOST, PGUSER, PGSSLMODE, PGPASSFILE and others,
// but not PGTARGETSESSIONATTRS) and from libpq's files. The shortest address is postgres://.
func Open(ctx context.Context, addr string) (*Store, error) {
	config, o, err := settle(address.Parse(addr))
	if err != nil {
		return nil, err
	}
	s, err := newStore(config.ConnConfig, o)
	if err != nil {
		return nil, err
	}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if now, _, err := settle(address.Parse(addr)); err == nil { // else the password may still be right
			c.Password = now.ConnConfig.Password
		}
		return nil
	}
	Configure(config)
	s.slots = make(chan struct{}, config.MaxConns)
	// Connections that hang, and attempts to connect, stay in the pool for some seconds after their
	// call gave up. Such connections must not take the place of working connections.
	config.MaxConns *= 8
	s.own = true
	err = driver.Do(ctx, s.Handle, "open", func(ctx context.Context) (err error) {
		if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
			return readable(err)
		}
		return s.check(ctx)
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// New returns a store on connections of the caller's pool, and checks that the server answers. The
// pool's configuration must have gone through [Configure]; otherwise the error is
// [driver.ErrUnsafe]. The store never closes the pool.
func New(ctx context.Context, pool *pgxpool.Pool, o Options) (*Store, error) {
	s, err := newStore(pool.Config().ConnConfig, o)
	if err != nil {
		return nil, err
	}
	s.pool = pool
	if err := driver.Do(ctx, s.Handle, "open", s.check); err != nil {
		return nil, err
	}
	return s, nil
}

func newStore(c *pgx.ConnConfig, o Options) (*Store, error) {
	at := describe(c)
	n, err := parseName(cmp.Or(o.Table, DefaultTable))
	if err != nil {
		return nil, driver.OpenError(at, err, driver.RemedyAddress)
	}
	s := &Store{name: n, table: n.quoted()}
	if table := s.name.String(); table != DefaultTable {
		at += "?" + url.Values{"table": {table}}.Encode()
	}
	s.Handle = driver.New(driver.Backend{
		Address: at, Timeout: cmp.Or(max(o.Timeout, 0), DefaultTimeout), Get: s.get, List: s.list, Put: s.put, Close: s.close, Diagnose: s.diagnose,
	})
	return s, nil
}

// oldest is the first version of PostgreSQL that runs a message of several statements as a
// transaction with its own settings.
const oldest = 10_00_00

// check checks that the server is suitable for leases.
func (s *Store) check(ctx context.Context) error {
	rows, err := s.query(ctx, "SELECT current_setting('server_version_num'), current_setting('server_version'), pg_is_in_recovery(), "+
		"EXISTS (SELECT FROM "+users+" AND "+admin+")")
	if err != nil {
		return err
	}
	version, err := strconv.Atoi(string(rows[0][0]))
	switch {
	case err != nil:
		return fmt.Errorf("the server's version is %.20q", rows[0][0])
	case version < oldest:
		return &driver.Error{Err: fmt.Errorf("%w: PostgreSQL %.40s is too old (want %d or later)", driver.ErrUnsafe, rows[0][1], oldest/10000),
			Remedy: driver.RemedySettings}
	case string(rows[0][2]) == "t":
		return errStandby
	}
	s.admin = string(rows[0][3]) == "t"
	return nil
}

// close closes the connections of the store's own pool. It waits at most a second for calls under
// way.
func (s *Store) close() error {
	if !s.own || s.pool == nil {
		return nil
	}
	done := make(chan struct{})
	go func() {
		s.pool.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Second): // a connection that hangs ends later
	}
	return nil
}

// describe returns the address of a configuration, in the form for Open.
func describe(c *pgx.ConnConfig) string {
	var hosts []string
	add := func(host string, port uint16) {
		if strings.HasPrefix(host, "/") { // the folder of a socket
			host = url.PathEscape(host) + ":" + strconv.Itoa(int(port))
		} else {
			host = net.JoinHostPort(host, strconv.Itoa(int(port)))
		}
		if !slices.Contains(hosts, host) { // once with and once without TLS
			hosts = append(hosts, host)
		}
	}
	add(c.Host, c.Port)
	for _, f := range c.Fallbacks {
		add(f.Host, f.Port)
	}
	u := url.URL{Path: "/" + c.Database}
	return "postgres://" + strings.Join(hosts, ",") + u.EscapedPath()
}

// A name is the name of a table.
type name struct{ schema, table string }

// parseName reads schema.table, or the name of a table in public.
func parseName(s string) (name, error) {
	schema, table, ok := strings.Cut(s, ".")
	if !ok {
		schema, table = "public", s
	}
	for _, part := range []string{schema, table} {
		if part == "" || len(part) > 63 || strings.ContainsFunc(part, foreign) {
			return name{}, fmt.Errorf("table %.200q: want schema.name, each of up to 63 letters (a to z, A to Z), digits, '_', '-' and '$'", s)
		}
	}
	return name{schema, table}, nil
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-$", r)
}

func (n name) quoted() string { return pgx.Identifier{n.schema, n.table}.Sanitize() }
func (n name) String() string { return n.schema + "." + n.table }

var errStandby = errors.New("the server is a standby, a replica that cannot be written")
