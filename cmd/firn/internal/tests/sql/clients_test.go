package sql

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestClients: the clients psql and mariadb run the scripts.
func TestClients(t *testing.T) {
	t.Run("psql", func(t *testing.T) {
		d := postgres.fresh(t)
		config, err := pgx.ParseConfig(services.PostgreSQL.Address())
		testkit.OK(t, err)
		name := d.strings(t, "SELECT current_database()")[0]
		run := client(t, []string{"PGPASSWORD=" + config.Password}, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", config.Host, "-p", strconv.Itoa(int(config.Port)), "-U", config.User, "-d", name)
		clientRuns(t, d, run)
	})
	t.Run("mariadb", func(t *testing.T) {
		d := mariadb.fresh(t)
		config, err := mysql.ParseDSN(services.MariaDB.Address())
		testkit.OK(t, err)
		host, port, err := net.SplitHostPort(config.Addr)
		if err != nil {
			services.Missing(t, "the client mariadb needs the address of a TCP port in FIRN_TEST_MYSQL: %v", err)
		}
		name := d.strings(t, "SELECT DATABASE()")[0]
		run := client(t, []string{"MYSQL_PWD=" + config.Passwd}, "mariadb", "-h", host, "-P", port, "-u", config.User, name)
		clientRuns(t, d, run)
	})
}

// client returns a function that runs a script by the client of a database.
func client(t *testing.T, env []string, program string, args ...string) func(script string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		services.Missing(t, "the client %s is not in the PATH", program)
	}
	return func(script string) {
		t.Helper()
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v: %s", program, err, out)
		}
	}
}

// clientRuns runs the scripts by the client: up, up and down.
func clientRuns(t *testing.T, d database, run func(script string)) {
	t.Helper()
	before := d.objects(t)
	up, down := script(t, d.command), script(t, d.command, "--down")
	run(up)
	run(up)
	id := "974901554009075751"
	if got := d.strings(t, "SELECT "+d.call(t, "", "nanoflake", "text", id)); got[0] != "07en9rb30swmf" {
		t.Errorf("the text of %s is %s", id, got)
	}
	run(down)
	if after := d.objects(t); len(after) != len(before) {
		t.Errorf("left: %s", after)
	}
}
