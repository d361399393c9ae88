package etcdlease

import (
	"cmp"
	"fmt"

	"github.com/firn-id/firn/internal/shell"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Permissions returns commands of a shell for an administrator, with etcdctl, that give a user what a program
// needs for leases under the prefix of an address: a role with the user's name, which reads and writes
// the keys with the prefix. The user is by default the user of the address, and must exist. An address
// that Open refuses is an error. Only the password and the files of the address need not be there.
func Permissions(addr, user string) (string, error) {
	a, err := address.ParseAlone(addr)
	if _, _, err = settle(a, err); err != nil {
		return "", err
	}
	if user = cmp.Or(user, a.User); rights.User(user) != nil {
		return "", rights.User(user)
	}
	prefix := a.Path + "/"
	return fmt.Sprintf("# If there is no such user: etcdctl user add %[1]s\netcdctl role add %[1]s\netcdctl role grant-permission %[1]s --prefix=true readwrite %[2]s\n"+
		"etcdctl user grant-role %[1]s %[1]s\n", user, shell.Word(prefix)), nil
}
