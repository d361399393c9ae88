package tests

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
)

// docs is where the documents are.
const docs = "../../../../docs"

// pages returns the documents by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	names, err := filepath.Glob(filepath.Join(docs, "*.md"))
	more, failed := filepath.Glob(filepath.Join(docs, "databases", "*.md"))
	if err = errors.Join(err, failed); err != nil || len(names) < 10 || len(more) < 10 {
		t.Fatalf("%d and %d documents, %v", len(names), len(more), err)
	}
	for _, name := range append(names, more...) {
		text, err := os.ReadFile(name)
		check(t, err)
		found[filepath.Base(name)] = string(text)
	}
	return found
}

// TestUnits: systemd takes the units of the documents. A service starts after the network, under a user of
// its own, and again for as long as it takes.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		services.Missing(t, "systemd-analyze is not installed: %v", err)
	}
	block := regexp.MustCompile("(?m)^( *)```ini\n((?:.*\n)*?) *```$")
	where := regexp.MustCompile(`^# /etc/systemd/system/(\S+?),? `)
	program := regexp.MustCompile(`(?m)^(Exec\w+=)\S+`)
	dir := t.TempDir()
	units, dropIns := make(map[string]string), 0
	for page, text := range pages(t) {
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			unit := strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n")[1:]
			first, _, _ := strings.Cut(unit, "\n")
			at := where.FindStringSubmatch(first + " ")
			if at == nil {
				continue // of sysusers.d and tmpfiles.d
			}
			name := at[1]
			whole := strings.HasSuffix(name, ".service") || strings.HasSuffix(name, ".socket")
			if whole {
				units[name] = unit
			} else {
				dropIns++
			}
			for _, m := range program.FindAllString(unit, -1) {
				if strings.Contains(m, "firn") && !strings.HasSuffix(m, "=/usr/bin/firn") {
					t.Errorf("%s: %s: %s, not /usr/bin/firn, where the packages install the command", page, name, m)
				}
			}
			file := filepath.Join(dir, name)
			if !whole { // two pages have a drop-in of the same name
				file = filepath.Join(dir, filepath.Dir(name), strings.TrimSuffix(page, ".md")+"-"+strings.ReplaceAll(first, "/", "")[:12]+".conf")
			}
			check(t, os.MkdirAll(filepath.Dir(file), 0o755))
			check(t, os.WriteFile(file, []byte(program.ReplaceAllString(unit, "${1}/bin/true")), 0o644))
		}
	}
	if len(units) < 2 || dropIns < 2 {
		t.Fatalf("%d units and %d drop-ins in the documents", len(units), dropIns)
	}
	for name, unit := range units {
		for _, want := range []string{"\nAfter=", "network-online.target", "\nStartLimitIntervalSec=0\n", "\nUser=", "\nRestart=", "\nRestartSec=", "\n[Install]\n"} {
			if !strings.Contains(unit, want) && strings.HasSuffix(name, ".service") {
				t.Errorf("%s has not %q:\n%s", name, want, unit)
			}
		}
		out, err := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no", filepath.Join(dir, name)).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, unit)
		}
	}
}
