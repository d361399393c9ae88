package matrix

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/internal/servers/place"
	"github.com/firn-id/firn/internal/servers/services"
	"github.com/firn-id/firn/internal/servers/undo"
	"github.com/firn-id/firn/internal/wait"
)

func source(env, address string) string { return cmp.Or(os.Getenv(env), address) }

func postgres() string {
	return source("FIRN_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/test")
}

// mariadb returns the data source name, with text that sorts by bytes and the option of the driver.
func mariadb(t *testing.T, interpolate bool) string {
	config, err := mysql.ParseDSN(source("FIRN_TEST_MYSQL", "root@tcp(127.0.0.1:3306)/test"))
	if err != nil {
		t.Fatal(err)
	}
	config.InterpolateParams = interpolate
	return config.FormatDSN()
}

// owned are the schemas and databases with tables that are not temporary.
var owned = place.New()

// ownSchema returns a schema of PostgreSQL for the tables of a test.
func ownSchema(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("firn_matrix_%016x", rand.Uint64())
	owned.Make(t, place.Server{Driver: "pgx", Source: postgres(), Missing: "PostgreSQL is not there; set FIRN_TEST_POSTGRES to where it is"},
		"CREATE SCHEMA "+name, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
	return name
}

// ownDatabase returns a database of MariaDB for the tables of a test.
func ownDatabase(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("firn_matrix_%016x", rand.Uint64())
	owned.Make(t, place.Server{Driver: "mysql", Source: mariadb(t, false), Missing: "MariaDB is not there; set FIRN_TEST_MYSQL to where it is"},
		"CREATE DATABASE "+name, "DROP DATABASE IF EXISTS "+name)
	return name
}

// open returns one connection, so that temporary tables are there in all statements.
func open(t *testing.T, driver, source, name, env string) *sql.Conn {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		services.Missing(t, "%s is not there; set %s to where it is: %v", name, env, err)
	}
	return conn
}

// openPgx connects in a mode.
func openPgx(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(postgres())
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		services.Missing(t, "PostgreSQL is not there; set FIRN_TEST_POSTGRES to where it is: %v", err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// openRedis returns a client of Redis, and the start of the keys of the test.
func openRedis(t *testing.T) (client *redis.Client, prefix string) {
	t.Helper()
	address := source("FIRN_TEST_REDIS", "127.0.0.1:6379")
	client, err := dialRedis(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		client.Close()
		services.Missing(t, "Redis is not there; set FIRN_TEST_REDIS to where it is: %v", err)
	}
	prefix = fmt.Sprintf("firn-matrix-%016x-", rand.Uint64())
	keys.AtEnd(t, address+"\n"+prefix)
	t.Cleanup(func() { client.Close() })
	return client, prefix
}

func dialRedis(address string) (*redis.Client, error) {
	if !strings.Contains(address, "://") {
		address = "redis://" + address
	}
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(options), nil
}

// keys deletes the keys of a test: all that begin with a prefix.
var keys = undo.New("keys of Redis", func(ctx context.Context, what string) error {
	address, prefix, _ := strings.Cut(what, "\n")
	client, err := dialRedis(address)
	if err != nil {
		return err
	}
	defer client.Close()
	found := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for found.Next(ctx) {
		if err := client.Del(ctx, found.Val()).Err(); err != nil {
			return err
		}
	}
	return found.Err()
})
