package pglease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// readable returns an error of pgx in plainer words. The error wraps the original.
func readable(err error) error {
	switch {
	case errors.Is(err, puddle.ErrClosedPool):
		return os.ErrClosed
	case errors.Is(err, pgconn.ErrConnClosed) && !errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the connection ended before the answer came: %w", err)
	}
	return plain(err)
}

// errForeign reports a table that belongs to something else.
var errForeign = errors.New("not a table of leases")

// diagnose returns what helps against an error, and the kind of the error.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	var (
		pg      *pgconn.PgError
		warning *warningError
	)
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return "", driver.ErrDamaged
	case errors.Is(err, errUnwatched):
		return driver.RemedyAddress, driver.ErrUnsafe // the program's settings of the store
	case errors.As(err, new(*ownerError)):
		return driver.RemedyPermissions, driver.ErrRefused
	case errors.Is(err, errForeign):
		return driver.RemedyMove, driver.ErrRefused
	case errors.As(err, &pg):
		kind := driver.ErrUnavailable
		// No user is let in, no database, no schema, no right or no such table.
		if slices.Contains([]string{"28", "3D", "3F", "42"}, pg.Code[:min(len(pg.Code), 2)]) {
			kind = driver.ErrRefused
		}
		return remedyFor(pg), kind
	case errors.As(err, &warning), errors.Is(err, pgconn.ErrReadOnlyConnection):
		return driver.RemedySettings, driver.ErrUnavailable
	case errors.Is(err, os.ErrClosed), errors.Is(err, context.DeadlineExceeded):
		return "", driver.ErrUnavailable
	case errors.Is(err, errStandby), errors.Is(err, pgconn.ErrStandbyConnection), address.AtFault(err), strings.Contains(err.Error(), "tls error"):
		return driver.RemedyAddress, driver.ErrUnavailable
	}
	return "", driver.ErrUnavailable
}

// remedyFor returns what helps against an error of the server.
func remedyFor(pg *pgconn.PgError) driver.Remedy {
	switch pg.Code {
	case "28P01", "28000", "42501":
		return driver.RemedyPermissions
	case "3D000", "3F000", "42P01":
		return driver.RemedyCreate
	case "57P01", "57P02", "57P03", "57P05", "40001", "40P01": // the server restarts, or wants another try
		return driver.RemedyWait
	case "42704":
		return driver.RemedyAddress
	case "08P01": // PgBouncer has the code for most of its own errors, such as an unknown database
		if strings.Contains(pg.Message, "parameter") {
			return driver.RemedyAddress
		}
	}
	return driver.RemedySettings
}

// A plainError has the text on a single line, without repeated lines: pgx has a line for each
// address of each host, with TLS and without.
type plainError struct{ error }

func plain(err error) error {
	if err != nil && strings.Contains(err.Error(), "\n") {
		return plainError{err}
	}
	return err
}

func (e plainError) Error() string {
	var lines []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(lines[0] + " " + strings.Join(lines[1:], "; "))
}

func (e plainError) Unwrap() error { return e.error }
