package pglease

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Configure prepares the configuration of a pool for [New]. It affects only calls of a store. A
// store does not ask the server to cancel a call that was given up. A store also heeds the server's
// warnings: the server acknowledges a change with a warning if the change no longer waits for the
// standbys. Configure keeps the configuration's own DialFunc, OnNotice and AfterConnect, and the
// pool still calls them.
func Configure(c *pgxpool.Config) {
	before := c.BeforeConnect
	c.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if before != nil {
			if err := before(ctx, c); err != nil {
				return err
			}
		}
		watch(&c.Config)
		if until, ok := ctx.Value(timeLeft{}).(time.Time); ok {
			limit(until, &c.Config)
		}
		return nil
	}
}

const watchKey = "github.com/firn-id/firn/lease/pglease" // of a connection's custom data

// A watched holds the state of a connection for the store.
type watched struct {
	ours    atomic.Bool    // a call of a store is under way, or was under way when the connection broke
	warning *pgconn.Notice // of the call
}

var errNoCancel = errors.New("an abandoned change may still be made, and must not be cancelled")

// watch adds a watched to a connection's configuration.
func watch(c *pgconn.Config) {
	w := new(watched)
	dial, notice, after := c.DialFunc, c.OnNotice, c.AfterConnect
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.ours.Load() { // already connected, so this is for a request to cancel
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
	}
	c.OnNotice = func(pg *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			w.warning = n
		}
		if notice != nil {
			notice(pg, n)
		}
	}
	c.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
		pg.CustomData()[watchKey] = w
		if after != nil {
			return after(ctx, pg)
		}
		return nil
	}
}

// errUnwatched reports a connection without a watched.
var errUnwatched = errors.New("the pool's configuration did not go through pglease.Configure")

// A warningError reports that the server ran the statements with a warning.
type warningError struct{ *pgconn.Notice }

func (w *warningError) Error() string {
	return "the server warns: " + w.Message + " (SQLSTATE " + w.Code + ")"
}

// ownNames begins a transaction in which a name without a schema is a name of PostgreSQL itself,
// also the name of an operator. A role with the right to create in a schema of the search_path
// could otherwise make operators that PostgreSQL lacks, such as numeric * integer.
const ownNames = "SET LOCAL search_path = pg_catalog, pg_temp; "

// exec sends statements as one message, and returns the results. The server runs the message as one
// transaction. ctx must have a deadline.
//
// After an error that is not a *pgconn.PgError, the transaction may have been committed, may be
// committed later, or never.
func (s *Store) exec(ctx context.Context, statements string) ([]*pgconn.Result, error) {
	if s.slots != nil {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, readable(err)
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	w, ok := pg.CustomData()[watchKey].(*watched)
	if !ok {
		return nil, errUnwatched
	}
	w.warning = nil
	w.ours.Store(true)
	results, err := pg.Exec(ctx, ownNames+statements).ReadAll()
	if is(err, readOnly, cancelled) {
		// The cause can be a default of the user or of the database. An administrator may change the
		// default, and a session keeps the default of its start.
		pg.Close(ctx)
	}
	if !pg.IsClosed() {
		w.ours.Store(false)
	} else if s.own {
		s.pool.Reset() // other connections are probably no better
	}
	if err == nil && w.warning != nil {
		err = &warningError{w.warning}
	}
	return results[min(len(results), 1):], readable(err)
}

// Codes of errors whose cause can be a setting of the session.
const (
	readOnly  = "25006"
	cancelled = "57014" // by statement_timeout, or by somebody
)

// acquire returns a connection.
//
// If there is no connection after a quarter of the time, acquire asks again, while the earlier
// attempt goes on. After an outage of the network a new attempt succeeds at once, but earlier
// attempts may hang for long.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	until, _ := ctx.Deadline()
	patience := max(time.Until(until)/4, 100*time.Millisecond)
	for {
		try, cancel := context.WithTimeout(context.WithValue(ctx, timeLeft{}, until), patience)
		conn, err := s.pool.Acquire(try)
		again := err != nil && try.Err() != nil && ctx.Err() == nil
		cancel()
		if !again {
			return conn, err
		}
	}
}
