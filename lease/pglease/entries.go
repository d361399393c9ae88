package pglease

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// schemaKey is the key of the row whose version is that of the table's own form. It is no key of
// an entry, none of which begins with a '.'.
const (
	schemaKey     = ".schema"
	schemaVersion = 1
)

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	rows, err := s.do(ctx, read, "SELECT key, version, encode(value, 'hex') FROM "+s.table+" WHERE key = "+quote(key))
	if err != nil {
		return driver.Entry{}, err
	}
	if len(rows) == 0 {
		return driver.Entry{}, driver.ErrNotFound
	}
	e := entry(rows[0])
	return e, e.Err
}

// list returns entries of one moment.
func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	// All characters of keys are before '{'.
	rows, err := s.do(ctx, read, "SELECT key, version, encode(value, 'hex') FROM "+s.table+
		" WHERE key >= "+quote(prefix)+" AND key < "+quote(prefix+"{")+" AND key <> "+quote(schemaKey)+" ORDER BY key")
	if err != nil {
		return nil, err
	}
	var list []driver.Entry
	for _, row := range rows {
		list = append(list, entry(row))
	}
	return list, nil
}

// now is the server's time in microseconds.
const now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// put may still be made after it was given up: the server is not asked to cancel it.
//
// A row's version is the time of the change, or one more than the last if that is later. So it goes
// on from there also after the database was restored from a backup: counted by one, it would come
// to those versions again that the backup does not have, and that a call which is late may ask for.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	content := "decode('" + hex.EncodeToString(value) + "', 'hex')"
	known := " AND (SELECT version FROM " + s.table + " WHERE key = " + quote(schemaKey) + ") = " + strconv.Itoa(schemaVersion)
	change := "INSERT INTO " + s.table + " (key, version, value) SELECT " + quote(key) + ", " + now + ", " + content + " WHERE true" + known +
		" ON CONFLICT DO NOTHING RETURNING version"
	if rev != driver.None {
		version, err := strconv.ParseInt(string(rev), 10, 64)
		if err != nil || strconv.FormatInt(version, 10) != string(rev) {
			return driver.None, driver.ErrConflict // no entry has the revision
		}
		change = "UPDATE " + s.table + " SET version = greatest(version + 1, " + now + "), value = " + content +
			" WHERE key = " + quote(key) + " AND version = " + string(rev) + known + " RETURNING version"
	}
	rows, err := s.do(ctx, write, change)
	if err != nil {
		return driver.None, err
	}
	if len(rows) == 0 {
		return driver.None, driver.ErrConflict
	}
	return driver.Revision(rows[0][0]), nil
}

// Now returns the server's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return driver.Call(ctx, s.Handle, "now", func(ctx context.Context) (time.Time, error) {
		rows, err := s.query(ctx, "SELECT "+now)
		if err != nil {
			return time.Time{}, err
		}
		us, err := strconv.ParseInt(string(rows[0][0]), 10, 64)
		if err != nil {
			return time.Time{}, err
		}
		return time.UnixMicro(us).UTC(), nil
	})
}

func entry(row [][]byte) driver.Entry {
	e := driver.Entry{Key: string(row[0]), Revision: driver.Revision(row[1]), Value: make([]byte, hex.DecodedLen(len(row[2])))}
	if _, err := hex.Decode(e.Value, row[2]); err != nil {
		e.Err = fmt.Errorf("%w: %w", driver.ErrDamaged, err)
	}
	return e
}

// A mode is what a transaction is for.
type mode int

const (
	read mode = iota
	write
	define // the table itself
)

// begin returns the statements that a transaction begins with: what the promises rest on, whatever
// the defaults are. None of them touches a table, so that the time-out for locks holds for all of
// those.
func (m mode) begin(left time.Duration) string {
	// The setting is read when the transaction is committed. What it was, for others, comes
	// back then.
	settings := []string{
		"pg_is_in_recovery()",
		"set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)",
		fmt.Sprintf("set_config('lock_timeout', '%d', true)", max(left/2, time.Millisecond).Milliseconds()),
	}
	if m == read {
		// What is read may be committed here without being on the standbys: after the
		// restart of a server whose transactions waited for them. A record in the log, after
		// that of what is read, makes this transaction wait in turn.
		settings = append(settings, "CASE WHEN current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery() "+
			"THEN pg_logical_emit_message(true, 'firn', '')::text END")
	}
	return "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT " + strings.Join(settings, ", ") + "; "
}

// do makes one statement in a transaction, if the server is no standby and the table of the version
// that is known here, and returns its rows.
func (s *Store) do(ctx context.Context, m mode, statement string) ([][][]byte, error) {
	results, err := s.exec(ctx, m.begin(left(ctx))+"SELECT version FROM "+s.table+" WHERE key = "+quote(schemaKey)+"; "+statement)
	if err != nil {
		return nil, err
	}
	if len(results) != 4 || len(results[1].Rows) != 1 {
		return nil, fmt.Errorf("%d results where there should be 4", len(results))
	}
	if string(results[1].Rows[0][0]) != "f" {
		return nil, errStandby
	}
	if schema := results[2].Rows; len(schema) != 1 {
		return nil, errForeign
	} else if version := string(schema[0][0]); version != strconv.Itoa(schemaVersion) {
		return nil, &driver.Error{Err: fmt.Errorf("%w: table %s is of version %s, and %d is known here", driver.ErrVersion, s.name, version, schemaVersion),
			Advice: "use the version of this program that the others use which share the table"}
	}
	return results[3].Rows, nil
}

// query makes one statement that needs no table, and returns its rows, of which there must be one.
func (s *Store) query(ctx context.Context, statement string) ([][][]byte, error) {
	results, err := s.exec(ctx, statement)
	if err == nil && (len(results) != 1 || len(results[0].Rows) != 1) {
		err = errors.New("the server's answer is not one row")
	}
	if err != nil {
		return nil, err
	}
	return results[0].Rows, nil
}

func left(ctx context.Context) time.Duration {
	until, _ := ctx.Deadline()
	return time.Until(until)
}

// quote returns a text as a literal. Those of a store have no backslash, which some settings would
// have stand for something else, and nothing to double; that is for the reader.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
