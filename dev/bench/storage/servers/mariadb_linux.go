package servers

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/gofrs/uuid/v5"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/wait"
)

type mariadb struct {
	dir     string
	process *process.Process
	log     process.Logbook
	db      *sql.DB
}

// mariadbSettings are the settings of the server that decide the measurements.
func mariadbSettings(o Options) []Setting {
	flush := "O_DIRECT" // the default
	if o.NoSync {
		flush = "nosync"
	}
	return []Setting{
		{"innodb_buffer_pool_size", fmt.Sprintf("%dK", o.Cache)},
		{"innodb_flush_log_at_trx_commit", "1"},
		{"innodb_doublewrite", "1"},
		{"innodb_flush_method", flush},
		{"innodb_log_file_size", "96M"},
		{"innodb_autoinc_lock_mode", "1"},
		{"innodb_change_buffering", "none"},
		{"innodb_adaptive_hash_index", "0"},
		{"innodb_stats_auto_recalc", "0"}, // statistics would read pages at any time
		{"innodb_buffer_pool_load_at_startup", "0"},
		{"skip_log_bin", "1"},
	}
}

func startMariaDB(ctx context.Context, o Options) (Server, error) {
	install, err := find("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	server, err := find("mariadbd")
	if err != nil {
		return nil, err
	}
	return process.Again(func() (Server, error) {
		s := new(mariadb)
		if err := s.start(ctx, install, server, o); err != nil {
			s.Close()
			return nil, err
		}
		return s, nil
	})
}

// find returns the path of a program, which may be in a folder that is not in PATH.
func find(name string) (string, error) {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin") {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, ErrMissing)
}

// owner returns the user of the server, which refuses to run as root. The user is nil if the program
// does not run as root.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("mysql")
	if err != nil {
		return nil, fmt.Errorf("MariaDB does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (s *mariadb) start(ctx context.Context, install, server string, o Options) error {
	as, err := owner()
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "firn-storage-"); err != nil {
		return err
	}
	if as != nil {
		if err := os.Chown(s.dir, int(as.Uid), int(as.Gid)); err != nil {
			return err
		}
	}
	command := func(path string, args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: as}
		return cmd
	}
	data := filepath.Join(s.dir, "data")
	out, err := command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, bytes.TrimSpace(out))
	}
	port, err := loopback.Port()
	if err != nil {
		return err
	}
	args := []string{
		"--no-defaults", "--datadir=" + data, "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port), "--socket=" + filepath.Join(s.dir, "socket"),
		"--local-infile=1", "--innodb-monitor-enable=index_page_splits",
	}
	for _, v := range mariadbSettings(o) {
		args = append(args, "--"+strings.ReplaceAll(v.Name, "_", "-")+"="+v.Value)
	}
	cmd := command(server, args...)
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if s.process, err = process.Start(cmd); err != nil {
		return err
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", fmt.Sprintf("127.0.0.1:%d", port), "root"
	config.Logger = log.New(io.Discard, "", 0) // of connections to a server that does not listen yet
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(connector)
	if err := s.await(ctx); err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, "CREATE DATABASE bench")
	return err
}

// await waits until the server answers.
func (s *mariadb) await(ctx context.Context) (err error) {
	answered := wait.For(func() bool {
		err = s.db.PingContext(ctx)
		return err == nil || ctx.Err() != nil || !s.process.Alive()
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !answered:
		return fmt.Errorf("it does not answer: %w: %s", err, &s.log)
	case strings.Contains(strings.ToLower(s.log.String()), process.ErrPort.Error()):
		return fmt.Errorf("%w: %s", process.ErrPort, &s.log)
	}
	return fmt.Errorf("it ended: %s", &s.log)
}

func (s *mariadb) Close() error {
	if s.db != nil {
		s.db.Close()
	}
	if s.process != nil {
		s.process.Kill()
	}
	return os.RemoveAll(s.dir)
}

func (s *mariadb) Version(ctx context.Context) (version string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	return version, err
}

func (s *mariadb) Settings(ctx context.Context) ([]Setting, error) {
	rows, err := s.db.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make(map[string]string)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		values[name] = value
	}
	names := []string{"log_bin", "innodb_page_size"}
	for _, v := range mariadbSettings(Options{}) {
		if v.Name != "skip_log_bin" {
			names = append(names, v.Name)
		}
	}
	return ordered(values, names), rows.Err()
}

type mariadbTable struct {
	*mariadb
	format *keys.Format
}

func (s *mariadb) Create(ctx context.Context, f *keys.Format) (Table, error) {
	_, err := s.db.ExecContext(ctx, fmt.Sprintf(
		"CREATE TABLE bench.t (id %s PRIMARY KEY, number bigint NOT NULL, body varchar(%d) CHARACTER SET ascii NOT NULL) ENGINE=InnoDB", Type(keys.MariaDB, f), BodySize))
	if err != nil {
		return nil, err
	}
	return &mariadbTable{s, f}, nil
}

func (t *mariadbTable) Drop(ctx context.Context) error {
	_, err := t.db.ExecContext(ctx, "DROP TABLE bench.t")
	return err
}

// appendText appends a key as LOAD DATA reads the key.
func (t *mariadbTable) appendText(dst, key []byte) []byte {
	switch t.format.Column {
	case keys.Assigned, keys.Integer:
		return strconv.AppendInt(dst, keys.Int64(key), 10)
	case keys.UUID:
		return append(dst, uuid.UUID(key).String()...)
	case keys.Bytes:
		return hex.AppendEncode(dst, key)
	}
	return append(dst, key...)
}

// Load sends the rows by LOAD DATA LOCAL. The statement reads bytes from hexadecimal digits: among
// raw bytes, some would need an escape.
func (t *mariadbTable) Load(ctx context.Context, set keys.Set, from, to int) error {
	const name = "rows"
	reader, writer := io.Pipe()
	mysql.RegisterReaderHandler(name, func() io.Reader { return reader })
	defer mysql.DeregisterReaderHandler(name)
	defer reader.Close() // ends the goroutine, also if the server refuses a row
	go func() {
		buf := make([]byte, 0, 1<<16)
		for i := from; i < to; i++ {
			if set.Len() > 0 {
				buf = append(t.appendText(buf, set.At(i)), '\t')
			}
			buf = append(append(append(strconv.AppendInt(buf, int64(i), 10), '\t'), body...), '\n')
			if len(buf) > 1<<15 || i == to-1 {
				if _, err := writer.Write(buf); err != nil {
					return
				}
				buf = buf[:0]
			}
		}
		writer.Close()
	}()
	columns := "(id, number, body)"
	switch {
	case set.Len() == 0:
		columns = "(number, body)"
	case t.format.Column == keys.Bytes:
		columns = "(@id, number, body) SET id = UNHEX(@id)"
	}
	r, err := t.db.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' INTO TABLE bench.t CHARACTER SET ascii "+columns)
	if err != nil {
		return err
	}
	// LOCAL skips a row with a known key, and only warns.
	if n, err := r.RowsAffected(); err != nil || n != int64(to-from) {
		return errors.Join(err, fmt.Errorf("LOAD DATA added %d rows of %d", n, to-from))
	}
	return nil
}

func (t *mariadbTable) Settle(ctx context.Context) error {
	_, err := t.db.ExecContext(ctx, "SET GLOBAL innodb_log_checkpoint_now = ON")
	return err
}

func (t *mariadbTable) Counters(ctx context.Context) (Counters, error) {
	names := map[string]Metric{
		"INNODB_OS_LOG_WRITTEN":            LogBytes,
		"INNODB_BUFFER_POOL_READS":         IndexReads,
		"INNODB_BUFFER_POOL_READ_REQUESTS": IndexRequests,
		"INNODB_PAGES_WRITTEN":             PagesWritten,
	}
	rows, err := t.db.QueryContext(ctx, `
		SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME LIKE 'INNODB%'
		UNION ALL SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'index_page_splits'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	c := make(Counters)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		metric, ok := names[name]
		if name == "index_page_splits" {
			metric, ok = Splits, true
		}
		if ok {
			if c[metric], err = strconv.ParseFloat(value, 64); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if len(c) != len(names)+1 {
		return nil, fmt.Errorf("the server has only the counters %v", c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	c[Processor], err = processorTime(t.process.Pid())
	return c, err
}

func (t *mariadbTable) index(ctx context.Context, name, statistic string) (bytes float64, err error) {
	if _, err := t.db.ExecContext(ctx, "ANALYZE TABLE bench.t"); err != nil {
		return 0, err
	}
	err = t.db.QueryRowContext(ctx, `SELECT stat_value FROM mysql.innodb_index_stats
		WHERE database_name = 'bench' AND table_name = 't' AND index_name = ? AND stat_name = ?`, name, statistic).Scan(&bytes)
	return bytes, err
}

func (t *mariadbTable) Sizes(ctx context.Context) (Counters, error) {
	var page float64
	if err := t.db.QueryRowContext(ctx, "SELECT @@innodb_page_size").Scan(&page); err != nil {
		return nil, err
	}
	pages, err := t.index(ctx, "PRIMARY", "size")
	if err != nil {
		return nil, err
	}
	leaves, err := t.index(ctx, "PRIMARY", "n_leaf_pages")
	return Counters{TableBytes: pages * page, LeafPages: leaves}, err
}

func (t *mariadbTable) AddIndex(ctx context.Context) (float64, error) {
	if _, err := t.db.ExecContext(ctx, "CREATE INDEX t_number ON bench.t (number)"); err != nil {
		return 0, err
	}
	var page float64
	if err := t.db.QueryRowContext(ctx, "SELECT @@innodb_page_size").Scan(&page); err != nil {
		return 0, err
	}
	pages, err := t.index(ctx, "t_number", "size")
	return pages * page, err
}

func (t *mariadbTable) Read(ctx context.Context, row func(number int64, key []byte) error) error {
	rows, err := t.db.QueryContext(ctx, "SELECT id, number FROM bench.t")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var raw sql.RawBytes
		if err := rows.Scan(&raw, &number); err != nil {
			return err
		}
		key := []byte(raw)
		switch t.format.Column {
		case keys.Assigned, keys.Integer:
			id, err := strconv.ParseInt(string(raw), 10, 64)
			if err != nil {
				return err
			}
			key = keys.FromInt64(id)
		case keys.UUID:
			id, err := uuid.FromString(string(raw))
			if err != nil {
				return err
			}
			key = id[:]
		}
		if err := row(number, key); err != nil {
			return err
		}
	}
	return rows.Err()
}

type mariadbConn struct {
	table        *mariadbTable
	conn         *sql.Conn
	insert, find *sql.Stmt
}

func (t *mariadbTable) Connect(ctx context.Context) (Conn, error) {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &mariadbConn{table: t, conn: conn}
	insert := "INSERT INTO bench.t (id, number, body) VALUES (?, ?, ?)"
	if t.format.Column == keys.Assigned {
		insert = "INSERT INTO bench.t (number, body) VALUES (?, ?)"
	}
	if c.insert, err = conn.PrepareContext(ctx, insert); err == nil {
		c.find, err = conn.PrepareContext(ctx, "SELECT number, body FROM bench.t WHERE id = ?")
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// value returns a key as the driver takes it for the column.
func (t *mariadbTable) value(key []byte) any {
	switch t.format.Column {
	case keys.Assigned, keys.Integer:
		return keys.Int64(key)
	case keys.Bytes:
		return key
	}
	return string(t.appendText(nil, key))
}

func (c *mariadbConn) Begin(ctx context.Context) error {
	_, err := c.conn.ExecContext(ctx, "START TRANSACTION")
	return err
}

func (c *mariadbConn) Commit(ctx context.Context) error {
	_, err := c.conn.ExecContext(ctx, "COMMIT")
	return err
}

func (c *mariadbConn) Insert(ctx context.Context, key []byte, number int64) error {
	var err error
	if key == nil {
		_, err = c.insert.ExecContext(ctx, number, body)
	} else {
		_, err = c.insert.ExecContext(ctx, c.table.value(key), number, body)
	}
	return err
}

func (c *mariadbConn) Find(ctx context.Context, key []byte) (number int64, err error) {
	var text sql.RawBytes
	rows, err := c.find.QueryContext(ctx, c.table.value(key))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, errors.Join(rows.Err(), sql.ErrNoRows)
	}
	err = rows.Scan(&number, &text)
	return number, err
}

func (c *mariadbConn) Report(context.Context) error { return nil } // the server counts at once

func (c *mariadbConn) Close() error {
	for _, s := range []*sql.Stmt{c.insert, c.find} {
		if s != nil {
			s.Close()
		}
	}
	return c.conn.Close()
}
