package pglease

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/lease/address"
)

// Permissions returns SQL for an administrator that gives a user what a program needs for leases in the
// store of an address: the statements of [Grant], and the right to connect to the database if the
// address names one. The user is by default the user of the address. The table must exist. An address
// that Open refuses is an error. Only the password and the files of the address need not be there.
func Permissions(addr, user string) (string, error) {
	a, err := address.ParseAlone(addr)
	_, o, err := settle(a, err)
	if err != nil {
		return "", err
	}
	user = cmp.Or(user, a.User)
	grants, err := Grant(o.Table, user)
	if err != nil {
		return "", err
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
