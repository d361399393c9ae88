// Package place gives tests places of their own on servers of SQL that tests share: databases and
// schemas. A place ends with the test, or with its process, however that ends.
package place

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
)

// A Server is a server, as package sql opens it: by a driver, at the address of the server.
type Server struct {
	services.Server
	Driver string
}

// locks are statements that wait for a lock with a name, by driver. The server frees the lock at the
// end of the session.
var locks = map[string]string{
	"pgx":   "SELECT pg_advisory_lock(hashtext('%s'))",
	"mysql": "SELECT GET_LOCK(MD5('%s'), 60)",
}

// Places makes places. The methods are safe for concurrent use.
type Places struct{ action *undo.Action }

// New returns Places. The package must import the drivers.
func New() *Places {
	return &Places{undo.New("places", func(ctx context.Context, what string) error {
		parts := strings.SplitN(what, "\n", 3)
		return run(ctx, parts[0], parts[1], parts[2], parts[2])
	})}
}

// Make makes a place by the statement create. The statement drop removes the place when the test ends,
// and must do nothing if there is no such place.
func (p *Places) Make(t testing.TB, s Server, create, drop string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	source := s.Address()
	if err := run(ctx, s.Driver, source, "", "SELECT 1"); err != nil {
		s.Missing(t, err)
	}
	p.action.AtEnd(t, strings.Join([]string{s.Driver, source, drop}, "\n"))
	if err := run(ctx, s.Driver, source, drop, create); err != nil {
		t.Fatalf("%s: %v", create, err)
	}
}

// run executes a statement over a session of its own, under the lock of a place, unless the place is
// "". A server finishes a statement also if the client has ended. The lock lets drop come after create.
func run(ctx context.Context, driver, source, place, statement string) error {
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if place != "" {
		var locked any
		if err := db.QueryRowContext(ctx, fmt.Sprintf(locks[driver], place)).Scan(&locked); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, statement)
	return err
}
