package sqlscripts

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/pgscript"
)

// newPostgres returns the command firn sql postgres.
func newPostgres(s *cli.Streams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "postgres [FORMAT]...",
		Short: "Print functions for PostgreSQL 14 or later",
		Example: `  firn sql postgres | psql -v ON_ERROR_STOP=1 app
  firn sql postgres nanoflake --epoch 2020-01-01 | psql -v ON_ERROR_STOP=1 app
  firn sql postgres --down | psql -v ON_ERROR_STOP=1 app`,
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := o.keys(args)
			if err != nil {
				return err
			}
			return writePostgres(s.Out, keys, o.down)
		},
	}
	o.addTo(cmd)
	return cmd
}

// A pgFunction is a function in the schema firn.
type pgFunction struct {
	name    string // without the schema
	args    string
	returns string
	comment string
	body    string // in PL/pgSQL if the body has a BEGIN, otherwise an expression
	stable  bool   // the result may change with the version

	// The names in the body are qualified, also of operators. A search_path of its own would cost a
	// small function more time than all else.
	qualified bool
}

func (f pgFunction) signature() string { return "firn." + f.name + "(" + f.args + ")" }

// create returns the SQL that makes the function. PostgreSQL resolves the names of an expression when
// the function is made, and the names of PL/pgSQL when the function runs: by a search_path of its own,
// or without one if all names are qualified.
func (f pgFunction) create() string {
	language, body := "sql", "RETURN "+f.body
	if strings.Contains(f.body, "BEGIN\n") {
		language, body = "plpgsql", "AS $$\n"+f.body+"\n$$"
		if !f.qualified {
			body = pgscript.Path + " " + body
		}
	}
	volatility := "IMMUTABLE"
	if f.stable {
		volatility = "STABLE"
	}
	return fmt.Sprintf("CREATE OR REPLACE FUNCTION %s RETURNS %s\nLANGUAGE %s %s STRICT PARALLEL SAFE\n%s;\nCOMMENT ON FUNCTION %s IS '%s';\n\n",
		f.signature(), f.returns, language, volatility, body, f.signature(), strings.ReplaceAll(f.comment, "'", "''"))
}

// writePostgres writes the script of the keys, or the script that takes everything back.
func writePostgres(w io.Writer, keys []key, down bool) error {
	write := postgresUp
	if down {
		write = postgresDown
	}
	_, err := io.WriteString(w, write(keys))
	return err
}

func postgresUp(keys []key) string {
	var b strings.Builder
	fmt.Fprintf(&b, `-- Functions about IDs for PostgreSQL 14 or later. Printed by firn sql postgres, version %d.
%s--
-- The script may run again. Indexes may hold results of the functions, so no version of the script
-- changes a result: a function with other results has a name of its own.

%s
DO $$
BEGIN
  IF current_setting('server_version_num')::integer < 140000 THEN
    RAISE EXCEPTION 'firn: the functions need PostgreSQL 14 or later';
  END IF;
  IF to_regprocedure('firn.version()') IS NOT NULL THEN
    IF firn.version() > %[1]d THEN
      RAISE EXCEPTION 'firn: the functions have version %%, this script has version %[1]d', firn.version()
        USING HINT = 'Print the script by a firn that is at least as new as the functions.';
    END IF;
  END IF;
`, Version, settingsComment(keys), pgscript.Begin+pgscript.Schema)
	for _, k := range keys {
		for _, f := range k.postgresSettings() {
			fmt.Fprintf(&b, `  IF to_regprocedure('firn.%[1]s()') IS NOT NULL THEN
    IF firn.%[1]s() <> %[2]s THEN
      RAISE EXCEPTION 'firn: firn.%[1]s() is %%, not %%', firn.%[1]s(), %[2]s
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres %[3]s --down, which drops the functions.';
    END IF;
  END IF;
`, f.name, f.body, k.Name)
		}
	}
	b.WriteString("END $$;\n\n")
	for _, f := range postgresHelpers() {
		b.WriteString(f.create())
	}
	for _, k := range keys {
		fmt.Fprintf(&b, "-- %s\n\n", k.Name)
		for _, f := range k.postgres() {
			b.WriteString(f.create())
		}
	}
	b.WriteString("COMMIT;\n")
	return b.String()
}

// settingsComment returns a comment with the settings of the keys.
func settingsComment(keys []key) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintln(&b, strings.TrimSpace("--   "+k.Name+" "+k.settings()))
	}
	return b.String()
}

func postgresDown(keys []key) string {
	var b strings.Builder
	fmt.Fprintf(&b, `-- Removes the functions of firn sql postgres, version %d. If an index or a view uses a function, the
-- script removes nothing.

%s
`, Version, pgscript.Begin)
	for _, k := range slices.Backward(keys) {
		for _, f := range slices.Backward(k.postgres()) {
			fmt.Fprintf(&b, "DROP FUNCTION IF EXISTS %s;\n", f.signature())
		}
	}
	var drops []string
	for _, f := range slices.Backward(postgresHelpers()) {
		drops = append(drops, "    DROP FUNCTION IF EXISTS "+f.signature()+";\n")
	}
	fmt.Fprintf(&b, `
-- The functions of all formats go with the last format, and the schema if it is empty then.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = to_regnamespace('firn') AND proname ~ '_check$') THEN
%s  END IF;
END $$;
%s
COMMIT;
`, strings.Join(drops, ""), pgscript.DropSchema)
	return b.String()
}

// postgresHelpers returns the functions that all formats share.
func postgresHelpers() []pgFunction {
	return []pgFunction{
		{name: "version", returns: "integer", stable: true, comment: "The version of the functions", body: fmt.Sprint(Version)},
		{name: "refuse", args: "kind text, input text, place integer, reason text, hint text", returns: "void",
			comment: "Raises the error of an input that is not an ID; place is the offset of the fault, or -1",
			body: `BEGIN
  RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
    MESSAGE = kind || ': ' || to_json(left(input, 64)) || CASE WHEN length(input) > 64 THEN '...' ELSE '' END || ': '
      || CASE WHEN place >= 0 THEN 'offset ' || place || ': ' ELSE '' END || reason,
    HINT = hint;
END`},
		{name: "letters", args: "kind text, input text, size integer, alphabet text, alphabet_name text", returns: "void",
			comment: "Raises an error unless the input has this many bytes, all in the alphabet",
			body: `DECLARE
  place integer;
BEGIN
  IF octet_length(input) <> size THEN
    PERFORM firn.refuse(kind, input, -1, 'length is ' || octet_length(input) || ', not ' || size,
      'Use the whole text of an ID of this format.');
  END IF;
  place := size - octet_length(ltrim(input, alphabet));
  IF place < size THEN
    PERFORM firn.refuse(kind, input, place, 'character ' || quote_literal(substr(input, place + 1, 1)) || ' is not ' || alphabet_name,
      'Use the text of an ID of this format, without changes.');
  END IF;
END`},
		{name: "ticks", args: "t timestamptz, epoch bigint, last bigint", returns: "bigint",
			comment: "Milliseconds from the epoch to t, limited to 0 to last",
			// EXTRACT is immutable only of a time without zone. EXTRACT of an infinite time is infinite.
			body: `BEGIN
  RETURN least(greatest(floor(extract(epoch FROM t AT TIME ZONE 'UTC') * 1000) - epoch, 0), last)::bigint;
END`},
		{name: "uint", args: "id bytea, start integer, size integer", returns: "bigint",
			comment: "The unsigned integer of up to 7 bytes, the most significant first",
			body:    `('x' || lpad(encode(substr(id, start + 1, size), 'hex'), 16, '0'))::bit(64)::bigint`},
	}
}

// postgresSettings returns the functions without arguments that tell the settings of the format.
func (k key) postgresSettings() (all []pgFunction) {
	if k.Has("epoch") {
		all = append(all, pgFunction{name: k.ident + "_epoch", returns: "timestamptz", comment: "The epoch of " + k.Name,
			body: "timestamp '" + k.epochText() + "' AT TIME ZONE 'UTC'"})
	}
	if k.hasLayouts() {
		all = append(all, pgFunction{name: k.ident + "_layout", returns: "text", comment: "The bits of the fields of " + k.Name,
			body: "'" + k.layout() + "'::text"})
	}
	return all
}

// postgres returns the functions of the format.
func (k key) postgres() []pgFunction {
	all := k.postgresSettings()
	if k.Integer() {
		all = append(all, k.postgresInteger()...)
	} else {
		all = append(all, k.postgresBytes()...)
	}
	return append(all, k.postgresText()...)
}

func (k key) postgresInteger() []pgFunction {
	all := []pgFunction{
		{name: k.ident + "_check", args: "id bigint", returns: "bigint", comment: "Returns the ID; raises an error for an integer out of range",
			qualified: true, body: fmt.Sprintf(`BEGIN
  IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) %d::bigint THEN
    PERFORM firn.refuse('%s', id::pg_catalog.text, -1, 'value is not in 0 to %[1]d', 'Use an ID of this format, without changes.');
  END IF;
  RETURN id;
END`, k.most(), k.Name)},
		// The sum of a time without zone and an interval is immutable in the catalogue, so PostgreSQL puts
		// the expression in place of the call. to_timestamp takes a double, which does not hold all times.
		{name: k.ident + "_time", args: "id bigint", returns: "timestamptz", comment: "The time of the ID, to the millisecond",
			body: fmt.Sprintf("(timestamp '%s' + (firn.%s_check(id) >> %d) * interval '1 millisecond') AT TIME ZONE 'UTC'", k.epochText(), k.ident, k.shift())},
	}
	for i, f := range k.shape.Fields {
		value := fmt.Sprintf("firn.%s_check(id)", k.ident)
		if f.Shift > 0 {
			value += fmt.Sprintf(" >> %d", f.Shift)
		}
		returns := "bigint"
		if i > 0 {
			value = fmt.Sprintf("(%s & %d)::integer", value, int64(1)<<f.Bits-1)
			returns = "integer"
		}
		all = append(all, pgFunction{name: k.ident + "_" + f.Name, args: "id bigint", returns: returns,
			comment: "The " + strings.ReplaceAll(f.Name, "_", " ") + " of the ID", body: value})
	}
	ticks := fmt.Sprintf("firn.ticks(t, %d, %d) << %d", k.shape.Epoch, k.lastMilli(), k.shift())
	return append(all,
		pgFunction{name: k.ident + "_first", args: "t timestamptz", returns: "bigint",
			comment: "The smallest ID of the millisecond of t", body: ticks},
		pgFunction{name: k.ident + "_last", args: "t timestamptz", returns: "bigint",
			comment: "The largest ID of the millisecond of t", body: fmt.Sprintf("%s | %d", ticks, k.rest())})
}

func (k key) postgresBytes() []pgFunction {
	all := []pgFunction{
		{name: k.ident + "_check", args: "id bytea", returns: "bytea", comment: fmt.Sprintf("Returns the ID; raises an error unless it has %d bytes", k.Size),
			qualified: true, body: fmt.Sprintf(`BEGIN
  IF pg_catalog.octet_length(id) OPERATOR(pg_catalog.<>) %d THEN
    PERFORM firn.refuse('%s', pg_catalog.encode(pg_catalog.substr(id, 1, 32), 'hex'), -1,
      pg_catalog.format('length is %%s, not %[1]d bytes', pg_catalog.octet_length(id)),
      'Use the binary form of an ID. firn.%[2]s_parse reads texts.');
  END IF;
  RETURN id;
END`, k.Size, k.Name)},
	}
	for i, f := range k.shape.Fields {
		below := f.Shift % 8
		start := k.Size - (f.Shift+f.Bits+7)/8
		size := k.Size - f.Shift/8 - start
		value := fmt.Sprintf("firn.uint(firn.%s_check(id), %d, %d)", k.ident, start, size)
		if below > 0 {
			value += fmt.Sprintf(" >> %d", below)
		}
		if (f.Bits+below)%8 > 0 {
			value += fmt.Sprintf(" & %d", int64(1)<<f.Bits-1)
		}
		returns := "bigint"
		switch {
		case f.Bits > 64:
			returns = "numeric"
			value = fmt.Sprintf("BEGIN\n  RETURN firn.uint(firn.%[1]s_check(id), %[2]d, 5)::numeric * %[3]d + firn.uint(id, %[4]d, 5);\nEND", k.ident, start, int64(1)<<40, start+5)
		case i > 0:
			value, returns = "("+value+")::integer", "integer"
		}
		all = append(all, pgFunction{name: k.ident + "_" + f.Name, args: "id bytea", returns: returns,
			comment: "The " + strings.ReplaceAll(f.Name, "_", " ") + " of the ID", body: value})
	}
	made := pgFunction{name: k.ident + "_time", args: "id bytea", returns: "timestamptz", comment: "The time of the ID"}
	head := fmt.Sprintf("firn.ticks(t, %d, %d)", k.shape.Epoch, k.lastMilli())
	if k.unit() > 1 {
		head += fmt.Sprintf(" / %d", k.unit())
	}
	first, last := head, head
	if pad := k.pad(); pad > 0 { // other fields share a byte with the timestamp
		first, last = fmt.Sprintf("%s << %d", head, pad), fmt.Sprintf("%s << %d | %d", head, pad, 1<<pad-1)
	}
	if k.lastMilli() < 1<<53/1000 {
		made.body = fmt.Sprintf("(timestamp '%s' + firn.%s_timestamp(id) * interval '%d milliseconds') AT TIME ZONE 'UTC'", k.epochText(), k.ident, k.unit())
	} else {
		// The timestamps reach further than the whole numbers of a double reach in microseconds, so the sum
		// is of whole days and of the rest.
		made.body = fmt.Sprintf(`DECLARE
  ms bigint := firn.%s_timestamp(id);
BEGIN
  RETURN (timestamp '%s' + ms / 86400000 * interval '1 day' + ms %% 86400000 * interval '1 millisecond') AT TIME ZONE 'UTC';
END`, k.ident, k.epochText())
	}
	tail := k.shift() / 8 // bytes behind the timestamp
	bounds := func(head, filler string) string {
		return fmt.Sprintf("decode(lpad(to_hex(%s), %d, '0') || repeat('%s', %d), 'hex')", head, 2*(k.Size-tail), filler, tail)
	}
	return append(all, made,
		pgFunction{name: k.ident + "_first", args: "t timestamptz", returns: "bytea",
			comment: "The smallest ID of the " + unitName(k) + " of t", body: bounds(first, "00")},
		pgFunction{name: k.ident + "_last", args: "t timestamptz", returns: "bytea",
			comment: "The largest ID of the " + unitName(k) + " of t", body: bounds(last, "ff")})
}

func unitName(k key) string {
	if k.unit() == 1 {
		return "millisecond"
	}
	return fmt.Sprintf("%d milliseconds", k.unit())
}

// postgresText returns the functions about the texts of the format.
func (k key) postgresText() []pgFunction {
	text := pgFunction{name: k.ident + "_text", args: "id bigint", returns: "text", comment: "The canonical text of the ID"}
	parse := pgFunction{name: k.ident + "_parse", args: "s text", returns: "bigint", comment: "The ID of a text; raises an error for any other text"}
	var more []pgFunction
	// Variables have the collation C: the comparisons are of bytes, whatever the collation of the text.
	upper := fmt.Sprintf("  u text COLLATE \"C\" := translate(s, '%s', '%s');\n", lowerCase, upperCase)
	alphabet := func(digits string) string { return fmt.Sprintf("  d CONSTANT text COLLATE \"C\" := '%s';\n", digits) }
	read := alphabet(k.folded()) + upper
	if !k.Text.AnyCase {
		read = alphabet(k.folded()) + "  u text COLLATE \"C\" := s;\n"
	}
	letters := fmt.Sprintf("  PERFORM firn.letters('%s', s, %d, '%s', '%s');\n", k.Name, k.Text.Most, k.letters(), strings.ReplaceAll(k.Text.Name, "'", "''"))
	tooLarge := fmt.Sprintf(`  IF u > '%s' THEN
    PERFORM firn.refuse('%s', s, -1, 'value is not in %s', 'Use the text of an ID of this format, without changes.');
  END IF;
`, strings.ToUpper(k.Text.Largest), k.Name, k.allowed())
	switch n := k.Text.Most; {
	case len(k.Text.Digits) == base36:
		text.body = "DECLARE\n" + alphabet(k.Text.Digits) + fmt.Sprintf("  v bigint := firn.%s_check(id);\nBEGIN\n  RETURN ", k.ident) +
			join(n, "\n    || ", func(i int) string { return fmt.Sprintf("substr(d, (v / %d %% 36)::integer + 1, 1)", pow36(n-1-i)) }) + ";\nEND"
		parse.body = "DECLARE\n" + read + "BEGIN\n" + letters + tooLarge + "  RETURN " +
			join(n, "\n    + ", func(i int) string { return fmt.Sprintf("(strpos(d, substr(u, %d, 1)) - 1) * %d", i+1, pow36(n-1-i)) }) + ";\nEND"
	case len(k.Text.Digits) == base10:
		text.body = fmt.Sprintf("firn.%s_check(id)::text", k.ident)
		parse.body = fmt.Sprintf(`BEGIN
  IF octet_length(s) NOT BETWEEN %[3]d AND %[4]d THEN
    PERFORM firn.refuse('%[1]s', s, -1, 'length is ' || octet_length(s) || ', not %[3]d to %[4]d', 'Use the whole text of an ID of this format.');
  END IF;
  PERFORM firn.letters('%[1]s', s, octet_length(s), '%[5]s', '%[6]s');
  IF s::bigint > %[2]d THEN
    PERFORM firn.refuse('%[1]s', s, -1, 'value is not in 0 to %[2]d', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN s::bigint;
END`, k.Name, k.most(), k.Text.Least, n, k.letters(), k.Text.Name)
	case k.Integer():
		text.body = "DECLARE\n" + alphabet(k.Text.Digits) + fmt.Sprintf("  v bigint := firn.%s_check(id);\nBEGIN\n  RETURN ", k.ident) + pgDigits("v", n) + ";\nEND"
		parse.body = "DECLARE\n" + read + "BEGIN\n" + letters + tooLarge + "  RETURN " + pgValue("u", 0, n) + ";\nEND"
	default:
		text.args, parse.returns = "id bytea", "bytea"
		text.body = "DECLARE\n" + alphabet(k.Text.Digits) + join(k.groups(), "", func(i int) string {
			checked := "id"
			if i == 0 {
				checked = fmt.Sprintf("firn.%s_check(id)", k.ident)
			}
			return fmt.Sprintf("  v%d bigint := firn.uint(%s, %d, 5);\n", i, checked, 5*i)
		}) + "BEGIN\n  RETURN " + join(k.groups(), "\n    || ", func(i int) string { return pgDigits(fmt.Sprintf("v%d", i), 8) }) + ";\nEND"
		parse.body = "DECLARE\n" + read + "BEGIN\n"
		if k.Text.HexToo {
			parse.comment = fmt.Sprintf("The ID of a text of %d characters (base32hex) or %d (hex); raises an error for any other text", n, 2*k.Size)
			parse.body += fmt.Sprintf(`  IF octet_length(s) = %[2]d THEN
    PERFORM firn.letters('%[1]s', s, %[2]d, '%[3]s', 'a hexadecimal digit');
    RETURN decode(s, 'hex');
  ELSIF octet_length(s) <> %[4]d THEN
    PERFORM firn.refuse('%[1]s', s, -1, 'length is ' || octet_length(s) || ', not %[4]d (base32hex) or %[2]d (hex)', 'Use the whole text of an ID of this format.');
  END IF;
`, k.Name, 2*k.Size, anyCase(hexDigits), n)
			more = append(more, pgFunction{name: k.ident + "_hex", args: "id bytea", returns: "text", comment: "The alternative text of the ID, in hexadecimal",
				body: fmt.Sprintf("encode(firn.%s_check(id), 'hex')", k.ident)})
		}
		parse.body += letters + "  RETURN decode(" + pgBytes("u", k.groups()) + ", 'hex');\nEND"
		if k.hasUUID() {
			more = append(more, k.postgresUUID()...)
		}
		more = append(more, pgFunction{name: k.ident + "_text_time", args: "s text", returns: "timestamptz", comment: "The time of the ID of a text",
			body: fmt.Sprintf("firn.%[1]s_time(firn.%[1]s_parse(s))", k.ident)})
	}
	return append([]pgFunction{text, parse}, more...)
}

// postgresUUID returns the functions about the form of a UUID.
func (k key) postgresUUID() []pgFunction {
	return []pgFunction{
		{name: k.ident + "_uuid", args: "id bytea", returns: "uuid", comment: "The ID in the form of a UUID: the characters of the text are the bytes of the UUID",
			body: fmt.Sprintf("encode(decode(firn.%s_text(id), 'escape'), 'hex')::uuid", k.ident)},
		{name: k.ident + "_from_uuid", args: "u uuid", returns: "bytea", comment: fmt.Sprintf("The ID of a UUID from %s_uuid; raises an error for any other UUID", k.ident),
			body: fmt.Sprintf(`DECLARE
  b bytea := decode(replace(u::text, '-', ''), 'hex');
  c integer;
BEGIN
  FOR i IN 0..15 LOOP
    c := get_byte(b, i);
    IF c NOT BETWEEN 50 AND 57 AND c NOT BETWEEN 97 AND 120 THEN
      PERFORM firn.refuse('%[1]s', u::text, -1, 'byte ' || i || ' of the UUID is 0x' || lpad(to_hex(c), 2, '0') || ', not in [2-9a-x]',
        'Use a UUID from firn.%[2]s_uuid, or from UUID of the Go package.');
    END IF;
  END LOOP;
  RETURN firn.%[2]s_parse(encode(b, 'escape'));
END`, k.Name, k.ident)},
	}
}

// pgDigits returns the n characters of the alphabet d for the 5n low bits of a variable.
func pgDigits(v string, n int) string {
	return join(n, "\n    || ", func(i int) string {
		return fmt.Sprintf("substr(d, (%s >> %d & 31)::integer + 1, 1)", v, 5*(n-1-i))
	})
}

// pgValue returns the value of n characters of a text, in the alphabet d.
func pgValue(text string, from, n int) string {
	return join(n, "\n    | ", func(i int) string {
		return fmt.Sprintf("((strpos(d, substr(%s, %d, 1)) - 1)::bigint << %d)", text, from+i+1, 5*(n-1-i))
	})
}

// pgBytes returns the hexadecimal digits of groups of 8 characters.
func pgBytes(text string, groups int) string {
	return join(groups, "\n    || ", func(i int) string { return "lpad(to_hex(" + pgValue(text, 8*i, 8) + "), 10, '0')" })
}
