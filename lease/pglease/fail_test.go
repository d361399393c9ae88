package pglease

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
)

// diagnosed returns the error of a call in which the server, or pgx, made an error.
func diagnosed(t *testing.T, s *Store, err error) error {
	h := driver.New(driver.Backend{Address: "postgres://host/db", Diagnose: s.diagnose})
	return driver.Do(t.Context(), h, "test", func(context.Context) error { return readable(err) })
}

// TestDiagnose is for what is hard to bring about.
func TestDiagnose(t *testing.T) {
	s := &Store{name: name{"public", "leases"}, table: `"public"."leases"`}
	for code, want := range map[string]string{
		"40001": "wait", "40P01": "wait", "57P01": "wait",
		"57P03": "wait",     // a server that takes no connections yet
		"53100": "settings", // a full disk
		"57014": "settings", "08P01": "settings",
	} {
		err := diagnosed(t, s, fmt.Errorf("outer: %w", &pgconn.PgError{Severity: "ERROR", Code: code, Message: "it fails"}))
		storetest.Fails(t, code, err, driver.ErrUnavailable, code, "remedy: "+want)
	}
}

// Who dials has the deadline of the call too, and can see it pass before the call's context ends.
func TestDialedTooLate(t *testing.T) {
	err := diagnosed(t, &Store{}, fmt.Errorf("dial error: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}))
	storetest.Fails(t, "a dial that was late", err, driver.ErrUnavailable, "no answer in time", "remedy: connect")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a dial that was late: %v, want an error that is context.DeadlineExceeded", err)
	}
}
