package pglease

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/advice"
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
var errForeign = errors.New("the table is not one of leases")

// diagnose returns the advice on an error, and the kind of the error.
func (s *Store) diagnose(err error) (what string, kind error) {
	const (
		primary = "name the server that is the primary now, or all of them: postgres://host,host2/…"
		silent  = "see that the server runs, and that the network lets through to it"
	)
	var (
		pg      *pgconn.PgError
		warning *warningError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
	)
	kind = driver.ErrUnavailable
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return advice.Damaged, driver.ErrDamaged
	case errors.Is(err, errUnwatched):
		return "call pglease.Configure with the configuration, and make the pool of it after that", driver.ErrUnsafe
	case errors.As(err, new(*ownerError)):
		return "use the owner of the table and of its schema, and no trigger", driver.ErrRefused
	case errors.Is(err, errForeign):
		return s.another(), driver.ErrRefused
	case errors.As(err, &pg):
		// No user is let in, no database, no schema, no right or no such table.
		if slices.Contains([]string{"28", "3D", "3F", "42"}, pg.Code[:min(len(pg.Code), 2)]) {
			kind = driver.ErrRefused
		}
		return s.adviceFor(pg), kind
	case errors.As(err, &warning):
		return "see what the standbys do: the change may be missing there", kind
	case errors.Is(err, errStandby), errors.Is(err, pgconn.ErrStandbyConnection):
		return primary, kind
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return primary + "; or set default_transaction_read_only to off there", kind
	case errors.Is(err, os.ErrClosed):
		return "", kind
	case errors.Is(err, context.DeadlineExceeded):
		return silent, kind
	case errors.As(err, &cert), errors.As(err, &unknown), strings.Contains(err.Error(), "tls error"), strings.Contains(err.Error(), "tls: "):
		return "see to sslmode, sslrootcert, sslcert and sslkey in the address, and to the server's certificate", kind
	case errors.As(err, &dns):
		return "see that the name of the host is right", kind
	}
	return silent, kind
}

func (s *Store) another() string {
	return fmt.Sprintf("%s belongs to something else, or was changed by hand: name that of the leases in the address, table=schema.name, which firn pool create makes; %s",
		s.name, advice.Move("in another table"))
}

// adviceFor returns the advice for an error of the server.
func (s *Store) adviceFor(pg *pgconn.PgError) string {
	switch pg.Code {
	case "28P01", "28000":
		return "see that the user, and the password or the certificate, are right (password-file, password-env; sslcert, sslkey), that the user may log in (ALTER ROLE … LOGIN), and that pg_hba.conf of the server lets the user in from here"
	case "3D000":
		return "see that the name of the database is right, or create it; " + advice.Lost
	case "42P01", "3F000":
		return fmt.Sprintf("see that the address is right, with its table, or create the table %s once, as its owner, with firn pool create; %s", s.name, advice.Lost)
	case "42703", "42804", "42809", "42883", "22P02", "42P10", "23502":
		return s.another()
	case "42501":
		return "grant the user what leases need: CONNECT ON DATABASE, " + strings.Join(s.name.privileges(), " and ") +
			"; to create the table takes an owner, once"
	case readOnly:
		return "name the server that is the primary now; or, if it is, see why it takes no changes: default_transaction_read_only"
	case "53100":
		return "free some space on the server's disk"
	case "53300":
		return "have fewer connections (pool_max_conns), raise the server's or the user's limit, or put a proxy such as PgBouncer between"
	case "57P03":
		return "wait until the server has started, or see why it takes no connections"
	case "57P01", "57P02", "57P05":
		return "see why the server ends connections; it may be restarting"
	case "55P03":
		return fmt.Sprintf("see what has locked %s or a row of it: pg_locks, pg_stat_activity", s.name)
	case cancelled:
		return "see what has cancelled it, or raise statement_timeout"
	case "40001", "40P01":
		return "try again"
	case "08P01": // PgBouncer has the code for most of its own errors, such as an unknown database
		if !strings.Contains(pg.Message, "parameter") {
			return "see in the log of the proxy before the server what is missing: a database, a user, connections, or the server"
		}
		fallthrough
	case "42704":
		return "see whether the server, or the proxy before it, takes the settings in the address and in PGOPTIONS"
	}
	return ""
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
