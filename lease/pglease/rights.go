package pglease

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Rights returns SQL for an administrator that gives a user what a program needs for leases in the
// store of an address: the statements of [Grant], and the right to connect to the database if the
// address names one. The user is by default the user of the address. The table must exist.
func Rights(address, user string) (string, error) {
	a, user, err := rights.Parse(address, user, "postgres", "postgresql")
	if err != nil {
		return "", err
	}
	grants, err := Grant(a.Text("table", DefaultTable), user)
	if err != nil {
		return "", fmt.Errorf("%w: %w", driver.ErrAddress, err)
	}
	role := pgx.Identifier{user}.Sanitize()
	var all strings.Builder
	if !strings.ContainsFunc(user, unicode.IsControl) { // the end of a line would end the comment
		all.WriteString("-- If there is no such role: CREATE ROLE " + role + " LOGIN;\n")
	}
	if a.Path != "" {
		all.WriteString("GRANT CONNECT ON DATABASE " + pgx.Identifier{a.Path}.Sanitize() + " TO " + role + ";\n")
	}
	return all.String() + grants, nil
}
