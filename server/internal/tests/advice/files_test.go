package advice

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/advice"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/server"
)

// plan returns the first fault of a file of configuration, as firn serve --check finds the fault. DIR in the text is a
// directory with the files of a certificate and of a token. No store exists yet.
func plan(dir, text string) error {
	path := filepath.Join(dir, "firn.toml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", filepath.ToSlash(dir))), 0o600); err != nil {
		return err
	}
	c, err := server.Load(path)
	if err != nil {
		return err
	}
	return planned(&c, func(context.Context, string) (driver.Store, error) { return nil, nil })
}

// planned returns the first fault of a Config.
func planned(c *server.Config, open func(context.Context, string) (driver.Store, error)) error {
	c.OpenStore, c.Log = open, slog.New(slog.DiscardHandler)
	p, err := c.Plan(context.Background())
	if err != nil {
		return err
	}
	for _, err := range p.Faults {
		return err
	}
	for _, g := range p.Makes {
		if g.Err != nil {
			return g.Err
		}
	}
	return nil
}

// file is a fault of a file of configuration. ways are parts of the advice, each with the mended file.
func file(dir, text string, ways ...string) advice.Fault {
	return advice.Changed(func(_ *testing.T, text string) error { return plan(dir, text) }, text, ways...)
}

// generator is a file with a generator g.
func generator(format string, lines ...string) string {
	return "[generators.g]\nformat = \"" + format + "\"\n" + strings.Join(lines, "\n") + "\n"
}

// another is a second generator of a file.
func another(lines ...string) string {
	return "[generators.h]\n" + strings.Join(lines, "\n") + "\n"
}

func files(t *testing.T) []advice.Fault {
	dir := t.TempDir()
	certificate(t, dir)
	writeToken(t, dir)
	const usual = "127.0.0.1:7433"
	const pair = "[tls]\ncert = \"DIR/tls.crt\"\nkey = \"DIR/tls.key\"\n"
	file := func(text string, ways ...string) advice.Fault { return file(dir, text, ways...) }
	all := []advice.Fault{
		// Where the server listens.
		file(`listen = ["localhost:1", "localhost:1"]`, "leave out one of the two", `listen = ["localhost:1"]`),
		file(`resp = "127.0.0.1:7433"`, "leave out resp", ``, "or give it another port", `resp = "127.0.0.1:7434"`),
		file(`unix = "/tmp/`+strings.Repeat("x", 200)+`"`, "use a shorter path", `unix = "/tmp/x"`),
		file(`unix = "/tmp/x\u0000"`, "want the path of a socket", `unix = "/tmp/x"`),
		file(`listen = []`, `name an address, as in listen = ["`+usual+`"]`, `listen = ["`+usual+`"]`),
		file(`listen = ["7433"]`, "want host:port, as in "+usual, `listen = ["`+usual+`"]`),
		file(`listen = ["localhost:x"]`, "want host:port, as in "+usual, `listen = ["`+usual+`"]`),
		file(`listen = ["a b:1"]`, "want an IP address", `listen = ["127.0.0.2:1"]`, "or a name before the port", `listen = ["localhost:1"]`, "as in "+usual, `listen = ["`+usual+`"]`),
		file(`listen = ["0.0.0.0:1"]`, "add cert and key to [tls]", "listen = [\"0.0.0.0:1\"]\n"+pair, "or listen on a loopback address", `listen = ["127.0.0.1:1"]`,
			"or add insecure = true", "listen = [\"0.0.0.0:1\"]\ninsecure = true"),
		flags(server.Config{Listen: []string{"0.0.0.0:1"}}, "add --tls-cert FILE and --tls-key FILE", server.Config{Listen: []string{"0.0.0.0:1"}, TLS: pem(dir)},
			"or listen on a loopback address", server.Config{Listen: []string{"[::1]:1"}}, "or add --insecure", server.Config{Listen: []string{"0.0.0.0:1"}, Insecure: true}),

		// Certificates.
		file("[tls]\ncert = \"DIR/tls.crt\"", "add key to [tls], the private key of the certificate", pair),
		file("[tls]\nkey = \"DIR/tls.key\"", "add cert to [tls], the certificate of the key", pair),
		file("[tls]\nca = \"DIR/tls.crt\"", "add cert and key to [tls]", pair+"ca = \"DIR/tls.crt\""),
		file(pair+"ca = \"DIR/tls.key\"", "want certificates in the form PEM", pair+"ca = \"DIR/tls.crt\""),
		flags(server.Config{TLS: server.TLS{Cert: pem(dir).Cert}}, "add --tls-key FILE, the private key of the certificate", server.Config{TLS: pem(dir)}),
		flags(server.Config{TLS: server.TLS{Key: pem(dir).Key}}, "add --tls-cert FILE, the certificate of the key", server.Config{TLS: pem(dir)}),
		flags(server.Config{TLS: server.TLS{CA: pem(dir).Cert}}, "add --tls-cert FILE and --tls-key FILE",
			server.Config{TLS: server.TLS{Cert: pem(dir).Cert, Key: pem(dir).Key, CA: pem(dir).Cert}}),

		// Hosts.
		file(`hosts = ["ids.example.com:80"]`, "leave out the port", `hosts = ["ids.example.com"]`),
		file(`hosts = ["http://a"]`, "want a name without scheme, port and path, as in ids.example.com", `hosts = ["ids.example.com"]`),
		file(`hosts = ["a", "A"]`, "leave out one of the two", `hosts = ["a"]`),

		// Empty settings.
		file(`tokens = ""`, "leave out the setting", ``, "or give a value", `tokens = "DIR/tokens.toml"`),
		file(generator("nanoflake", `store = ""`), "leave out the setting for the default store", generator("nanoflake"),
			"or give an address", generator("nanoflake", `store = "postgres://ids@db/app?sslmode=verify-full"`)),
		file(generator("nanoflake", `pool = ""`), "leave out the setting for the usual pool", generator("nanoflake"),
			"or give a name", generator("nanoflake", `pool = "orders"`, `create = true`)),
		file("[generators.g]", `want a format, as in format = "nanoflake"`, generator("nanoflake")),
		file(generator("nanoflake", `workers = 0`), "want the number of workers, from 1 on", generator("nanoflake", `workers = 1`), "or leave out the setting", generator("nanoflake")),
		file(generator("snowflakesi", `clock-bits = 0`), "want 40", generator("snowflakesi", `clock-bits = 40`), "or 41", generator("snowflakesi", `clock-bits = 41`)),
		file(generator("ulidflake", `increment-bits = 0`), "want 1 or more", generator("ulidflake", `increment-bits = 1`), "or leave out the setting", generator("ulidflake")),

		// Generators.
		file("[generators.G]\nformat = \"sno\"", "want 1 to 100 lower-case letters", generator("sno")),
		flags(server.Config{Generators: []server.Generator{{Name: "g", Format: "sno"}, {Name: "g", Format: "sno"}}}, "give one of the generators another name",
			server.Config{Generators: []server.Generator{{Name: "g", Format: "sno"}, {Name: "h", Format: "sno"}}}),
		file(generator("sno", `keys = ["order"]`), "want one '*', at the end", generator("sno", `keys = ["order*"]`), "as in order:*", generator("sno", `keys = ["order:*"]`)),
		file(generator("sno", `keys = ["a\n*"]`), "want at most 100 printable bytes", generator("sno", `keys = ["a*"]`)),
		file(generator("sno", `keys = ["a*", "a*"]`), "leave out one of the two", generator("sno", `keys = ["a*"]`)),
		file(generator("sno", `keys = ["a*"]`)+another(`format = "scru160"`, `keys = ["a*"]`), "leave out one of the two", generator("sno")+another(`format = "scru160"`, `keys = ["a*"]`)),
		file(generator("nanoflak"), "did you mean nanoflake?", generator("nanoflake")),
		file(generator("nanoflake", `meta = 1`), "leave it out", generator("nanoflake")),
		file(generator("snowflakesi", `machine-bits = -1`), "want 0 or more", generator("snowflakesi", `machine-bits = 0`)),
		file(generator("nanoflake", `fenced = true`), "leave out fenced", generator("nanoflake")),
		file(generator("scru160", `workers = 1`), "leave out workers", generator("scru160"), "or add fenced = true", generator("scru160", `workers = 1`, `fenced = true`)),
		file(generator("scru160", `workers = 2`, `pool = "p"`), "leave out workers and pool", generator("scru160")),
		file(generator("scru160", `pool = "p"`, `create = true`), "leave out pool and create", generator("scru160"), "or add fenced = true", generator("scru160", `pool = "p"`, `create = true`, `fenced = true`)),
		file(generator("nanoflake", `pool = "A b"`), "want up to 100 lower-case letters", generator("nanoflake", `pool = "a-b"`, `create = true`)),
		file(generator("nanoflake", `pool = "p"`, `create = true`)+another(`format = "sno"`, `pool = "p"`, `create = true`),
			"give the same format, epoch and widths", generator("nanoflake", `pool = "p"`, `create = true`)+another(`format = "nanoflake"`, `pool = "p"`, `create = true`),
			"or another pool", generator("nanoflake", `pool = "p"`, `create = true`)+another(`format = "sno"`, `pool = "q"`, `create = true`)),
		file(generator("nanoflake", `workers = 1000`)+another(`format = "nanoflake"`, `workers = 30`), "give fewer workers",
			generator("nanoflake", `workers = 1000`)+another(`format = "nanoflake"`, `workers = 24`)),

		// The form of the file.
		file(`listn = ["localhost:1"]`, "did you mean listen?", `listen = ["localhost:1"]`),
		file("[listen]\nx = 1", "want a value, as in listen = …", `listen = ["localhost:1"]`),
		file(`limits = 5`, "want the heading [limits]", "[limits]\nids = 5000"),
		file(`insecure = "yes"`, "want true or false", `insecure = true`),
		file("[limits]\nids = 1500.5", "want a whole number", "[limits]\nids = 1500"),
		file(`resp = 6379`, `want a text in quotes, as in "text"`, `resp = "localhost:6379"`),
		file(`listen = "localhost:1"`, `want a list of texts, as in ["text", "text"]`, `listen = ["localhost:1", "localhost:2"]`),
		file(`drain = 2`, `want a duration in quotes, as in "2s"`, `drain = "2s"`, `or "500ms"`, `drain = "500ms"`),
		file(generator("nanoflake", `epoch = 2024-01-01T00:00:00`), "want a time with a zone", generator("nanoflake", `epoch = 2024-01-01T00:00:00+02:00`), "as in 2024-01-01T00:00:00Z",
			generator("nanoflake", `epoch = 2024-01-01T00:00:00Z`), "2024-01-01 or", generator("nanoflake", `epoch = 2024-01-01`), "or 1704067200000", generator("nanoflake", `epoch = 1704067200000`)),
		{Name: "a directory", Meet: func(t *testing.T) string { return advice.Text(t, load(dir)) },
			Ways: advice.Ways{"name a file": func(t *testing.T) error { return load(write(t, "good.toml", `resp = "localhost:1"`)) }}},
		{Name: "a large file", Meet: func(t *testing.T) string {
			return advice.Text(t, load(write(t, "large.toml", strings.Repeat("#\n", 3<<20))))
		},
			Ways: advice.Ways{"name another file": func(t *testing.T) error { return load(write(t, "good.toml", `resp = "localhost:1"`)) }}},
		noPool(t),
	}
	return all
}

// flags is a fault of a Config without a file, as firn serve makes a Config of flags. ways are parts of the advice, each
// with the mended Config.
func flags(c server.Config, ways ...any) advice.Fault {
	none := func(context.Context, string) (driver.Store, error) { return nil, nil }
	f := advice.Fault{Name: "flags", Meet: func(t *testing.T) string { return advice.Text(t, planned(&c, none)) }, Ways: advice.Ways{}}
	for i := 0; i < len(ways); i += 2 {
		mended := ways[i+1].(server.Config)
		f.Ways[ways[i].(string)] = func(*testing.T) error { return planned(&mended, none) }
	}
	return f
}

func load(path string) error {
	_, err := server.Load(path)
	return err
}

func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// noPool is a generator whose pool nobody has made. The store is a directory, which does not exist at first.
func noPool(t *testing.T) advice.Fault {
	dir := filepath.Join(t.TempDir(), "leases")
	open := func(context.Context, string) (driver.Store, error) {
		if _, err := os.Stat(dir); err != nil {
			return nil, nil
		}
		store, err := filelease.Open(dir)
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	config := func(create bool) *server.Config {
		return &server.Config{Generators: []server.Generator{{Name: "g", Format: "nanoflake", Pool: "orders", Create: create}}}
	}
	return advice.Fault{Name: "no pool", Meet: func(t *testing.T) string { return advice.Text(t, planned(config(false), open)) }, Ways: advice.Ways{
		"or set create = true": func(*testing.T) error { return planned(config(true), open) },
		"create it (lease.Create)": func(t *testing.T) error {
			store, err := filelease.Open(dir)
			if err != nil {
				return err
			}
			defer store.Close()
			format, _ := inspect.Lookup("nanoflake")
			g, err := format.Descriptor().New(shape.Recipe{Leased: true})
			if err != nil {
				return err
			}
			spec, err := g.ForLease().Pool()
			if err != nil {
				return err
			}
			if _, err := lease.Create(t.Context(), store, "orders", spec.Layout); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			return planned(config(false), open)
		},
	}}
}
