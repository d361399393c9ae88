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

// schemaKey is the key of the row with the version of the table's own form. Keys of entries never
// begin with a '.'.
const (
	schemaKey     = ".schema"
	schemaVersion = 1
)

func (s *Store) get(ctx context.Context, key string) (driver.Entry, error) {
	return s.row(ctx, read, key)
}

// Confirm returns the entry of a key now, by a transaction that writes. The commit waits for the
// synchronous standbys. The record of the commit is in the log after the read: a standby with this
// record followed the server at the moment of the read, and was not yet a primary. A server that was
// cut off from its standbys gives no answer.
//
// Confirm proves as much as a Put: nothing, if a standby that lacks acknowledged changes can become the
// primary. [Store.Inspect] reports such standbys.
func (s *Store) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return driver.Confirm(ctx, s.Handle, key, func(ctx context.Context, key string) (driver.Entry, error) {
		return s.row(ctx, confirm, key)
	})
}

func (s *Store) row(ctx context.Context, m mode, key string) (driver.Entry, error) {
	rows, err := s.do(ctx, m, "SELECT key, version, encode(value, 'hex') FROM "+s.table+" WHERE key = "+quote(key))
	if err != nil {
		return driver.Entry{}, err
	}
	if len(rows) == 0 {
		return driver.Entry{Place: *s.place.Load()}, driver.ErrNotFound
	}
	e := s.entry(rows[0])
	return e, e.Err
}

// list returns the entries of one moment.
func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	// All characters of keys are before '{'.
	return s.rows(ctx, "key >= "+quote(prefix)+" AND key < "+quote(prefix+"{")+" AND key <> "+quote(schemaKey))
}

// rows returns the entries of one moment that meet a condition.
func (s *Store) rows(ctx context.Context, condition string) ([]driver.Entry, error) {
	rows, err := s.do(ctx, read, "SELECT key, version, encode(value, 'hex') FROM "+s.table+" WHERE "+condition)
	if err != nil {
		return nil, err
	}
	var list []driver.Entry
	for _, row := range rows {
		list = append(list, s.entry(row))
	}
	return list, nil
}

// Batch returns 1024: one statement reads or creates the records of a whole pool of most formats.
func (s *Store) Batch() int { return 1024 }

// GetAll returns the entries of keys, as of one moment.
func (s *Store) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return driver.GetAll(ctx, s.Handle, keys, func(ctx context.Context, keys []string) ([]driver.Entry, error) {
		quoted := make([]string, len(keys))
		for i, key := range keys {
			quoted[i] = quote(key)
		}
		return s.rows(ctx, "key IN ("+strings.Join(quoted, ", ")+")")
	})
}

// CreateAll creates all entries that don't exist, or none, by one statement.
func (s *Store) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return driver.CreateAll(ctx, s.Handle, entries, func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
		values := make([]string, len(entries))
		for i, e := range entries {
			values[i] = "(" + quote(e.Key) + ", " + quote(hex.EncodeToString(e.Value)) + ")"
		}
		rows, err := s.do(ctx, write, "INSERT INTO "+s.table+" (key, version, value) SELECT new.key, "+now+", decode(new.value, 'hex') FROM (VALUES "+
			strings.Join(values, ", ")+") AS new (key, value) WHERE "+s.known()+" ON CONFLICT DO NOTHING RETURNING key, version")
		if err != nil {
			return nil, err
		}
		made := make(map[string]driver.Revision, len(rows))
		for _, row := range rows {
			made[string(row[0])] = driver.Revision(row[1])
		}
		revs := make([]driver.Revision, len(entries))
		for i, e := range entries {
			revs[i] = made[e.Key]
		}
		return revs, nil
	})
}

// about is a query for values of the table.
func (s *Store) about(values ...string) string {
	return "SELECT " + strings.Join(values, ", ") + " FROM " + s.table + " l, pg_control_system(), pg_database d WHERE key = " + quote(schemaKey) +
		" AND d.datname = current_database()"
}

// where is the place of the table: the identifier of the cluster, and the numbers of the database and the table. A
// template, a dump and a logical replica have other numbers, and an upgraded cluster has another identifier. A
// physical copy has the same: a standby, a restored base backup, a snapshot of the disk.
const where = "concat_ws('/', system_identifier, d.oid, l.tableoid)"

// known is the condition that the table has the known version, and is the one that was read before.
func (s *Store) known() string {
	if place := s.place.Load(); place != nil {
		return "(" + strconv.Itoa(schemaVersion) + ", " + quote(*place) + ") = (" + s.about("version", where) + ")"
	}
	return strconv.Itoa(schemaVersion) + " = (" + s.about("version") + ")"
}

// now is the server's time in microseconds.
const now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// put does not ask the server to cancel an abandoned call. The change may still be made later.
//
// The version of a row is the time of the change, or the last version plus one if the last version
// is not earlier. After a restore from a backup, new versions are therefore later than all versions
// before. Versions counted by one would come back after a restore, and a late call could name an
// old version.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	content := "decode('" + hex.EncodeToString(value) + "', 'hex')"
	change := "INSERT INTO " + s.table + " (key, version, value) SELECT " + quote(key) + ", " + now + ", " + content + " WHERE " + s.known() +
		" ON CONFLICT DO NOTHING RETURNING version"
	if rev != driver.None {
		version, err := strconv.ParseInt(string(rev), 10, 64)
		if err != nil || strconv.FormatInt(version, 10) != string(rev) {
			return driver.None, driver.ErrConflict // no entry has the revision
		}
		change = "UPDATE " + s.table + " SET version = greatest(version + 1, " + now + "), value = " + content +
			" WHERE key = " + quote(key) + " AND version = " + string(rev) + " AND " + s.known() + " RETURNING version"
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

func (s *Store) entry(row [][]byte) driver.Entry {
	e := driver.Entry{Key: string(row[0]), Revision: driver.Revision(row[1]), Place: *s.place.Load(), Value: make([]byte, hex.DecodedLen(len(row[2])))}
	if _, err := hex.Decode(e.Value, row[2]); err != nil {
		e.Err = fmt.Errorf("%w: %w", driver.ErrDamaged, err)
	}
	return e
}

// A mode is the purpose of a transaction.
type mode int

const (
	read    mode = iota
	confirm      // a read that writes to the log
	write
	prepare // a look at a table that is about to get its first pool, or another one
	define  // the table itself
)

// begin returns the first statements of a transaction, with the settings for the store's promises.
// These statements touch no table, and so the time-out for locks holds for all tables.
func (m mode) begin(left time.Duration) string {
	// The server reads the setting at the commit, and resets it afterwards.
	settings := []string{
		"pg_is_in_recovery()",
		"set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)",
		fmt.Sprintf("set_config('lock_timeout', '%d', true)", max(left/2, time.Millisecond).Milliseconds()),
	}
	switch m {
	case read:
		// A server can restart while transactions wait for standbys. Rows are then committed here
		// and missing on the standbys. A new record in the log, after the records of these rows,
		// makes this transaction wait for the standbys.
		settings = append(settings, "CASE WHEN current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery() "+
			"THEN pg_logical_emit_message(true, 'firn', '')::text END")
	case confirm:
		// A commit waits for standbys only if the transaction has a number and has written to the
		// log. The message gives it both, needs no right but the right of every role to call the
		// function, and locks no row. The commit itself decides whether there are standbys to wait
		// for: the setting, as this session knows it, can be old.
		settings = append(settings, "CASE WHEN NOT pg_is_in_recovery() THEN pg_logical_emit_message(true, 'firn', '')::text END")
	}
	return "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT " + strings.Join(settings, ", ") + "; "
}

// do runs one statement in a transaction and returns its rows. The server must not be a standby,
// and the table must have the known version, and must not be another one than before.
func (s *Store) do(ctx context.Context, m mode, statement string) ([][][]byte, error) {
	results, err := s.transact(ctx, m, s.about("version", where)+"; "+statement)
	if is(err, "42703", "42804", "42809", "42883", "22P02", "42P10", "23502") { // columns, or constraints, of another table
		return nil, fmt.Errorf("%w: %s: %w", errForeign, s.name, err)
	}
	if err != nil {
		return nil, err
	}
	n := len(results)
	if n < 4 || len(results[1].Rows) != 1 {
		return nil, fmt.Errorf("%d results where there should be 4 or more", n)
	}
	if string(results[1].Rows[0][0]) != "f" {
		return nil, errStandby
	}
	if schema := results[n-2].Rows; len(schema) != 1 {
		return nil, fmt.Errorf("%w: %s", errForeign, s.name)
	} else if version := string(schema[0][0]); version != strconv.Itoa(schemaVersion) {
		return nil, fmt.Errorf("%w: table %s is of version %s, and %d is known here", driver.ErrVersion, s.name, version, schemaVersion)
	}
	place := string(results[n-2].Rows[0][1])
	s.place.CompareAndSwap(nil, &place)
	if seen := *s.place.Load(); seen != place {
		return nil, &driver.Error{Err: fmt.Errorf("%w: the answer came from %s, but before that from %s", driver.ErrUnsafe, place, seen), Remedy: driver.RemedyRestored}
	}
	return results[n-1].Rows, nil
}

// query runs one statement without a table. The statement must return one row.
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

// quote returns a text as a literal. The texts of a store have no quotation mark and no backslash.
// (The meaning of a backslash depends on settings.) quote doubles quotation marks all the same.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
