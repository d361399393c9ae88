package times

import (
	"errors"
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
	integer     string    // the type of a decimal text's value
}

var databases = []database{
	{name: "postgres", title: "PostgreSQL", quote: `"`, bytes: [2]string{`'\x`, `'::bytea`}, uuid: [2]string{"'", "'::uuid"}, collate: ` COLLATE "C"`, integer: "bigint"},
	{name: "mysql", title: "MySQL and MariaDB", quote: "`", bytes: [2]string{"X'", "'"}, uuid: [2]string{"'", "'"}, integer: "SIGNED"},
	// In double quotes, SQLite reads the name of a missing column as a string.
	{name: "sqlite", title: "SQLite", quote: "`", bytes: [2]string{"X'", "'"}, integer: "INTEGER"},
}

// A kind is a kind of columns that hold IDs.
type kind string

const (
	ofIntegers kind = "integer"
	ofTexts    kind = "text"
	ofBytes    kind = "bytes"
	ofUUIDs    kind = "uuid"
)

var kinds = []kind{ofIntegers, ofTexts, ofBytes, ofUUIDs}

// kindOf is the kind of a column's type.
var kindOf = map[shape.ColumnType]kind{shape.Bigint: ofIntegers, shape.Varchar: ofTexts, shape.Bytea: ofBytes, shape.UUID: ofUUIDs}

// usualKind returns the kind of the columns that the format's IDs usually have.
func (l layout) usualKind() kind { return kindOf[l.Descriptor().Columns[0].Type] }

// kinds returns the kinds of columns that can hold the format's IDs.
func (l layout) kinds() []kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !l.fits(k) })
}

// fits reports whether columns of the kind can hold the format's IDs. Every ID has a text, and bytes.
func (l layout) fits(k kind) bool {
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
func (d database) literal(l layout, k kind, id encodings) string {
	switch {
	case k == ofIntegers, k == ofTexts && !l.sorts():
		return id.Int
	case k == ofTexts:
		return "'" + id.Text + "'" // no text has quotes
	case k == ofBytes:
		return d.bytes[0] + id.Hex + d.bytes[1]
	}
	return d.uuid[0] + id.UUID + d.uuid[1]
}

// column returns the expression for the IDs of a column, in the order of the IDs.
func (d database) column(l layout, k kind, name string) string {
	name = d.ident(name)
	switch {
	case k == ofTexts && !l.sorts():
		return "CAST(" + name + " AS " + d.integer + ")"
	case k == ofTexts:
		return name + d.collate
	}
	return name
}

// A condition selects the IDs of an interval.
type condition struct{ column, first, last string }

func (c condition) String() string { return c.column + " BETWEEN " + c.first + " AND " + c.last }

// lines returns the condition in at most so many columns, if two lines suffice. The pens are for the literals.
func (c condition) lines(columns int, first, last *color.Color) []string {
	begin := c.column + " BETWEEN "
	lines := []string{begin + first.Sprint(c.first), "AND " + last.Sprint(c.last)}
	if utf8.RuneCountInString(c.String()) <= columns {
		return []string{strings.Join(lines, " ")}
	}
	lines[1] = strings.Repeat(" ", max(utf8.RuneCountInString(begin)-len("AND "), 0)) + lines[1]
	return lines
}

// where returns the condition for a column, or false if the database has no columns of the kind.
func (d database) where(l layout, k kind, name string, first, last encodings) (condition, bool) {
	if !l.fits(k) || k == ofUUIDs && d.uuid[0] == "" {
		return condition{}, false
	}
	return condition{d.column(l, k, name), d.literal(l, k, first), d.literal(l, k, last)}, true
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
	if !slices.Contains(c.values, s) {
		return errors.New("is not " + cli.List(c.values, "or"))
	}
	c.value = s
	return nil
}
