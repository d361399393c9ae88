package redislease

import "github.com/firn-id/firn/lease/internal/rights"

// Rights returns a command of Redis for an administrator, ACL SETUSER, that gives a user what a program
// needs for leases in the store of an address, and nothing else. The user is by default the user of the
// address. A new user gets no password by the command.
func Rights(address, user string) (string, error) {
	a, user, err := rights.ParseUser(address, user, "redis", "rediss")
	if err != nil {
		return "", err
	}
	o := Options{Prefix: a.Text("prefix", DefaultPrefix), WaitReplicas: a.Number("wait-replicas", 0, 0, 100), WaitAOF: a.Bool("wait-aof", false)}
	cluster := a.Bool("cluster", false)
	a.Rest() // settings of connections are nothing to rights
	if err := a.Err(); err != nil {
		return "", err
	}
	if err := o.check(cluster); err != nil {
		return "", err
	}
	commands := commandsOfPrograms
	number, err := database(a)
	if err != nil {
		return "", err
	}
	if number != 0 {
		commands += " +select"
	}
	if o.WaitReplicas > 0 {
		commands += " +wait"
	}
	if o.WaitAOF {
		commands += " +waitaof"
	}
	if cluster {
		commands += " +cluster|slots"
	}
	return "ACL SETUSER " + user + " on resetkeys resetchannels -@all ~{" + o.Prefix + "}:* " + commands + "\n", nil
}

// commandsOfPrograms are the rights to the commands of programs that use leases, as in an ACL. The
// settings wait-replicas and wait-aof need +wait and +waitaof too.
const commandsOfPrograms = "+eval +evalsha +hget +hmget +hset +hlen +persist +zadd +zcard +zrangebylex +time +info +config|get"

// commands are all rights that a store uses, also to prepare the keys.
const commands = commandsOfPrograms + " +exists"
