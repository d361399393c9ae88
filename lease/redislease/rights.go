package redislease

import (
	"cmp"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Rights returns a command of Redis for an administrator, ACL SETUSER, that gives a user what a program
// needs for leases in the store of an address, and nothing else. The user is by default the user of the
// address. A new user gets no password by the command. An address that Open refuses is an error. Only
// the password and the files of the address need not be there.
func Rights(addr, user string) (string, error) {
	a, err := address.ParseAlone(addr)
	u, o, err := settle(a, err)
	if err != nil {
		return "", err
	}
	if user = cmp.Or(user, a.User); rights.User(user) != nil {
		return "", rights.User(user)
	}
	commands := commandsOfPrograms
	if u.DB != 0 {
		commands += " +select"
	}
	if o.WaitReplicas > 0 {
		commands += " +wait"
	}
	if o.WaitAOF {
		commands += " +waitaof"
	}
	if u.IsClusterMode {
		commands += " +cluster|slots"
	}
	return "ACL SETUSER " + user + " on resetkeys resetchannels -@all ~{" + o.Prefix + "}:* " + commands + "\n", nil
}

// commandsOfPrograms are the rights to the commands of programs that use leases, as in an ACL. The
// settings wait-replicas and wait-aof need +wait and +waitaof too.
const commandsOfPrograms = "+eval +evalsha +hget +hmget +hset +hlen +persist +zadd +zcard +zrangebylex +time +info +config|get"

// commands are all rights that a store uses, also to prepare the keys.
const commands = commandsOfPrograms + " +exists"
