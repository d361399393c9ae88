package rehearsal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A command runs programs in a folder.
type command struct {
	dir string
	env []string // nil means the environment of this process
}

// run runs a program, and returns what the program writes to the standard output. The error has
// what the program writes to the standard error.
func (c command) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(name)}, args...), " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// userEnv returns the environment of a user: a new home, an empty module cache, and the proxy of the
// rehearsal before all other proxies. The build cache is the machine's. Paths that builds trim are
// equal in all rehearsals, so the build cache serves the next rehearsal.
func (s *stage) userEnv(ctx context.Context) ([]string, error) {
	out, err := command{dir: s.dir}.run(ctx, "go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN")
	if err != nil {
		return nil, err
	}
	var machine map[string]string
	if err := json.Unmarshal([]byte(out), &machine); err != nil {
		return nil, err
	}
	root := s.tree.Root().Path
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GO") && !strings.HasPrefix(v, "GOROOT=") || strings.HasPrefix(v, "FIRN_") || strings.HasPrefix(v, "XDG_")
	})
	proxy := func(modCache string) string {
		return "file://" + filepath.ToSlash(filepath.Join(modCache, "cache", "download"))
	}
	return append(env,
		"GOENV=off",
		"GOWORK=off",
		"GOFLAGS=-trimpath -modcacherw",
		"GOPROXY="+strings.Join([]string{proxy(s.published()), proxy(machine["GOMODCACHE"]), machine["GOPROXY"]}, ","),
		"GOSUMDB="+machine["GOSUMDB"],
		"GONOSUMDB="+root+","+root+"/*",
		"GOTOOLCHAIN="+machine["GOTOOLCHAIN"],
		"GOCACHE="+machine["GOCACHE"],
		"GOMODCACHE="+filepath.Join(s.dir, "modules"),
		"GOPATH="+filepath.Join(s.dir, "go"),
		"GOBIN="+filepath.Join(s.dir, "bin"),
		"HOME="+s.dir,
		"XDG_STATE_HOME="+filepath.Join(s.dir, "state"),
	), nil
}
