package tests

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/testing/services"
)

// elsewhere are commands whose examples need a server or many minutes, and the tests of the commands.
var elsewhere = map[string]string{
	"sql feed": "tests/sqlgen runs the command beside PostgreSQL",
	"torture":  "testdata/torture.txtar runs the command with each flag",
}

// before are the commands that an example follows, beside the examples above. A recovery is of an old pool.
var before = map[string][]string{
	"pool list":   {"firn new nanoflake --state ids", "firn new nanoflake"},
	"pool show":   {"firn new nanoflake --worker 3", "firn new nanoflake"},
	"pool who":    {"firn new nanoflake"},
	"pool doctor": {"firn new nanoflake", "firn pool create nanoflake --store postgres://ids@db/app"},
	"serve":       {"firn new nanoflake --state /var/lib/firn"},
	"pool recover": {
		"firn pool create nanoflake --store postgres://ids@db/app", "firn pool create nanoflake --name orders --state /var/lib/firn",
	},
}

// standIns are programs in examples that a fresh machine may not have. Other tests run the SQL.
var standIns = []string{"psql", "mariadb", "mysql", "sqlite3"}

// server matches the address of a store in an example, and a directory that only root may make.
var server = regexp.MustCompile(`'?\b(etcd|postgres|rediss?|kubernetes)://[^ ']+'?|/var/lib/firn`)

// TestExamples: each command has at most three examples, and the examples work as written, in their order, in an empty
// directory of a user who has never run firn. Directories stand for stores on servers. No recovery asks
// or waits.
func TestExamples(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		services.Missing(t, "bash, which runs the examples as users do, is not there: %v", err)
	}
	stubs := t.TempDir()
	for _, name := range standIns {
		check(t, os.WriteFile(filepath.Join(stubs, name), []byte("#!/bin/sh\nexec cat >/dev/null\n"), 0o755))
	}
	for path, cmd := range newTree(t).all() {
		t.Run(strings.ReplaceAll("firn "+path, " ", "-"), func(t *testing.T) {
			t.Parallel()
			switch {
			case strings.HasPrefix(path, "completion"):
				return // the library's help shows how
			case !strings.Contains(cmd.Example, "firn "+path):
				t.Fatal("no examples")
			case strings.Count(cmd.Example, "\n") > 2:
				t.Fatal("more than three examples")
			case elsewhere[path] != "":
				return
			}
			s := newSandbox(t, stubs)
			if path == "serve" {
				s.files(t, "serve.txtar", "firn.toml", "tokens.toml", "tls.crt", "tls.key")
			}
			for _, line := range append(before[path], strings.Split(strings.TrimSpace(cmd.Example), "\n")...) {
				s.example(t, strings.TrimSpace(line))
			}
			if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 {
				t.Errorf("files are left in TMPDIR: %v, %v", left, err)
			}
		})
	}
}

// A sandbox is a directory with a home, a work directory and a directory for temporary files.
type sandbox struct{ dir, home, work, tmp, path string }

func newSandbox(t *testing.T, stubs string) sandbox {
	dir := t.TempDir()
	s := sandbox{dir, filepath.Join(dir, "home"), filepath.Join(dir, "work"), filepath.Join(dir, "tmp"), stubs + ":" + os.Getenv("PATH")}
	check(t, os.MkdirAll(filepath.Join(s.home, ".config", "fish", "completions"), 0o755), os.Mkdir(s.work, 0o755), os.Mkdir(s.tmp, 0o755))
	return s
}

// example runs a line as bash does, and demands success. With --json, the output is an object a line, also where
// colour is forced. With NO_COLOR, nothing has a colour.
func (s sandbox) example(t *testing.T, line string) {
	t.Helper()
	typed := server.ReplaceAllStringFunc(line, func(address string) string {
		sum := sha256.Sum256([]byte(address))
		dir := filepath.Join(s.dir, hex.EncodeToString(sum[:4]))
		if strings.HasPrefix(address, "/") {
			return dir
		}
		return "file://" + dir
	})
	if strings.HasPrefix(line, "firn pool permissions") { // makes no connection
		typed = line
	}
	if strings.HasPrefix(typed, "firn pool recover") {
		typed += " --yes --no-wait"
	}
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", typed)
	cmd.Dir = s.work
	colour := "NO_COLOR=1"
	if strings.Contains(line, "--json") {
		colour = "NO_COLOR="
	}
	cmd.Env = append(os.Environ(), "CLICOLOR_FORCE=1", colour, "HOME="+s.home, stores.Variable+"="+filepath.Join(s.home, "ids"), "TMPDIR="+s.tmp, "PATH="+s.path)
	if strings.HasPrefix(typed, "firn serve") && !strings.Contains(typed, "--check") {
		s.serves(t, line, cmd, typed)
		return
	}
	stdout, stderr, code := capture(t, cmd)
	if code != 0 || strings.Contains(stderr, "warning") {
		t.Errorf("exit code %d: %s\n%.500s%s", code, line, stdout, stderr)
	}
	if colour == "NO_COLOR=1" && strings.Contains(stdout+stderr, "\x1b") {
		t.Errorf("%s: colour with NO_COLOR: %.500q%q", line, stdout, stderr)
	}
	if strings.Contains(line, "--json") && !strings.ContainsAny(line, "|>") {
		for object := range strings.Lines(stdout) {
			var members map[string]any
			if err := json.Unmarshal([]byte(object), &members); err != nil {
				t.Errorf("%s: %v: not an object in a line: %.300s", line, err, object)
			}
		}
		if stdout == "" {
			t.Errorf("no output: %s", line)
		}
	}
}

// files writes files that examples name, from the script of a command.
func (s sandbox) files(t *testing.T, script string, names ...string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", script))
	check(t, err)
	for _, f := range archive.Files {
		if slices.Contains(names, f.Name) {
			check(t, os.WriteFile(filepath.Join(s.work, f.Name), f.Data, 0o600))
		}
	}
}

// port matches an address of an example that a server listens on.
var port = regexp.MustCompile(`(127\.0\.0\.1|\[::1\]|0\.0\.0\.0):\d+`)

// serves demands that a server listens at any free port, and ends by SIGTERM.
func (s sandbox) serves(t *testing.T, line string, cmd *exec.Cmd, typed string) {
	t.Helper()
	typed = port.ReplaceAllString(typed, "127.0.0.1:0")
	if !strings.Contains(typed, "--listen") {
		typed += " --listen 127.0.0.1:0"
	}
	cmd.Args[len(cmd.Args)-1] = "exec " + typed
	errs, err := cmd.StderrPipe()
	check(t, err)
	start(t, cmd)
	var log strings.Builder
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "msg=listening") {
			check(t, cmd.Process.Signal(syscall.SIGTERM))
			break
		}
	}
	rest, err := io.ReadAll(errs)
	check(t, err)
	log.Write(rest)
	if err := cmd.Wait(); err != nil || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("%s: %v\n%s", line, err, &log)
	}
}
