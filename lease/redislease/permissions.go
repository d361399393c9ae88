package redislease

import (
	"cmp"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Permissions returns a command of Redis for an administrator, ACL SETUSER, that gives a user what a program
// needs for leases in the store of an address, and nothing else. The user is by default the user of the
// address. A new user gets no password by the command. An address that Open refuses is an error. Only
// the password and the files of the address need not be there.
func Permissions(addr, user string) (string, error) {
	a, err := address.ParseAlone(addr)
	u, o, err := settle(a, err)
	if err != nil {
		return "", err
	}
	if user = cmp.Or(user, a.User); rights.User(user) != nil {
		return "", rights.User(user)
	}
	return "ACL SETUSER " + user + " on resetkeys resetchannels -@all ~{" + o.Prefix + "}:* " + commandsOfPrograms + extra(u.DB, u.IsClusterMode, o) + "\n", nil
}

// extra returns the rights, as in an ACL, that the settings of an address need besides the others.
func extra(database int, cluster bool, o Options) (rights string) {
	if database != 0 {
		rights += " +select"
	}
	if o.WaitReplicas > 0 {
		rights += " +wait"
	}
	if o.WaitAOF {
		rights += " +waitaof"
	}
	if cluster {
		rights += " +cluster|slots"
	}
	return rights
}

// commandsOfPrograms are the rights to the commands of programs that use leases, as in an ACL.
const commandsOfPrograms = "+eval +evalsha +hget +hmget +hset +hlen +persist +zadd +zcard +zrangebylex +time +info +config|get"
