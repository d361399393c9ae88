package sqlscripts

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/pgscript"
)

//go:embed *.sql
var files embed.FS

// A database is the file of the templates of a kind of databases: up and down are the scripts, and others the
// functions. Only firn sql parses templates, so no other command waits for them.
type database string

const (
	postgres database = "postgres.sql"
	mysql    database = "mysql.sql"
	sqlite   database = "sqlite.sql"
)

// templates returns the templates of a database.
func (d database) templates() (*template.Template, error) {
	t := template.New(string(d))
	functions := func(name string, data any) ([]function, error) {
		var b strings.Builder
		err := t.ExecuteTemplate(&b, name, data)
		return functionsOf(b.String()), err
	}
	t.Funcs(template.FuncMap{
		"functions": functions,
		"backward": func(name string, data any) ([]function, error) {
			all, err := functions(name, data)
			slices.Reverse(all)
			return all, err
		},
		"version":    func() int { return Version },
		"begin":      func() string { return pgscript.Begin },
		"schema":     func() string { return pgscript.Schema },
		"dropSchema": func() string { return pgscript.DropSchema },
		"path":       func() string { return pgscript.Path },
		"add":        func(a, b any) int64 { return integer(a) + integer(b) },
		"mul":        func(a, b any) int64 { return integer(a) * integer(b) },
		"upper":      strings.ToUpper,
		"repeat":     strings.Repeat,
		"quote":      func(s string) string { return strings.ReplaceAll(s, "'", "''") },
		"indent":     func(s string) string { return strings.ReplaceAll(s, "\n", "\n--   ") },
		"ranges":     ranges,
		"identifier": quoted,
	})
	return t.ParseFS(files, string(d))
}

// A script is what the templates print.
type script struct {
	Keys          []key
	Table, Column string // of SQLite
}

// text returns the script for a database, or the script that takes everything back.
func (s script) text(d database, down bool) (string, error) {
	t, err := d.templates()
	if err != nil {
		return "", err
	}
	for i := range s.Keys {
		s.Keys[i].ID = quoted(s.Column)
	}
	name := "up"
	if down {
		name = "down"
	}
	var b strings.Builder
	err = t.ExecuteTemplate(&b, name, s)
	return b.String(), err
}

// All reports whether the script has all formats.
func (s script) All() bool { return len(s.Keys) == len(formats.Names()) }

// Backward returns the keys, the last first.
func (s script) Backward() []key {
	keys := slices.Clone(s.Keys)
	slices.Reverse(keys)
	return keys
}

// Settings returns a comment with the settings of the keys.
func (s script) Settings() string {
	var b strings.Builder
	for _, k := range s.Keys {
		fmt.Fprintln(&b, strings.TrimSpace("--   "+k.Name+" "+k.settings()))
	}
	return b.String()
}

// plain takes the words of MySQL's client out of a script.
var plain = strings.NewReplacer("DELIMITER //\n\n", "", "DELIMITER ;\n", "", " //\n", ";\n")

// A function is a function, or an expression of SQLite.
type function struct{ Head, Returns, Comment, Body string }

// functionsOf returns the functions that a template has written.
func functionsOf(text string) (all []function) {
	for _, part := range strings.Split(text, "\n== ")[1:] {
		var f function
		f.Head, part, _ = strings.Cut(part, "\n")
		f.Head, f.Returns, _ = strings.Cut(f.Head, " RETURNS ")
		f.Comment, f.Body, _ = strings.Cut(part, "\n")
		f.Body = strings.TrimSpace(f.Body)
		all = append(all, f)
	}
	return all
}

// Name returns the name without the arguments.
func (f function) Name() string {
	name, _, _ := strings.Cut(f.Head, "(")
	return name
}

// Is reports whether the name ends so.
func (f function) Is(end string) bool { return strings.HasSuffix(f.Name(), end) }

// IsBlock reports whether the body has statements, and is no expression.
func (f function) IsBlock() bool { return strings.Contains(f.Body, "BEGIN\n") }

// integer returns the number that a template has as an integer of any type.
func integer(n any) int64 {
	if n, ok := n.(int64); ok {
		return n
	}
	return int64(n.(int))
}

// quoted returns an identifier of SQL. SQLite takes a misspelled name in double quotes for a text, and a
// name in backquotes never.
func quoted(parts ...string) string {
	return "`" + strings.ReplaceAll(strings.Join(parts, ""), "`", "``") + "`"
}

// ranges returns a set of characters as patterns have it: 0-9A-HJ.
func ranges(characters string) string {
	var b strings.Builder
	for i := 0; i < len(characters); {
		j := i
		for j+1 < len(characters) && characters[j+1] == characters[j]+1 {
			j++
		}
		if j-i < 2 {
			b.WriteString(characters[i : j+1])
		} else {
			b.WriteString(characters[i:i+1] + "-" + characters[j:j+1])
		}
		i = j + 1
	}
	return b.String()
}
