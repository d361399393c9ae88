package tests

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/cmd/firn/internal/torture"
	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/kubetest"
	sqlplace "github.com/firn-id/firn/internal/testing/place"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
)

var schemas = sqlplace.New()

// onPostgres returns the address of a store with a schema of its own.
func onPostgres(t *testing.T) string {
	schema := "firn_test_" + strings.ToLower(rand.Text()[:10])
	schemas.Make(t, sqlplace.Server{Server: services.PostgreSQL, Driver: "pgx"},
		"CREATE SCHEMA "+schema, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	return storetest.With(services.PostgreSQL.Address(), "table="+schema+".leases")
}

// TestServerScripts: the scripts of testdata/servers, on real servers. The database of $FIRN_DATABASE has the
// generator of firn sql generator, and belongs to one run of the scripts.
func TestServerScripts(t *testing.T) {
	turn.Take(t)
	name := "firn_test_" + strings.ToLower(rand.Text()[:10])
	schemas.Make(t, sqlplace.Server{Server: services.PostgreSQL, Driver: "pgx"},
		"CREATE DATABASE "+name, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	addr, err := url.Parse(services.PostgreSQL.Address())
	check(t, err)
	addr.Path = "/" + name
	db, err := sql.Open("pgx", addr.String())
	check(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), sqlgen.Up)
	check(t, err)
	testscript.Run(t, scripts(t, "testdata/servers", sqlgen.Variable+"="+addr.String()))
}

// makesCommand is the scripts' command "makes DATABASE": it takes the interval of an earlier feed away, and waits
// until the generator in the database makes IDs.
func makesCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: makes DATABASE")
	}
	db, err := sql.Open("pgx", args[0])
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec("TRUNCATE firn.nanoflake_grant")
	ts.Check(err)
	if !wait.For(func() bool {
		var id int64
		err = db.QueryRow("SELECT firn.next_nanoflake()").Scan(&id)
		return err == nil
	}) {
		ts.Fatalf("the database makes no IDs: %v", err)
	}
}

// TestServers: on real servers, many runs of a pool make distinct IDs at once, and the commands for pools see
// the pool.
func TestServers(t *testing.T) {
	for scheme, address := range map[string]func(t *testing.T) string{
		"postgres": onPostgres,
		"etcd": func(t *testing.T) string {
			services.Full(t)
			return etcdtest.New(t, etcdtest.Config{}).Address("ids")
		},
	} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			turn.Take(t)
			addr := address(t)
			firn := func(code int, args ...string) string {
				t.Helper()
				stdout, stderr, got := firnRun(t, "", append(args, "--store", addr)...)
				if got != code {
					t.Errorf("firn %s: exit code %d, not %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
				}
				return stdout + stderr
			}
			has := func(text string, want ...string) {
				t.Helper()
				for _, w := range want {
					if !strings.Contains(text, w) {
						t.Errorf("without %q:\n%s", w, text)
					}
				}
			}
			has(firn(cli.ExitFailed, "new", "nanoflake"), "firn pool create")
			has(firn(cli.ExitOK, "pool", "create", "nanoflake"), "nanoflake ")
			has(firn(cli.ExitFailed, "pool", "create", "nanoflake"), "the pool exists")
			const runs, each = 12, 200
			var all sync.WaitGroup
			var ids seen
			for range runs {
				all.Go(func() { ids.note(firn(cli.ExitOK, "new", "nanoflake", "-n", fmt.Sprint(each))) })
			}
			all.Wait()
			ids.are(t, runs*each)
			if services.InFull() {
				has(firn(cli.ExitOK, "torture", "--network", "--processes", "4", "--duration", "8s", "--window", "100ms", "--ids", "30000", "--state", t.TempDir()),
					"\nrequests lost ", "\nmessages ", "\npassed\n")
				has(firn(cli.ExitOK, "pool", "list", "--json"), `"pool":"torture-`)
			}
			has(firn(cli.ExitOK, "pool", "list", "--json"), `"pool":"nanoflake"`)
			has(firn(cli.ExitOK, "pool", "show", "nanoflake"), "STATE", "free")
			doctor := firn(cli.ExitOK, "pool", "doctor")
			has(doctor, "ok       store: "+scheme+"://", "it takes changes", "ok       workers of nanoflake: 1024 of 1024 are free, 0 held")
			has(firn(cli.ExitOK, "pool", "recover", "nanoflake", "--yes", "--no-wait", "--skew", "1ms"), "recovered")
			has(firn(cli.ExitOK, "pool", "doctor"), "it was recovered")
			has(firn(cli.ExitOK, "new", "nanoflake"), "0") // it waits for the ten seconds of a window
			has(firn(cli.ExitOK, "pool", "show", "nanoflake"), "recovered")
		})
	}
}

// TestTortureAPI: --network finds the API of Kubernetes by the setting server, since the host of the address is a namespace.
func TestTortureAPI(t *testing.T) {
	services.Full(t)
	if !torture.Supported {
		t.Skip("torture needs a system that stops and kills processes by signals")
	}
	t.Parallel()
	turn.Take(t)
	server := kubetest.New()
	addr := "kubernetes://test/ids?timeout=1s&server=" + server.Start(t).URL
	stdout, stderr, code := firnRun(t, "", "torture", "--store", addr, "--network", "--processes", "4", "--duration", "8s", "--window", "100ms",
		"--ids", "30000", "--state", t.TempDir())
	if code != cli.ExitOK || !strings.Contains(stdout, "\nrequests lost ") || !strings.Contains(stdout, "\npassed\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
