// Package database gives each test a place of its own on the servers of the machine.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/place"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
)

func name() string { return "firn_dev_" + strings.ToLower(rand.Text()) }

// places are the schemas and databases of tests.
var places = place.New()

// keys deletes the keys of a test, by their prefix.
var keys = undo.New("keys of Redis", func(ctx context.Context, what string) error {
	address, prefix, _ := strings.Cut(what, "\n")
	options, err := redis.ParseURL(address)
	if err != nil {
		return err
	}
	client := redis.NewClient(options)
	defer client.Close()
	found := client.Scan(ctx, 0, prefix+"*", 100).Iterator()
	for found.Next(ctx) {
		if err := client.Del(ctx, found.Val()).Err(); err != nil {
			return err
		}
	}
	return found.Err()
})

// Schema makes a schema of PostgreSQL for the test, and returns the schema's name.
func Schema(t testing.TB) string {
	t.Helper()
	schema := name()
	places.Make(t, place.Server{Server: services.PostgreSQL, Driver: "pgx"},
		"CREATE SCHEMA "+schema, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	return schema
}

// Postgres returns the configuration of connections to PostgreSQL, with a schema for the tables of the
// test.
func Postgres(t testing.TB) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(services.PostgreSQL.Address())
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = Schema(t)
	config.RuntimeParams["client_min_messages"] = "warning"
	config.RuntimeParams["synchronous_commit"] = "off" // tests need no durable rows
	return config
}

// PostgresDB returns PostgreSQL for database/sql, with a schema for the tables of the test.
func PostgresDB(t testing.TB) *sql.DB {
	t.Helper()
	db := stdlib.OpenDB(*Postgres(t))
	t.Cleanup(func() { db.Close() })
	return db
}

// MySQL returns the configuration of connections to MariaDB or MySQL, with a database for the test.
func MySQL(t testing.TB) *mysql.Config {
	t.Helper()
	config, err := mysql.ParseDSN(services.MariaDB.Address())
	if err != nil {
		t.Fatal(err)
	}
	config.DBName, config.ParseTime = name(), true
	places.Make(t, place.Server{Server: services.MariaDB, Driver: "mysql"},
		"CREATE DATABASE "+config.DBName+" CHARACTER SET utf8mb4", "DROP DATABASE IF EXISTS "+config.DBName)
	return config
}

// MySQLDB returns MariaDB or MySQL for database/sql, with a database for the test.
func MySQLDB(t testing.TB) *sql.DB {
	t.Helper()
	return Open(t, "mysql", MySQL(t).FormatDSN())
}

// SQLite returns a database of SQLite in a file of the test. The test imports the driver.
func SQLite(t testing.TB, driver, options string) *sql.DB {
	t.Helper()
	return Open(t, driver, filepath.Join(t.TempDir(), "test.db")+options)
}

// Open opens a database for the test.
func Open(t testing.TB, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Redis returns a client of Redis, and a prefix for the keys of the test.
func Redis(t testing.TB) (client *redis.Client, prefix string) {
	t.Helper()
	options, err := redis.ParseURL(services.Redis.Address())
	if err != nil {
		t.Fatal(err)
	}
	client, prefix = redis.NewClient(options), name()+":"
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		client.Close()
		services.Redis.Missing(t, err)
	}
	keys.AtEnd(t, services.Redis.Address()+"\n"+prefix)
	t.Cleanup(func() { client.Close() })
	return client, prefix
}
