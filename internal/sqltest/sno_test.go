package sqltest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/servers/services"
	"github.com/firn-id/firn/sno"
)

// snos returns IDs in order: the zero ID, ten IDs of consecutive times, IDs with all kinds of
// characters, random IDs, and the largest ID. The ten are also returned by themselves, with the
// bounds around the third to the seventh.
func snos(t *testing.T) (all, ten []sno.ID, first, last sno.ID) {
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		id, err := sno.FromTime(start.Add(time.Duration(i)*sno.TimeUnit), byte(200-20*i), sno.Partition{byte(90 * i), 7}, uint16(6000*i))
		if err != nil {
			t.Fatal(err)
		}
		id[4] |= byte(i & 1) // the tick-tock bit
		ten = append(ten, id)
	}
	all = append(slices.Clone(ten), sno.Zero(), sno.MustParse("xxxxxxxxxxxxxxxx"))
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		var id sno.ID
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		all = append(all, id)
	}
	sno.Sort(all)
	return all, ten, sno.First(start.Add(2 * sno.TimeUnit)), sno.Last(start.Add(6 * sno.TimeUnit))
}

// A snoColumn is a way to store a sno: the value for the driver, and the destination of a scan.
type snoColumn struct {
	name  string
	write func(id sno.ID) any
	read  func() (dst any, id func() (sno.ID, error))
	raw   func(id sno.ID) string // as the server shows the column
}

var snoColumns = []snoColumn{
	{"b", func(id sno.ID) any { return id }, readID, sno.ID.Hex},
	{"s", func(id sno.ID) any { return id.String() }, readText, sno.ID.String},
	{"u", func(id sno.ID) any { return id.UUID() }, readUUID, dashed},
	{"v", func(id sno.ID) any { return id.UUID().String() }, readUUID, dashed},
	{"x", func(id sno.ID) any { u := id.UUID(); return u[:] }, readUUID, func(id sno.ID) string { return fmt.Sprintf("%x", id.String()) }},
}

func dashed(id sno.ID) string {
	s := id.String()
	return fmt.Sprintf("%x-%x-%x-%x-%x", s[:4], s[4:6], s[6:8], s[8:10], s[10:])
}

func readID() (any, func() (sno.ID, error)) {
	id := new(sno.ID)
	return id, func() (sno.ID, error) { return *id, nil }
}

func readUUID() (any, func() (sno.ID, error)) {
	u := new(sno.UUID)
	return u, func() (sno.ID, error) { return sno.FromUUID(*u) }
}

// readText reads by way of a string. The driver of MariaDB returns text as bytes, which an ID takes
// for its binary form.
func readText() (any, func() (sno.ID, error)) {
	s := new(string)
	return s, func() (sno.ID, error) { return sno.Parse(*s) }
}

func TestSno(t *testing.T) {
	all, ten, first, last := snos(t)
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			s := session[sno.ID]{t, d, d.open(t)}
			s.exec("DROP TABLE IF EXISTS snos")
			s.exec("CREATE TEMPORARY TABLE snos (n INTEGER, b " + s.binary + ", s " + s.text + ", u UUID, v UUID, x " + s.binary + ")")
			for n := range all {
				n = (n*7 + 3) % len(all) // out of order; their number is prime to 7
				args := []any{n}
				for _, c := range snoColumns {
					args = append(args, c.write(all[n]))
				}
				s.exec("INSERT INTO snos (n, b, s, u, v, x) VALUES ("+s.param(1)+", "+s.param(2)+", "+s.param(3)+", "+
					s.param(4)+", "+s.param(5)+", "+s.param(6)+")", args...)
			}
			for _, c := range snoColumns {
				s.snoColumn(c, all)
				if got := s.snoList(c, "SELECT "+c.name+" FROM snos ORDER BY "+c.name); !slices.Equal(got, all) {
					s.Errorf("by %s: %v, want %v", c.name, got, all)
				}
				s.exec("CREATE TEMPORARY TABLE ten AS SELECT * FROM snos WHERE n BETWEEN "+s.param(1)+" AND "+s.param(2),
					slices.Index(all, ten[0]), slices.Index(all, ten[9]))
				got := s.snoList(c, "SELECT "+c.name+" FROM ten WHERE "+c.name+" BETWEEN "+s.param(1)+" AND "+s.param(2)+" ORDER BY "+c.name,
					c.write(first), c.write(last))
				if !slices.Equal(got, ten[2:7]) {
					s.Errorf("%s from First to Last: %v, want %v", c.name, got, ten[2:7])
				}
				s.exec("DROP TABLE ten")
			}
			s.snoNull()
			s.snoForeign()
		})
	}
}

// snoColumn stores IDs in a column, reads the IDs by prepared statements, by parameters and in the
// text protocol, compares with the text that the server shows, and finds the rows by ID.
func (s session[T]) snoColumn(c snoColumn, all []sno.ID) {
	s.Helper()
	prepared, err := s.conn.PrepareContext(s.Context(), "SELECT "+c.name+" FROM snos WHERE n = "+s.param(1))
	if err != nil {
		s.Fatal(err)
	}
	defer prepared.Close()
	shown := "CAST(" + c.name + " AS CHAR(36))"
	switch {
	case c.name == "b" || c.name == "x":
		if shown = "LOWER(HEX(" + c.name + "))"; s.driver == "pgx" {
			shown = "ENCODE(" + c.name + ", 'hex')"
		}
	case s.driver == "pgx":
		shown = c.name + "::TEXT"
	}
	for n, id := range all {
		for way, query := range map[string]func() *sql.Row{
			"prepared": func() *sql.Row { return prepared.QueryRowContext(s.Context(), n) },
			"parameters": func() *sql.Row {
				return s.conn.QueryRowContext(s.Context(), "SELECT "+c.name+" FROM snos WHERE n = "+s.param(1), n)
			},
			"text": func() *sql.Row {
				return s.conn.QueryRowContext(s.Context(), fmt.Sprintf("SELECT "+c.name+" FROM snos WHERE n = %d", n))
			},
		} {
			dst, read := c.read()
			if err := query().Scan(dst); err != nil {
				s.Fatalf("%s, column %s: %v", way, c.name, err)
			}
			if got, err := read(); err != nil || got != id {
				s.Errorf("%s, column %s: %v, %v; want %v", way, c.name, got, err, id)
			}
		}
		var text string
		if err := s.conn.QueryRowContext(s.Context(), "SELECT "+shown+" FROM snos WHERE n = "+s.param(1), n).Scan(&text); err != nil || text != c.raw(id) {
			s.Errorf("column %s holds %s, %v; want %s", c.name, text, err, c.raw(id))
		}
		var got int
		if err := s.conn.QueryRowContext(s.Context(), "SELECT n FROM snos WHERE "+c.name+" = "+s.param(1), c.write(id)).Scan(&got); err != nil || got != n {
			s.Errorf("the row of %v by %s is %d, %v; want %d", id, c.name, got, err, n)
		}
	}
}

func (s session[T]) snoList(c snoColumn, query string, args ...any) (all []sno.ID) {
	s.Helper()
	rows, err := s.conn.QueryContext(s.Context(), query, args...)
	if err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		dst, read := c.read()
		if err := rows.Scan(dst); err != nil {
			s.Fatal(err)
		}
		id, err := read()
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	return all
}

// snoNull reads NULL as the zero ID, and writes the zero ID as ten zero bytes. By a pointer and by
// sql.Null, NULL stays NULL.
func (s session[T]) snoNull() {
	s.Helper()
	s.exec("DELETE FROM snos")
	var none *sno.ID
	var noUUID *sno.UUID
	s.exec("INSERT INTO snos (n, b, u) VALUES (1, "+s.param(1)+", "+s.param(2)+")", none, noUUID)
	var id sno.ID
	var u sno.UUID
	id[0]++
	if err := s.conn.QueryRowContext(s.Context(), "SELECT b, u FROM snos WHERE b IS NULL AND u IS NULL").Scan(&id, &u); err != nil ||
		!id.IsZero() || u != sno.Zero().UUID() {
		s.Errorf("NULL is %v and %s, %v", id, u, err)
	}
	nullID, nullUUID := sql.Null[sno.ID]{Valid: true}, sql.Null[sno.UUID]{Valid: true}
	if err := s.conn.QueryRowContext(s.Context(), "SELECT b, u FROM snos").Scan(&nullID, &nullUUID); err != nil || nullID.Valid || nullUUID.Valid {
		s.Errorf("NULL is %v and %v, %v", nullID, nullUUID, err)
	}
	none, noUUID = &id, &u
	if err := s.conn.QueryRowContext(s.Context(), "SELECT b, u FROM snos").Scan(&none, &noUUID); err != nil || none != nil || noUUID != nil {
		s.Errorf("NULL is %v and %v, %v", none, noUUID, err)
	}
	s.exec("UPDATE snos SET b = "+s.param(1)+", u = "+s.param(2), sno.Zero(), sno.Zero().UUID())
	var raw []byte
	var text string
	if err := s.conn.QueryRowContext(s.Context(), "SELECT b, u FROM snos").Scan(&raw, &text); err != nil ||
		!bytes.Equal(raw, make([]byte, 10)) || text != "32323232-3232-3232-3232-323232323232" {
		s.Errorf("the zero ID is %x and %s, %v", raw, text, err)
	}
}

// snoForeign reads UUIDs and other bytes: the ID refuses the bytes, and does not change.
func (s session[T]) snoForeign() {
	s.Helper()
	u := sno.MustParse("cufsekaqqudbobiw").UUID()
	for _, text := range []string{"0190163d-8694-739b-aea5-966c26f8ad91", "00000000-0000-0000-0000-000000000000"} {
		s.exec("UPDATE snos SET u = "+s.param(1), text)
		got := u
		err := s.conn.QueryRowContext(s.Context(), "SELECT u FROM snos").Scan(&got)
		var e *sno.ParseError
		if !errors.As(err, &e) || !errors.Is(err, iderr.ErrCharacter) || got != u {
			s.Errorf("%s is %s, %v", text, got, err)
		}
	}
	if _, err := s.conn.ExecContext(s.Context(), "UPDATE snos SET u = "+s.param(1), sno.UUID{}); !errors.Is(err, iderr.ErrCharacter) {
		s.Errorf("a UUID of no ID is stored, %v", err)
	}
	// An ID does not take a UUID for its text.
	s.exec("UPDATE snos SET u = "+s.param(1), u)
	id := sno.MustParse("cufsekaqqudbobiw")
	if err := s.conn.QueryRowContext(s.Context(), "SELECT u FROM snos").Scan(&id); !errors.Is(err, iderr.ErrLength) || !id.IsZero() {
		s.Errorf("a UUID is %v to an ID, %v", id, err)
	}
}

// pgx without database/sql takes and gives the same.
func TestSnoPgx(t *testing.T) {
	all, _, _, _ := snos(t)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			conn := openPgx(t, mode)
			ctx := t.Context()
			if _, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE snos (n INTEGER, b BYTEA, s TEXT, u UUID)"); err != nil {
				t.Fatal(err)
			}
			for n, id := range all {
				if _, err := conn.Exec(ctx, "INSERT INTO snos VALUES ($1, $2, $3, $4)", n, id, id.String(), id.UUID()); err != nil {
					t.Fatal(err)
				}
			}
			check := func(table string) {
				t.Helper()
				rows, err := conn.Query(ctx, "SELECT n, b, s, s, u, u, u::TEXT FROM "+table+" ORDER BY "+table+".u")
				if err != nil {
					t.Fatal(err)
				}
				defer rows.Close()
				rank := 0
				for ; rows.Next(); rank++ {
					var n int
					var b, s sno.ID
					var text, dashes string
					var u sno.UUID
					var raw [16]byte
					if err := rows.Scan(&n, &b, &s, &text, &u, &raw, &dashes); err != nil {
						t.Fatal(err)
					}
					id := all[rank]
					if n != rank || b != id || s != id || text != id.String() || u != id.UUID() || raw != id.UUID() || dashes != dashed(id) {
						t.Errorf("row %d of %v: %d, %v, %v, %s, %s, %x, %s", rank, id, n, b, s, text, u, raw, dashes)
					}
				}
				if err := rows.Err(); err != nil || rank != len(all) {
					t.Errorf("%d rows, %v", rank, err)
				}
			}
			check("snos")
			if mode == pgx.QueryExecModeCacheStatement {
				if _, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE copied (n INTEGER, b BYTEA, s TEXT, u UUID)"); err != nil {
					t.Fatal(err)
				}
				copied, err := conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"n", "b", "s", "u"},
					pgx.CopyFromSlice(len(all), func(n int) ([]any, error) { return []any{n, all[n], all[n].String(), all[n].UUID()}, nil }))
				if err != nil || copied != int64(len(all)) {
					t.Errorf("%d copied, %v", copied, err)
				}
				check("copied")
			}
			var null *sno.UUID
			if err := conn.QueryRow(ctx, "SELECT $1::UUID", null).Scan(&null); err != nil || null != nil {
				t.Errorf("NULL is %v, %v", null, err)
			}
		})
	}
}

func openPgx(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	d := databases[0]
	source := os.Getenv(d.env)
	if source == "" {
		source = d.address
	}
	config, err := pgx.ParseConfig(source)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		services.Missing(t, "%s is not there; set %s to where it is: %v", d.name, d.env, err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
