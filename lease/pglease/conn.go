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

// Configure makes the connections of a pool fit for [New]. Only calls of a store are affected: the
// server is not asked to cancel one that is given up, and its warnings are heeded, since a change
// that does not wait for the standbys any longer is acknowledged with one. What the configuration
// has of its own for these (DialFunc, OnNotice, AfterConnect) is still called.
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

// A watched is what the store knows of a connection.
type watched struct {
	ours    atomic.Bool    // a call of a store is under way, or was when the connection broke
	warning *pgconn.Notice // of the call
}

var errNoCancel = errors.New("what was given up may still be made, and is not to be cancelled")

// watch has a connection know of itself what a store needs.
func watch(c *pgconn.Config) {
	w := new(watched)
	dial, notice, after := c.DialFunc, c.OnNotice, c.AfterConnect
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.ours.Load() { // it has connected, so this is for a request to cancel
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

// errUnwatched is that a connection is not watched.
var errUnwatched = errors.New("the pool's configuration did not go through pglease.Configure")

// A warningError is that the server did what it was told, with a warning.
type warningError struct{ *pgconn.Notice }

func (w *warningError) Error() string {
	return "the server warns: " + w.Message + " (SQLSTATE " + w.Code + ")"
}

// exec sends statements as one message, which the server takes for one transaction, and returns
// their results. ctx has a deadline.
//
// After an error that is no *pgconn.PgError the transaction may have been made, or not, or may
// still be.
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
	results, err := pg.Exec(ctx, statements).ReadAll()
	if !pg.IsClosed() {
		w.ours.Store(false)
	} else if s.own {
		s.pool.Reset() // one that breaks, or falls silent, is seldom alone
	}
	if err == nil && w.warning != nil {
		err = &warningError{w.warning}
	}
	return results, readable(err)
}

// acquire returns a connection.
//
// If there is none before a quarter of the time has passed, it asks again, and has the attempt
// before go on besides: after an outage of the network a new one gets through at once, where those
// from before may be silent for long.
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
