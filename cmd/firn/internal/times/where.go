package times

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/shape"
)

// A database is a kind of databases, in whose SQL firn range writes conditions.
type database struct {
	name, title string
	quote       string // around names
	bytes       [2]string
	uuid        [2]string // around the text of a UUID; empty if the database has no type for UUIDs
	collate     string    // makes texts compare by bytes
	length      string    // the function that counts the characters of a text
}

var databases = []database{
	{name: "postgres", title: "PostgreSQL", quote: `"`, bytes: [2]string{`'\x`, `'::bytea`}, uuid: [2]string{"'", "'::uuid"}, collate: ` COLLATE "C"`, length: "char_length"},
	{name: "mysql", title: "MySQL and MariaDB", quote: "`", bytes: [2]string{"X'", "'"}, uuid: [2]string{"'", "'"}, length: "char_length"},
	// In double quotes, SQLite reads the name of a missing column as a string.
	{name: "sqlite", title: "SQLite", quote: "`", bytes: [2]string{"X'", "'"}, length: "length"},
}

// The kinds of columns that hold IDs.
const (
	ofIntegers = "integer"
	ofTexts    = "text"
	ofBytes    = "bytes"
	ofUUIDs    = "uuid"
)

var kinds = []string{ofIntegers, ofTexts, ofBytes, ofUUIDs}

// kindOf is the kind of a column's type.
var kindOf = map[shape.ColumnType]string{shape.Bigint: ofIntegers, shape.Varchar: ofTexts, shape.Bytea: ofBytes, shape.UUID: ofUUIDs}

// usualKind returns the kind of the columns that the format's IDs usually have.
func (l layout) usualKind() string { return kindOf[l.Descriptor().Columns[0].Type] }

// kinds returns the kinds of columns that can hold the format's IDs.
func (l layout) kinds() []string {
	return slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return !l.fits(k) })
}

// fits reports whether columns of the kind can hold the format's IDs. Every ID has a text, and bytes.
func (l layout) fits(k string) bool {
	switch k {
	case ofIntegers:
		return l.Descriptor().Integer()
	case ofUUIDs:
		return l.Descriptor().AppendUUID != nil
	}
	return true
}

// sorts reports whether the texts of the format sort as the IDs do.
func (l layout) sorts() bool {
	return l.Descriptor().Text.Least == l.Descriptor().Text.Most
}

// literal returns an ID as a literal for a column of the kind.
func (d database) literal(k string, id encodings) string {
	switch k {
	case ofIntegers:
		return id.Int
	case ofTexts:
		return "'" + id.Text + "'" // no text has quotes
	case ofBytes:
		return d.bytes[0] + id.Hex + d.bytes[1]
	}
	return d.uuid[0] + id.UUID + d.uuid[1]
}

// A condition selects the IDs of an interval: the IDs between the literals of any pair.
type condition []pair

// A pair is the two literals of a BETWEEN, both included.
type pair struct {
	column      string // the expression before BETWEEN
	first, last string
}

func (p pair) String() string { return p.column + " BETWEEN " + p.first + " AND " + p.last }

func (c condition) String() string {
	var parts []string
	for _, p := range c {
		parts = append(parts, p.String())
	}
	text := strings.Join(parts, " OR ")
	if len(c) > 1 {
		return "(" + text + ")"
	}
	return text
}

// lines returns the condition in lines of at most so many columns, if two lines for each pair suffice. The pens are for
// the first and the last literal.
func (c condition) lines(columns int, first, last *color.Color) (lines []string) {
	for n, p := range c {
		before, after := " OR ", ""
		low, high := p.first, p.last
		if n == 0 {
			before, low = "(", first.Sprint(low)
		}
		if n == len(c)-1 {
			after, high = ")", last.Sprint(high)
		}
		if len(c) == 1 {
			before, after = "", ""
		}
		begin := before + p.column + " BETWEEN "
		if utf8.RuneCountInString(before+p.String()+after) <= columns {
			lines = append(lines, begin+low+" AND "+high+after)
			continue
		}
		indent := strings.Repeat(" ", max(utf8.RuneCountInString(begin)-len("AND "), 0))
		lines = append(lines, begin+low, indent+"AND "+high+after)
	}
	return lines
}

// where returns the condition for a column, or false if the database has no columns of the kind.
func (d database) where(l layout, k, name string, first, last encodings) (condition, bool) {
	if !l.fits(k) || k == ofUUIDs && d.uuid[0] == "" {
		return condition{}, false
	}
	column := d.ident(name)
	if k == ofTexts {
		column += d.collate
	}
	if k == ofTexts && !l.sorts() {
		return d.byLength(d.ident(name), column, first.Text, last.Text), true
	}
	return condition{{column, d.literal(k, first), d.literal(k, last)}}, true
}

// byLength returns the condition for a column of decimal texts without leading zeros. Texts of one length sort as their
// numbers do. Each length therefore has a pair of its own, and the index serves every pair.
func (d database) byLength(name, column, first, last string) (c condition) {
	for n := len(first); n <= len(last); n++ {
		low, high := "1"+strings.Repeat("0", n-1), strings.Repeat("9", n)
		if n == len(first) {
			low = first
		}
		if n == len(last) {
			high = last
		}
		c = append(c, pair{fmt.Sprintf("%s(%s) = %d AND %s", d.length, name, n, column), "'" + low + "'", "'" + high + "'"})
	}
	return c
}

// bareName returns an expression that matches names without need of quotes: no reserved word of any database
// ends with id, or has a digit after an underscore.
var bareName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z][a-z0-9_]*)?(id|[a-z]_[0-9][a-z0-9_]*)$`)
})

// ident returns a name in quotes where it needs quotes. Names of tables and schemas before dots are quoted one
// by one.
func (d database) ident(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if !bareName().MatchString(part) {
			parts[i] = d.quote + strings.ReplaceAll(part, d.quote, d.quote+d.quote) + d.quote
		}
	}
	return strings.Join(parts, ".")
}

// A nameValue is the value of a flag: the name of a column or a table, with or without the names of the table
// and the schema before.
type nameValue string

func (n *nameValue) Type() string { return "NAME" }

func (n *nameValue) String() string { return string(*n) }

func (n *nameValue) Set(s string) error {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.ContainsAny(part, "\x00\n\r") {
			return errors.New("is not a name")
		}
	}
	*n = nameValue(s)
	return nil
}

// A choice is the value of a flag: one of some words.
type choice struct {
	value  string
	typ    string
	values []string
}

func (c *choice) Type() string { return c.typ }

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if slices.Contains(c.values, s) {
		c.value = s
		return nil
	}
	text := "is not " + cli.List(c.values, "or")
	if near := cli.Near(cmp.Or(otherWords[strings.ToLower(s)], s), c.values); near != "" {
		text += ": did you mean " + near + "?"
	}
	return errors.New(text)
}

// otherWords are words of other programs for the values of flags.
var otherWords = map[string]string{"mariadb": "mysql", "maria": "mysql", "pg": "postgres", "pgsql": "postgres", "psql": "postgres", "postgresql": "postgres"}
