package tests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/servers/turn"
)

// A host runs firn as its users do: in directories that nobody has named.
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
	if err := os.Mkdir(home, 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.Chown(home, uid, -1); err != nil {
		h.Fatal(err)
	}
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
	var out, err bytes.Buffer
	cmd := h.command(user, home, args...)
	cmd.Stdout, cmd.Stderr = &out, &err
	code = exitCode(run(h.T, cmd))
	return out.String(), err.String(), code
}

// seen notes IDs, and counts those that come again.
type seen struct {
	mu    sync.Mutex
	ids   map[string]bool
	twice int
}

func (s *seen) note(lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = make(map[string]bool)
	}
	for id := range strings.Lines(lines) {
		if s.ids[id] {
			s.twice++
		}
		s.ids[id] = true
	}
}

// TestTwoUsers: two users of a host, each with a pool, make no ID twice at once.
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

// TestPassingDirectories: a directory may be lost with its container, or at a restart. firn refuses such
// a directory unless an option names the directory. firn then says what can be lost.
func TestPassingDirectories(t *testing.T) {
	const mounts = `
		set -e
		cd "$1"
		mount -t tmpfs none tmpfs
		mkdir -p tmpfs/home upper/a upper/b work/a work/b lower/etc a b pod/volumes/kubernetes.io~empty-dir/state emptydir
		for container in a b; do
			mount -t overlay -o "lowerdir=lower,upperdir=upper/$container,workdir=work/$container" none $container
		done
		mount --bind pod/volumes/kubernetes.io~empty-dir/state emptydir
		unset XDG_STATE_HOME
		for home in tmpfs/home a b emptydir; do
			echo "== $home"
			HOME="$PWD/$home" firn new nanoflake 2>&1 && echo "made: $home"
			HOME="$PWD/$home" firn pool doctor 2>&1 && echo "well: $home"
			firn new nanoflake --state "$PWD/$home/named" >id 2>said || echo "not made: $(cat said)"
			echo "named: $(wc -l <id) $(cat said)"
			firn pool doctor --state "$PWD/$home/named" && echo "well: $home"
		done
		exit 0
	`
	dir := t.TempDir()
	for _, d := range []string{"tmpfs", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := output(t, exec.Command("unshare", "-rm", "sh", "-ec", `cd "$1"; mount -t tmpfs none upper; mkdir upper/u upper/w upper/l; mount -t overlay -o lowerdir=upper/l,upperdir=upper/u,workdir=upper/w none work`,
		"sh", dir)); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", "-rm", "sh", "-c", mounts, "sh", dir)
	cmd.Env = append(os.Environ(), asUsers+"=1")
	all, err := output(t, cmd)
	if err != nil {
		t.Fatalf("%v\n%s", err, all)
	}
	parts := strings.Split(all, "== ")[1:]
	if len(parts) != 4 {
		t.Fatalf("of four directories:\n%s", all)
	}
	for _, part := range parts {
		for _, want := range []string{
			": unsafe store: ", "on a volume", "use a store that machines share", "--worker", // refused
			"named: 1 firn: warning: ", "problem  store: ", // named
		} {
			if !strings.Contains(part, want) {
				t.Errorf("no %q in:\n%s", want, part)
			}
		}
		for _, wrong := range []string{"made: ", "well: "} {
			if strings.Contains(part, wrong) {
				t.Errorf("%q in:\n%s", wrong, part)
			}
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
