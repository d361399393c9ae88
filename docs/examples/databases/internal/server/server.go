// Package server gives each test a place of its own on the servers of the machine.
package server

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/servers/services"
)

func name() string { return "firn_docs_" + strings.ToLower(rand.Text()) }

func find(env, address string) string {
	if found := os.Getenv(env); found != "" {
		return found
	}
	return address
}

// Postgres returns the configuration of connections to PostgreSQL. Their tables are in a schema of
// the test.
func Postgres(t testing.TB) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(find("FIRN_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/test"))
	if err != nil {
		t.Fatal(err)
	}
	schema := name()
	own(t, stdlib.OpenDB(*config), "PostgreSQL is not there; set FIRN_TEST_POSTGRES to where it is: %v",
		`CREATE SCHEMA `+schema, `DROP SCHEMA `+schema+` CASCADE`)
	config.RuntimeParams["search_path"] = schema
	config.RuntimeParams["client_min_messages"] = "warning"
	return config
}

// PostgresDB returns PostgreSQL for database/sql. Its tables are in a schema of the test.
func PostgresDB(t testing.TB) *sql.DB {
	t.Helper()
	db := stdlib.OpenDB(*Postgres(t))
	t.Cleanup(func() { db.Close() })
	return db
}

// MySQL returns the configuration of connections to MariaDB or MySQL. Their database is of the test.
func MySQL(t testing.TB) *mysql.Config {
	t.Helper()
	config, err := mysql.ParseDSN(find("FIRN_TEST_MYSQL", "root@tcp(127.0.0.1:3306)/test"))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	database := name()
	own(t, admin, "MariaDB is not there; set FIRN_TEST_MYSQL to where it is: %v",
		"CREATE DATABASE "+database+" CHARACTER SET utf8mb4", "DROP DATABASE "+database)
	config.DBName, config.ParseTime = database, true
	return config
}

// MySQLDB returns MariaDB or MySQL for database/sql. Its database is of the test.
func MySQLDB(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", MySQL(t).FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// own runs create, and runs drop at the end of the test.
func own(t testing.TB, admin *sql.DB, missing, create, drop string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := admin.PingContext(ctx); err != nil {
		services.Missing(t, missing, err)
	}
	if _, err := admin.ExecContext(ctx, create); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), drop); err != nil {
			t.Error(err)
		}
		admin.Close()
	})
}

// Redis returns a client of Redis, and a prefix for the keys of the test.
func Redis(t testing.TB) (client *redis.Client, prefix string) {
	t.Helper()
	options, err := redis.ParseURL(find("FIRN_TEST_REDIS", "redis://127.0.0.1:6379"))
	if err != nil {
		t.Fatal(err)
	}
	client, prefix = redis.NewClient(options), name()+":"
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		services.Missing(t, "Redis is not there; set FIRN_TEST_REDIS to where it is: %v", err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		keys := client.Scan(ctx, 0, prefix+"*", 100).Iterator()
		for keys.Next(ctx) {
			client.Del(ctx, keys.Val())
		}
		if err := keys.Err(); err != nil {
			t.Error(err)
		}
		client.Close()
	})
	return client, prefix
}
