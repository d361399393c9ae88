// Package sqlscripts has the command firn sql, which prints functions for databases.
//
//	keys.go       the formats, in numbers
//	script.go     scripts, made by the templates of a database
//	postgres.sql  functions of PostgreSQL
//	mysql.sql     stored functions of MariaDB and MySQL
//	sqlite.sql    generated columns and expressions of SQLite
package sqlscripts

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
)

// Version is the version of the scripts. A script with other functions, or with other results, has
// another version; testdata has the texts of each version.
const Version = 1

// New returns the command firn sql.
func New(s *cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Print SQL functions for IDs, and generate IDs in a database",
		Example: `  firn sql postgres | psql -v ON_ERROR_STOP=1 app
  firn sql sqlite nanoflake --table orders --column id | sqlite3 -bail app.db
  firn sql generator | psql -v ON_ERROR_STOP=1 app`,
	}
	cli.NeedsCommand(cmd, "command")
	cmd.AddCommand(newPostgres(s), newMySQL(s), newSQLite(s))
	return cmd
}

// newPostgres returns the command firn sql postgres.
func newPostgres(s *cli.Streams) *cobra.Command {
	return newOptions(s, postgres).command(&cobra.Command{
		Use:   "postgres [FORMAT]...",
		Short: "Print functions for PostgreSQL 14 or later",
		Example: `  firn sql postgres | psql -v ON_ERROR_STOP=1 app
  firn sql postgres nanoflake --epoch 2020-01-01 | psql -v ON_ERROR_STOP=1 app
  firn sql postgres --down | psql -v ON_ERROR_STOP=1 app`,
	})
}

// newMySQL returns the command firn sql mysql.
func newMySQL(s *cli.Streams) *cobra.Command {
	o := newOptions(s, mysql)
	cmd := o.command(&cobra.Command{
		Use:   "mysql [FORMAT]...",
		Short: "Print functions for MariaDB 10.11, MySQL 8 or later",
		Example: `  firn sql mysql | mariadb app
  firn sql mysql --plain > functions.sql
  firn sql mysql --down | mariadb app`,
	})
	cmd.Flags().BoolVar(&o.plain, "plain", false, "leave out DELIMITER, for drivers")
	return cmd
}

// newSQLite returns the command firn sql sqlite.
func newSQLite(s *cli.Streams) *cobra.Command {
	o := newOptions(s, sqlite)
	cmd := o.command(&cobra.Command{
		Use:   "sqlite [FORMAT]... [--table TABLE --column COLUMN]",
		Short: "Print generated columns and expressions for SQLite 3.41 or later",
		Example: `  firn sql sqlite nanoflake --table orders --column id | sqlite3 -bail app.db
  firn sql sqlite scru160 --table orders --down | sqlite3 -bail app.db
  firn sql sqlite sno`,
	})
	cmd.Flags().Var(&o.table, "table", "add generated columns to this table")
	cmd.Flags().Var(&o.column, "column", "the column of the IDs")
	cli.Complete(cmd, "table")
	cli.Complete(cmd, "column")
	return cmd
}

// options are the flags of all scripts.
type options struct {
	formats.Options
	streams       *cli.Streams
	cmd           *cobra.Command
	database      database
	down          bool
	plain         bool       // of MySQL
	table, column identifier // of SQLite
}

func newOptions(s *cli.Streams, d database) *options {
	return &options{streams: s, database: d, column: "id"}
}

// command completes a command, with the formats as arguments.
func (o *options) command(cmd *cobra.Command) *cobra.Command {
	o.cmd = cmd
	cmd.DisableFlagsInUseLine = true
	cmd.ValidArgsFunction = completeFormats
	cmd.RunE = func(_ *cobra.Command, args []string) error { return o.run(args) }
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&o.down, "down", false, "print the script that removes everything")
	o.Options.AddWidthsTo(cmd)
	return cmd
}

// run prints the script.
func (o *options) run(names []string) error {
	keys, err := o.keys(names)
	switch {
	case err != nil:
		return err
	case o.table != "" && len(keys) != 1:
		return cli.Usagef("--table: name one format, which the IDs of the column have")
	case o.table == "" && o.down && o.database == sqlite:
		return cli.Usagef("--down: name the table by --table: only a table can have something to remove")
	}
	text, err := script{keys, string(o.table), string(o.column)}.text(o.database, o.down)
	if err != nil {
		return err
	}
	if o.plain {
		text = plain.Replace(text)
	}
	_, err = o.streams.Out.WriteString(text)
	return err
}

// keys returns the formats that the arguments name, or all formats if there are no arguments.
func (o *options) keys(names []string) ([]key, error) {
	set, err := o.Settings()
	if err != nil {
		return nil, err
	}
	// Formats have different defaults, and a script of all formats would change the setting of each.
	if given := o.Given(); len(names) == 0 && len(given) > 0 {
		return nil, cli.Usagef("%s: name the formats that have it, as in: %s snowflakesi %s", given[0], o.cmd.CommandPath(), strings.Join(given[:2], " "))
	}
	if len(names) == 0 {
		names = formats.Names()
	}
	var keys []key
	for _, name := range names {
		f, err := formats.Named(name)
		if err != nil {
			return nil, err
		}
		if err := o.Refuse(f); err != nil {
			return nil, err
		}
		k, err := newKey(f, set)
		if err != nil {
			return nil, o.Explain(err)
		}
		if slices.ContainsFunc(keys, func(other key) bool { return other.Name == k.Name }) {
			return nil, cli.Usagef("%s is named twice", k.Name)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// completeFormats completes arguments with the formats that are not named yet.
func completeFormats(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, name := range formats.Names() {
		if strings.HasPrefix(name, strings.ToLower(toComplete)) && !slices.Contains(args, name) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
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
