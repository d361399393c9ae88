package sqlscripts

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/shape"
)

// newMySQL returns the command firn sql mysql.
func newMySQL(s *cli.Streams) *cobra.Command {
	var o options
	var plain bool
	cmd := &cobra.Command{
		Use:   "mysql [FORMAT]...",
		Short: "Print functions for MariaDB 10.11, MySQL 8 or later",
		Example: `  firn sql mysql | mariadb app
  firn sql mysql --plain > functions.sql
  firn sql mysql --down | mariadb app`,
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := o.keys(args)
			if err != nil {
				return err
			}
			return writeMySQL(s.Out, keys, o.down, plain)
		},
	}
	o.addTo(cmd)
	cmd.Flags().BoolVar(&plain, "plain", false, "leave out DELIMITER, for drivers")
	return cmd
}

// A myFunction is a stored function.
type myFunction struct {
	name    string
	args    string
	returns string
	comment string
	body    string // a block that begins with BEGIN, or an expression
	varying bool   // the result may change with the version
}

// create returns the statement, without its end. MariaDB reads the comments that begin with M!, and
// replaces a function in one step. MySQL cannot: it reads the comment that begins with !80000.
func (f myFunction) create() []string {
	deterministic := "DETERMINISTIC"
	if f.varying {
		deterministic = "NOT DETERMINISTIC"
	}
	body := f.body
	if !strings.HasPrefix(body, "BEGIN\n") {
		body = "RETURN " + body
	}
	return []string{
		fmt.Sprintf("/*!80000 DROP FUNCTION IF EXISTS %s */ /*M! DO 0 */", f.name),
		fmt.Sprintf("CREATE /*M! OR REPLACE */ FUNCTION %s(%s) RETURNS %s\n%s NO SQL SQL SECURITY INVOKER COMMENT '%s'\n%s",
			f.name, f.args, f.returns, deterministic, strings.ReplaceAll(f.comment, "'", "''"), body),
	}
}

// writeMySQL writes the script of the keys, or the script that takes everything back. A plain
// script has no DELIMITER.
func writeMySQL(w io.Writer, keys []key, down, plain bool) error {
	text := mysqlUp(keys, plain)
	if down {
		text = mysqlDown(keys)
	}
	_, err := io.WriteString(w, text)
	return err
}

func mysqlUp(keys []key, plain bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `-- Functions about IDs for MariaDB 10.11, MySQL 8 or later. Printed by firn sql mysql, version %d.
%s--
-- The script may run again, and replaces the functions.

`, Version, settingsComment(keys))
	end := " //\n"
	if plain {
		end = ";\n"
	} else {
		b.WriteString("DELIMITER //\n\n")
	}
	write := func(all []myFunction) {
		for _, f := range all {
			for _, statement := range f.create() {
				b.WriteString(statement + end)
			}
			b.WriteString("\n")
		}
	}
	write(mysqlHelpers())
	for _, k := range keys {
		fmt.Fprintf(&b, "-- %s\n\n", k.Name)
		write(k.mysql())
	}
	if !plain {
		b.WriteString("DELIMITER ;\n")
	}
	return b.String()
}

func mysqlDown(keys []key) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- Removes the functions of firn sql mysql, version %d.\n\n", Version)
	for _, k := range slices.Backward(keys) {
		for _, f := range slices.Backward(k.mysql()) {
			fmt.Fprintf(&b, "DROP FUNCTION IF EXISTS %s;\n", f.name)
		}
	}
	if len(keys) < allKeys() {
		b.WriteString("\n-- The functions of all formats stay: firn sql mysql --down removes them with all formats.\n")
		return b.String()
	}
	b.WriteString("\n-- The functions of all formats.\n")
	for _, f := range slices.Backward(mysqlHelpers()) {
		fmt.Fprintf(&b, "DROP FUNCTION IF EXISTS %s;\n", f.name)
	}
	return b.String()
}

const (
	mysqlText  = "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	mysqlASCII = "CHARACTER SET ascii COLLATE ascii_bin"
	// mysqlID is the type of integers that are passed to functions. Without a strict sql_mode, an integer
	// out of range becomes the largest BIGINT, and a word the integer 0: as a text, each stays itself.
	mysqlID = "VARCHAR(64) " + mysqlASCII
)

// mysqlHelpers returns the functions that all formats share.
func mysqlHelpers() []myFunction {
	return []myFunction{
		{name: "firn_version", returns: "INT", varying: true, comment: "The version of the functions", body: fmt.Sprint(Version)},
		{name: "firn_refuse", args: "kind VARCHAR(32) " + mysqlASCII + ", input " + mysqlText + ", place INT, reason " + mysqlText, returns: "INT",
			comment: "Raises the error of an input that is not an ID; place is the offset of the fault, or -1",
			// The text of an error has at most 128 characters, and ends at a NUL.
			body: `BEGIN
  DECLARE message VARCHAR(512) CHARACTER SET utf8mb4 DEFAULT LEFT(REPLACE(CONCAT(kind, ': "', LEFT(input, 40), '": ', IF(place < 0, '', CONCAT('offset ', place, ': ')), reason), CHAR(0), '?'), 128);
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
  RETURN NULL;
END`},
		{name: "firn_refuse_text", args: "kind VARCHAR(32) " + mysqlASCII + ", input " + mysqlText + ", fits BOOLEAN, size VARCHAR(64) " + mysqlASCII +
			", foreign_letter VARCHAR(64) " + mysqlASCII + ", alphabet VARCHAR(64) " + mysqlASCII + ", allowed VARCHAR(64) " + mysqlASCII, returns: "INT",
			comment: "Raises the error of a text that is not an ID; fits says whether the length is right, and a pattern finds foreign letters",
			body: `BEGIN
  DECLARE place INT DEFAULT REGEXP_INSTR(LEFT(input, 64), foreign_letter);
  IF NOT fits THEN
    RETURN firn_refuse(kind, input, -1, CONCAT('length is ', LENGTH(input), ', not ', size, ': use the whole text'));
  ELSEIF place > 0 THEN
    RETURN firn_refuse(kind, input, place - 1, CONCAT('character ''', SUBSTRING(input, place, 1), ''' is not ', alphabet));
  END IF;
  RETURN firn_refuse(kind, input, -1, CONCAT('value is not in ', allowed));
END`},
		{name: "firn_ticks", args: "t DATETIME(6), epoch BIGINT, last_tick BIGINT", returns: "BIGINT",
			comment: "Milliseconds from the epoch to t, a time in UTC, limited to 0 to last_tick",
			// DIV rounds to 0, and times before 1970 are negative.
			body: `BEGIN
  DECLARE us BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', t);
  RETURN LEAST(GREATEST((us - MOD(MOD(us, 1000) + 1000, 1000)) DIV 1000 - epoch, 0), last_tick);
END`},
	}
}

// mysql returns the functions of the format. A call of a function takes longer than its work, so a
// function calls others only to raise an error.
func (k key) mysql() []myFunction {
	id := "id VARBINARY(64)"
	if k.Integer() {
		id = "id " + mysqlID
	}
	returns := "BIGINT"
	checked := k.mysqlInteger()
	if !k.Integer() {
		returns, checked = fmt.Sprintf("VARBINARY(%d)", k.Size), "id"
	}
	all := []myFunction{{name: "check", args: id, returns: returns, comment: "Returns the ID; raises an error for any other value", body: k.mysqlValid(checked)}}
	timestamp := k.mysqlField(k.shape.Fields[0])
	made := k.mysqlValid(fmt.Sprintf("DATE_ADD(DATE_ADD(TIMESTAMP'%s', INTERVAL %s DIV %d DAY), INTERVAL %[2]s MOD %[3]d * %d MICROSECOND)",
		k.epochText(), timestamp, 86400000/k.unit(), 1000*k.unit()))
	// DATETIME ends with the year 9999.
	if lastTime := (int64(253402300799999) - k.shape.Epoch) / k.unit(); lastTime < k.shape.LastTimestamp() {
		made = strings.Replace(made, " THEN\n", fmt.Sprintf(" AND %s <= %d THEN\n", timestamp, lastTime), 1)
		input, reason := "LOWER(HEX(id))", fmt.Sprintf("CONCAT('not %d bytes, or the time is after the year 9999')", k.Size)
		if k.Integer() {
			input, reason = "id", fmt.Sprintf("'value is not in 0 to %d, or the time is after the year 9999'", k.most())
		}
		made = made[:strings.LastIndex(made, "RETURN")] + fmt.Sprintf("RETURN firn_refuse('%s', %s, -1, %s);\nEND", k.Name, input, reason)
	}
	all = append(all, myFunction{name: "time", args: id, returns: "DATETIME(3)", comment: "The time of the ID in UTC", body: made})
	for _, f := range k.shape.Fields {
		returns := "BIGINT"
		if f.Bits > 64 {
			returns = "DECIMAL(25)"
		}
		all = append(all, myFunction{name: f.Name, args: id, returns: returns, comment: "The " + strings.ReplaceAll(f.Name, "_", " ") + " of the ID", body: k.mysqlValid(k.mysqlField(f))})
	}
	all = append(all, k.mysqlBounds()...)
	all = append(all, k.mysqlText(id)...)
	for i := range all {
		all[i].name = "firn_" + k.ident + "_" + all[i].name
	}
	return all
}

// mysqlInteger returns the integer of an ID as a text.
func (k key) mysqlInteger() string { return "CAST(id AS UNSIGNED)" }

// mysqlValid returns the body of a function whose result for an ID is the value. Without blocks,
// MariaDB may compute all branches of an expression, and raise the error of a branch not taken.
func (k key) mysqlValid(value string, variables ...string) string {
	valid, refuse := fmt.Sprintf("LENGTH(id) = %d", k.Size), fmt.Sprintf("LOWER(HEX(id)), -1, CONCAT('length is ', LENGTH(id), ', not %d bytes: use the binary form')", k.Size)
	if k.Integer() {
		valid = fmt.Sprintf("LENGTH(id) BETWEEN 1 AND 19 AND id NOT REGEXP '[^0-9]' AND %s <= %d", k.mysqlInteger(), k.most())
		refuse = fmt.Sprintf("id, -1, 'value is not in 0 to %d: use an ID of this format'", k.most())
	}
	return mysqlBlock("id", valid, value, fmt.Sprintf("firn_refuse('%s', %s)", k.Name, refuse), variables...)
}

// mysqlBlock returns the body of a function over an argument: the value if the condition is true, NULL
// for NULL, otherwise the error. The value may use variables v0, v1 and so on, of the given values.
func mysqlBlock(argument, condition, value, refuse string, variables ...string) string {
	declare, set := "", ""
	for i, v := range variables {
		declare += fmt.Sprintf("  DECLARE v%d BIGINT UNSIGNED;\n", i)
		set += fmt.Sprintf("    SET v%d = %s;\n", i, v)
	}
	return fmt.Sprintf("BEGIN\n%s  IF %s THEN\n%s    RETURN %s;\n  ELSEIF %s IS NULL THEN\n    RETURN NULL;\n  END IF;\n  RETURN %s;\nEND",
		declare, condition, set, value, argument, refuse)
}

// mysqlUint returns the unsigned integer of bytes.
func mysqlUint(start, size int) string {
	return fmt.Sprintf("CAST(CONV(HEX(SUBSTRING(id, %d, %d)), 16, 10) AS UNSIGNED)", start+1, size)
}

// mysqlField returns the value of a field of a valid ID.
func (k key) mysqlField(f shape.Field) string {
	mask := int64(1)<<f.Bits - 1
	if k.Integer() {
		return fmt.Sprintf("(%s >> %d & %d)", k.mysqlInteger(), f.Shift, mask)
	}
	start := k.Size - (f.Shift+f.Bits+7)/8
	if f.Bits > 64 {
		return fmt.Sprintf("CAST(%s AS DECIMAL(25)) * %d + %s", mysqlUint(start, 5), int64(1)<<40, mysqlUint(start+5, 5))
	}
	return fmt.Sprintf("(%s >> %d & %d)", mysqlUint(start, k.Size-f.Shift/8-start), f.Shift%8, mask)
}

// mysqlBounds returns the functions for the first and the last ID of an instant.
func (k key) mysqlBounds() []myFunction {
	ticks := fmt.Sprintf("firn_ticks(t, %d, %d)", k.shape.Epoch, k.lastMilli())
	returns, first, last := "BIGINT", fmt.Sprintf("%s << %d", ticks, k.shift()), fmt.Sprintf("%s << %d | %d", ticks, k.shift(), k.rest())
	if !k.Integer() {
		returns = fmt.Sprintf("VARBINARY(%d)", k.Size)
		tail := k.shift() / 8
		bound := func(head, filler string) string {
			return fmt.Sprintf("UNHEX(CONCAT(LPAD(HEX(%s), %d, '0'), REPEAT('%s', %d)))", head, 2*(k.Size-tail), filler, tail)
		}
		if k.unit() > 1 {
			ticks += fmt.Sprintf(" DIV %d", k.unit())
		}
		first, last = bound(ticks, "00"), bound(ticks, "FF")
		if pad := k.pad(); pad > 0 { // other fields share a byte with the timestamp
			first, last = bound(fmt.Sprintf("%s << %d", ticks, pad), "00"), bound(fmt.Sprintf("%s << %d | %d", ticks, pad, 1<<pad-1), "FF")
		}
	}
	return []myFunction{
		{name: "first", args: "t DATETIME(6)", returns: returns, comment: "The smallest ID of the " + unitName(k) + " of t, a time in UTC", body: first},
		{name: "last", args: "t DATETIME(6)", returns: returns, comment: "The largest ID of the " + unitName(k) + " of t, a time in UTC", body: last},
	}
}

// mysqlText returns the functions about the texts of the format.
func (k key) mysqlText(id string) []myFunction {
	text := myFunction{name: "text", args: id, returns: fmt.Sprintf("CHAR(%d) ", k.Text.Most) + mysqlASCII, comment: "The canonical text of the ID"}
	if k.Text.Least < k.Text.Most {
		text.returns = "VAR" + text.returns
	}
	parse := myFunction{name: "parse", args: "s " + mysqlText, returns: "BIGINT", comment: "The ID of a text; raises an error for any other text"}
	var more []myFunction
	// read returns the body of a function whose result for the text of an ID is the value.
	read := func(fits, size, small, allowed, value string) string {
		foreign := "[^" + ranges(k.letters()) + "]"
		return mysqlBlock("s", fmt.Sprintf("%s AND s NOT REGEXP '%s'%s", fits, foreign, small), value,
			fmt.Sprintf("firn_refuse_text('%s', s, %s, '%s', '%s', '%s', '%s')", k.Name, fits, size, foreign, strings.ReplaceAll(k.Text.Name, "'", "''"), allowed))
	}
	n := k.Text.Most
	fits, size := fmt.Sprintf("LENGTH(s) = %d", n), fmt.Sprint(n)
	binary := fmt.Sprintf("VARBINARY(%d)", k.Size)
	small := " AND UPPER(s) <= '" + strings.ToUpper(k.Text.Largest) + "'"
	of := "s"
	if k.Text.AnyCase {
		of = "UPPER(s)"
	}
	switch {
	case len(k.Text.Digits) == base36:
		text.body = k.mysqlValid(fmt.Sprintf("LPAD(LOWER(CONV(id, 10, 36)), %d, '0')", n))
		parse.body = read(fits, size, small, k.allowed(), "CAST(CONV(s, 36, 10) AS UNSIGNED)")
	case len(k.Text.Digits) == base10:
		text.body = k.mysqlValid(k.mysqlInteger())
		parse.body = read(fmt.Sprintf("LENGTH(s) BETWEEN %d AND %d", k.Text.Least, n), fmt.Sprintf("%d to %d", k.Text.Least, n),
			fmt.Sprintf(" AND CAST(s AS UNSIGNED) <= %d", k.most()), fmt.Sprintf("0 to %d", k.most()), "CAST(s AS UNSIGNED)")
	case k.Integer():
		text.body = k.mysqlValid("CONCAT("+mysqlDigits{k.folded(), "v0"}.text(n)+")", k.mysqlInteger())
		parse.body = read(fits, size, small, k.allowed(), mysqlDigits{k.folded(), of}.value(0, n))
	default:
		parse.returns = binary
		if k.Text.HexToo {
			size = fmt.Sprintf("%d (base32hex) or %d (hex)", n, 2*k.Size)
		}
		const conv = "0123456789ABCDEFGHIJKLMNOPQRSTUV" // the digits that CONV knows
		if k.folded() == conv {
			text.body = k.mysqlValid("CONCAT(" + join(k.groups(), ",\n    ", func(i int) string {
				return fmt.Sprintf("LPAD(CONV(HEX(SUBSTRING(id, %d, 5)), 16, 32), 8, '0')", 5*i+1)
			}) + ")")
			parse.body = read(fits, size, "", "", "UNHEX(CONCAT("+join(k.groups(), ",\n    ", func(i int) string {
				return fmt.Sprintf("LPAD(CONV(SUBSTRING(s, %d, 8), 32, 16), 10, '0')", 8*i+1)
			})+"))")
		} else {
			var parts []string
			for i := range k.groups() {
				parts = append(parts, mysqlUint(5*i, 5))
			}
			text.body = k.mysqlValid("CONCAT("+join(k.groups(), ",\n    ", func(i int) string {
				return mysqlDigits{k.folded(), fmt.Sprintf("v%d", i)}.text(8)
			})+")", parts...)
			parse.body = read(fits, size, "", "", "UNHEX(CONCAT("+join(k.groups(), ",\n    ", func(i int) string {
				return "LPAD(HEX(" + mysqlDigits{k.folded(), of}.value(8*i, 8) + "), 10, '0')"
			})+"))")
		}
		if k.Text.HexToo {
			foreign := "[^" + ranges(anyCase(hexDigits)) + "]"
			parse.comment = fmt.Sprintf("The ID of a text of %s; raises an error for any other text", strings.Replace(size, " (", " characters (", 1))
			parse.body = fmt.Sprintf("BEGIN\n  IF LENGTH(s) = %d THEN\n    IF s NOT REGEXP '%s' THEN\n      RETURN UNHEX(s);\n    END IF;\n"+
				"    RETURN firn_refuse_text('%s', s, TRUE, '', '%[2]s', 'a hexadecimal digit', '');\n  END IF;\n", 2*k.Size, foreign, k.Name) + strings.TrimPrefix(parse.body, "BEGIN\n")
			more = append(more, myFunction{name: "hex", args: id, returns: fmt.Sprintf("CHAR(%d) ", 2*k.Size) + mysqlASCII,
				comment: "The alternative text of the ID, in hexadecimal", body: k.mysqlValid("LOWER(HEX(id))")})
		}
		if k.hasUUID() {
			more = append(more, k.mysqlUUID(id)...)
		}
		more = append(more, myFunction{name: "text_time", args: parse.args, returns: "DATETIME(3)", comment: "The time in UTC of the ID of a text",
			body: fmt.Sprintf("firn_%[1]s_time(firn_%[1]s_parse(s))", k.ident)})
	}
	return append([]myFunction{text, parse}, more...)
}

// mysqlUUID returns the functions about the form of a UUID.
func (k key) mysqlUUID(id string) []myFunction {
	return []myFunction{
		{name: "uuid", args: id, returns: "CHAR(36) " + mysqlASCII, comment: "The text of the ID in the form of a UUID: the characters of the text of the ID are the bytes of the UUID",
			body: fmt.Sprintf(`BEGIN
  DECLARE u CHAR(32) %s DEFAULT LOWER(HEX(firn_%s_text(id)));
  RETURN CONCAT(SUBSTRING(u, 1, 8), '-', SUBSTRING(u, 9, 4), '-', SUBSTRING(u, 13, 4), '-', SUBSTRING(u, 17, 4), '-', SUBSTRING(u, 21, 12));
END`, mysqlASCII, k.ident)},
		{name: "from_uuid", args: "u " + mysqlText, returns: fmt.Sprintf("VARBINARY(%d)", k.Size),
			comment: fmt.Sprintf("The ID of the text of a UUID from firn_%s_uuid; raises an error for any other text", k.ident),
			body: fmt.Sprintf(`BEGIN
  DECLARE h %[1]s DEFAULT REPLACE(u, '-', '');
  IF u NOT REGEXP '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$' OR LENGTH(u) <> 36 THEN
    RETURN firn_refuse('%[2]s', u, -1, 'is not the text of a UUID: use one from firn_%[3]s_uuid');
  ELSEIF h NOT REGEXP '^(3[2-9]|6[1-9A-Fa-f]|7[0-8])+$' THEN
    RETURN firn_refuse('%[2]s', u, -1, 'a byte of the UUID is not in [2-9a-x]: use one from firn_%[3]s_uuid');
  END IF;
  RETURN firn_%[3]s_parse(CAST(UNHEX(h) AS CHAR CHARACTER SET utf8mb4));
END`, mysqlText, k.Name, k.ident)},
	}
}

// mysqlDigits writes and reads texts of an alphabet with 32 letters, from and to an expression.
type mysqlDigits struct{ alphabet, of string }

// text returns the n characters for the 5n low bits.
func (d mysqlDigits) text(n int) string {
	return join(n, ",\n    ", func(i int) string {
		return fmt.Sprintf("SUBSTRING('%s', (%s >> %d & 31) + 1, 1)", d.alphabet, d.of, 5*(n-1-i))
	})
}

// value returns the value of n characters.
func (d mysqlDigits) value(from, n int) string {
	return join(n, "\n    | ", func(i int) string {
		return fmt.Sprintf("((LOCATE(SUBSTRING(%s, %d, 1), '%s') - 1) << %d)", d.of, from+i+1, d.alphabet, 5*(n-1-i))
	})
}
