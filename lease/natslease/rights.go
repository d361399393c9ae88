package natslease

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Rights returns the permissions that a program needs for leases in the bucket of an address, and
// nothing else: a user for the list authorization.users in the configuration of the servers. The
// user is by default the user of the address. The entry has no password. An address that Open refuses is
// an error. Only the password and the files of the address need not be there.
func Rights(addr, user string) (string, error) {
	a, err := address.ParseAlone(addr)
	o, _, err := settle(a, err)
	if err == nil && o.Domain != "" {
		err = fmt.Errorf("%w: the permissions for a domain of JetStream are not known", driver.ErrAddress)
	}
	if err == nil {
		user = cmp.Or(user, a.User)
		err = rights.User(user)
	}
	if err != nil {
		return "", err
	}
	var subjects []string
	for _, subject := range subjectsOfPrograms(o.Bucket) {
		subjects = append(subjects, fmt.Sprintf("      %q", subject))
	}
	return fmt.Sprintf("{\n  user: %q\n  permissions: {\n    publish: [\n%s\n    ]\n    subscribe: [\"_INBOX.>\"]\n  }\n}\n", user, strings.Join(subjects, "\n")), nil
}

// subjectsOfPrograms are the subjects to which programs with leases publish.
func subjectsOfPrograms(bucket string) []string {
	return []string{
		"$KV." + bucket + ".>",
		"$JS.API.STREAM.INFO.KV_" + bucket,
		"$JS.API.STREAM.MSG.GET.KV_" + bucket,
		"$JS.API.CONSUMER.CREATE.KV_" + bucket + ".>",
		"$JS.API.CONSUMER.DELETE.KV_" + bucket + ".>", // for a watch that has missed messages: it begins again
	}
}
