package matrix

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/internal/servers/services"
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

// open returns one connection, so that temporary tables are there in all statements.
func open(t *testing.T, driver, source, name, env string) *sql.Conn {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
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
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		services.Missing(t, "PostgreSQL is not there; set FIRN_TEST_POSTGRES to where it is: %v", err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func openRedis(t *testing.T) *redis.Client {
	t.Helper()
	address := source("FIRN_TEST_REDIS", "127.0.0.1:6379")
	options := &redis.Options{Addr: address}
	if strings.Contains(address, "://") {
		var err error
		if options, err = redis.ParseURL(address); err != nil {
			t.Fatal(err)
		}
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		services.Missing(t, "Redis is not there; set FIRN_TEST_REDIS to where it is: %v", err)
	}
	return client
}
