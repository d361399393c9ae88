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

// TestPassingDirectories: a directory may be lost with its container, or at a restart. firn refuses such
// a directory unless an option names the directory. firn then warns of the loss.
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
			echo "named: $(wc -l <id) $(grep -v "^firn: note: " said)"
			firn pool doctor --state "$PWD/$home/named" && echo "well: $home"
		done
		exit 0
	`
	dir := t.TempDir()
	for _, d := range []string{"tmpfs", "upper", "work"} {
		check(t, os.Mkdir(filepath.Join(dir, d), 0o700))
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
			": unsafe store: ", "a volume that all containers", "Several machines?", "--worker", // refused
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
	if _, stderr, code := h.run(nil, container, "new", "nanoflake", "--wait", "0"); code != cli.ExitFailed || !strings.Contains(stderr, "the pool was rescued") {
		t.Errorf("at once after the rescue: exit code %d: %s", code, stderr)
	}
	if _, stderr, code := h.run(nil, home, "new", "nanoflake"); code != 0 {
		t.Errorf("the original: %s", stderr)
	}
}

// A place is where a process runs: a script of sh that runs "$@" there. ROOT is a directory for
// mounts. The programs are those of the machine, and HOME is a directory of the machine's disk.
type place struct {
	name    string
	script  string
	refused bool // without a name for the directory
}

// withRoot gives "$@" a root of its own, as RootDirectory= of systemd, a sandbox or a container does.
const withRoot = `mount -t tmpfs none "$ROOT"; cd "$ROOT"; mkdir upper work root
	mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work none root
	mount --rbind /proc root/proc; mount --rbind /dev root/dev
	mkdir -p "root$HOME" "root$SHARED"; mount --bind "$HOME" "root$HOME"; mount --bind "$VOLUME" "root$SHARED"
	exec chroot root "$@"`

var places = []place{
	{"machine", `exec "$@"`, false},
	{"PrivateTmp", `exec unshare -m sh -ec 'mount -t tmpfs none /var/tmp; exec "$@"' sh "$@"`, false},
	{"RootDirectory", `exec unshare -m sh -ec '` + withRoot + `' sh "$@"`, false},
	{"user namespace", `exec unshare -r "$@"`, false},
	{"network namespace", `exec unshare -n "$@"`, false},
	{"PrivatePIDs", `exec unshare -pf --mount-proc "$@"`, true},
	{"time namespace", `exec unshare -T -f "$@"`, true},
	{"container", `exec unshare -mpuinf sh -ec '` + withRoot + `' sh "$@"`, true},
	{"container with the machine's PIDs", `exec unshare -muin sh -ec '` + withRoot + `' sh "$@"`, false},
}

// at runs firn at a place.
func (h *host) at(p place, home, volume string, env []string, args ...string) (stdout, stderr string, code int) {
	root, err := os.MkdirTemp(h.dir, "root")
	check(h.T, err)
	cmd := exec.Command("sh", append([]string{"-ec", p.script, "sh", h.exe}, args...)...)
	cmd.Env = slices.Concat(h.command(nil, home).Env, []string{"ROOT=" + root, "SHARED=/var/lib/firn", "VOLUME=" + volume}, env)
	return capture(h.T, cmd)
}

// TestPlaces: default stores of two processes of one kernel make distinct IDs, wherever the processes run and
// wherever the stores are. Where firn cannot know the other processes, firn refuses, and its
// hint makes distinct IDs.
func TestPlaces(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make the namespaces")
	}
	turn.Take(t)
	h := newHost(t)
	volume := h.home("volume", 0)
	for i, p := range places {
		if out, err := output(t, exec.Command("sh", "-ec", `ROOT=$1 HOME=$2 SHARED=/var/lib/firn VOLUME=$2; export ROOT HOME SHARED VOLUME; shift 2; `+p.script, "sh", h.home("try"+string(rune('a'+i)), 0), volume, "true")); err != nil {
			t.Skipf("the system does not permit %s: %v: %s", p.name, err, out)
		}
	}
	homes := make(map[string]string)
	for _, p := range places {
		homes[p.name] = h.home(strings.ReplaceAll(p.name, " ", "-"), 0)
	}
	// One worker: two stores that do not see each other would make the same IDs.
	args := []string{"new", "snowflakesi", "--machine-bits", "0", "-n", "400000", "--wait", "1m"}
	var hint string
	for _, p := range places[1:] {
		t.Run(p.name, func(t *testing.T) {
			h := &host{T: t, exe: h.exe, dir: h.dir}
			var s seen
			var wg sync.WaitGroup
			for i, p := range []place{places[0], p} {
				wg.Go(func() {
					out, stderr, code := h.at(p, homes[p.name], volume, nil, args...)
					s.note(out)
					if refused := code == cli.ExitFailed && strings.Contains(stderr, "no default directory is safe here"); refused != (i == 1 && p.refused) || !refused && code != 0 {
						t.Errorf("%s: exit code %d: %s", p.name, code, stderr)
					}
					if i == 1 && p.refused {
						_, line, _ := strings.Cut(stderr, ":  export ")
						hint, _, _ = strings.Cut(line, "\n")
					}
				})
			}
			wg.Wait()
			if s.twice > 0 || len(s.ids) < 400_000 {
				t.Errorf("%d IDs twice, of %d", s.twice, len(s.ids))
			}
		})
	}
	t.Run("a name beside no name", func(t *testing.T) {
		h := &host{T: t, exe: h.exe, dir: h.dir}
		args := []string{"new", "snowflakesi", "--machine-bits", "1", "-n", "400000"} // two workers
		var s seen
		var wg sync.WaitGroup
		for _, more := range [][]string{nil, {"--state", h.home("named", 0)}} {
			wg.Go(func() {
				out, stderr, code := h.at(places[0], homes["machine"], volume, nil, append(slices.Clone(args), more...)...)
				if s.note(out); code != 0 {
					t.Errorf("%q: exit code %d: %s", more, code, stderr)
				}
			})
		}
		wg.Wait()
		s.are(t, 800_000)
	})
	t.Run("hint", func(t *testing.T) {
		if hint != "FIRN_STORE=/var/lib/firn" {
			t.Fatalf("the hint of the refusal is %q", hint)
		}
		h := &host{T: t, exe: h.exe, dir: h.dir}
		var s seen
		var wg sync.WaitGroup
		container := places[slices.IndexFunc(places, func(p place) bool { return p.name == "container" })]
		for i := range 3 {
			wg.Go(func() {
				out, stderr, code := h.at(container, homes["container"], volume, []string{hint}, args...)
				if s.note(out); code != 0 {
					t.Errorf("container %d: exit code %d: %s", i, code, stderr)
				}
			})
		}
		wg.Wait()
		s.are(t, 1_200_000)
	})
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
