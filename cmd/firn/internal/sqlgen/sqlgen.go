// Package sqlgen has the commands for a generator of Nanoflakes inside PostgreSQL: firn sql
// generator prints the script, and firn sql feed leases the intervals of the generator.
// docs/sql-generator.md has the promises of the generator.
package sqlgen

import (
	_ "embed"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/pgscript"
)

//go:embed up.sql
var up string

//go:embed down.sql
var down string

// Up is the script to make the generator. The script can run again at any time.
var Up = strings.Replace(up, "-- begin\n", pgscript.Begin+pgscript.Schema, 1)

// Down is the script to remove the generator.
var Down = strings.NewReplacer("-- begin\n", pgscript.Begin, "-- drop schema\n", pgscript.DropSchema[1:]).Replace(down)

// Generator returns the command firn sql generator.
func Generator(s *cli.Streams) *cobra.Command {
	var down bool
	cmd := &cobra.Command{
		Use:   "generator",
		Short: "Print the SQL of a generator for PostgreSQL",
		Example: `  firn sql generator | psql -v ON_ERROR_STOP=1 app
  firn sql generator --down > down.sql`,
		Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			script := Up
			if down {
				script = Down
			}
			_, err := io.WriteString(s.Out, script)
			return err
		},
	}
	cmd.Flags().BoolVar(&down, "down", false, "print the SQL that removes the generator")
	return cmd
}
