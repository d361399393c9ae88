package sqlgen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// A database is the database of a feed, over one connection. After an error, the connection is opened
// again.
//
// The names in the feed's statements are qualified, also of operators: whatever the search_path of the
// session is, no object of another role runs with the rights of the feed.
type database struct {
	config  *pgx.ConnConfig
	timeout time.Duration // of a statement, with the time to connect
	clock   clock
	conn    *pgx.Conn
}

// newDatabase returns the database at an address, in the form of libpq.
func newDatabase(address string, timeout time.Duration) (*database, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// The text of pgx hides passwords, but not each of them is sure to be found.
		return nil, cli.Usagef("--database: want an address as in postgres://user@host:5432/database")
	}
	// All transactions of a standby are read-only, and those of a primary are not. The check of pgx
	// for a primary calls a function by the search_path.
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "firn sql feed"
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // PgBouncer may give each statement another connection
	return &database{config: config, timeout: timeout}, nil
}

// String names the database and all its hosts, without the password.
func (d *database) String() string {
	hosts := fmt.Sprintf("%s:%d", d.config.Host, d.config.Port)
	for _, f := range d.config.Fallbacks {
		if host := fmt.Sprintf("%s:%d", f.Host, f.Port); !strings.Contains(hosts, host) {
			hosts += " or " + host
		}
	}
	return fmt.Sprintf("database %s at %s", d.config.Database, hosts)
}

// close closes the connection.
func (d *database) close() {
	if d.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		d.conn.Close(ctx)
		d.conn = nil
	}
}

// do calls f with a connection. After an error that is not the server's, do closes the connection.
func (d *database) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if d.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, d.config)
		if err != nil {
			return &awayError{fmt.Errorf("%s cannot be reached: %w", d, err)}
		}
		d.conn = conn
	}
	err := f(ctx, d.conn)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		away := d.conn.IsClosed() || ctx.Err() != nil
		if away || !errors.As(err, new(*pgconn.PgError)) {
			d.close()
		}
		if err = fmt.Errorf("%s: %w", d, err); away {
			err = &awayError{err}
		}
	}
	return err
}

// An awayError is the error of a database that gave no answer.
type awayError struct{ error }

func (e *awayError) Unwrap() error { return e.error }

// errGenerator reports a database without the generator of this version.
var errGenerator = errors.New("the generator is missing, or has another version")

// check returns an error unless the database has the generator.
func (d *database) check(ctx context.Context) error {
	return d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var version, persistence string
		var aurora bool
		err := conn.QueryRow(ctx, `select coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''), c.relpersistence::pg_catalog.text,
				exists (select from pg_catalog.pg_proc where proname operator(pg_catalog.=) 'aurora_version'::pg_catalog.name)
			from pg_catalog.pg_class c where c.oid operator(pg_catalog.=) pg_catalog.to_regclass('firn.nanoflake_grant')::pg_catalog.oid`).Scan(&version, &persistence, &aurora)
		const want = "Firn generator, version 1: "
		switch {
		case errors.Is(err, pgx.ErrNoRows), err == nil && (len(version) < len(want) || version[:len(want)] != want):
			return fmt.Errorf("%w: run the SQL of firn sql generator there", errGenerator)
		case err != nil:
			return err
		case aurora:
			return errors.New("the server is Amazon Aurora, which keeps unlogged tables after a crash, so a crash can repeat IDs: make the IDs in Go, or use PostgreSQL itself")
		case persistence != "u":
			return errors.New("the table firn.nanoflake_grant is not unlogged, so a crash can repeat IDs: ALTER TABLE firn.nanoflake_grant SET UNLOGGED")
		}
		return nil
	})
}

// A row is a feed's view of the database's interval.
type row struct {
	nonce    string // "" if the table has no row
	holder   string
	valid    bool // the row is not a copy
	released bool
	started  string // when the server was started
	first    int64  // ticks
	due, end int64
	epoch    int64
	worker   int
	now      int64 // the database's time in Unix milliseconds
}

// started is SQL for the start time of the server. A copy of a stopped server has the row of the
// original. Since each server was started at another time, a feed tells the two apart.
const started = `(pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time()) operator(pg_catalog.*) 1000000::double precision)::bigint::pg_catalog.text` // the same in each session

// read returns the row.
func (d *database) read(ctx context.Context) (r row, err error) {
	err = d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		sent := time.Now()
		err := conn.QueryRow(ctx, `select coalesce(g.nonce, ''), coalesce(g.holder, ''), r.one is not null, coalesce(g.released, false),
				coalesce(g.first_tick, 0), coalesce(g.due_tick, 0), coalesce(g.end_tick, 0), coalesce(g.epoch, 0), coalesce(g.worker, 0),
				firn.nanoflake_clock(), `+started+`
			from (select) none left join firn.nanoflake_grant g on true left join firn.nanoflake_row r on true`).
			Scan(&r.nonce, &r.holder, &r.valid, &r.released, &r.first, &r.due, &r.end, &r.epoch, &r.worker, &r.now, &r.started)
		if err == nil {
			d.clock.set(r.now, sent, time.Now())
		}
		return err
	})
	return r, err
}

// place writes the first row of an offer, unless the database has another row than before. ok
// reports whether the row was written; start is when the server was started.
func (d *database) place(ctx context.Context, i interval, due int64, o *offer, nonce, holder, before string) (start string, ok bool, err error) {
	err = d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, `insert into firn.nanoflake_grant as g
				(worker, first_tick, end_tick, due_tick, epoch, nonce, holder, written, relation, database)
			select $1::int, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::pg_catalog.text, $7::pg_catalog.text,
				pg_catalog.pg_current_xact_id()::pg_catalog.xid, c.oid, d.oid
				from pg_catalog.pg_database d, pg_catalog.pg_class c
				where d.datname operator(pg_catalog.=) pg_catalog.current_database()
					and c.oid operator(pg_catalog.=) 'firn.nanoflake_grant'::pg_catalog.regclass::pg_catalog.oid and c.relpersistence operator(pg_catalog.=) 'u'::pg_catalog."char"
			on conflict (one) do update set worker = excluded.worker, first_tick = excluded.first_tick, end_tick = excluded.end_tick,
				due_tick = excluded.due_tick, epoch = excluded.epoch, nonce = excluded.nonce, holder = excluded.holder, released = false,
				written = excluded.written, relation = excluded.relation, database = excluded.database
				where g.nonce operator(pg_catalog.=) $8::pg_catalog.text
			returning `+started,
			i.worker, i.first, i.end, due, o.pool.Layout.Epoch.UnixMilli(), nonce, holder, before).Scan(&start)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		ok = err == nil
		return err
	})
	return start, ok, err
}

// isMine is SQL for a row that is not a copy, and has the nonce that follows.
const isMine = `written operator(pg_catalog.=) xmin and relation operator(pg_catalog.=) tableoid and nonce operator(pg_catalog.=) `

// extend raises the end of the offer's row. ok reports whether the database has the row, and the
// server was started at start.
func (d *database) extend(ctx context.Context, i interval, due int64, nonce, start string) (ok bool, err error) {
	err = d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, `update firn.nanoflake_grant set end_tick = greatest(end_tick, $1::bigint), due_tick = greatest(due_tick, $2::bigint),
			written = pg_catalog.pg_current_xact_id()::pg_catalog.xid where `+isMine+`$3 and `+started+` operator(pg_catalog.=) $4::pg_catalog.text`, i.end, due, nonce, start)
		ok = tag.RowsAffected() == 1
		return err
	})
	return ok, err
}

// release tells other feeds that they may take over at once.
func (d *database) release(ctx context.Context, nonce string) error {
	return d.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `update firn.nanoflake_grant set released = true, written = pg_catalog.pg_current_xact_id()::pg_catalog.xid where `+isMine+`$1`, nonce)
		return err
	})
}
