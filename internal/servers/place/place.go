// Package place gives tests places of their own on servers of SQL that tests share: databases and
// schemas. A place ends with the test, or with its process, however that ends.
package place

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/servers/services"
	"github.com/firn-id/firn/internal/servers/undo"
	"github.com/firn-id/firn/internal/wait"
)

// A Server is a server, as package sql opens it.
type Server struct {
	Driver, Source string
	Missing        string // what to say of a server that is not there
}

// locks are statements that wait for a lock with a name, by driver. The server frees the lock at the
// end of the session.
var locks = map[string]string{
	"pgx":   "SELECT pg_advisory_lock(hashtext('%s'))",
	"mysql": "SELECT GET_LOCK(MD5('%s'), 60)",
}

// Places makes places. The methods are safe for concurrent use.
type Places struct{ action *undo.Action }

// New returns Places, and must be called to initialize a variable of a package, as [undo.New]. The
// package must import the drivers.
func New() *Places {
	return &Places{undo.New("places", func(ctx context.Context, what string) error {
		s, drop := unpack(what)
		return s.run(ctx, drop, drop)
	})}
}

// Make makes a place by the statement create. The statement drop removes the place when the test ends,
// or when its process does. The statement drop must do nothing if there is no such place.
func (p *Places) Make(t testing.TB, s Server, create, drop string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	if err := s.run(ctx, "", "SELECT 1"); err != nil {
		services.Missing(t, "%s: %v", s.Missing, err)
	}
	p.action.AtEnd(t, s.pack(drop))
	if err := s.run(ctx, drop, create); err != nil {
		t.Fatalf("%s: %v", create, err)
	}
}

// run executes a statement over a session of its own, under the lock of a place, unless the place is
// "". A server finishes a statement also if the client has ended. The lock lets drop come after create.
func (s Server) run(ctx context.Context, place, statement string) error {
	db, err := sql.Open(s.Driver, s.Source)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if place != "" {
		var locked any
		if err := db.QueryRowContext(ctx, fmt.Sprintf(locks[s.Driver], place)).Scan(&locked); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, statement)
	return err
}

// pack returns a text of the server and of a statement.
func (s Server) pack(drop string) string {
	return strings.Join([]string{s.Driver, s.Source, drop}, "\n")
}

func unpack(text string) (s Server, drop string) {
	parts := strings.SplitN(text, "\n", 3)
	return Server{Driver: parts[0], Source: parts[1]}, parts[2]
}
