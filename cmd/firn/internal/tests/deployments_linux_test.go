package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/testing/turn"
)

// TestPassingDirectories: a directory may be lost with its container, or at a restart. firn warns of the loss.
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
		for home in tmpfs/home a b emptydir; do
			echo "== $home"
			firn new nanoflake --state "$PWD/$home/ids" >id 2>said || echo "not made: $(cat said)"
			echo "made: $(wc -l <id) $(grep -v "^firn: created a new store in " said)"
			firn pool doctor --state "$PWD/$home/ids" && echo "well: $home"
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
			"made: 1 firn: warning: ", "problem  store: ",
		} {
			if !strings.Contains(part, want) {
				t.Errorf("no %q in:\n%s", want, part)
			}
		}
		if strings.Contains(part, "well: ") {
			t.Errorf("doctor finds nothing in:\n%s", part)
		}
	}
}

// TestBakedIn: a directory that is part of an image is a copy in each container.
func TestBakedIn(t *testing.T) {
	image, container := filepath.Join(t.TempDir(), "ids"), filepath.Join(t.TempDir(), "ids")
	firn := func(dir string, args ...string) (stdout, stderr string, code int) {
		cmd := firnCommand(t, append(args, "--state", dir)...)
		cmd.Env = append(cmd.Env, asUsers+"=1")
		stdout, stderr, code = capture(t, cmd)
		return stdout, withoutNotes(stderr), code
	}
	if _, stderr, code := firn(image, "new", "nanoflake"); code != 0 {
		t.Fatal(stderr)
	}
	if out, err := output(t, exec.Command("cp", "-a", image, container)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"new", "nanoflake"}, {"pool", "recover", "nanoflake", "--yes"}} {
		out, stderr, code := firn(container, args...)
		if code != cli.ExitFailed || out != "" || !strings.Contains(stderr, "the store is a copy of another") || !strings.Contains(stderr, "firn pool recover --all --adopt") {
			t.Errorf("%q: exit code %d\n%s%s", args, code, out, stderr)
		}
	}
	if out, _, code := firn(container, "pool", "doctor"); code != cli.ExitFailed || !strings.Contains(out, "problem  store: ") {
		t.Errorf("firn pool doctor: exit code %d\n%s", code, out)
	}
	if out, stderr, code := firn(container, "pool", "recover", "--all", "--adopt", "--yes", "--no-wait", "--skew", "1h"); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, stderr, code := firn(container, "new", "nanoflake", "--wait", "0"); code != cli.ExitFailed || !strings.Contains(stderr, "the pool was recovered") {
		t.Errorf("at once after the recovery: exit code %d: %s", code, stderr)
	}
	if _, stderr, code := firn(image, "new", "nanoflake"); code != 0 {
		t.Errorf("the original: %s", stderr)
	}
}

// places are where a process can run: scripts of sh that run "$@" there. ROOT is a directory for mounts. The programs are
// those of the machine, HOME is a directory of the machine's disk, and SHARED leads to the directory VOLUME.
var places = map[string]string{
	"PrivateTmp":                        `exec unshare -m sh -ec 'mount -t tmpfs none /var/tmp; ` + withVolume + `' sh "$@"`,
	"RootDirectory":                     `exec unshare -m sh -ec '` + withRoot + `' sh "$@"`,
	"PrivatePIDs":                       `exec unshare -mpf --mount-proc sh -ec '` + withVolume + `' sh "$@"`,
	"time namespace":                    `exec unshare -mT -f sh -ec '` + withVolume + `' sh "$@"`,
	"container":                         `exec unshare -mpuinf sh -ec '` + withRoot + `' sh "$@"`,
	"container with the machine's PIDs": `exec unshare -muin sh -ec '` + withRoot + `' sh "$@"`,
}

// withVolume gives "$@" the volume at another path.
const withVolume = `mkdir -p "$SHARED"; mount --bind "$VOLUME" "$SHARED"; exec "$@"`

// withRoot gives "$@" a root of its own, as RootDirectory= of systemd, a sandbox or a container does.
const withRoot = `mount -t tmpfs none "$ROOT"; cd "$ROOT"; mkdir upper work root
	mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work none root
	mount --rbind /proc root/proc; mount --rbind /dev root/dev
	mkdir -p "root$HOME" "root$SHARED"; mount --bind "$HOME" "root$HOME"; mount --bind "$VOLUME" "root$SHARED"
	exec chroot root "$@"`

// TestPlaces: two processes at a place and one on the machine share a directory, and make distinct IDs.
func TestPlaces(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make the namespaces")
	}
	turn.Take(t)
	for name, script := range places {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			exe, volume, shared := copyFirn(t, home), filepath.Join(home, "volume"), filepath.Join(home, "shared")
			check(t, os.Mkdir(volume, 0o700))
			at := func(args ...string) *exec.Cmd {
				root, err := os.MkdirTemp(home, "root")
				check(t, err)
				cmd := exec.Command("sh", append([]string{"-ec", script, "sh"}, args...)...)
				cmd.Env = append(os.Environ(), "HOME="+home, "ROOT="+root, "SHARED="+shared, "VOLUME="+volume, asUsers+"=1")
				return cmd
			}
			if out, err := output(t, at("true")); err != nil {
				t.Skipf("the system does not permit it: %v: %s", err, out)
			}
			// One worker: two stores that do not see each other would make the same IDs.
			args := []string{exe, "new", "snowflakesi", "--machine-bits", "0", "-n", "400000", "--wait", "1m", "--state"}
			machine := exec.Command(args[0], append(args[1:len(args):len(args)], volume)...)
			machine.Env = append(os.Environ(), asUsers+"=1")
			var s seen
			var wg sync.WaitGroup
			for _, cmd := range []*exec.Cmd{machine, at(append(args, shared)...), at(append(args, shared)...)} {
				wg.Go(func() {
					out, stderr, code := capture(t, cmd)
					if s.note(out); code != 0 {
						t.Errorf("exit code %d: %s", code, stderr)
					}
				})
			}
			wg.Wait()
			s.are(t, 1_200_000)
		})
	}
}
