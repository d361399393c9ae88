package sqlscripts

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/shape"
)

// newSQLite returns the command firn sql sqlite.
func newSQLite(s *cli.Streams) *cobra.Command {
	var o options
	var table identifier
	column := identifier("id")
	cmd := &cobra.Command{
		Use:   "sqlite [FORMAT]... [--table TABLE --column COLUMN]",
		Short: "Print generated columns and expressions for SQLite 3.41 or later",
		Example: `  firn sql sqlite nanoflake --table orders --column id | sqlite3 -bail app.db
  firn sql sqlite scru160 --table orders --down | sqlite3 -bail app.db
  firn sql sqlite sno`,
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := o.keys(args)
			if err != nil {
				return err
			}
			if table != "" && len(keys) != 1 {
				return cli.Usagef("--table: name one format, which the IDs of the column have")
			}
			if table == "" && o.down {
				return cli.Usagef("--down: name the table by --table: only a table can have something to remove")
			}
			return writeSQLite(s.Out, keys, string(table), string(column), o.down)
		},
	}
	o.addTo(cmd)
	cmd.Flags().Var(&table, "table", "add generated columns to this table")
	cmd.Flags().Var(&column, "column", "the column of the IDs")
	cli.Complete(cmd, "table")
	cli.Complete(cmd, "column")
	return cmd
}

// An identifier is the value of a flag: the name of a table or of a column.
type identifier string

func (i *identifier) Type() string   { return "NAME" }
func (i *identifier) String() string { return string(*i) }

func (i *identifier) Set(s string) error {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("is not a name")
	}
	*i = identifier(s)
	return nil
}

// quoted returns an identifier of SQL. SQLite takes a misspelled name in double quotes for a text, and a
// name in backquotes never.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// An expression is an expression of SQLite, over the column or over a parameter.
type expression struct {
	name    string
	column  string // the type of the generated column, or "" if the expression is for no column
	comment string
	text    string
}

// writeSQLite writes the script of the keys, or the script that takes everything back. Without a
// table, the script has only comments.
func writeSQLite(w io.Writer, keys []key, table, column string, down bool) error {
	var b strings.Builder
	if down {
		fmt.Fprintf(&b, "-- Removes the generated columns of firn sql sqlite, version %d.\n\n", Version)
		fmt.Fprintf(&b, "DROP INDEX IF EXISTS %s;\n", quoted(table+"_"+column+"_time"))
		for _, e := range slices.Backward(keys[0].sqlite(column)) {
			if e.column != "" {
				fmt.Fprintf(&b, "ALTER TABLE %s DROP COLUMN %s;\n", quoted(table), quoted(column+"_"+e.name))
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, `-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version %d.
%s--
-- The column %s holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE %[3]s BETWEEN (expression first) AND (expression last)
`, Version, settingsComment(keys), quoted(column))
	for _, k := range keys {
		fmt.Fprintf(&b, "\n-- %s\n", k.Name)
		if table != "" {
			b.WriteString("--\n-- A second run changes nothing: SQLite refuses a column that exists.\n\n")
			for _, e := range k.sqlite(column) {
				if e.column != "" {
					fmt.Fprintf(&b, "ALTER TABLE %s ADD COLUMN %s %s GENERATED ALWAYS AS (%s) VIRTUAL;\n", quoted(table), quoted(column+"_"+e.name), e.column, e.text)
				}
			}
			fmt.Fprintf(&b, "CREATE INDEX IF NOT EXISTS %s ON %s(%s);\n\n-- Expressions\n", quoted(table+"_"+column+"_time"), quoted(table), quoted(column+"_time"))
		}
		for _, e := range k.sqlite(column) {
			fmt.Fprintf(&b, "--\n-- %s: %s\n--   %s\n", e.name, e.comment, strings.ReplaceAll(e.text, "\n", "\n--   "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sqlite returns the expressions of the format.
func (k key) sqlite(column string) []expression {
	id := quoted(column)
	valid := fmt.Sprintf("typeof(%s) = 'integer' AND %[1]s BETWEEN 0 AND %d", id, k.most())
	if !k.Integer() {
		valid = fmt.Sprintf("typeof(%s) = 'blob' AND length(%[1]s) = %d", id, k.Size)
	}
	of := func(e string) string { return "CASE WHEN " + valid + " THEN " + e + " END" }
	value := func(f shape.Field) string {
		if k.Integer() {
			return fmt.Sprintf("(%s >> %d & %d)", id, f.Shift, int64(1)<<f.Bits-1)
		}
		return hexValue(id, 8*k.Size-f.Shift-f.Bits, f.Bits)
	}
	timestamp := value(k.shape.Fields[0])
	ms := timestamp
	if k.unit() > 1 {
		ms += fmt.Sprintf(" * %d", k.unit())
	}
	ms = fmt.Sprintf("(%s + %d)", ms, k.shape.Epoch)
	seconds, rest := ms+" / 1000", ms+" % 1000"
	if k.shape.Epoch < 0 { // % has the sign of the time
		rest = "(" + rest + " + 1000) % 1000"
		seconds = "(" + ms + " - " + rest + ") / 1000"
	}
	all := []expression{
		// The form of SQLite's own functions: texts of times compare by their characters.
		{"time", "TEXT", "the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999", of(fmt.Sprintf("datetime(%s, 'unixepoch') || printf('.%%03d', %s)", seconds, rest))},
		{"unix_ms", "INTEGER", "the time of the ID in Unix milliseconds", of(ms)},
		{"timestamp", "", "the timestamp of the ID", of(timestamp)},
	}
	for _, f := range k.shape.Fields[1:] {
		e := expression{f.Name, "INTEGER", "the " + strings.ReplaceAll(f.Name, "_", " ") + " of the ID", ""}
		if f.Bits > 63 {
			e.column, e.comment = "TEXT", e.comment+" in hexadecimal"
			e.text = of(fmt.Sprintf("lower(substr(hex(%s), %d))", id, 2*k.Size-(f.Shift+f.Bits)/4+1))
		} else {
			e.text = of(value(f))
		}
		all = append(all, e)
	}
	text, parse := k.sqliteText(id)
	// Drivers of JavaScript bind each number as a real.
	ticks := fmt.Sprintf("(min(max(CAST(round(:at) AS INTEGER), %d), %d) - %[1]d)", k.shape.Epoch, k.shape.Epoch+k.lastMilli())
	bound := func(e string) string { return "CASE WHEN typeof(:at) IN ('integer', 'real') THEN " + e + " END" }
	first, last := fmt.Sprintf("%s << %d", ticks, k.shift()), fmt.Sprintf("%s << %d | %d", ticks, k.shift(), k.rest())
	if !k.Integer() {
		head := 2 * (k.Size - k.shift()/8)
		filled := func(head int, e, filler string) string {
			return fmt.Sprintf("unhex(printf('%%0%dx', %s) || '%s')", head, e, strings.Repeat(filler, 2*k.Size-head))
		}
		if k.unit() > 1 {
			ticks += fmt.Sprintf(" / %d", k.unit())
		}
		first, last = filled(head, ticks, "0"), filled(head, ticks, "f")
		if pad := 1 << k.pad(); pad > 1 { // other fields share a byte with the timestamp
			first, last = filled(head, fmt.Sprintf("%s * %d", ticks, pad), "0"), filled(head, fmt.Sprintf("%s * %d + %d", ticks, pad, pad-1), "f")
		}
	}
	return append(all,
		expression{"text", "TEXT", "the canonical text of the ID", of(text)},
		expression{"parse", "", "the ID of :text", parse},
		expression{"first", "", "the smallest ID of the " + unitName(k) + " of :at", bound(first)},
		expression{"last", "", "the largest ID of the " + unitName(k) + " of :at", bound(last)})
}

// sqliteText returns the expressions for the text of an ID, and for the ID of a text.
func (k key) sqliteText(id string) (text, parse string) {
	guarded := func(size int, foreign, more string) string {
		return fmt.Sprintf("typeof(:text) = 'text' AND length(:text) = %d AND length(CAST(:text AS BLOB)) = %[1]d AND :text NOT GLOB '*[^%s]*'%s", size, foreign, more)
	}
	digit := func(alphabet, index string) string { return fmt.Sprintf("substr('%s', %s + 1, 1)", alphabet, index) }
	value := func(alphabet, of string, i int) string {
		return fmt.Sprintf("(instr('%s', substr(%s, %d, 1)) - 1)", alphabet, of, i+1)
	}
	folded := ":text"
	if k.Text.AnyCase {
		folded = "upper(:text)"
	}
	// five returns the value of the i-th five bits of the bytes, and nibble the i-th four bits of a text
	// of base-32.
	five := func(i int) string {
		a, r := 5*i/4, 5*i%4
		return fmt.Sprintf("((%s << 4 | %s) >> %d & 31)", hexDigit(id, a), hexDigit(id, a+1), 3-r)
	}
	nibble := func(alphabet, of string, i int) string {
		a, r := 4*i/5, 4*i%5
		if r <= 1 {
			return fmt.Sprintf("(%s >> %d & 15)", value(alphabet, of, a), 1-r)
		}
		return fmt.Sprintf("((%s << 5 | %s) >> %d & 15)", value(alphabet, of, a), value(alphabet, of, a+1), 6-r)
	}
	unhexed := func() string {
		return "unhex(" + join(2*k.Size, "\n || ", func(i int) string { return digit(hexDigits, nibble(k.folded(), folded, i)) }) + ")"
	}
	n := k.Text.Most
	small := fmt.Sprintf(" AND upper(:text) <= '%s'", strings.ToUpper(k.Text.Largest))
	foreign := ranges(k.letters())
	switch {
	case len(k.Text.Digits) == base36:
		text = join(n, "\n || ", func(i int) string { return digit(k.Text.Digits, fmt.Sprintf("%s / %d %% 36", id, pow36(n-1-i))) })
		parse = "CASE WHEN " + guarded(n, foreign, small) + " THEN " +
			join(n, "\n + ", func(i int) string { return fmt.Sprintf("%s * %d", value(k.folded(), folded, i), pow36(n-1-i)) }) + " END"
	case len(k.Text.Digits) == base10:
		text = fmt.Sprintf("CAST(%s AS TEXT)", id)
		parse = fmt.Sprintf("CASE WHEN typeof(:text) = 'text' AND length(:text) BETWEEN %d AND %d AND length(CAST(:text AS BLOB)) = length(:text) AND :text NOT GLOB '*[^%s]*'"+
			" AND CAST(:text AS INTEGER) <= %d THEN CAST(:text AS INTEGER) END", k.Text.Least, n, foreign, k.most())
	case k.Integer():
		text = join(n, "\n || ", func(i int) string { return digit(k.Text.Digits, fmt.Sprintf("(%s >> %d & 31)", id, 5*(n-1-i))) })
		parse = "CASE WHEN " + guarded(n, foreign, small) + " THEN " +
			join(n, "\n + ", func(i int) string { return fmt.Sprintf("(%s << %d)", value(k.folded(), folded, i), 5*(n-1-i)) }) + " END"
	default:
		text = join(n, "\n || ", func(i int) string { return digit(k.Text.Digits, five(i)) })
		parse = "CASE WHEN " + guarded(n, foreign, "") + " THEN " + unhexed()
		if k.Text.HexToo {
			parse += " WHEN " + guarded(2*k.Size, ranges(anyCase(hexDigits)), "") + " THEN unhex(:text)"
		}
		parse += " END"
	}
	return text, parse
}

// hexDigit returns the value of the i-th hexadecimal digit of bytes. The digit 0 is not in the text,
// where instr returns 0.
func hexDigit(id string, i int) string {
	return fmt.Sprintf("instr('%s', substr(hex(%s), %d, 1))", hexDigits[1:], id, i+1)
}

// hexValue returns the value of up to 59 bits of bytes.
func hexValue(id string, from, bits int) string {
	start, end := from/4, (from+bits+3)/4
	sum := join(end-start, " + ", func(i int) string {
		return fmt.Sprintf("(%s << %d)", hexDigit(id, start+i), 4*(end-start-1-i))
	})
	return fmt.Sprintf("((%s) >> %d & %d)", sum, 4*end-from-bits, int64(1)<<bits-1)
}
