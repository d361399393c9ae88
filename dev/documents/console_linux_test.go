package documents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
)

// servers are the pages that need a server of PostgreSQL of their own, or a database of MariaDB.
var servers = map[string]struct{ postgres, mariadb bool }{
	"docs/deploy.md":        {postgres: true},
	"docs/sql-functions.md": {postgres: true, mariadb: true},
	"docs/stores.md":        {postgres: true},
}

// TestConsole runs the console blocks of each page in the page's order, in an empty folder of a user who has never run firn.
// A command fails if the page shows an error, and only then.
func TestConsole(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-o", filepath.Join(bin, "firn"), "./cmd/firn")
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range pages(t) {
		run := slices.DeleteFunc(page, func(b *block) bool {
			how, err := treat(b)
			return err != nil || how != console && how != session
		})
		if len(run) == 0 {
			continue
		}
		t.Run(run[0].page, func(t *testing.T) {
			s := newPlace(t, bin, run[0].page)
			for _, fault := range s.run(run) {
				t.Error(fault)
			}
		})
	}
}

// A place is where the commands of a page run.
type place struct {
	dir         string
	preparation string
	env         []string
	hosts       *strings.Replacer // from the page's hosts and directories to those of the place
}

func newPlace(t *testing.T, bin, page string) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{dir: dir}
	if file := prepared(page, ".sh"); file != "" {
		p.preparation, _ = filepath.Abs(file)
	}
	for _, name := range []string{"home", "work", "tmp", "etc", "var/lib", "run/secrets"} {
		testkit.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	testdata := testkit.Must(filepath.Abs("testdata"))
	repository := testkit.Must(filepath.Abs(top))
	of := map[string]string{}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		of[name] = value
	}
	p.env = []string{
		"PATH=" + bin + ":" + of["PATH"], "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"), "DIR=" + dir,
		"LC_ALL=C.UTF-8", "TZ=UTC", "USER=" + of["USER"],
		"STATE=" + filepath.Join(dir, "var/lib/firn"), "REPOSITORY=" + repository, "TESTDATA=" + testdata,
	}
	from := []string{
		"/var/lib/firn", filepath.Join(dir, "var/lib/firn"), "/run/secrets/", filepath.Join(dir, "run/secrets") + "/",
		"/root/", filepath.Join(dir, "home") + "/",
	}
	if servers[page].postgres {
		s, err := pgtest.Start(t.Context(), pgtest.Config{})
		services.Need(t, err, pgtest.ErrMissing)
		t.Cleanup(func() { s.Close() })
		p.env = append(p.env, "PGHOST=127.0.0.1", fmt.Sprintf("PGPORT=%d", s.Port()), "PGUSER=postgres")
		from = append(from, "-h db ", "-h 127.0.0.1 ", "@db/", fmt.Sprintf("@127.0.0.1:%d/", s.Port()), "sslmode=verify-full", "sslmode=disable")
	}
	if servers[page].mariadb {
		c := database.MySQL(t)
		host, port, _ := strings.Cut(c.Addr, ":")
		p.env = append(p.env, "MARIADB_HOST="+host, "MARIADB_PORT="+port, "MARIADB_USER="+c.User, "MARIADB_PASSWORD="+c.Passwd, "MARIADB_NAME="+c.DBName)
	}
	p.hosts = strings.NewReplacer(from...)
	return p
}

// driver is the session. It gets files with commands, and writes the output and the status of each command beside its file.
// A command that goes on ends by SIGTERM as soon as its output has the text of a third file.
const driver = `
set -o pipefail
cd "$DIR/work"
before() { :; }
since= # when the preparation saw a state that passes within seconds, in seconds
for file in "$DIR"/preparation.sh "$DIR"/commands/*.sh; do
	command=$(<"$file")
	if [ "$file" != "$DIR/preparation.sh" ]; then
		before "$command" "$(<"$file.shown")" >"$file.before" 2>&1 </dev/null || { echo "$?" >"$file.prepared"; continue; }
	fi
	if [ -e "$file.until" ]; then
		set -m
		eval "$command" >"$file.out" 2>&1 </dev/null &
		pid=$! ended=
		set +m
		until grep -q -f "$file.until" "$file.out"; do
			kill -0 "$pid" 2>/dev/null || { ended=yes; break; }
			sleep 0.05
		done
		[ -n "$ended" ] || kill -TERM -- "-$pid"
		wait "$pid"
		status=$?
		[ -n "$ended" ] || [ "$status" != 143 ] || status=0
		[ -z "$ended" ] || [ "$status" != 0 ] || status="0, too early"
	else
		eval "$command" >"$file.out" 2>&1 </dev/null
		status=$?
		while [ -n "$since" ] && [ "$((EPOCHSECONDS - since))" -ge 5 ] && before "$command" "$(<"$file.shown")" >"$file.before" 2>&1 </dev/null; do
			eval "$command" >"$file.out" 2>&1 </dev/null
			status=$?
		done
	fi
	echo "$status" >"$file.status"
done
`

// run runs the blocks in one session, and returns what is wrong.
func (p *place) run(blocks []*block) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	dir := filepath.Join(p.dir, "commands")
	preparation := ":"
	if p.preparation != "" {
		text, err := os.ReadFile(p.preparation)
		if err != nil {
			return []error{err}
		}
		preparation = string(text)
	}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(p.dir, "preparation.sh"), []byte(preparation), 0o600)); err != nil {
		return []error{err}
	}
	var commands []*command
	for _, b := range blocks {
		if b.language == "console" {
			of, err := b.commands()
			if err != nil {
				return []error{err}
			}
			commands = append(commands, of...)
			continue
		}
		file := filepath.Join(dir, fmt.Sprintf("block%d", b.line))
		if err := os.WriteFile(file, []byte(p.hosts.Replace(b.text)), 0o600); err != nil {
			return []error{err}
		}
		commands = append(commands, &command{block: b, text: "block_" + b.language + " " + file})
	}
	file := func(i int, name string) string { return filepath.Join(dir, fmt.Sprintf("%03d.sh%s", i, name)) }
	for i, c := range commands {
		typed, until := p.hosts.Replace(c.text), ""
		switch {
		case strings.HasPrefix(typed, "firn pool recover"): // asks, and waits more than a minute
			typed = strings.TrimSuffix(typed, " --yes") + " --yes --no-wait"
		case strings.HasPrefix(typed, "firn serve") && !strings.Contains(typed, "--check"):
			typed, until = regexp.MustCompile(`^firn serve`).ReplaceAllString(typed, "$0 --listen 127.0.0.1:0"), "msg=listening"
		}
		if until != "" {
			if err := os.WriteFile(file(i, ".until"), []byte(until+"\n"), 0o600); err != nil {
				return []error{err}
			}
		}
		page := strings.Join(c.shown, "\n")
		if err := errors.Join(os.WriteFile(file(i, ""), []byte(typed), 0o600), os.WriteFile(file(i, ".shown"), []byte(page), 0o600)); err != nil {
			return []error{err}
		}
	}
	said, err := p.session()
	if err != nil {
		fault("%s: %v\n%s", blocks[0].page, err, said)
	}
	for i, c := range commands {
		read := func(name string) string {
			text, err := os.ReadFile(file(i, name))
			if err != nil {
				return ""
			}
			return strings.TrimSuffix(string(text), "\n")
		}
		if status := read(".prepared"); status != "" {
			fault("%s: the preparation of %s ends with %s: %s", c.block, c.text, status, read(".before"))
			continue
		}
		status, out := read(".status"), read(".out")
		switch {
		case status == "":
			fault("%s: %s\nhas not ended\n%s", c.block, c.text, out)
		case c.fails() && status == "0":
			fault("%s: %s\nends with 0, and the page shows an error\n%s", c.block, c.text, out)
		case !c.fails() && status != "0":
			fault("%s: %s\nends with %s\n%s", c.block, c.text, status, out)
		}
	}
	return faults
}

// session runs bash, and all that bash has started ends with it.
func (p *place) session() (said string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*wait.Patience)
	defer cancel()
	var log process.Logbook
	cmd := exec.Command("bash", "--noprofile", "--norc", "-c", driver)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, &log, &log
	bash, err := process.Start(cmd)
	if err != nil {
		return "", err
	}
	end := sync.OnceFunc(func() { syscall.Kill(-bash.Pid(), syscall.SIGKILL) })
	defer end()
	select {
	case <-bash.Done():
	case <-ctx.Done():
		end()
		bash.Kill()
		return log.String(), errors.New("the session does not end")
	}
	if code := bash.State().ExitCode(); code != 0 {
		return log.String(), fmt.Errorf("the session ends with %d", code)
	}
	return log.String(), nil
}
