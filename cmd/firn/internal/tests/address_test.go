package tests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// TestInvisibleEnds: an address and a directory that end with a character that nobody sees would be another store. They are
// refused wherever they come from, and nothing is made.
func TestInvisibleEnds(t *testing.T) {
	t.Parallel()
	turn.Take(t)
	quoted := func(text string) string { // as TOML has texts
		if !utf8.ValidString(text) {
			return `"` + text + `"`
		}
		var s strings.Builder
		for _, r := range text {
			fmt.Fprintf(&s, `\U%08X`, r)
		}
		return `"` + s.String() + `"`
	}
	usage := func(dir string, variables []string, args ...string) error {
		cmd := firnCommand(t, args...)
		cmd.Env, cmd.Dir = append(cmd.Env, variables...), dir
		out, err := output(t, cmd)
		if exitCode(err) != cli.ExitUsage {
			return fmt.Errorf("exit code %d: %s", exitCode(err), out)
		}
		return driver.ErrAddress
	}
	for name, entrance := range map[string]func(dir, end string) error{
		"filelease.Open":                func(dir, end string) error { _, err := filelease.Open(filepath.Join(dir, "ids") + end); return err },
		"filelease.Open, a name before": func(dir, end string) error { _, err := filelease.Open(filepath.Join(dir, "ids"+end, "x")); return err },
		"filelease.OpenCopy":            func(dir, end string) error { _, err := filelease.OpenCopy(filepath.Join(dir, "ids") + end); return err },
		"--state":                       func(dir, end string) error { return usage(dir, nil, "new", "nanoflake", "--state", "ids"+end) },
		"--state, absolute": func(dir, end string) error {
			return usage(dir, nil, "new", "nanoflake", "--state", filepath.Join(dir, "ids")+end)
		},
		"--store":                  func(dir, end string) error { return usage(dir, nil, "new", "nanoflake", "--store", "./ids"+end) },
		"--store of firn sql feed": func(dir, end string) error { return usage(dir, nil, "sql", "feed", "--store", "./ids"+end) },
		"--store of firn torture":  func(dir, end string) error { return usage(dir, nil, "torture", "--state", "t", "--store", "./ids"+end) },
		"--state of firn torture":  func(dir, end string) error { return usage(dir, nil, "torture", "--state", "ids"+end) },
		"FIRN_STORE": func(dir, end string) error {
			return usage(dir, []string{"FIRN_STORE=file://" + filepath.ToSlash(dir) + "/ids" + end}, "new", "nanoflake")
		},
		"FIRN_STORE, a path": func(dir, end string) error {
			return usage(dir, []string{"FIRN_STORE=" + filepath.Join(dir, "ids") + end}, "new", "nanoflake")
		},
		"FIRN_STORE, nothing but the end": func(dir, end string) error { return usage(dir, []string{"FIRN_STORE=" + end}, "new", "nanoflake") },
		"the file of firn serve": func(dir, end string) error {
			file := filepath.Join(t.TempDir(), "firn.toml")
			err := os.WriteFile(file, []byte("[generators.g]\nformat = \"nanoflake\"\nstore = "+quoted("file://"+filepath.ToSlash(dir)+"/ids"+end)+"\n"), 0o600)
			return errors.Join(err, usage(dir, nil, "serve", "--check", "--config", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{"\r", "\n", " ", "\u200b", "\xa0"} { // driver.CheckPlace has the test of all others
				dir := t.TempDir()
				if err := entrance(dir, end); !errors.Is(err, driver.ErrAddress) {
					t.Errorf("%q: %v", end, err)
				}
				if made := listing(t, dir); len(made) > 0 {
					t.Errorf("%q: %q were made", end, made)
				}
			}
		})
	}
}

// listing returns the names in a directory.
func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

// TestMistypedAddresses: an address of a server with a mistake is refused, and does not become a directory. The error shows no
// password.
func TestMistypedAddresses(t *testing.T) {
	t.Parallel()
	turn.Take(t)
	const secret = "hunter2"
	for _, addr := range []string{
		"postgres//ids:" + secret + "@db/app", "postgres:/ids:" + secret + "@db/app", "postgres:ids:" + secret + "@db/app", "postgres;//ids:" + secret + "@db/app",
		"://ids:" + secret + "@db/app", "//ids:" + secret + "@db/app", "ids:" + secret + "@db:5432/app", "ids@db:5432/app", "ids@db/app", "db:5432/app", "localhost:5432",
		"127.0.0.1:6379", "[::1]:6379", "redis:127.0.0.1:6379", "redis:/localhost/0", "etcd:2379", "etcd//etcd-1,etcd-2/ids", "nats:/nats/ids", "consul:8500/ids",
		"kubernetes:/ids/prefix", "pg://ids:" + secret + "@db/app", "postgress://ids:" + secret + "@db/app", "jdbc:postgresql://db/app", "http://etcd-1:2379",
		"psql 'postgres://ids:" + secret + "@db/app'", `"postgres://ids:` + secret + `@db/app"`, "'redis://localhost'", "export FIRN_STORE=etcd://etcd-1/ids",
		"FIRN_STORE=redis://localhost", "FIRN_STORE=/var/lib/firn", "host=db user=ids password=" + secret + " dbname=app", "<postgres://db/app>",
		"/postgres://ids:" + secret + "@db/app", "./postgres://ids:" + secret + "@db/app", "../redis://localhost/0", "file:/var/lib/firn", "file:ids", "fil:///ids",
		`postgres:\\db\app`, "POSTGRES//db/app", "Redis:localhost", "postgres/ids:" + secret + "@db/app", "db/app?password=" + secret, "host=db passwd=" + secret,
		"consul:/h/p?token=" + secret, "redis:" + secret + "/0", "postgres;//ids;" + secret + "@db", "ids:" + secret + "%40db/app", "postgres:/ids:hun\nter2@db/app",
		"postgres:///ids:" + secret + "@db/app", "redis:///:" + secret + "@h/0", "~/ids",
	} {
		dir := filepath.Join(t.TempDir(), "empty")
		check(t, os.Mkdir(dir, 0o700))
		for _, args := range [][]string{{"--store", addr}, {"--store=" + addr}, {"--state", addr}, {"--state=" + addr}, nil} {
			cmd := firnCommand(t, append([]string{"new", "nanoflake"}, args...)...)
			if cmd.Dir = dir; args == nil {
				cmd.Env = append(cmd.Env, stores.Variable+"="+addr)
			}
			out, err := output(t, cmd)
			if exitCode(err) != cli.ExitUsage || strings.Contains(out, secret) {
				t.Errorf("%q, %s: exit code %d\n%s", args, addr, exitCode(err), out)
			}
		}
		if _, err := lease.OpenStore(t.Context(), addr); !errors.Is(err, driver.ErrAddress) || strings.Contains(err.Error(), secret) {
			t.Errorf("OpenStore(%s): %v", addr, err)
		}
		if made := slices.Concat(listing(t, dir), listing(t, filepath.Dir(dir))); !slices.Equal(made, []string{"empty"}) {
			t.Errorf("%s: %q were made", addr, made)
		}
	}
}

// TestPostgresql: postgresql:// is postgres://, for every command.
func TestPostgresql(t *testing.T) {
	t.Parallel()
	turn.Take(t)
	short := onPostgres(t)
	long := "postgresql" + strings.TrimPrefix(short, "postgres")
	for _, args := range [][]string{
		{"pool", "create", "nanoflake", "--store", long}, {"new", "nanoflake", "--store", long}, {"new", "nanoflake", "--store", "PostgreSQL" + strings.TrimPrefix(long, "postgresql")},
		{"new", "nanoflake", "--store", short}, {"pool", "show", "nanoflake", "--store", long}, {"pool", "doctor", "--store", long}, {"pool", "permissions", "--store", long, "--user", "ids"},
		{"serve", "--check", "--store", long},
	} {
		stdout, stderr, code := firnRun(t, "", args...)
		if code != cli.ExitOK && args[0] != "serve" || strings.Contains(stdout, "postgresql://") { // serve lacks other pools
			t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	store, err := lease.OpenStore(t.Context(), long)
	check(t, err)
	defer store.Close()
	if names, err := lease.Names(t.Context(), store); err != nil || !slices.Equal(names, []string{"nanoflake"}) {
		t.Errorf("%s: %q, %v", store, names, err)
	}
	again, err := lease.OpenStore(t.Context(), short)
	check(t, err)
	defer again.Close()
	if store.String() != again.String() {
		t.Errorf("one store is %s and %s", store, again)
	}
}
