package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/reason"
)

const secret, other = "sixteen-bytes-at-least", "another-token-of-32-bytes-------"

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// open writes a file, and returns its Access and log.
func open(t *testing.T, text string) (a *Access, path string, log *bytes.Buffer) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tokens.toml")
	write(t, path, text)
	log = new(bytes.Buffer)
	a, err := New(Config{Path: path, Burst: 1000, Generators: []string{"order", "orders", "sno"}, Log: slog.New(slog.NewTextHandler(log, nil))})
	testkit.OK(t, err)
	return a, path, log
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// want fails the test unless err has a reason; nil means no error.
func want(t *testing.T, what string, err error, of *reason.Reason) {
	t.Helper()
	switch e, ok := errors.AsType[*reason.Error](err); {
	case of == nil && err != nil, of != nil && (!ok || e.Of != of):
		t.Errorf("%s: %v", what, err)
	case err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), other)):
		t.Errorf("%s: %v shows a token", what, err)
	}
}

func TestNoTokens(t *testing.T) {
	made, err := New(Config{})
	testkit.OK(t, err)
	for _, a := range []*Access{made, {}} {
		b, err := a.Enter("anything")
		if a.Needed() || b != nil || err != nil || a.Tokens() != 0 {
			t.Error(a.Needed(), b, err)
		}
		a.Reload()
		want(t, "take", b.Take("x", 1e6), nil)
		want(t, "read", b.MayRead(), nil)
		if b.Name() != "" {
			t.Error(b.Name())
		}
	}
}

// TestTell checks what a bearer that may not read reads of errors.
func TestTell(t *testing.T) {
	a, _, _ := open(t, fmt.Sprintf("[tokens.all]\ntoken = %q\n[tokens.some]\ntoken = %q\nread = false\n", secret, other))
	all, _ := a.Enter(secret)
	some, _ := a.Enter(other)
	long := errors.New("the host db.internal")
	for _, of := range reason.All() {
		err := of.Because(long)
		err.Retry = time.Minute
		for _, b := range []*Bearer{nil, all} {
			if got := b.Tell(err); got != error(err) {
				t.Errorf("%s, a bearer that may read: %v", of.Name, got)
			}
		}
		want := long.Error()
		switch of.Name {
		case "unknown", "starting", "setup", "window", "draining":
			want = of.Means
		}
		got := reason.Of(some.Tell(err))
		if got.Of != of || got.Text != want || got.Retry != time.Minute || !errors.Is(got, long) {
			t.Errorf("%s: %+v, want the text %q", of.Name, got, want)
		}
	}
	brief := reason.Unknown.Because(long)
	brief.Brief = "no generator x"
	if got := some.Tell(fmt.Errorf("deep: %w", brief)); got.Error() != "unknown: no generator x" {
		t.Error(got)
	}
	if got := some.Tell(long); got != long {
		t.Error(got)
	}
	if some.Tell(nil) != nil || all.Tell(nil) != nil || (*Bearer)(nil).Tell(nil) != nil {
		t.Error("an error of nothing")
	}
}

func TestRights(t *testing.T) {
	a, _, log := open(t, fmt.Sprintf(`
[tokens.all]
token = %q
[tokens.some]
sha256 = %q
generators = ["order*", "sno"]
read = false
[tokens.lost]
token = "a-token-for-nothing"
generators = ["oder*"]
[tokens.none]
token = "a-token-for-nothing-at-all"
generators = []
[tokens.long]
token = %q
`, secret, digest(other), strings.Repeat("x", longest)))
	if !a.Needed() || a.Tokens() != 5 {
		t.Error(a.Needed(), a.Tokens())
	}
	if !strings.Contains(log.String(), "oder*") || strings.Contains(log.String(), "order*") {
		t.Errorf("log: %s", log)
	}
	enter := func(token string) *Bearer {
		t.Helper()
		b, err := a.Enter(token)
		testkit.OK(t, err)
		return b
	}
	all, some, none := enter(secret), enter(other), enter("a-token-for-nothing-at-all")
	if all.Name() != "all" || some.Name() != "some" {
		t.Error(all.Name(), some.Name())
	}
	for _, v := range []struct {
		what string
		err  error
		of   *reason.Reason
	}{
		{"all, any generator", all.Take("uuid", 100_000), nil},
		{"all, read", all.MayRead(), nil},
		{"some, by a pattern", some.Take("orders", 1), nil},
		{"some, the beginning alone", some.Take("order", 1), nil},
		{"some, by name", some.Take("sno", 1), nil},
		{"some, a longer name", some.Take("snow", 1), reason.Permission},
		{"some, another name", some.Take("nanoflake", 1), reason.Permission},
		{"some, read", some.MayRead(), reason.Permission},
		{"all, may", all.May("uuid"), nil},
		{"some, may", some.May("orders"), nil},
		{"some, may not", some.May("nanoflake"), reason.Permission},
		{"none", none.Take("sno", 1), reason.Permission},
		{"no token", errOf(a.Enter("")), reason.Token},
		{"wrong token", errOf(a.Enter(secret + "x")), reason.WrongToken},
		{"a part of a token", errOf(a.Enter(secret[:len(secret)-1])), reason.WrongToken},
		{"the digest as token", errOf(a.Enter(digest(other))), reason.WrongToken},
		{"the longest token", errOf(a.Enter(strings.Repeat("x", longest))), nil},
		{"the longest token and a byte", errOf(a.Enter(strings.Repeat("x", longest+1))), reason.WrongToken},
		{"a long token", errOf(a.Enter(strings.Repeat("x", 1<<20))), reason.WrongToken},
		{"a binary token", errOf(a.Enter("\x00\xff")), reason.WrongToken},
	} {
		want(t, v.what, v.err, v.of)
	}
}

func errOf(_ *Bearer, err error) error { return err }

func TestRate(t *testing.T) {
	a, path, _ := open(t, fmt.Sprintf("[tokens.slow]\ntoken = %q\nrate = 10", secret))
	b, err := a.Enter(secret)
	testkit.OK(t, err)
	want(t, "a burst", b.Take("x", 1000), nil)
	err = b.Take("x", 500)
	want(t, "after the burst", err, reason.Limit)
	if e := reason.Of(err); e.Retry < 40*time.Second || e.Retry > 50*time.Second {
		t.Errorf("retry after %v, want nearly 50 s", e.Retry)
	}
	err = b.Take("x", 1001)
	want(t, "more than a burst", err, reason.Limit)
	if e := reason.Of(err); e.Retry != 0 {
		t.Errorf("retry after %v, and no wait helps", e.Retry)
	}

	// A change of the rate keeps what the token has taken.
	write(t, path, fmt.Sprintf("[tokens.slow]\ntoken = %q\nrate = 11", secret))
	a.Reload()
	want(t, "after a change", b.Take("x", 500), reason.Limit)
	write(t, path, fmt.Sprintf("[tokens.slow]\ntoken = %q", secret))
	a.Reload()
	want(t, "without a limit", b.Take("x", 500), nil)
}

// TestReload: a revoked token has no rights any more, on open connections either. A file with a fault changes nothing.
func TestReload(t *testing.T) {
	one := fmt.Sprintf("[tokens.one]\ntoken = %q\n", secret)
	a, path, log := open(t, one)
	b, err := a.Enter(secret)
	testkit.OK(t, err)
	a.Reload()
	if log.Len() > 0 {
		t.Errorf("the log of a reload without a change: %s", log)
	}
	write(t, path, one+"generators = [")
	a.Reload()
	if !strings.Contains(log.String(), "the old tokens stay") || !strings.Contains(log.String(), "tokens.toml:3") {
		t.Errorf("log: %s", log)
	}
	want(t, "beside a fault", b.Take("sno", 1), nil)
	os.Remove(path)
	a.Reload()
	want(t, "without a file", b.Take("sno", 1), nil)

	// The log says that a fault is gone, also if nothing has changed since before the fault. It says so once.
	const again = "the file of tokens has no fault any more"
	if strings.Contains(log.String(), again) {
		t.Errorf("log: %s", log)
	}
	write(t, path, one)
	a.Reload()
	a.Reload()
	if strings.Count(log.String(), again) != 1 {
		t.Errorf("log: %s", log)
	}

	write(t, path, one+"generators = [\"order\"]\nread = false")
	a.Reload()
	want(t, "fewer rights", b.Take("sno", 1), reason.Permission)
	want(t, "fewer rights", b.MayRead(), reason.Permission)

	write(t, path, fmt.Sprintf("[tokens.one]\ntoken = %q\n", other))
	log.Reset()
	a.Reload()
	if !strings.Contains(log.String(), "tokens=1 new=1 changed=0 revoked=1") || strings.Contains(log.String(), other) {
		t.Errorf("log: %s", log)
	}
	want(t, "revoked, take", b.Take("order", 1), reason.WrongToken)
	want(t, "revoked, read", b.MayRead(), reason.WrongToken)
	want(t, "revoked, enter", errOf(a.Enter(secret)), reason.WrongToken)
	want(t, "new", errOf(a.Enter(other)), nil)

	write(t, path, one)
	a.Reload()
	want(t, "a token that came back, at an old connection", b.Take("order", 1), reason.WrongToken)
	want(t, "a token that came back", errOf(a.Enter(secret)), nil)

	// A file without tokens is valid, and revokes the last token.
	write(t, path, "")
	a.Reload()
	want(t, "no token is left", errOf(a.Enter(secret)), reason.WrongToken)
	if !strings.Contains(log.String(), "nobody may do anything") || !a.Needed() {
		t.Errorf("log: %s", log)
	}
}

func TestWatch(t *testing.T) {
	a, path, _ := open(t, fmt.Sprintf("[tokens.one]\ntoken = %q\n", secret))
	b, err := a.Enter(secret)
	testkit.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.Watch(ctx) })
	defer running.Wait()
	defer cancel()
	write(t, path, fmt.Sprintf("[tokens.one]\ntoken = %q\n", other))
	for deadline := time.Now().Add(time.Minute); b.Take("x", 1) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a token was not revoked within a minute")
		}
	}
}

func TestBad(t *testing.T) {
	token := fmt.Sprintf("[tokens.a]\ntoken = %q\n", secret)
	for text, want := range map[string]string{
		"[token.a]":                                               "1: token: unknown setting: did you mean tokens?",
		"[tokens]\na = \"" + secret:                               "2: ",
		"[tokens]\na = \"" + secret + `"`:                         "2: tokens.a: is no table: want the heading [tokens.a]",
		"[tokens.a]\n[tokens.a]":                                  "2: table a already exists",
		"[tokens.a]":                                              "1: tokens.a: has no token: want token = ",
		"[tokens.\"a b\"]\ntoken = 1":                             "2: tokens.\"a b\".token: is not a text",
		"[tokens.\"a b\"]\ntoken = \"" + secret + `"`:             "is no name of a token",
		"[tokens.a]\ntoken = \"short\"":                           "2: tokens.a.token: has 5 bytes: want 16 or more",
		"[tokens.a]\ntoken = \"" + secret + " \"":                 "2: tokens.a.token: is no token: want at most 256 letters",
		"[tokens.a]\ntoken = \"" + strings.Repeat("x", 257) + `"`: "2: tokens.a.token: is no token",
		"[tokens.a]\nsha256 = \"abc\"":                            "2: tokens.a.sha256: is no SHA-256: want 64 digits",
		token + "sha256 = \"" + digest(secret) + `"`:              "3: tokens.a.sha256: stands beside token",
		token + "rate = 0":                                        "3: tokens.a.rate: 0 is not 1 or more",
		token + "rate = \"1\"":                                    "3: tokens.a.rate: is not a whole number",
		token + "read = 1":                                        "3: tokens.a.read: is not true or false",
		token + "generators = \"order\"":                          "3: tokens.a.generators: is not a list of texts",
		token + "generators = [\"*r\"]":                           "3: tokens.a.generators: \"*r\" is no pattern",
		token + "generators = [\"\"]":                             "3: tokens.a.generators: \"\" is no pattern",
		token + "admin = true":                                    "3: tokens.a.admin: unknown setting: the settings are token, sha256, generators, rate, read",
		token + "[tokens.b]\nsha256 = \"" + digest(secret) + `"`:  "3: tokens.b: has the token of a",
	} {
		path := filepath.Join(t.TempDir(), "tokens.toml")
		write(t, path, text)
		_, err := New(Config{Path: path})
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s\n\t%v\n\twant %s", text, err, want)
		}
	}
}

func TestOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files say nothing about users")
	}
	path := filepath.Join(t.TempDir(), "tokens.toml")
	write(t, path, fmt.Sprintf("[tokens.a]\ntoken = %q\n", secret))
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o640: true, 0o440: true, 0o604: false, 0o644: false, 0o602: false} {
		testkit.OK(t, os.Chmod(path, mode))
		_, err := New(Config{Path: path})
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// TestDocument reads the example of the document. The example is valid once the placeholders of secrets are filled in, and
// refused before.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/server-configuration.md")
	testkit.OK(t, err)
	m := regexp.MustCompile("(?s)```toml\n(\\[tokens\\..*?)```").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("no file of tokens")
	}
	path := filepath.Join(t.TempDir(), "tokens.toml")
	write(t, path, m[1])
	if _, err := New(Config{Path: path}); err == nil {
		t.Error("the example has a valid token, which somebody will copy")
	}
	filled := regexp.MustCompile(`token = ".*?"`).ReplaceAllString(m[1], "token = \""+secret+"\"")
	filled = regexp.MustCompile(`sha256 = ".*?"`).ReplaceAllString(filled, "sha256 = \""+digest(other)+"\"")
	write(t, path, filled)
	a, err := New(Config{Path: path})
	if err != nil || a.Tokens() != 2 {
		t.Errorf("%v\n%s", err, filled)
	}
}

// TestAllocations: protocols call Enter and Take for each request.
func TestAllocations(t *testing.T) {
	a, _, _ := open(t, fmt.Sprintf("[tokens.one]\ntoken = %q\nrate = 1_000_000_000\ngenerators = [\"order*\"]\n", secret))
	got := testing.AllocsPerRun(1000, func() {
		b, err := a.Enter(secret)
		if err != nil || b.Take("orders", 1) != nil || b.MayRead() != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}
