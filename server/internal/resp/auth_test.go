package resp

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/access"
)

const all, some = "a-token-for-everything", "a-token-for-a-few-things"

// tokens is a file of the tokens above.
var tokens = fmt.Sprintf(`
[tokens.all]
token = %q
[tokens.some]
token = %q
generators = ["sno"]
read = false
rate = 1
`, all, some)

// A connection without a token gets no ID. The words of the errors are those of Redis.
func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.toml")
	testkit.OK(t, os.WriteFile(path, []byte(tokens), 0o600))
	a, err := access.New(access.Config{Path: path, Burst: 10, Generators: []string{"sno", "nanoflake"}, Log: slog.New(slog.DiscardHandler)})
	testkit.OK(t, err)
	dial := networks[0].open(t, New(Config{Set: newSet(t), Access: a}))
	c := dial()
	r := bufio.NewReader(c)
	check := func(want string, words ...string) {
		t.Helper()
		v := ask(t, c, r, words...)
		got := string(v.kind) + v.text
		if want == "" && v.kind == '-' || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %.100q, want %q", words, got, want)
		}
		if strings.Contains(got, all) || strings.Contains(got, some) {
			t.Errorf("%q: %q shows a token", words, got)
		}
	}
	locked := func() {
		t.Helper()
		for _, cmd := range list {
			words := []string{cmd.name, "sno", "1", "1"}[:max(cmd.least, 1)]
			if !cmd.free {
				check("-NOAUTH token: Authentication required", words...)
			}
		}
		check("-NOAUTH token: Authentication required", "incr", "nanoflake")
		check("-NOAUTH token: Authentication required", "NOTHING")
		check("-NOAUTH token: HELLO must be called with the client already authenticated", "HELLO", "3")
	}
	locked()
	check("-WRONGPASS wrong_token: ", "AUTH", all+"x")
	check("-WRONGPASS wrong_token: ", "AUTH", "root", all)
	check("-WRONGPASS wrong_token: ", "HELLO", "3", "AUTH", "default", some+"x")
	check("-NOAUTH token: ", "AUTH", "")
	locked()
	check("+OK", "AUTH", all)
	check(":", "INCR", "nanoflake")
	check("$", "FIRN.INSPECT", "673740726894358528", "nanoflake")
	check("-WRONGPASS wrong_token: ", "AUTH", "wrong") // and the token before stays
	check(":", "INCR", "nanoflake")
	check("+RESET", "RESET")
	locked()
	check("*", "HELLO", "2", "AUTH", "default", all, "SETNAME", "me")
	check("$me", "CLIENT", "GETNAME")
	check("+OK", "AUTH", "default", some)
	check("-NOPERM permission: ", "INCR", "nanoflake")
	check("-NOPERM permission: ", "FIRN.NEXT", "nanoflake", "2")
	check("-NOPERM permission: ", "FIRN.RUN", "nanoflake", "2")
	check("-NOPERM permission: ", "INCR", "scru160") // and not form: the answer says nothing about the generator
	check("-NOPERM permission: ", "INCRBY", "scru160", "1")
	check("-NOPERM permission: ", "FIRN.RUN", "scru160", "2")
	check("-NOPERM permission: ", "FIRN.NEXT", "ulidflake", "0")
	for _, words := range [][]string{{"INCR", "nope"}, {"INCRBY", "nope", "1"}, {"FIRN.NEXT", "nope"}, {"FIRN.RUN", "nope", "1"}} {
		if v := ask(t, c, r, words...); v.text != `ERR unknown: no generator "nope"` {
			t.Errorf("%q: %q", words, v.text)
		}
	}
	check("-ERR count: ", "FIRN.NEXT", "sno", "10000000") // no IDs, so the rate of the token has all of them
	check("-NOPERM permission: ", "FIRN.LIST")
	check("-NOPERM permission: ", "FIRN.INSPECT", "673740726894358528")
	check("$# Server", "INFO")
	check("$", "INFO", "generators")
	check("*", "FIRN.NEXT", "sno", "9")
	check("-TRYAGAIN limit: ", "FIRN.NEXT", "sno", "9")

	// Several INCR of one pipeline: some before the limit, and errors behind it.
	check("+OK", "AUTH", all)
	testkit.OK(t, os.WriteFile(path, []byte(strings.Replace(tokens, `"sno"`, `"nanoflake"`, 1)), 0o600))
	a.Reload()
	other := dial()
	or := bufio.NewReader(other)
	if v := ask(t, other, or, "AUTH", some); v.text != "OK" {
		t.Fatal(v)
	}
	ids := 0
	for i, v := range send(t, other, or, strings.Repeat(frameOf("INCR", "nanoflake"), 50), 50) {
		switch {
		case v.kind == ':':
			ids++
		case !strings.HasPrefix(v.text, "TRYAGAIN limit: "):
			t.Errorf("answer %d: %v", i, v)
		}
	}
	if ids == 0 || ids > 25 {
		t.Errorf("%d IDs of a token that may take 10 at once, and 1 a second", ids)
	}

	// A token that was revoked loses its rights on open connections.
	testkit.OK(t, os.WriteFile(path, []byte("[tokens.new]\ntoken = \"quite-another-token\"\n"), 0o600))
	a.Reload()
	check("-WRONGPASS wrong_token: ", "INCR", "nanoflake")
	check("-WRONGPASS wrong_token: ", "FIRN.LIST")
	check("-WRONGPASS wrong_token: ", "INFO")
	check("+OK", "AUTH", "quite-another-token")
	check(":", "INCR", "nanoflake")
}
