package sql

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
)

// install runs the script of formats and flags as users do, and returns the script.
func (d database) install(t testing.TB, words ...string) string {
	t.Helper()
	words = append([]string{d.command}, words...)
	if d.dialect == mariadb {
		words = append(words, "--plain")
	}
	text := script(t, words...)
	d.apply(t, text)
	return text
}

// apply runs a script.
func (d database) apply(t testing.TB, text string) {
	t.Helper()
	if d.dialect == mariadb {
		text = plain(text)
	}
	if d.dialect != lite {
		d.run(t, text)
	}
}

// plain returns a script for the client of MariaDB as a driver takes it.
func plain(text string) string {
	return strings.ReplaceAll(delimiters.ReplaceAllString(text, ""), " //\n", ";\n")
}

// A column is a function, its argument, and the type and the values of its results.
type column struct {
	function, argument string
	kind               string
	value              func(i int, info inspect.Info, b []byte) any
}

// columns returns the functions over IDs and texts of a setup, by the names of the fields of the
// library.
func (d database) columns(s setup, info inspect.Info) []column {
	id := "BIGINT"
	if !s.integer() {
		id = d.bytes
	}
	all := []column{
		{"time", "id", d.instantOf(), func(_ int, info inspect.Info, _ []byte) any { return d.time(info.Time) }},
		{"text", "id", d.text, func(_ int, info inspect.Info, _ []byte) any { return info.ID }},
		{"parse", "s", id, func(_ int, _ inspect.Info, b []byte) any { return s.value(b) }},
	}
	for n, f := range info.Fields {
		c := column{f.Name, "id", "BIGINT", func(_ int, info inspect.Info, _ []byte) any {
			var v int64
			fmt.Sscan(info.Fields[n].Value, &v)
			return v
		}}
		if f.Quoted {
			c.kind = d.big
			c.value = func(_ int, info inspect.Info, _ []byte) any {
				if d.dialect == lite {
					return info.Hex[20:]
				}
				return info.Fields[n].Value
			}
		}
		all = append(all, c)
	}
	switch {
	case d.dialect == lite:
		all = append(all, column{"unix_ms", "id", "BIGINT", func(_ int, info inspect.Info, _ []byte) any { return info.Time.UnixMilli() }})
	case s.Name() == "scru160":
		all = append(all, column{"hex", "id", d.text, func(_ int, info inspect.Info, _ []byte) any { return info.Hex }},
			column{"text_time", "s", d.instantOf(), all[0].value})
	case s.Name() == "sno":
		kind := "UUID"
		all = append(all, column{"uuid", "id", kind, func(_ int, info inspect.Info, _ []byte) any { return uuidOf(info) }},
			column{"from_uuid", "w_uuid", id, all[2].value},
			column{"text_time", "s", d.instantOf(), all[0].value})
	}
	return all
}

// instantOf returns the type of columns of the times that functions return.
func (d database) instantOf() string {
	switch d.dialect {
	case lite:
		return "TEXT"
	case mariadb:
		return "DATETIME(3)"
	}
	return d.instant
}

// compare compares the functions of a script with the library, on n random IDs and more, and returns
// the differences.
func (d database) compare(t testing.TB, s setup, text string, n int) (differences []string) {
	t.Helper()
	const most = 3 // differences of a function
	note := func(function, query string) {
		for _, v := range d.strings(t, query) {
			differences = append(differences, function+": "+v)
		}
	}
	id := "BIGINT"
	if !s.integer() {
		id = d.bytes
	}
	ids := s.binaries(t, n)
	columns := d.columns(s, s.inspect(t, ids[0]))
	d.run(t, "DROP TABLE IF EXISTS ids_"+ident(s.Name()))
	var create strings.Builder
	create.WriteString("CREATE TABLE ids_" + ident(s.Name()) + " (n INTEGER, id " + id + ", s " + d.text)
	names := []string{"n", "id", "s"}
	for _, c := range columns {
		create.WriteString(", w_" + c.function + " " + c.kind)
		names = append(names, "w_"+c.function)
	}
	d.run(t, create.String()+")")
	var rows [][]any
	for i, b := range ids {
		info := s.inspect(t, b)
		row := []any{i, s.value(b), s.variant(i, info)}
		for _, c := range columns {
			row = append(row, c.value(i, info, b))
		}
		rows = append(rows, row)
	}
	d.load(t, d, "ids_"+ident(s.Name()), names, rows)
	for _, c := range columns {
		got := d.call(t, text, s.Name(), c.function, c.argument)
		where := fmt.Sprintf(d.distinct, got, "w_"+c.function)
		if d.dialect == mariadb && c.kind == d.instantOf() {
			where = "w_" + c.function + " IS NOT NULL AND " + where
		}
		note(c.function, "SELECT "+concat(d, "id", got, "w_"+c.function)+" FROM ids_"+ident(s.Name())+" WHERE "+where+fmt.Sprintf(" LIMIT %d", most))
	}

	d.run(t, "DROP TABLE IF EXISTS instants_"+ident(s.Name()))
	d.run(t, "CREATE TABLE instants_"+ident(s.Name())+" (at "+d.instant+", w_first "+id+", w_last "+id+")")
	rows = nil
	for _, at := range s.instants(t, n/50) {
		first, last := s.bounds(t, at)
		rows = append(rows, []any{d.at(at), first, last})
	}
	d.load(t, d, "instants_"+ident(s.Name()), []string{"at", "w_first", "w_last"}, rows)
	for _, function := range []string{"first", "last"} {
		got := d.call(t, text, s.Name(), function, "at")
		note(function, "SELECT "+concat(d, "at", got, "w_"+function)+" FROM instants_"+ident(s.Name())+" WHERE "+
			fmt.Sprintf(d.distinct, got, "w_"+function)+fmt.Sprintf(" LIMIT %d", most))
	}
	return append(differences, d.compareTexts(t, s, text, n/10)...)
}

// concat returns an expression for a line about values.
func concat(d database, values ...string) string {
	for i, v := range values {
		if d.dialect == mariadb && v == "id" {
			v = "HEX(id)"
		}
		values[i] = "COALESCE(" + fmt.Sprintf(d.shown, v) + ", 'NULL')"
	}
	if d.dialect == mariadb {
		return "CONCAT_WS(', ', " + strings.Join(values, ", ") + ")"
	}
	return strings.Join(values, " || ', ' || ")
}

// compareTexts compares parse with the library on texts that are not IDs.
func (d database) compareTexts(t testing.TB, s setup, script string, n int) (differences []string) {
	t.Helper()
	d.run(t, "DROP TABLE IF EXISTS texts_"+ident(s.Name()))
	d.run(t, "CREATE TABLE texts_"+ident(s.Name())+" (n INTEGER, s "+d.text+")")
	texts := s.badTexts(t, n)
	if d.dialect != postgres {
		texts = append(texts, "0\x00", "07en9rb30s\x00mf", strings.Repeat("\x00", 13), strings.Repeat("2", 15)+"\x00", strings.Repeat("0", 31)+"\x00")
	}
	var rows [][]any
	for i, text := range texts {
		rows = append(rows, []any{i, text})
	}
	d.load(t, d, "texts_"+ident(s.Name()), []string{"n", "s"}, rows)
	parse := d.call(t, script, s.Name(), "parse", "s")
	try := ""
	switch d.dialect {
	case postgres:
		d.run(t, "CREATE OR REPLACE FUNCTION public.try_"+ident(s.Name())+`(s TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN RETURN 'ID ' || `+shownID(d, s, parse)+`; EXCEPTION WHEN invalid_text_representation THEN RETURN 'error ' || SQLERRM; WHEN OTHERS THEN RETURN 'another error: ' || SQLERRM; END $$`)
		try = "public.try_" + ident(s.Name()) + "(s)"
	case mariadb:
		d.run(t, "CREATE OR REPLACE FUNCTION try_"+ident(s.Name())+`(s `+d.text+`) RETURNS VARCHAR(600) CHARACTER SET utf8mb4
BEGIN
  DECLARE message VARCHAR(512) CHARACTER SET utf8mb4;
  DECLARE EXIT HANDLER FOR SQLSTATE '45000' BEGIN GET DIAGNOSTICS CONDITION 1 message = MESSAGE_TEXT; RETURN CONCAT('error ', message); END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 message = MESSAGE_TEXT; RETURN CONCAT('another error: ', message); END;
  RETURN CONCAT('ID ', `+shownID(d, s, parse)+`);
END`)
		try = "try_" + ident(s.Name()) + "(s)"
	case lite:
		try = "CASE WHEN (" + parse + ") IS NOT NULL THEN 'ID ' || " + shownID(d, s, "("+parse+")") + " ELSE 'error' END"
	}
	refused := 0
	for i, got := range d.strings(t, "SELECT "+try+" FROM texts_"+ident(s.Name())+" ORDER BY n") {
		v, err := s.parse(texts[i])
		want := "ID " + fmt.Sprint(v)
		if b, ok := v.([]byte); ok {
			want = "ID " + hex.EncodeToString(b)
		}
		if err != nil {
			refused++
			want = "error"
			var bad *iderr.ParseError
			if errors.As(err, &bad) && d.dialect != lite {
				got = alike(got, bad, &want, d)
			}
			if d.dialect != lite && !strings.HasPrefix(got, "error "+s.Name()+": ") {
				want += " with the name of the format"
			} else {
				got = got[:min(len(got), len(want))]
			}
		}
		if got != want {
			differences = append(differences, fmt.Sprintf("parse %q: %s, want %s", texts[i], got, want))
			if len(differences) > 3 {
				break
			}
		}
	}
	if len(differences) == 0 && refused < n/2 {
		t.Errorf("%s: only %d texts of %d are not IDs", s.Name(), refused, len(texts))
	}
	return differences
}

// alike makes the wanted error that of the library, as far as databases write the same: the whole
// message for plain texts, otherwise the offset.
func alike(got string, bad *iderr.ParseError, want *string, d database) string {
	foreign := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' || r == '\'' }
	switch {
	case !strings.ContainsFunc(bad.Input, foreign) && len(bad.Input) <= 32:
		message := bad.Error()
		if before, _, ok := strings.Cut(message, ": if its leading zeros"); ok {
			message = before
		}
		message, _, _ = strings.Cut(message, ", which has")
		*want = "error " + message
		if d.dialect == mariadb && len(*want) > len("error ")+128 {
			*want = (*want)[:len("error ")+128]
		}
	case bad.Offset >= 0:
		*want = fmt.Sprintf("offset %d:", bad.Offset)
		if strings.Contains(got, *want) {
			*want = got
		}
	}
	return got
}

// shownID returns an expression for the text that fmt and hex print of an ID.
func shownID(d database, s setup, id string) string {
	switch {
	case s.integer():
		return fmt.Sprintf(d.shown, id)
	case d.dialect == postgres:
		return "encode(" + id + ", 'hex')"
	}
	return "LOWER(HEX(" + id + "))"
}

func first(differences []string) string {
	return strings.Join(slices.Collect(slices.Values(differences[:min(len(differences), 12)])), "\n")
}
