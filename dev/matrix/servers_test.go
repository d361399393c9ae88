package matrix

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// mariadb returns the data source name, with the option of the driver.
func mariadb(t *testing.T, interpolate bool) string {
	config := testkit.Must(mysql.ParseDSN(services.MariaDB.Address()))
	config.InterpolateParams = interpolate
	return config.FormatDSN()
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

// open returns a single connection: all statements see its temporary tables.
func open(t *testing.T, driver, source string, missing func(testing.TB, error)) *sql.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	conn, err := database.Open(t, driver, source).Conn(ctx)
	if err != nil {
		missing(t, err)
	}
	return conn
}

// openPgx connects in a mode.
func openPgx(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config := testkit.Must(pgx.ParseConfig(services.PostgreSQL.Address()))
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
