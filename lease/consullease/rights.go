package consullease

import (
	"errors"
	"fmt"

	"github.com/firn-id/firn/lease/address"
)

// Rights returns the rules of a policy of Consul, which a token needs for leases under the prefix of an
// address, and in comments the rules that let Inspect look at the servers. Tokens have no user: user
// must be "". An address that Open refuses is an error. Only the files of the address need not be there.
func Rights(addr, user string) (string, error) {
	s, _, err := settle(address.ParseAlone(addr))
	switch {
	case err != nil:
		return "", err
	case user != "":
		return "", errors.New("tokens of Consul have no user: give the policy to a token")
	}
	return writeRule(s.prefix) + "\n# To let firn pool doctor look at the servers, add:\n# operator = \"read\"\n# agent_prefix \"\" { policy = \"read\" }\n", nil
}

// writeRule returns the rule of a policy for keys with a prefix.
func writeRule(prefix string) string {
	return fmt.Sprintf("key_prefix %q { policy = \"write\" }", prefix)
}
