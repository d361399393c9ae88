package tests

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/testing/turn"
)

// A host runs firn in default directories, as users do.
type host struct {
	*testing.T
	exe string
	dir string // anybody can look into it
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{T: t, dir: t.TempDir()}
	h.exe = copyFirn(t, h.dir)
	if _, stderr, code := h.run(nil, h.home("probe", os.Getuid()), "new", "nanoflake"); code != 0 {
		t.Skipf("the temporary directory is none for a default store: %s", stderr)
	}
	return h
}

// home makes a user's home.
func (h *host) home(name string, uid int) string {
	h.Helper()
	home := filepath.Join(h.dir, name)
	check(h.T, os.Mkdir(home, 0o700), os.Chown(home, uid, -1))
	return home
}

func (h *host) command(user *syscall.Credential, home string, args ...string) *exec.Cmd {
	cmd := exec.Command(h.exe, args...)
	cmd.Dir = "/"
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_STATE_HOME=") }),
		"HOME="+home, asUsers+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	return cmd
}

func (h *host) run(user *syscall.Credential, home string, args ...string) (stdout, stderr string, code int) {
	stdout, stderr, code = capture(h.T, h.command(user, home, args...))
	return stdout, withoutNotes(stderr), code
}

// TestTwoUsers: two users of a host, each with a pool, make distinct IDs at once.
func TestTwoUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as several users")
	}
	turn.Take(t)
	h := newHost(t)
	runs := [][]string{
		{"nanoflake", "-n", "200000"},
		{"snowflakesi", "-n", "40000"},
		{"snowflakesi", "-n", "200000", "--machine-bits", "0"}, // one worker
		{"snowflakesi", "-n", "100000", "--machine-bits", "1"},
		{"ulidflake-scalable", "-n", "3000"},
		{"ulidflake", "-n", "100000", "--fenced"}, // no worker, but times
		{"scru160", "-n", "100000", "--fenced"},
		{"sno", "-n", "200000"},
	}
	users := make(map[int]string)
	for _, uid := range []int{54001, 54002} {
		users[uid] = h.home(strings.Repeat("u", uid-54000), uid)
	}
	rounds := 50
	if testing.Short() {
		rounds = len(runs)
	}
	for round := range rounds {
		args := append([]string{"new"}, runs[round%len(runs)]...)
		var s seen
		var wg sync.WaitGroup
		for uid, home := range users {
			wg.Go(func() {
				out, stderr, code := h.run(&syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}, home, args...)
				if code != 0 || stderr != "" {
					t.Errorf("%q: exit code %d: %s", args, code, stderr)
				}
				s.note(out)
			})
		}
		wg.Wait()
		if s.twice > 0 || len(s.ids) == 0 {
			t.Fatalf("%q: %d IDs twice, of %d", args, s.twice, len(s.ids))
		}
	}
}

// TestBakedIn: a directory that is part of an image is a copy in each container.
func TestBakedIn(t *testing.T) {
	h := newHost(t)
	home := h.home("image", os.Getuid())
	if _, stderr, code := h.run(nil, home, "new", "nanoflake"); code != 0 {
		t.Fatal(stderr)
	}
	container := filepath.Join(h.dir, "container")
	if out, err := output(t, exec.Command("cp", "-a", home, container)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	state := filepath.Join(container, ".local/state/firn")
	for _, args := range [][]string{{"new", "nanoflake"}, {"new", "nanoflake", "--state", state}, {"pool", "rescue", "nanoflake", "--yes"}} {
		out, stderr, code := h.run(nil, container, args...)
		if code != cli.ExitFailed || out != "" || !strings.Contains(stderr, "is a copy of another store") || !strings.Contains(stderr, "firn pool rescue --all") {
			t.Errorf("%q: exit code %d\n%s%s", args, code, out, stderr)
		}
	}
	if out, _, code := h.run(nil, container, "pool", "doctor"); code != cli.ExitFailed || !strings.Contains(out, "problem  store: ") {
		t.Errorf("firn pool doctor: exit code %d\n%s", code, out)
	}
	if out, stderr, code := h.run(nil, container, "pool", "rescue", "--all", "--yes", "--no-wait", "--skew", "1h"); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, stderr, code := h.run(nil, container, "new", "nanoflake", "--wait", "0"); code != cli.ExitFailed || !strings.Contains(stderr, "since the pool was rescued") {
		t.Errorf("at once after the rescue: exit code %d: %s", code, stderr)
	}
	if _, stderr, code := h.run(nil, home, "new", "nanoflake"); code != 0 {
		t.Errorf("the original: %s", stderr)
	}
}

// TestSharedWorkerIsSaid: a named store takes a worker that the default store uses, if the format has no
// other worker, and warns. firn pool doctor warns for both stores.
func TestSharedWorkerIsSaid(t *testing.T) {
	turn.Take(t)
	h := newHost(t)
	home := h.home("user", os.Getuid())
	named := []string{"--state", filepath.Join(h.dir, "named")}
	endless := func(args ...string) (cmd *exec.Cmd, stderr string) {
		cmd = h.command(nil, home, append([]string{"new", "ulidflake", "--fenced", "-n", "1000000000000"}, args...)...)
		said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
		check(t, err)
		defer said.Close()
		cmd.Stderr = said
		out, err := cmd.StdoutPipe()
		check(t, err)
		start(t, cmd)
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(said.Name())
		check(t, err)
		return cmd, withoutNotes(string(text))
	}
	first, _ := endless()
	second, stderr := endless(named...)
	shared := func(with *exec.Cmd) string {
		return fmt.Sprintf("worker 0: IDs can be equal to IDs of another store, unless both use one directory: in use by another store on this machine: process %d (firn)\n", with.Process.Pid)
	}
	if want := "firn: warning: pool ulidflake: " + shared(first); stderr != want {
		t.Errorf("stderr %q, not %q", stderr, want)
	}
	for _, c := range []struct {
		with *exec.Cmd
		args []string
	}{{first, named}, {second, nil}} {
		want := "warning  workers of ulidflake: " + shared(c.with)
		if out, stderr, code := h.run(nil, home, append([]string{"pool", "doctor"}, c.args...)...); code != 0 || strings.Count(out, want) != 1 {
			t.Errorf("doctor %q: exit code %d, %s\n%s, without\n%s", c.args, code, stderr, out, want)
		}
	}
}
