package matrix

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/internal/testing/place"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
)

// mariadb returns the data source name, with text that sorts by bytes and the option of the driver.
func mariadb(t *testing.T, interpolate bool) string {
	config, err := mysql.ParseDSN(services.MariaDB.Address())
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
	owned.Make(t, place.Server{Server: services.PostgreSQL, Driver: "pgx"},
		"CREATE SCHEMA "+name, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
	return name
}

// ownDatabase returns a database of MariaDB for the tables of a test.
func ownDatabase(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("firn_matrix_%016x", rand.Uint64())
	owned.Make(t, place.Server{Server: services.MariaDB, Driver: "mysql"},
		"CREATE DATABASE "+name, "DROP DATABASE IF EXISTS "+name)
	return name
}

// openPostgres returns a connection of database/sql over pgx.
func openPostgres(t *testing.T) *sql.Conn {
	return open(t, "pgx", services.PostgreSQL.Address(), services.PostgreSQL.Missing)
}

// openMariaDB returns a connection of database/sql, with the option of the driver.
func openMariaDB(t *testing.T, interpolate bool) *sql.Conn {
	return open(t, "mysql", mariadb(t, interpolate), services.MariaDB.Missing)
}

// openSQLite returns a connection of database/sql to a database in memory.
func openSQLite(t *testing.T) *sql.Conn {
	return open(t, "sqlite", ":memory:", func(t testing.TB, err error) { t.Helper(); t.Fatal(err) })
}

// open returns one connection, so that temporary tables are there in all statements.
func open(t *testing.T, driver, source string, missing func(testing.TB, error)) *sql.Conn {
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
		missing(t, err)
	}
	return conn
}

// openPgx connects in a mode.
func openPgx(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(services.PostgreSQL.Address())
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		services.PostgreSQL.Missing(t, err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// openRedis returns a client of Redis, and the start of the keys of the test.
func openRedis(t *testing.T) (client *redis.Client, prefix string) {
	t.Helper()
	address := services.Redis.Address()
	client, err := dialRedis(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		client.Close()
		services.Redis.Missing(t, err)
	}
	prefix = fmt.Sprintf("firn-matrix-%016x-", rand.Uint64())
	keys.AtEnd(t, address+"\n"+prefix)
	t.Cleanup(func() { client.Close() })
	return client, prefix
}

func dialRedis(address string) (*redis.Client, error) {
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
