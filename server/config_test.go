package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/server/internal/supply"
)

// whole has each setting once.
const whole = `
listen = ["127.0.0.1:7433", "[::1]:7433"]
resp = "127.0.0.1:6390"
unix = "/run/firn/firn.sock"
insecure = false
tokens = "/etc/firn/tokens.toml"
hosts = ["ids.example.com"]
drain = "5s"

[tls]
cert = "/etc/firn/tls.crt"
key = "/etc/firn/tls.key"
ca = "/etc/firn/clients.crt"

[limits]
ids = 100_000
connections = 50
wait = "500ms"

[lease]
window = "30s"
holder = "ids-1"
trust-clock = true

[generators.order]
format = "nanoflake"
epoch = 2024-01-01T00:00:00Z
workers = 4
store = "postgres://ids@db/app?password-file=/run/secrets/db&sslmode=verify-full"
pool = "orders"
create = true
keys = ["order:*", "o:*"]

[generators.session]
format = "scru160"
start-bits = 0
fenced = true

[generators."a:b"]
format = "snowflakesi"
epoch = 2025-01-01
clock-bits = 41
machine-bits = 0
reset = true

[generators.node]
format = "scru160"
micro = true
counter-bits = 4
node-bits = 8

[generators.flake]
format = "ulidflake"
epoch = 1704067200000
increment-bits = 4

[generators.sno]
format = "sno"
meta = 7
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "firn.toml")
	testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// check checks a Config, with a default store.
func check(c Config) error {
	c.DefaultStore = "file:///ids"
	return c.Check()
}

func TestLoad(t *testing.T) {
	c, err := Load(write(t, whole))
	testkit.OK(t, err)
	testkit.OK(t, check(c))
	epoch := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	c.file = nil
	want := Config{
		Listen: []string{"127.0.0.1:7433", "[::1]:7433"}, RESP: "127.0.0.1:6390", Unix: "/run/firn/firn.sock", Tokens: "/etc/firn/tokens.toml",
		Hosts: []string{"ids.example.com"}, Drain: 5 * time.Second,
		TLS:    TLS{Cert: "/etc/firn/tls.crt", Key: "/etc/firn/tls.key", CA: "/etc/firn/clients.crt"},
		Limits: Limits{IDs: 100_000, Connections: 50, Wait: 500 * time.Millisecond},
		Lease:  Lease{Window: 30 * time.Second, Holder: "ids-1", TrustClock: true},
		Generators: []Generator{
			{Name: "a:b", Format: "snowflakesi", Epoch: epoch.AddDate(1, 0, 0), ClockBits: 41, MachineBits: new(0), Reset: true},
			{Name: "flake", Format: "ulidflake", Epoch: epoch, IncrementBits: 4},
			{Name: "node", Format: "scru160", Micro: true, CounterBits: 4, NodeBits: 8},
			{Name: "order", Format: "nanoflake", Epoch: epoch, Workers: 4, Store: "postgres://ids@db/app?password-file=/run/secrets/db&sslmode=verify-full", Pool: "orders",
				Create: true, Keys: []string{"order:*", "o:*"}},
			{Name: "session", Format: "scru160", StartBits: new(0), Fenced: true},
			{Name: "sno", Format: "sno", Meta: 7},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	c.DefaultStore = "file:///ids"
	s, err := c.generators()
	testkit.OK(t, err)
	leased := map[string]bool{"a:b": true, "flake": false, "node": true, "order": true, "session": true, "sno": true}
	for _, g := range s.Generators {
		if g.Recipe.Leased != leased[g.Name] {
			t.Errorf("%s leases workers: %v", g.Name, g.Recipe.Leased)
		}
		if g.Name == "order" && (g.Store != "postgres://db/app" || g.Workers != 4) {
			t.Errorf("%s: store %s, %d workers", g.Name, g.Store, g.Workers)
		}
	}
	set, err := supply.New(s.Config)
	testkit.OK(t, err)
	if err := set.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestDocument: the examples of the document are valid, and the document has each setting.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/server-configuration.md")
	testkit.OK(t, err)
	files := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(files) < 3 {
		t.Fatalf("%d files in the document", len(files))
	}
	for _, f := range files {
		if strings.Contains(f[1], "[tokens.") {
			continue // package access tests the file
		}
		all := regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(f[1], "$1") // with the settings that are left out
		for _, text := range []string{f[1], all} {
			c, err := Load(write(t, text))
			if err == nil {
				err = check(c)
			}
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		}
		if strings.Contains(f[1], "[limits]") {
			c, err := Load(write(t, f[1]))
			testkit.OK(t, err)
			var none Config
			c.file = nil
			c.Hosts = nil
			if have, want := c.withDefaults(), none.withDefaults(); !reflect.DeepEqual(have.Limits, want.Limits) || !reflect.DeepEqual(have.Lease, want.Lease) ||
				!reflect.DeepEqual(have.Listen, want.Listen) || have.Drain != want.Drain || have.Insecure {
				t.Errorf("the document has other defaults: %+v", c)
			}
		}
	}
	settings := regexp.MustCompile(`(?m)^(?:# )?([a-z-]+) += `)
	for _, m := range settings.FindAllStringSubmatch(whole, -1) {
		if !regexp.MustCompile("(?m)^(# )?" + m[1] + " = |`" + m[1] + "`").Match(text) {
			t.Errorf("the document does not have %s", m[1])
		}
	}
}

// TestDefaults: without a file, each format has a generator, and formats without workers lease nothing.
func TestDefaults(t *testing.T) {
	var c Config
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "generators.nanoflake.store: is missing") {
		t.Errorf("without a store: %v", err)
	}
	c.DefaultStore = "file:///ids"
	testkit.OK(t, c.Check())
	s, err := c.generators()
	if err != nil || len(s.Generators) != 6 {
		t.Fatalf("%d generators, %v", len(s.Generators), err)
	}
	for _, g := range s.Generators {
		if unleased := g.Name == "ulidflake" || g.Name == "scru160"; g.Recipe.Leased == unleased || g.Workers != 1 {
			t.Errorf("%s leases workers: %v, %d", g.Name, g.Recipe.Leased, g.Workers)
		}
	}
	if s.Wait != DefaultWait || s.Lease.Window != lease.DefaultWindow {
		t.Errorf("%+v", s)
	}
}

// generator is a file with a generator g.
func generator(format string, lines ...string) string {
	return "[generators.g]\nformat = \"" + format + "\"\n" + strings.Join(lines, "\n")
}

// TestBad: faults of files name the line, the setting, the fault and the remedy.
func TestBad(t *testing.T) {
	long := strings.Repeat("x", 200)
	for text, want := range map[string]string{
		"Tokens = \"a\"\ntokens = \"b\"": "1: Tokens: unknown setting: did you mean tokens?",
		"\n\"\" = 1":                     `"": unknown setting: the settings are`,
		"version = \"1\"":                "1: version: unknown setting: the settings are listen, resp,",
		"Drain = \"1s\"":                 "1: Drain: unknown setting: did you mean drain?",
		generator("sno", "name = \"x\""): "3: generators.g.name: unknown setting: the settings are format, workers,",
		"- = 1":                          "1: -: unknown setting: the settings are",
		"tls = {cert = \"a\", kye = 1}":  "1: tls.kye: unknown setting: did you mean key?",
		"tls = {cert = 1}":               "1: tls.cert: is not a text in quotes",
		"\ngenerators.g.format = 1":      "2: generators.g.format: is not a text in quotes",
		"[generators]\n\ng = {format = \"sno\", meta = 256}": "3: generators.g.meta: 256 is not in 0 to 255",

		"listen = ":                                   "1: expected value, not end of input",
		"resp = \"a:1\"\nresp = \"a:1\"":              "2: key resp is already defined",
		"[tls]\n[tls]":                                "2: table tls already exists",
		"\nlistn = []":                                "2: listn: unknown setting: did you mean listen?",
		"\nListen = []":                               "2: Listen: unknown setting: did you mean listen?",
		"port = 1":                                    "1: port: unknown setting: the settings are listen, resp,",
		"[limit]\nids = 5000":                         "1: limit: unknown setting: did you mean limits?",
		"[limits]\n\nid = 5000":                       "3: limits.id: unknown setting: did you mean ids?",
		"limits = 5":                                  "1: limits: is no table: want the heading [limits]",
		"generators = []":                             "1: generators: is no table",
		"[[generators]]\nformat = \"sno\"":            "1: generators: is no table",
		"[generators]\norder = \"sno\"":               "2: generators.order: is no table: want the heading [generators.order]",
		"[listen]\nx = 1":                             "1: listen: is not a list of texts",
		"listen = \"a:1\"":                            `1: listen: is not a list of texts, as in ["text", "text"]`,
		"listen = [1]":                                "1: listen: is not a list of texts",
		"insecure = \"yes\"":                          "1: insecure: is not true or false",
		"resp = 6379":                                 `1: resp: is not a text in quotes, as in "text"`,
		"drain = 5":                                   `1: drain: is not a duration in quotes, as in "2s"`,
		"drain = \"5\"":                               "1: drain: is not a duration",
		"drain = \"0s\"":                              "1: drain: is 0: leave out the setting for its default",
		"drain = \"-1s\"":                             "1: drain: -1s is not in 1ms to 10m0s",
		"drain = \"1h\"":                              "1: drain: 1h0m0s is not in 1ms to 10m0s",
		"tokens = \"\"":                               "1: tokens: is empty",
		"limits.ids = 1.5":                            "1: limits.ids: is not a whole number",
		"limits.ids = 999":                            "1: limits.ids: 999 is not in 1000 to 1000000",
		"limits.ids = 0":                              "1: limits.ids: is 0",
		"limits.ids = 1_000_001":                      "1: limits.ids: 1000001 is not in",
		"limits.connections = 0":                      "1: limits.connections: is 0",
		"limits.wait = \"2m\"":                        "1: limits.wait: 2m0s is not in 1ms to 1m0s",
		"lease.window = \"1ms\"":                      "1: lease.window: 1ms is not in 100ms to 1h0m0s",
		"listen = []":                                 `1: listen: is empty, and so are resp and unix`,
		"listen = [\"7433\"]":                         `1: listen: "7433" is no address: want host:port, as in 127.0.0.1:7433`,
		"listen = [\"127.0.0.1:x\"]":                  `has no port from 0 to 65535`,
		"listen = [\"127.0.0.1:65536\"]":              `has no port from 0 to 65535`,
		"listen = [\"a b:1\"]":                        `has no host`,
		"listen = [\"localhost:1\", \"localhost:1\"]": "1: listen: localhost:1 is given twice",
		"\nlisten = [\":7433\"]":                      "2: listen: other machines reach :7433, and the server has no TLS: add cert and key to [tls], or listen on a loopback address, or add insecure = true if",
		"resp = \"0.0.0.0:1\"":                        "1: resp: other machines reach 0.0.0.0:1",
		"resp = \"127.0.0.1:7433\"":                   "1: resp: 127.0.0.1:7433 is an address of listen",
		"unix = \"/" + long + "\"":                    "1: unix: has 201 bytes: the path of a socket has at most",
		"hosts = [\"a:80\"]":                          `1: hosts: "a:80" has a port: leave out the port`,
		"hosts = [\"http://a\"]":                      `1: hosts: "http://a" is no name`,
		"hosts = [\"a\", \"A\"]":                      `1: hosts: "A" is given twice`,
		"[tls]\ncert = \"c\"":                         "2: tls.cert: has no key beside it: add key to [tls], the private",
		"[tls]\nkey = \"k\"":                          "2: tls.key: has no certificate beside it: add cert to [tls], the certificate",
		"[tls]\nca = \"k\"":                           "2: tls.ca: needs a certificate of the server: add cert and key to [tls]",
		"[generators.g]":                              "1: generators.g.format: is missing",
		"[generators.g]\nformt = \"sno\"":             "2: generators.g.formt: unknown setting: did you mean format?",
		"[generators.G]\nformat = \"sno\"":            "1: generators.G: is no name of a generator",
		"[generators.\"a/b\"]\nformat = \"sno\"":      "is no name of a generator",
		"[generators.\"\"]\nformat = \"sno\"":         "is no name of a generator",
		generator("nanoflak"):                         `2: generators.g.format: unknown format "nanoflak": did you mean nanoflake?`,
		generator("uuid"):                             `2: generators.g.format: unknown format "uuid": the formats are nanoflake,`,
		generator("nanoflake", "workers = 0"):         "3: generators.g.workers: is 0",
		generator("nanoflake", "workers = -1"):        "3: generators.g.workers: -1 is not in 1 to 1024, the workers of nanoflake",
		generator("nanoflake", "workers = 1025"):      "3: generators.g.workers: 1025 is not in 1 to 1024",
		generator("ulidflake", "workers = 1"):         "3: generators.g.workers: ulidflake has no worker, and leases nothing: leave out workers, or add fenced = true",
		generator("ulidflake", "workers = 2", "fenced = true"):                                            "3: generators.g.workers: 2 is not in 1 to 1, the workers of ulidflake",
		generator("scru160", "pool = \"x\""):                                                              "3: generators.g.pool: scru160 has no worker",
		generator("nanoflake", "fenced = true"):                                                           "3: generators.g.fenced: nanoflake leases its times with its worker",
		generator("nanoflake", "meta = 1"):                                                                "3: generators.g.meta: nanoflake has no metabyte",
		generator("sno", "epoch = 2024-01-01"):                                                            "3: generators.g.epoch: the epoch of sno is fixed: 2010-01-01T00:00:00Z",
		generator("sno", "meta = 256"):                                                                    "3: generators.g.meta: 256 is not in 0 to 255",
		generator("nanoflake", "epoch = 2024-01-01T00:00:00"):                                             "3: generators.g.epoch: is not a time with a zone, a date, or Unix milliseconds",
		generator("nanoflake", "epoch = 1577836800"):                                                      "3: generators.g.epoch: looks like seconds (2020-01-01T00:00:00Z), not Unix milliseconds: write 1577836800000",
		generator("nanoflake", "epoch = 20200101"):                                                        "3: generators.g.epoch: looks like a date, not Unix milliseconds: write 2020-01-01",
		generator("nanoflake", "epoch = 3000-01-01"):                                                      "3: generators.g.epoch: 3000-01-01T00:00:00Z is not in the past",
		generator("nanoflake", "epoch = 1000-01-01"):                                                      "3: generators.g.epoch: ",
		generator("nanoflake", "epoch = 2024-01-01T00:00:00.0001Z"):                                       "3: generators.g.epoch: ",
		generator("snowflakesi", "clock-bits = 0"):                                                        "3: generators.g.clock-bits: is 0",
		generator("snowflakesi", "clock-bits = 42"):                                                       "3: generators.g.clock-bits: 42 is not 40 or 41",
		generator("snowflakesi", "machine-bits = 14"):                                                     "3: generators.g.machine-bits: 14 is not in 0 to 13",
		generator("snowflakesi", "machine-bits = -1"):                                                     "3: generators.g.machine-bits: -1 is not in 0 to 13",
		generator("scru160", "node-bits = 17"):                                                            "3: generators.g.node-bits: 17 is not in 0 to 16",
		generator("scru160", "counter-bits = -1"):                                                         "3: generators.g.counter-bits: -1 is not in 0 to 16",
		generator("scru160", "start-bits = 16"):                                                           "3: generators.g.start-bits: 16 is not in 0 to 15",
		generator("ulidflake", "increment-bits = 99"):                                                     "3: generators.g.increment-bits: 99 is not in 1 to 20",
		generator("nanoflake", "store = \"hunter2\""):                                                     "3: generators.g.store: is no address of a store: neither an absolute path nor scheme://",
		generator("nanoflake", "store = \"\""):                                                            "3: generators.g.store: is empty",
		generator("nanoflake", "store = 1"):                                                               "3: generators.g.store: is not a text",
		generator("nanoflake", "pool = \"A b\""):                                                          `3: generators.g.pool: "A b" is no name of a pool`,
		generator("nanoflake", "keys = [\"a\"]"):                                                          `3: generators.g.keys: "a" is no pattern: want one '*', at the end`,
		generator("nanoflake", "keys = [\"a*b*\"]"):                                                       `"a*b*" is no pattern`,
		generator("nanoflake", "keys = [\"a\\n*\"]"):                                                      `"a\n*" is no pattern: want at most 100 printable bytes`,
		generator("nanoflake", "keys = [\"a*\",\"a*\"]"):                                                  `"a*" is given twice`,
		generator("nanoflake", "keys = [\"a*\"]") + "\n[generators.h]\nformat=\"sno\"\nkeys = [\"a*\"]":   `6: generators.h.keys: "a*" is a pattern of the generator g too`,
		generator("nanoflake", "pool = \"p\"") + "\n[generators.h]\nformat=\"sno\"\npool = \"p\"":         "6: generators.h.pool: pool p is for other IDs in the generator g",
		generator("nanoflake", "workers = 1000") + "\n[generators.h]\nformat=\"nanoflake\"\nworkers = 30": "6: generators.h.workers: pool nanoflake has 1024 workers, and the generators of the pool want 1030",
	} {
		path := write(t, text)
		c, err := Load(path)
		if err == nil {
			err = check(c)
		}
		bad, ok := errors.AsType[*ConfigError](err)
		switch {
		case !ok:
			t.Errorf("%s\n\terror %v, want a ConfigError", text, err)
		case !strings.Contains(bad.Error(), want) || !strings.HasPrefix(bad.Error(), path+":"):
			t.Errorf("%s\n\t%v\n\twant %s", text, bad, want)
		case strings.Contains(bad.Error(), "hunter2"):
			t.Errorf("%s\n\t%v shows a secret", text, bad)
		}
	}
}

// TestBadFile: a missing file, a directory and a binary file are errors.
func TestBadFile(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	if _, err := Load(write(t, "\x00\xff")); err == nil {
		t.Error("no error for a binary file")
	}
}

// TestDefaultStore: the address of the default store is checked, shows no secret, and is the store of generators with the
// same address.
func TestDefaultStore(t *testing.T) {
	const address = "postgres://u:hunter2@h/d"
	c := Config{DefaultStore: address, Generators: []Generator{{Name: "a", Format: "nanoflake"}, {Name: "b", Format: "nanoflake", Store: address, Epoch: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Pool: "nanoflake"}}}
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "generators.b.pool: pool nanoflake is for other IDs in the generator a") {
		t.Errorf("two pools of one name: %v", err)
	}
	c.Generators = c.Generators[:1]
	s, err := c.generators()
	if err != nil || s.Generators[0].Store != "postgres://h/d" {
		t.Errorf("%+v, %v", s.Generators, err)
	}
	served, err := New(c)
	if err != nil || served.set.All()[0].Store != "postgres://h/d" {
		t.Errorf("the store of a server: %+v, %v", served, err)
	}
	c.DefaultStore = "hunter2"
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "generators.a.store: is no address of a store") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("no address: %v", err)
	}
}

// TestStoreNames: stores of equal names are one store, so other addresses have other names.
func TestStoreNames(t *testing.T) {
	n := storeNames{"": "here"}
	for addr, want := range map[string]string{"": "here", "postgres://u:p@h/d?table=a": "postgres://h/d"} {
		if got := n.of(addr); got != want {
			t.Errorf("%s: %s", addr, got)
		}
	}
	if a, b := n.of("postgres://h/d?table=b"), n.of("postgres://u:p@h/d?table=a"); a != "postgres://h/d (2)" || b != "postgres://h/d" {
		t.Error(a, b)
	}
}

// FuzzLoad: whatever the file has, Load and Check return a Config or a ConfigError.
func FuzzLoad(f *testing.F) {
	f.Add(whole)
	f.Add(generator("nanoflake", "keys = [\"a*\"]"))
	f.Add("[[generators]]\na = 1")
	f.Add("generators.\"a.b\".format = 1\n[x.y.z]\n")
	f.Add("tls = {cert = \"a\", kye = 1}")
	path := filepath.Join(f.TempDir(), "firn.toml")
	f.Fuzz(func(t *testing.T, text string) {
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
		c, err := Load(path)
		if err == nil {
			err = check(c)
		}
		if bad, ok := errors.AsType[*ConfigError](err); err != nil && (!ok || bad.File != path || bad.Text == "") {
			t.Errorf("%v", err)
		}
	})
}
