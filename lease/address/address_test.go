package address_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/storetest"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in, scheme, user, path, text string
		hosts, endpoints             []string
	}{
		{in: "file:///var/lib/firn", scheme: "file", path: "var/lib/firn", text: "file:///var/lib/firn",
			endpoints: []string{"localhost:1"}},
		{in: "/var/lib/100%20?#", scheme: "file", path: "var/lib/100%20?#", text: "file:///var/lib/100%2520%3F%23", endpoints: []string{"localhost:1"}},
		{in: "PostgreSQL://u@h/d", scheme: "postgres", user: "u", path: "d", text: "postgres://h/d", hosts: []string{"h"}, endpoints: []string{"h:1"}},
		{in: "etcd://a:2379,b:2379/prod/firn", scheme: "etcd", path: "prod/firn", text: "etcd://a:2379,b:2379/prod/firn",
			hosts: []string{"a:2379", "b:2379"}, endpoints: []string{"a:2379", "b:2379"}},
		{in: "etcd://a,[::1],[::1]:7", scheme: "etcd", text: "etcd://a,[::1],[::1]:7",
			hosts: []string{"a", "[::1]", "[::1]:7"}, endpoints: []string{"a:1", "[::1]:1", "[::1]:7"}},
		{in: "Postgres://us%40er:hunter2@db/fi%20rn?password-x=1", scheme: "postgres", user: "us@er", path: "fi rn",
			text: "postgres://db/fi%20rn", hosts: []string{"db"}, endpoints: []string{"db:1"}},
		{in: "postgres://user:hunter2@@h", scheme: "postgres", user: "user", text: "postgres://h", hosts: []string{"h"}, endpoints: []string{"h:1"}},
	} {
		a, err := address.Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if a.Scheme != c.scheme || a.User != c.user || a.Path != c.path || a.String() != c.text || !slices.Equal(a.Hosts, c.hosts) ||
			!slices.Equal(a.Endpoints("1", "localhost"), c.endpoints) {
			t.Errorf("%s: %+v, %q, %q", c.in, a, a.String(), a.Endpoints("1", "localhost"))
		}
	}
}

// WithHosts changes the hosts of an address, and nothing else.
func TestWithHosts(t *testing.T) {
	for in, want := range map[string]string{
		"etcd://a:2379,b:2379/prod/firn":              "etcd://x:1,y:2/prod/firn",
		"etcd://a":                                    "etcd://x:1,y:2",
		"etcd://a?timeout=1s":                         "etcd://x:1,y:2?timeout=1s",
		"postgres://us%40er:hunter2@h/d?sslmode=a@b":  "postgres://us%40er:hunter2@x:1,y:2/d?sslmode=a@b",
		"postgres://us:hunter2@@[::1]:7/d?password=x": "postgres://us:hunter2@@x:1,y:2/d?password=x",
	} {
		got := address.WithHosts(in, []string{"x:1", "y:2"})
		if got != want {
			t.Errorf("%s: %s, not %s", in, got, want)
		}
		if a, err := address.Parse(got); err != nil || !slices.Equal(a.Hosts, []string{"x:1", "y:2"}) {
			t.Errorf("%s: %v, %v", got, a, err)
		}
	}
}

// WithSetting changes a setting of an address, and nothing else.
func TestWithSetting(t *testing.T) {
	const value = "https://x:1/?a=b&c#d"
	for in, want := range map[string]string{
		"k://n/p":                       "k://n/p?server=https%3A%2F%2Fx%3A1%2F%3Fa%3Db%26c%23d",
		"k://n/p?":                      "k://n/p?server=https%3A%2F%2Fx%3A1%2F%3Fa%3Db%26c%23d",
		"k://n/p?server=https://h:6443": "k://n/p?server=https%3A%2F%2Fx%3A1%2F%3Fa%3Db%26c%23d",
		"k://u:pass%40word@n/p?s%65rver=h&token=a%20b&server-name=c#": "k://u:pass%40word@n/p?token=a%20b&server-name=c&server=https%3A%2F%2Fx%3A1%2F%3Fa%3Db%26c%23d#",
	} {
		got := address.WithSetting(in, "server", value)
		if got != want {
			t.Errorf("%s: %s, not %s", in, got, want)
		}
		if a, err := address.Parse(got); err != nil || a.Text("server", "") != value {
			t.Errorf("%s: %v, %v", got, a, err)
		}
	}
}

// Parse refuses mistakes, and no error shows the secret in an address.
func TestBad(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "nor scheme://",
		"a b://x":                            "nor scheme://",
		"x://u:hunter2@a b":                  `"a b" is not a host`,
		"x://u:hunter2@a:0":                  `"a:0" is not a host`,
		"x://u:hunter2@a:1:2":                `"a:1:2" is not a host`,
		"x://u:hunter2@a,,b":                 `"" is not a host`,
		"x://a b":                            "is not a host",
		"x://u:hunter/2@a":                   "write %2F for a /",
		"x://:hunter/2@a":                    "write %2F for a /",
		"x://u:12?hunter@a/b":                "write %3F for a ?",
		"x://u:12?hunter2=3@a/b":             "write %3F for a ?",
		"x://u@a?hunter@2=3":                 "without a valid name",
		"x://u:hunter2@a:99999":              `"a:99999" is not a host`,
		"x://u:hunter2%@a":                   "password has a %",
		"x://u:hunter2@a/%zz":                "path has a %",
		"x://u:hunter2@a/p?q=%zz":            "settings",
		"x://u:hunter2@a/p#hunter2":          "fragment",
		"x://u:hunter2@a?n=1&n=2":            "n is set twice",
		"x://u:hunter2@a?m=1":                "it has no setting m, only",
		"x://u:hunter2@a?n=0":                "n=0 is not a number in 1 to 9",
		"x://u:hunter2@a?n=1e3":              "n=1e3 is not a number",
		"x://u:hunter2@a?d=0s":               "d=0s is not a positive duration",
		"x://u:hunter2@a?d=5":                "d=5 is not a positive duration",
		"x://u:hunter2@a?b=yes":              "b=yes is neither",
		"x://u:hunter2@a?password=hunter2":   "two passwords",
		"x://u:hunter2@a/p\r":                "U+000D at the end",
		"x://u:hunter2@a/p%0D/q":             "U+000D at the end",
		"x://u%0A:hunter2@a/p":               "U+000A at the end",
		"x://u:hunter2@a?t=%E2%80%8Bx":       "U+200B at the beginning",
		"x://a?password-file=/hunter2+":      "a blank at the end",
		"x://u:hunter2@a?password-env=X":     "more than one of password,",
		"x://a?password-env=FIRN_NOT_SET":    "the environment has no FIRN_NOT_SET",
		"x://a?password-file=/not/there":     "password-file: open /not/there",
		"x://a?token-file=/not/there&n=0":    "n=0", // the first that was asked for
		"x://a?tls=false&ca=/etc/hosts":      "tls=false goes without",
		"x://a?ca=/not/there":                "ca: open /not/there",
		"x://a?ca=/dev/null":                 "holds no certificate",
		"x://a?cert=/not/there":              "cert and key: ",
		"x://a?password=hunter2&password=x2": "password is set twice",
	} {
		a, err := address.Parse(in)
		if err == nil {
			a.Number("n", 1, 1, 9)
			a.Duration("d", time.Second)
			a.Bool("b", false)
			a.Secret("password")
			a.Secret("token")
			a.TLS()
			err = a.Err()
		}
		if !errors.Is(err, driver.ErrAddress) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v; want %q", in, err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	testkit.OK(t, os.WriteFile(file, []byte("from a file \r\n"), 0o600))
	t.Setenv("FIRN_TEST_SECRET", "from the environment")
	a := testkit.Must(address.Parse("x://u:in%20place@a?n=7&d=3ms&b=true&t=x%26y&one-env=FIRN_TEST_SECRET&two-file=" + file + "&three=plain&other=1"))
	for _, c := range []struct{ got, want any }{
		{a.Number("n", 1, 1, 9), 7}, {a.Number("m", 1, 1, 9), 1},
		{a.Duration("d", time.Second), 3 * time.Millisecond}, {a.Duration("e", time.Second), time.Second},
		{a.Bool("b", false), true}, {a.Bool("c", true), true},
		{a.Text("t", "z"), "x&y"}, {a.Text("s", "z"), "z"},
		{a.Secret("password"), "in place"}, {a.Secret("one"), "from the environment"},
		{a.Secret("two"), "from a file "}, {a.Secret("three"), "plain"}, {a.Secret("four"), ""},
		{a.TLS() == nil, true},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	if err := a.Err(); err == nil || !strings.Contains(err.Error(), "no setting other,") {
		t.Errorf("a setting that nobody took: %v", err)
	}
}

func TestTLS(t *testing.T) {
	cert, key := storetest.Certify(t)
	a := testkit.Must(address.Parse("x://a?server-name=b&ca=" + cert + "&cert=" + cert + "&key=" + key))
	c := a.TLS()
	testkit.OK(t, a.Err())
	if c == nil || c.ServerName != "b" || c.RootCAs == nil || len(c.Certificates) != 1 {
		t.Errorf("%+v", c)
	}
	if a, err := address.Parse("x://a?tls=true"); err != nil || a.TLS() == nil {
		t.Errorf("tls=true alone: %v", err)
	}
}

// TestAlone: an address that was read alone has the same mistakes, but needs no file and no variable.
func TestAlone(t *testing.T) {
	a := testkit.Must(address.ParseAlone("x://a?one-env=FIRN_TEST_NONE&two-file=/not/there&three=hunter2&ca=/not/there&cert=/not/there&server-name=b"))
	for name, want := range map[string]string{"one": address.Withheld, "two": address.Withheld, "three": address.Withheld, "four": ""} {
		if got := a.Secret(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if c := a.TLS(); c == nil || c.ServerName != "b" || !a.Alone() || a.Err() != nil {
		t.Errorf("%+v, %v", c, a.Err())
	}
	if testkit.Must(address.Parse("x://a")).Alone() {
		t.Error("Parse reads alone")
	}
	for in, want := range map[string]string{
		"x://u:p@a?password-file=b":         "more than one of password",
		"x://a?password=b&password-env=c":   "more than one of password",
		"x://a?tls=false&ca=b":              "tls=false goes without ca",
		"x://a?tls=maybe":                   "neither true nor false",
		"x://u:hunter2@a?password=hunter3x": "there are two passwords",
	} {
		a := testkit.Must(address.ParseAlone(in))
		a.Secret("password")
		a.TLS()
		if err := a.Err(); !errors.Is(err, driver.ErrAddress) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v; want %q", in, err, want)
		}
	}
}

// A secret has any character, escaped.
func TestSecretCharacters(t *testing.T) {
	a := testkit.Must(address.Parse("x://u:hunter2%0D@a?token=%00+&sentinel-Password=%E2%80%8B"))
	if got := []string{a.Secret("password"), a.Secret("token"), a.Secret("sentinel-Password")}; !slices.Equal(got, []string{"hunter2\r", "\x00 ", "\u200b"}) {
		t.Errorf("%q", got)
	}
}

// Parse does not panic, and the text of an address does not show the secret.
func FuzzParse(f *testing.F) {
	f.Add("etcd://user:hunter2@a:1,b/c?d=e")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := address.Parse(s)
		if err != nil {
			if !errors.Is(err, driver.ErrAddress) {
				t.Fatal(err)
			}
			return
		}
		if b, err := address.Parse(a.String()); err != nil || b.String() != a.String() || b.User != "" || !slices.Equal(a.Hosts, b.Hosts) || a.Path != b.Path {
			t.Fatalf("%q is called %q, which is %+v, %v", s, a.String(), b, err)
		}
	})
}

func TestAtFault(t *testing.T) {
	for _, err := range []error{&net.DNSError{Err: "no such host", Name: "nowhere"}, errors.New("lookup nowhere: no such host"),
		errors.New("remote error: tls: bad certificate"), errors.New("x509: certificate signed by unknown authority")} {
		if !address.AtFault(fmt.Errorf("open: %w", err)) {
			t.Errorf("%v is not the address's fault", err)
		}
	}
	for _, err := range []error{errors.New("connection refused"), errors.New("net/http: TLS handshake timeout"), os.ErrDeadlineExceeded} {
		if address.AtFault(err) {
			t.Errorf("%v is the address's fault", err)
		}
	}
}
