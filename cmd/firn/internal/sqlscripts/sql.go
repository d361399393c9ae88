// Package sqlscripts has the command firn sql, which prints functions for databases.
//
//	keys.go       the formats, in numbers
//	postgres.go   functions of PostgreSQL
//	mysql.go      stored functions of MariaDB and MySQL
//	sqlite.go     generated columns and expressions of SQLite
package sqlscripts

import (
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

// options are the flags of all scripts.
type options struct {
	formats.Options
	cmd  *cobra.Command
	down bool
}

// addTo adds the flags to cmd, and the formats as arguments.
func (o *options) addTo(cmd *cobra.Command) {
	o.cmd = cmd
	cmd.DisableFlagsInUseLine = true
	cmd.ValidArgsFunction = completeFormats
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&o.down, "down", false, "print the script that removes everything")
	o.Options.AddWidthsTo(cmd)
}

// keys returns the formats that the arguments name, or all formats if there are no arguments.
func (o *options) keys(names []string) ([]key, error) {
	all := len(names) == 0
	if all {
		names = formats.Names()
	}
	set, err := o.Settings()
	if err != nil {
		return nil, err
	}
	var keys []key
	for _, name := range names {
		f, err := formats.Named(name)
		switch {
		case err != nil:
			return nil, err
		case !all:
			err = o.Refuse(f)
		default:
			err = o.needFormats()
		}
		if err != nil {
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

// needFormats returns an error if a setting is given without formats: formats have different
// defaults, and the script would change the setting of each.
func (o *options) needFormats() error {
	if given := o.Given(); len(given) > 0 {
		return cli.Usagef("%s: name the formats that have it, as in: %s snowflakesi %s", given[0], o.cmd.CommandPath(), strings.Join(given[:2], " "))
	}
	return nil
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
