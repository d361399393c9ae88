package consullease_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/consullease"
)

// TestRights: a token with the policy of Rights alone does all that a program does, and the rules in comments
// are for Inspect. Real servers take the policy in dev/servers.
func TestRights(t *testing.T) {
	server := consultest.New()
	addr := start(t, server)
	testkit.OK(t, minter.Create(t.Context(), storetest.Open(t, consullease.Open, addr)))
	text, err := consullease.Rights(addr+"?token-file=/not/there", "")
	testkit.OK(t, err)
	rule := regexp.MustCompile(`(?m)^key_prefix "(.*)" \{ policy = "write" \}$`).FindStringSubmatch(text)
	if rule == nil || strings.Count(text, "\n# operator = \"read\"\n# agent_prefix \"\" { policy = \"read\" }\n") != 1 {
		t.Fatalf("the rules are\n%s", text)
	}
	below := func(key string) bool { return strings.HasPrefix(key, rule[1]) }
	server.Do(func() {
		server.Tokens = map[string]consultest.Policy{
			"program": {Read: below, Write: below}, "operator": {Read: below, Write: below, Operator: true, Agent: true}, "reader": {Read: below},
		}
	})
	use := func(token string) (unknown bool, err error) {
		s := storetest.Open(t, consullease.Open, addr+"?token="+token)
		found, err := storetest.Program(t.Context(), s)
		for _, f := range found {
			unknown = unknown || strings.Contains(f.Text, "could not be found out")
		}
		return unknown, err
	}
	if unknown, err := use("program"); err != nil || !unknown {
		t.Errorf("a program: %v, %v", unknown, err)
	}
	if unknown, err := use("operator"); err != nil || unknown {
		t.Errorf("an operator: %v, %v", unknown, err)
	}
	if _, err := use("reader"); err == nil {
		t.Error("a reader takes leases")
	}
	for _, v := range [][2]string{{"etcd://h/p", ""}, {addr, "user"}, {"consul://u@h/p", ""}, {"consul://h/a//b", ""}, {"consul://h/a\"b", ""}} {
		if text, err := consullease.Rights(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
}
