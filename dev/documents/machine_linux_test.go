package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
)

// A machine runs systemd as its first process, in namespaces of its own. Its files are those of this machine until the machine
// changes them; only /var/lib begins empty, on the disk of this machine, since firn refuses layered files. Its network has
// loopback alone.
type machine struct {
	t      *testing.T
	init   int // the number of the process of systemd
	shared string
}

// boot makes the root of a machine and becomes its systemd. A machine has cgroups of the version that this machine has.
const boot = `
set -e
root=$1/root
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$root"
mount --bind "$2" "$root/var/lib"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
for dir in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$dir"; done
chmod 1777 "$root/tmp"
for file in null zero full random urandom tty; do touch "$root/dev/$file"; mount --bind "/dev/$file" "$root/dev/$file"; done
mkdir "$root/dev/shm" "$root/run/shared"
mount -t tmpfs tmpfs "$root/dev/shm"
mount --bind "$3" "$root/run/shared"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
	mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
	mkdir "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
	mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
fi
echo machine >"$root/etc/hostname"
printf '127.0.0.1 localhost db\n' >"$root/etc/hosts"
: >"$root/etc/fstab"
rm -rf "$root"/etc/systemd/system/*.wants "$root"/etc/systemd/system/*.requires
ln -sf /lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
for unit in systemd-udevd systemd-udev-trigger systemd-logind systemd-resolved getty@tty1; do
	ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
mount --make-rshared /
exec chroot "$root" env -i container=firn PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --system --log-target=console --show-status=no
`

// newMachine boots a machine. Files in the folder shared are in /run/shared of the machine.
func newMachine(t *testing.T, shared string) *machine {
	t.Helper()
	for _, need := range []string{"unshare", "nsenter", "systemd-run"} {
		if _, err := exec.LookPath(need); err != nil {
			services.Missing(t, "a machine takes systemd and util-linux: %v", err)
		}
	}
	if os.Getuid() != 0 {
		services.Missing(t, "a machine takes the rights of root")
	}
	var log process.Logbook
	cmd := exec.Command("unshare", "--fork", "--kill-child", "--pid", "--mount", "--net", "--uts", "--ipc", "--cgroup", "bash", "-c", boot, "boot",
		t.TempDir(), t.TempDir(), shared)
	cmd.Stdout, cmd.Stderr = &log, &log
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	m := &machine{t: t, shared: shared}
	if !wait.For(func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.Pid()))
		if _, err := fmt.Sscan(string(children), &m.init); err != nil {
			return !p.Alive()
		}
		state, _, _ := m.run("systemctl is-system-running")
		return !p.Alive() || state == "running" || state == "degraded"
	}) || !p.Alive() {
		t.Fatalf("the machine does not boot:\n%s", &log)
	}
	return m
}

// run runs a text by bash in the machine, as root in /root/work.
func (m *machine) run(text string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, "nsenter", "--target", fmt.Sprint(m.init), "--all", "--root", "--wd",
		"env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8",
		"bash", "-c", "mkdir -p /root/work && cd /root/work && set -eo pipefail\n"+text)
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	return strings.TrimSpace(out.String()), strings.TrimSpace(said.String()), err
}

// do runs a text that has to succeed, and returns its output.
func (m *machine) do(text string) string {
	m.t.Helper()
	stdout, stderr, err := m.run(text)
	if err != nil {
		units, _, _ := m.run("journalctl --no-pager --quiet --lines 40")
		m.t.Fatalf("%s\n%v: %s%s\n%s", text, err, stdout, stderr, units)
	}
	return stdout
}

// until waits until a text prints what is wanted.
func (m *machine) until(text, want string) {
	m.t.Helper()
	var said error
	if !wait.For(func() bool {
		stdout, stderr, err := m.run(text)
		said = errors.Join(err, errors.New(stdout+stderr))
		return err == nil && strings.Contains(stdout, want)
	}) {
		m.t.Fatalf("%s: %v, and never %q", text, said, want)
	}
}

// write writes a file of the machine.
func (m *machine) write(path, text string) {
	m.t.Helper()
	name := filepath.Join(m.shared, "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.do("install -D -m 644 /run/shared/file " + path)
}

// TestMachine runs the services of docs/deploy.md as the page says, in the page's order, by a real systemd.
func TestMachine(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	shared, err := os.MkdirTemp("", "machine-")
	if err = errors.Join(err, os.Chmod(shared, 0o777)); err != nil { // PostgreSQL has a user of its own
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(shared) })
	for program, folder := range map[string]string{"firn": "./cmd/firn", "orders": "./cmd/firn/internal/tests/orders"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(shared, program), folder)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	server, err := pgtest.Start(t.Context(), pgtest.Config{
		Settings: map[string]string{"unix_socket_directories": shared},
		HBA:      []string{"local all ids scram-sha-256"},
	})
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { server.Close() })
	if err := server.Exec(t.Context(), "CREATE ROLE owner LOGIN", "CREATE ROLE ids LOGIN PASSWORD 'secret'", "CREATE DATABASE app OWNER owner"); err != nil {
		t.Fatal(err)
	}

	m := newMachine(t, shared)
	m.do("install /run/shared/firn /usr/bin/firn; install /run/shared/orders orders; echo secret >ids-password")
	m.do("mkdir -m 700 /run/secrets; echo secret >/run/secrets/db; echo secret >/run/secrets/owner")
	m.write("/etc/systemd/system/db.socket", "[Socket]\nListenStream=127.0.0.1:5432\n")
	m.write("/etc/systemd/system/db.service", fmt.Sprintf("[Service]\nExecStart=/lib/systemd/systemd-socket-proxyd /run/shared/.s.PGSQL.%d\n", server.Port()))
	m.do("systemctl daemon-reload; systemctl start db.socket")

	holders := func(store string) string {
		return "firn pool show nanoflake --json " + store + ` | grep -c '"state":"held"'`
	}
	const id = `curl -sSf http://127.0.0.1:%d/id | grep -xE '[0-9a-z]{13}'`
	orders, invoices := fmt.Sprintf(id, 8080), fmt.Sprintf(id, 8081)
	const mainPid = "systemctl show --property MainPID --value firn"
	sections := []struct {
		name          string
		before, after func(unit string)
	}{
		{"systemd, one service", nil, func(unit string) {
			m.until(orders, "")
			first := m.do(orders)
			m.do("systemctl kill --kill-who main --signal KILL orders")
			m.until(orders, "")
			if next := m.do(orders); next <= first {
				t.Errorf("%s, and %s after the service was killed", first, next)
			}
			m.do("systemctl restart orders")
			m.until(orders, "")
			m.until(holders("--state /var/lib/orders"), "1")
			m.do("systemctl stop orders")
			if n, _, _ := m.run(holders("--state /var/lib/orders")); n != "0" {
				t.Errorf("a service that has ended holds %s workers", n)
			}
			// What the page says of a lost directory.
			m.do("mv /var/lib/orders /var/lib/away")
			if _, _, err := m.run("systemctl start orders"); err == nil {
				t.Error("the service starts with an empty directory")
			}
			m.do("systemctl stop orders; rmdir /var/lib/orders; mv /var/lib/away /var/lib/orders; systemctl start orders")
			m.until(orders, "")
		}},
		{"systemd, several services", func(unit string) {
			m.write("/etc/systemd/system/invoices.service", strings.ReplaceAll(unit, "orders", "invoices"))
			m.write("/etc/systemd/system/invoices.service.d/port.conf", "[Service]\nEnvironment=LISTEN=:8081\n")
			m.do("useradd --system invoices; useradd alice; install orders /usr/local/bin/invoices")
		}, func(string) {
			m.until(orders, "")
			m.until(invoices, "")
			m.until(holders("--state /var/lib/firn"), "2")
			m.do("runuser -u alice -- firn pool doctor --state /var/lib/firn --existing")
		}},
		{"Several machines", nil, func(string) {
			m.until(orders, "")
			m.until(holders("--store 'postgres://ids@db/app?password-file=/run/secrets/db&sslmode=disable'"), "1")
		}},
		{"As a service of systemd", nil, func(string) {
			// Connections wait in the socket while the service restarts.
			m.do(`for i in 1 2 3; do systemctl restart firn; done & for i in $(seq 300); do curl -sSf http://127.0.0.1:7433/healthz; done; wait $!`)
			// A successor is the service from then on.
			for range 3 {
				was := m.do(mainPid)
				m.do("systemctl kill --kill-who main --signal USR2 firn")
				m.until(fmt.Sprintf("[ ! -e /proc/%s ] && echo it has ended", was), "it has ended")
				if now := m.do(mainPid); now == was || now == "0" {
					t.Errorf("the process %s has the successor %s", was, now)
				}
				m.do("curl -sSf http://127.0.0.1:7433/healthz")
			}
			if n := m.do("systemctl show --property NRestarts --value firn"); n != "0" {
				t.Errorf("systemd has started the service %s times again", n)
			}
			// Systemd waits for the end of a successor, which gives its worker back, and starts nothing again.
			const order = `curl -sSf -H "Authorization: Bearer $(sed -n 's/^token = "\(.*\)"/\1/p' /etc/firn/tokens.toml)" http://127.0.0.1:7433/v1/generators/order/ids`
			held := "firn pool show orders --json --store 'postgres://ids@db/app?password-file=/run/secrets/db&sslmode=disable' | grep -c '\"state\":\"held\"'"
			m.do(order)
			m.until(held, "1")
			m.do("systemctl stop firn.socket firn.service")
			if n, _, _ := m.run(held); n != "0" {
				t.Errorf("a successor that was stopped holds %s workers", n)
			}
			if how := m.do("systemctl show --property Result --value firn"); how != "success" {
				t.Errorf("a successor was stopped with the result %s", how)
			}
			m.do("systemctl start firn.socket")
			m.do(order) // starts the service
		}},
	}
	unit, console := "", 0
	for _, page := range pages(t) {
		if page[0].page != machinePage {
			continue
		}
		for _, section := range sections {
			blocks := slices.DeleteFunc(slices.Clone(page), func(b *block) bool {
				return b.section != section.name || b.language != "console" && !ofMachine(b)
			})
			if len(blocks) < 2 {
				t.Fatalf("%d blocks under %s", len(blocks), section.name)
			}
			if section.before != nil {
				section.before(unit)
			}
			for _, b := range blocks {
				text := strings.ReplaceAll(b.text, "sslmode=verify-full", "sslmode=disable")
				if b.language == "console" {
					out := m.do(typed(t, b, text))
					t.Logf("%s\n%s", b, out)
					console++
					continue
				}
				title, _, _ := strings.Cut(text, "\n")
				path, more, _ := strings.Cut(strings.TrimPrefix(title, "# "), ", ")
				m.write(path, text)
				if more == "and the same for each other service" {
					m.write(strings.ReplaceAll(path, "orders", "invoices"), text)
				}
				if strings.HasSuffix(path, "/orders.service") {
					unit = text
				}
			}
			section.after(unit)
		}
	}
	t.Logf("%d console blocks", console)
}

// typed returns what a user types to follow a block, whose page shows no output. The page's program is there already: another
// test compiles it as the page says.
func typed(t *testing.T, b *block, text string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "# ")
		if !ok {
			if command, ok = strings.CutPrefix(line, "$ "); !ok {
				t.Errorf("%s: %q is no command", b, line)
			}
		}
		switch {
		case strings.Contains(command, " go build "):
		case strings.HasPrefix(command, "curl "): // the server may not have its worker yet
			lines = append(lines, "until "+strings.TrimSpace(command)+` | tee /dev/stderr | grep '"ids":\["'; do sleep 0.1; done`+"\n")
		default:
			lines = append(lines, command)
		}
	}
	return strings.Join(lines, "")
}
