package consullease

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/internal/rights"
)

// Rights returns the rules of a policy of Consul, which a token needs for leases under the prefix of an
// address, and in comments the rules that let Inspect look at the servers. Tokens have no user: user
// must be "".
func Rights(address, user string) (string, error) {
	a, user, err := rights.Parse(address, user, "consul")
	prefix := ""
	if err == nil {
		prefix = cmp.Or(strings.TrimRight(a.Path, "/"), DefaultPrefix)
		err = checkPrefix(prefix)
	}
	if err == nil && user != "" {
		err = errors.New("tokens of Consul have no user: give the policy to a token")
	}
	if err != nil {
		return "", err
	}
	return writeRule(prefix+"/") + "\n# To let firn pool doctor look at the servers, add:\n# operator = \"read\"\n# agent_prefix \"\" { policy = \"read\" }\n", nil
}

// writeRule returns the rule of a policy for keys with a prefix.
func writeRule(prefix string) string {
	return fmt.Sprintf("key_prefix %q { policy = \"write\" }", prefix)
}
