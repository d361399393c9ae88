package kubelease

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/kubetest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestPermissions: an account with the verbs of Permissions alone does all that a program does. Without any of the verbs,
// the account cannot. The real API takes the Role in dev/servers.
func TestPermissions(t *testing.T) {
	text, err := Permissions("kubernetes://test/p?token-file=/not/there", "ids")
	testkit.OK(t, err)
	list := regexp.MustCompile(`resources: \[leases\], verbs: \[(.*)\]\}`).FindStringSubmatch(text)
	if list == nil || strings.Count(text, `name: "ids"`) != 4 || strings.Count(text, `namespace: "test"`) != 3 {
		t.Fatalf("the objects are\n%s", text)
	}
	granted := strings.Split(list[1], ", ")
	server := kubetest.New()
	addr := start(t, server)
	testkit.OK(t, minter.Create(t.Context(), storetest.Open(t, Open, addr)))
	use := func(verbs []string) error {
		server.Do(func() { server.Tokens = map[string][]string{secret: verbs} })
		s, err := Open(t.Context(), addr+"&token="+secret)
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = storetest.Program(t.Context(), s)
		return err
	}
	testkit.OK(t, use(granted))
	for i, verb := range granted {
		if verb != "create" && use(slices.Delete(slices.Clone(granted), i, i+1)) == nil { // for new records alone
			t.Errorf("%s is not needed", verb)
		}
	}
	for _, v := range [][2]string{{"etcd://h/p", "a"}, {"kubernetes:///p", "a"}, {"kubernetes://h/p", ""}, {"kubernetes://h/p", "A"}, {"kubernetes://h/p", "a\nb"}} {
		if text, err := Permissions(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
}
