package server

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/services"
)

// asVictim names the end of a process of tests that leaves a schema, a database and a key.
const asVictim = "FIRN_DOCS_TEST_END"

// TestVictim is the test that leaves things behind. It prints their names, and ends as asVictim says.
func TestVictim(t *testing.T) {
	end := os.Getenv(asVictim)
	if end == "" {
		t.Skip("TestNothingStays runs this test in processes of its own")
	}
	db, config := PostgresDB(t), MySQL(t)
	client, prefix := Redis(t)
	tx, err := db.BeginTx(t.Context(), nil) // with locks on the schema
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var schema string
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRowContext(t.Context(), "SELECT current_schema() FROM (SELECT count(*) FROM orders) n").Scan(&schema); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", "a", "b"} {
		if err := client.Set(t.Context(), prefix+key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if has(t, schema, config.DBName, prefix) != "schema database key" {
		t.Fatal("the test shows nothing")
	}
	fmt.Println("left", schema, config.DBName, prefix)
	switch end {
	case "fail":
		t.Fatal("it fails")
	case "panic":
		panic("it panics")
	default: // a signal
		select {}
	}
}

// has returns which of a schema, a database and keys are there.
func has(t *testing.T, schema, database, prefix string) string {
	t.Helper()
	var found []string
	for _, v := range []struct{ what, driver, source, query, name string }{
		{"schema", "pgx", services.PostgreSQL.Address(), "SELECT count(*) FROM pg_namespace WHERE nspname = $1", schema},
		{"database", "mysql", services.MariaDB.Address(), "SELECT count(*) FROM information_schema.schemata WHERE schema_name = ?", database},
	} {
		db, err := sql.Open(v.driver, v.source)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var n int
		if err := db.QueryRowContext(t.Context(), v.query, v.name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			found = append(found, v.what)
		}
	}
	options, err := redis.ParseURL(services.Redis.Address())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	names, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		found = append(found, "key")
	}
	return strings.Join(found, " ")
}

// TestNothingStays ends processes of tests. Nothing of them stays on the servers.
func TestNothingStays(t *testing.T) {
	Postgres(t) // skips the test without the servers
	MySQL(t)
	Redis(t)
	signals := map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGKILL": syscall.SIGKILL}
	for _, end := range []string{"fail", "panic", "SIGINT", "SIGKILL"} {
		t.Run(end, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
			cmd.Env = append(os.Environ(), asVictim+"="+end)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			line, _ := lines.ReadString('\n')
			var schema, database, prefix string
			_, err = fmt.Sscanf(line, "left %s %s %s", &schema, &database, &prefix)
			if sig, ok := signals[end]; ok || err != nil {
				syscall.Kill(-cmd.Process.Pid, max(sig, syscall.SIGINT)) // as a terminal does
			}
			lines.WriteTo(new(bytes.Buffer))
			cmd.Wait() // also for the keepers, which write to the same pipe
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if found := has(t, schema, database, prefix); found != "" || strings.Contains(complaints.String(), "undoing") {
				t.Errorf("left: %q: %s", found, &complaints)
			}
		})
	}
}
