package etcdlease

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Rights returns commands of a shell for an administrator, with etcdctl, that give a user what a program
// needs for leases under the prefix of an address: a role with the user's name, which reads and writes
// the keys with the prefix. The user is by default the user of the address, and must exist.
func Rights(address, user string) (string, error) {
	a, user, err := rights.ParseUser(address, user, "etcd")
	if err != nil {
		return "", err
	}
	prefix := cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix) + "/"
	if strings.ContainsFunc(prefix, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%w: the prefix has a control character", driver.ErrAddress)
	}
	return fmt.Sprintf("# If there is no such user: etcdctl user add %[1]s\netcdctl role add %[1]s\netcdctl %[2]s\netcdctl user grant-role %[1]s %[1]s\n", user, grantPermission(user, rights.Word(prefix))), nil
}

// grantPermission returns the command of etcdctl that lets a role use the keys with a prefix.
func grantPermission(role, prefix string) string {
	return "role grant-permission " + role + " --prefix=true readwrite " + prefix
}
