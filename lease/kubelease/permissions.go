package kubelease

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/internal/rights"
)

// Permissions returns the objects of Kubernetes, in YAML, that let a service account use the leases of the
// namespace in an address: a Role and a RoleBinding, both with the account's name. The account must exist.
// An address that Open refuses is an error. Only the token and the files of the address need not be
// there, nor an API server; but the address must have the namespace.
func Permissions(addr, user string) (string, error) {
	a, err := address.ParseAlone(addr)
	_, _, err = settle(a, err, account)
	switch {
	case err != nil:
	case user == "":
		err = rights.User(user)
	case !isLabel(user):
		err = fmt.Errorf("the service account %.100q is not of lower-case letters, digits, and '-' inside, at most 63", user)
	}
	if err != nil {
		return "", err
	}
	group, _, _ := strings.Cut(apiVersion, "/")
	return strings.NewReplacer("ACCOUNT", user, "NS", a.Hosts[0], "NAME", strconv.Quote(user), "SPACE", strconv.Quote(a.Hosts[0]), "GROUP", group, "VERBS", strings.Join(verbs, ", ")).Replace(`# If there is no such account: kubectl create serviceaccount ACCOUNT --namespace=NS
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: NAME, namespace: SPACE}
rules:
  - {apiGroups: [GROUP], resources: [leases], verbs: [VERBS]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: NAME, namespace: SPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}
subjects:
  - {kind: ServiceAccount, name: NAME, namespace: SPACE}
`), nil
}
