package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/internal/testing/pgtest"
)

var starts = map[string]func(context.Context, Options) (Server, error){
	PostgreSQL: startPostgreSQL, keys.MariaDB: startMariaDB,
}

type postgresql struct {
	server *pgtest.Server
	conn   *pgx.Conn // for statements that are not measured
	pid    int
}

// pgSettings are the settings of the server. Checkpoints come only from Settle: a checkpoint by time
// would put more whole pages into the log of a slow format. The server would shrink the buffers of
// the log with the cache, and the vacuum would begin at any time.
func pgSettings(o Options) map[string]string {
	return map[string]string{
		"shared_buffers": fmt.Sprintf("%dkB", o.Cache), "fsync": onOff(!o.NoSync),

		"full_page_writes": "on", "synchronous_commit": "on", "wal_compression": "off", "wal_level": "replica",
		"checkpoint_timeout": "1d", "max_wal_size": "16GB", "wal_buffers": "16MB", "autovacuum": "off",
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func startPostgreSQL(ctx context.Context, o Options) (Server, error) {
	s := new(postgresql)
	var err error
	if s.server, err = pgtest.Start(ctx, pgtest.Config{Settings: pgSettings(o)}); err != nil {
		if errors.Is(err, pgtest.ErrMissing) {
			err = fmt.Errorf("%w: %w", ErrMissing, err)
		}
		return nil, err
	}
	if s.conn, err = pgx.Connect(ctx, s.server.Address()); err == nil {
		_, err = s.conn.Exec(ctx, "CREATE EXTENSION pgstattuple") // for LeafDensity
	}
	if err == nil {
		err = s.conn.QueryRow(ctx, `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int`).Scan(&s.pid)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *postgresql) Close() error {
	if s.conn != nil {
		s.conn.Close(context.Background())
	}
	return s.server.Close()
}

func (s *postgresql) Version(ctx context.Context) (version string, err error) {
	err = s.conn.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&version)
	return version, err
}

func (s *postgresql) Settings(ctx context.Context) ([]Setting, error) {
	names := slices.Collect(maps.Keys(pgSettings(Options{})))
	values := make(map[string]string)
	for _, name := range names {
		var v string
		if err := s.conn.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&v); err != nil {
			return nil, err
		}
		values[name] = v
	}
	return ordered(values, names), nil
}

type pgTable struct {
	*postgresql
	conn   *pgx.Conn
	format *keys.Format
}

func (s *postgresql) Create(ctx context.Context, f *keys.Format) (Table, error) {
	// A connection remembers the columns of its statements, and the next table has another key.
	conn, err := pgx.Connect(ctx, s.server.Address())
	if err != nil {
		return nil, err
	}
	t := &pgTable{postgresql: s, conn: conn, format: f}
	if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE TABLE t (id %s PRIMARY KEY, number bigint NOT NULL, body text NOT NULL)", Type(PostgreSQL, f))); err != nil {
		conn.Close(ctx)
		return nil, err
	}
	return t, nil
}

func (t *pgTable) Drop(ctx context.Context) error {
	_, err := t.conn.Exec(ctx, "DROP TABLE t")
	return errors.Join(err, t.conn.Close(ctx))
}

// value returns a key as pgx takes it for the column.
func (t *pgTable) value(key []byte) any {
	switch t.format.Column {
	case keys.Assigned, keys.Integer:
		return keys.Int64(key)
	case keys.UUID:
		return [16]byte(key)
	case keys.Bytes:
		return key
	}
	return string(key)
}

func (t *pgTable) Load(ctx context.Context, set keys.Set, from, to int) error {
	columns := []string{"id", "number", "body"}
	if set.Len() == 0 {
		columns = columns[1:]
	}
	next := from
	row := make([]any, len(columns))
	n, err := t.conn.CopyFrom(ctx, pgx.Identifier{"t"}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if next == to {
			return nil, nil
		}
		values := row
		if set.Len() > 0 {
			values[0] = t.value(set.At(next))
			values = values[1:]
		}
		values[0], values[1] = int64(next), body
		next++
		return row, nil
	}))
	if err != nil {
		return err
	}
	if n != int64(to-from) {
		return fmt.Errorf("COPY added %d rows of %d", n, to-from)
	}
	return t.report(ctx, t.conn)
}

// report makes the server count the work of a connection now. Otherwise the server counts the work
// up to a second later.
func (t *pgTable) report(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT pg_stat_force_next_flush()")
	if err != nil {
		return fmt.Errorf("%w (PostgreSQL 15 or newer is needed)", err)
	}
	return nil
}

// Settle asks for two checkpoints. The checkpointer counts the pages of a checkpoint after the
// checkpoint's end, and surely before the next checkpoint.
func (t *pgTable) Settle(ctx context.Context) error {
	for range 2 {
		if _, err := t.conn.Exec(ctx, "CHECKPOINT"); err != nil {
			return err
		}
	}
	return nil
}

func (t *pgTable) Counters(ctx context.Context) (Counters, error) {
	if err := t.report(ctx, t.conn); err != nil {
		return nil, err
	}
	var log, images, indexReads, indexHits, heapReads, heapHits, written float64
	err := t.conn.QueryRow(ctx, `
		SELECT (pg_current_wal_insert_lsn() - '0/0')::float8, (SELECT wal_fpi FROM pg_stat_wal)::float8,
			i.idx_blks_read::float8, i.idx_blks_hit::float8, h.heap_blks_read::float8, h.heap_blks_hit::float8,
			(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter)::float8
		FROM pg_statio_user_indexes i, pg_statio_user_tables h
		WHERE i.indexrelid = 't_pkey'::regclass AND h.relid = 't'::regclass`).
		Scan(&log, &images, &indexReads, &indexHits, &heapReads, &heapHits, &written)
	if err != nil {
		return nil, err
	}
	processor, err := processorTime(t.pid)
	if err != nil {
		return nil, err
	}
	return Counters{
		LogBytes: log, LogImages: images,
		IndexReads: indexReads, IndexRequests: indexReads + indexHits,
		HeapReads: heapReads, HeapRequests: heapReads + heapHits,
		PagesWritten: written, Processor: processor,
	}, nil
}

func (t *pgTable) Sizes(ctx context.Context) (Counters, error) {
	var index, table, leaves, density float64
	err := t.conn.QueryRow(ctx, `
		SELECT pg_relation_size('t_pkey')::float8, pg_relation_size('t')::float8, leaf_pages::float8, avg_leaf_density
		FROM pgstatindex('t_pkey')`).Scan(&index, &table, &leaves, &density)
	if err != nil {
		return nil, err
	}
	return Counters{IndexBytes: index, TableBytes: table, LeafPages: leaves, LeafDensity: density}, nil
}

func (t *pgTable) AddIndex(ctx context.Context) (size float64, err error) {
	if _, err := t.conn.Exec(ctx, "CREATE INDEX t_number ON t (number)"); err != nil {
		return 0, err
	}
	err = t.conn.QueryRow(ctx, "SELECT pg_relation_size('t_number')::float8").Scan(&size)
	return size, err
}

func (t *pgTable) Read(ctx context.Context, row func(number int64, key []byte) error) error {
	rows, err := t.conn.Query(ctx, "SELECT id, number FROM t")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var key []byte
		switch t.format.Column {
		case keys.Assigned, keys.Integer:
			var id int64
			err = rows.Scan(&id, &number)
			key = keys.FromInt64(id)
		case keys.UUID:
			var id pgtype.UUID
			err = rows.Scan(&id, &number)
			key = id.Bytes[:]
		case keys.Bytes:
			err = rows.Scan(&key, &number)
		default:
			var id string
			err = rows.Scan(&id, &number)
			key = []byte(id)
		}
		if err == nil {
			err = row(number, key)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

type pgConn struct {
	table *pgTable
	conn  *pgx.Conn
	tx    pgx.Tx
}

const (
	insertStatement = "insert"
	findStatement   = "find"
)

func (t *pgTable) Connect(ctx context.Context) (_ Conn, err error) {
	conn, err := pgx.Connect(ctx, t.server.Address())
	if err != nil {
		return nil, err
	}
	insert := "INSERT INTO t (id, number, body) VALUES ($1, $2, $3)"
	if t.format.Column == keys.Assigned {
		insert = "INSERT INTO t (number, body) VALUES ($1, $2)"
	}
	if _, err = conn.Prepare(ctx, insertStatement, insert); err == nil {
		_, err = conn.Prepare(ctx, findStatement, "SELECT number, body FROM t WHERE id = $1")
	}
	if err != nil {
		conn.Close(ctx)
		return nil, err
	}
	return &pgConn{table: t, conn: conn}, nil
}

func (c *pgConn) Begin(ctx context.Context) (err error) {
	c.tx, err = c.conn.Begin(ctx)
	return err
}

func (c *pgConn) Commit(ctx context.Context) error { return c.tx.Commit(ctx) }

func (c *pgConn) Insert(ctx context.Context, key []byte, number int64) error {
	var err error
	if key == nil {
		_, err = c.conn.Exec(ctx, insertStatement, number, body)
	} else {
		_, err = c.conn.Exec(ctx, insertStatement, c.table.value(key), number, body)
	}
	return err
}

func (c *pgConn) Find(ctx context.Context, key []byte) (number int64, err error) {
	var text string
	err = c.conn.QueryRow(ctx, findStatement, c.table.value(key)).Scan(&number, &text)
	return number, err
}

func (c *pgConn) Report(ctx context.Context) error { return c.table.report(ctx, c.conn) }

func (c *pgConn) Close() error { return c.conn.Close(context.Background()) }
