// Command left lists what tests may leave on the machine: databases, roles, schemas, tables, functions,
// keys and streams on its servers, and processes of tests. What is there before the tests must be all
// that is there after the tests:
//
//	go run -C dev ./left >before
//	go test work
//	go run -C dev ./left | diff before -
//
// The servers are at the usual ports of 127.0.0.1, or where FIRN_TEST_POSTGRES, FIRN_TEST_MYSQL,
// FIRN_TEST_REDIS and FIRN_TEST_NATS say. A server that is not there has nothing.
package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/services"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	lines, err := left(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "left:", err)
		os.Exit(1)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}

// left returns what there is, in order.
func left(ctx context.Context) (lines []string, err error) {
	for _, find := range []func(context.Context) ([]string, error){ofPostgreSQL, ofMariaDB, ofRedis, ofNATS, ofProcesses} {
		found, err := find(ctx)
		if err != nil && !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, nats.ErrNoServers) {
			return nil, err
		}
		lines = append(lines, found...)
	}
	slices.Sort(lines)
	return lines, nil
}

// ofPostgreSQL returns the databases and roles of a server, and what is in each database.
func ofPostgreSQL(ctx context.Context) ([]string, error) {
	config, err := pgx.ParseConfig(services.PostgreSQL.Address())
	if err != nil {
		return nil, err
	}
	in := func(database, query string) ([]string, error) {
		c := config.Copy()
		c.Database = database
		return rows(ctx, stdlib.OpenDB(*c), "postgresql ", query)
	}
	lines, err := in(config.Database, `SELECT 'database ' || datname FROM pg_database UNION ALL SELECT 'role ' || rolname FROM pg_roles`)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		name, ok := strings.CutPrefix(line, "postgresql database ")
		if !ok || strings.HasPrefix(name, "template") { // a connection to a template stops CREATE DATABASE
			continue
		}
		inside, err := in(name, `SELECT current_database() || ' ' || kind || ' ' || name FROM (
				SELECT 'schema', nspname, nspname FROM pg_namespace
				UNION ALL SELECT 'table', nspname, c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind NOT IN ('i', 'I', 't')
				UNION ALL SELECT 'function', nspname, p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
			) AS found (kind, schema, name) WHERE schema NOT IN ('pg_catalog', 'information_schema') AND schema NOT LIKE 'pg\_%temp%' AND schema NOT LIKE 'pg\_toast%'`)
		if err != nil && !strings.Contains(err.Error(), "(SQLSTATE 3D000)") { // a test has dropped the database since
			return nil, err
		}
		lines = append(lines, inside...)
	}
	return lines, nil
}

// ofMariaDB returns the databases of a server, and the tables of the database test.
func ofMariaDB(ctx context.Context) ([]string, error) {
	config, err := mysql.ParseDSN(services.MariaDB.Address())
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return rows(ctx, sql.OpenDB(connector), "mariadb ", `SELECT CONCAT('database ', schema_name) FROM information_schema.schemata
		UNION ALL SELECT CONCAT('test table ', table_name) FROM information_schema.tables WHERE table_schema = 'test'`)
}

// rows returns the rows of a query with a prefix, and closes the database.
func rows(ctx context.Context, db *sql.DB, prefix, query string) (lines []string, err error) {
	defer db.Close()
	r, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for r.Next() {
		var line string
		if err := r.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, prefix+line)
	}
	return lines, r.Err()
}

// ofRedis returns the keys of all databases of a server.
func ofRedis(ctx context.Context) (lines []string, err error) {
	options, err := redis.ParseURL(services.Redis.Address())
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(options)
	defer client.Close()
	info, err := client.Info(ctx, "keyspace").Result() // a line such as db0:keys=1,expires=0 for each database
	if err != nil {
		return nil, err
	}
	for text := bufio.NewScanner(strings.NewReader(info)); text.Scan(); {
		name, _, _ := strings.Cut(text.Text(), ":")
		number, err := strconv.Atoi(strings.TrimPrefix(name, "db"))
		if err != nil {
			continue // a headline
		}
		options := *options
		options.DB = number
		client := redis.NewClient(&options)
		defer client.Close()
		keys := client.Scan(ctx, 0, "*", 1000).Iterator()
		for keys.Next(ctx) {
			lines = append(lines, fmt.Sprintf("redis %d key %q", number, keys.Val()))
		}
		if err := keys.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines), nil // SCAN may return a key twice
}

// ofNATS returns the streams of a server.
func ofNATS(ctx context.Context) (lines []string, err error) {
	conn, err := nats.Connect(services.NATS.Address())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	names := js.StreamNames(ctx)
	for name := range names.Name() {
		lines = append(lines, "nats stream "+name)
	}
	return lines, names.Err()
}

// ofProcesses returns the processes of tests, which have the variable FIRN_TEST_PROCESSES. Only Linux
// shows the environment of processes.
func ofProcesses(context.Context) (lines []string, err error) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		environment, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, environment...), []byte("\x00FIRN_TEST_PROCESSES=")) {
			continue // also a process that has ended since, or is of another user
		}
		arguments, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid := filepath.Base(filepath.Dir(path))
		if pid != strconv.Itoa(os.Getpid()) {
			lines = append(lines, fmt.Sprintf("process %s %s", pid, bytes.TrimSpace(bytes.ReplaceAll(arguments, []byte{0}, []byte(" ")))))
		}
	}
	return lines, err
}
