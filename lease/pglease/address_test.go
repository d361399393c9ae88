package pglease

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

func TestAddress(t *testing.T) {
	storetest.Unset(t, "PG")
	file := filepath.Join(t.TempDir(), "password")
	testkit.OK(t, os.WriteFile(file, []byte("of the file\n"), 0o600))
	t.Setenv("FIRN_TEST_PASSWORD", "of the environment")
	for _, c := range []struct {
		address  string
		string   string
		user     string
		password string
		check    func(*pgxpool.Config, Options) bool
	}{
		{"postgres://me@host/db", "postgres://host:5432/db", "me", "", func(c *pgxpool.Config, o Options) bool {
			return o == Options{DefaultTable, DefaultTimeout} && c.MaxConns == 4 && c.MaxConnIdleTime == time.Minute && c.PingTimeout == time.Second &&
				c.ConnConfig.RuntimeParams["application_name"] == "firn" && len(c.ConnConfig.RuntimeParams) == 1 && c.ConnConfig.TLSConfig != nil
		}},
		{"postgresql://me:it's%20%26%20%2B@host:6000,host2/a%2Fb%3Fc?sslmode=disable", "postgres://host:6000,host2:5432/a/b%3Fc", "me", "it's & +",
			func(c *pgxpool.Config, o Options) bool {
				return c.ConnConfig.Database == "a/b?c" && c.ConnConfig.TLSConfig == nil
			}},
		{"postgres://me@[::1]:6000/db?password-file=" + file, "postgres://[::1]:6000/db", "me", "of the file", nil},
		{"postgres://me@host/db?password-env=FIRN_TEST_PASSWORD", "postgres://host:5432/db", "me", "of the environment", nil},
		{"postgres://me@host/db?password=said", "postgres://host:5432/db", "me", "said", nil},
		{"postgres://me@/db?host=/run/postgresql&port=6000", "postgres://%2Frun%2Fpostgresql:6000/db", "me", "", nil},
		{"postgres://me@%2Frun%2Fpostgresql:6000/db", "postgres://%2Frun%2Fpostgresql:6000/db", "me", "", nil},
		{"postgres://me@host/db?table=Firn.le-as_es$&timeout=300ms&pool_max_conns=7&pool_max_conn_idle_time=2s&application_name=a+b%26c&connect_timeout=3",
			"postgres://host:5432/db", "me", "", func(c *pgxpool.Config, o Options) bool {
				return o == Options{"Firn.le-as_es$", 300 * time.Millisecond} && c.MaxConns == 7 && c.MaxConnIdleTime == 2*time.Second &&
					c.ConnConfig.RuntimeParams["application_name"] == "a b&c" && c.ConnConfig.ConnectTimeout == 3*time.Second
			}},
	} {
		config, o, err := parse(address.Parse(c.address))
		if err != nil {
			t.Errorf("%s: %v", c.address, err)
			continue
		}
		if got := describe(config.ConnConfig); got != c.string {
			t.Errorf("%s is shown as %s, want %s", c.address, got, c.string)
		}
		again, _, err := parse(address.Parse(c.string))
		if err != nil || describe(again.ConnConfig) != c.string {
			t.Errorf("%s is read as %v (%v)", c.string, again, err)
		}
		// The store's own name leads to the same table.
		s := testkit.Must(newStore(config.ConnConfig, o))
		if again, table, err := parse(address.Parse(s.String())); err != nil || describe(again.ConnConfig) != c.string || table.Table != o.Table ||
			strings.Contains(s.String(), "table=") != (o.Table != DefaultTable) || c.password != "" && strings.Contains(s.String(), c.password) {
			t.Errorf("%s, with table %s, is shown as %s (%v)", c.address, o.Table, s, err)
		}
		if config.ConnConfig.User != c.user || config.ConnConfig.Password != c.password || strings.Contains(config.ConnString(), c.password) && c.password != "" {
			t.Errorf("%s: user %q, password %q, in %q", c.address, config.ConnConfig.User, config.ConnConfig.Password, config.ConnString())
		}
		if c.check != nil && !c.check(config, o) {
			t.Errorf("%s: %+v, %+v, %+v", c.address, config, config.ConnConfig, o)
		}
	}
}

// TestEnvironment is of libpq's variables and files.
func TestEnvironment(t *testing.T) {
	storetest.Unset(t, "PG")
	passfile := filepath.Join(t.TempDir(), "pgpass")
	testkit.OK(t, os.WriteFile(passfile, []byte("there:6000:db:me:of the file\n"), 0o600))
	for name, value := range map[string]string{"PGHOST": "there", "PGPORT": "6000", "PGDATABASE": "db", "PGUSER": "me", "PGPASSFILE": passfile,
		"PGAPPNAME": "mine", "PGTARGETSESSIONATTRS": "standby"} {
		t.Setenv(name, value)
	}
	config, _, err := parse(address.Parse("postgres://"))
	testkit.OK(t, err)
	c := config.ConnConfig
	if describe(c) != "postgres://there:6000/db" || c.User != "me" || c.Password != "of the file" || c.RuntimeParams["application_name"] != "mine" {
		t.Errorf("%s of %s with %q, %v", describe(c), c.User, c.Password, c.RuntimeParams)
	}
	if config, _, err = parse(address.Parse("postgres://you@here/other?application_name=yours")); err != nil {
		t.Fatal(err)
	}
	if c = config.ConnConfig; describe(c) != "postgres://here:6000/other" || c.User != "you" || c.RuntimeParams["application_name"] != "yours" {
		t.Errorf("%s of %s, %v", describe(c), c.User, c.RuntimeParams)
	}
}

func TestBadAddress(t *testing.T) {
	storetest.Unset(t, "PG")
	for addr, want := range map[string]string{
		"mysql://host/db":                                         "want postgres://",
		"host=127.0.0.1 dbname=test":                              "scheme://",
		"postgres://me@host/db?tabel=x":                           "no setting tabel",
		"postgres://me@host/db?search_path=x":                     "no setting search_path",
		"postgres://me@host/db?default_query_exec_mode=exec":      "no setting default_query_exec_mode",
		"postgres://me@host/db?host=/tmp":                         "no setting host",
		"postgres://me@host/db?table=a.b.c":                       `table "a.b.c"`,
		"postgres://me@host/db?table=.b":                          `table ".b"`,
		"postgres://me@host/db?table=a.":                          `table "a."`,
		`postgres://me@host/db?table="a"`:                         "want schema.name",
		"postgres://me@host/db?table=é":                           "want schema.name",
		"postgres://me@host/db?table=" + strings.Repeat("a", 64):  "up to 63",
		"postgres://me@host/db?target_session_attrs=standby":      "target_session_attrs",
		"postgres://me@host/db?target_session_attrs=hunter2":      "target_session_attrs",
		"postgres://me:hunter2@host/db?sslmode=perhaps":           "sslmode is invalid",
		"postgres://me:hunter2@host/db?sslrootcert=/nowhere":      "no such file",
		"postgres://me:hunter2@host/db?connect_timeout=soon":      "connect_timeout",
		"postgres://me:hunter2@host/db?pool_max_conns=0":          "pool_max_conns",
		"postgres://me:hunter2@host/db?pool_max_conns=2000000000": "1 to 1000",
		"postgres://me:hunter2@host/db?pool_max_conns=many":       "pool_max_conns",
		"postgres://me:hunter2@host/db?service=nothing":           "service",
	} {
		s, err := Open(t.Context(), addr)
		var e *driver.Error
		if !errors.As(err, &e) || !errors.Is(err, driver.ErrAddress) || !errors.Is(err, driver.ErrUnavailable) || e.Op != "open" || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): %v, %v; want an error that is ErrAddress, with %q", addr, s, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%s): %v", addr, err)
		}
	}
}
