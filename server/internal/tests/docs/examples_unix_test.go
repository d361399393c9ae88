//go:build unix

package docs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// folder is where the tests have the command firn.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "firn"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// build builds the command firn, and returns its path.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "firn")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/firn")
	cmd.Dir = "../../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// serve runs the first command of the document, with another port, and returns the port.
func serve(t *testing.T) string {
	t.Helper()
	firn, err := build()
	testkit.OK(t, err)
	dir := t.TempDir()
	port, err := process.Again(func() (int, error) {
		port, err := loopback.Port()
		if err != nil {
			return 0, err
		}
		var log process.Logbook
		cmd := exec.Command(firn, "serve", "--state", filepath.Join(dir, "state"), "--listen", "127.0.0.1:"+strconv.Itoa(port))
		cmd.Stdout, cmd.Stderr = &log, &log
		p, err := process.Start(cmd)
		if err != nil {
			return 0, err
		}
		t.Cleanup(func() {
			_ = syscall.Kill(p.Pid(), syscall.SIGTERM)
			wait.Closed(t, "firn serve ends at SIGTERM", p.Done())
			if code := p.State().ExitCode(); code != 0 {
				t.Errorf("firn serve ends with %d\n%s", code, log.String())
			}
		})
		return port, p.Listening("127.0.0.1:"+strconv.Itoa(port), &log)
	})
	testkit.OK(t, err)
	// The first request of a busy disk gets the reason starting.
	wait.Until(t, "firn serve has a worker", func() bool {
		answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/v1/generators/nanoflake/ids", port))
		testkit.OK(t, err)
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return strconv.Itoa(port)
}

// examples returns the code of a language in a section of the document, with another port.
func examples(t *testing.T, section, language, port string) []string {
	t.Helper()
	_, text, ok := strings.Cut(read(t), "\n### "+section+"\n")
	if !ok {
		t.Fatalf("the document has no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n##")
	var all []string
	for {
		_, rest, ok := strings.Cut(text, "```"+language+"\n")
		if !ok {
			break
		}
		code, rest, _ := strings.Cut(rest, "```")
		all = append(all, strings.ReplaceAll(code, "7433", port))
		text = rest
	}
	if len(all) == 0 {
		t.Fatalf("the section %s has no code", section)
	}
	return all
}

// run runs a program in a folder, and returns what it prints. A program that fails, or prints nothing, fails the test.
func run(t *testing.T, dir string, env []string, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) == 0 {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// need skips a test without a program.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		services.Missing(t, "%s is not in PATH: %v", program, err)
	}
}

// failed finds an error of redis-cli or of HTTP. An ID can have the letters ERR, too.
var failed = regexp.MustCompile(`(?m)^(\(error\) )?(ERR|TRYAGAIN) |"error"`)

// TestQuickStart runs the examples of the document against firn serve.
func TestQuickStart(t *testing.T) {
	port := serve(t)
	answer, err := http.Get("http://127.0.0.1:" + port + "/metrics")
	testkit.OK(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("/metrics answers %d", answer.StatusCode)
	}
	lines := func(t *testing.T, section, path string) {
		for _, code := range examples(t, section, "sh", port) {
			for line := range strings.Lines(code) {
				out := run(t, "", []string{"PATH=" + path + string(os.PathListSeparator) + os.Getenv("PATH")}, "sh", "-c", line)
				if failed.MatchString(out) {
					t.Errorf("%s%s", line, out)
				}
			}
		}
	}
	t.Run("curl", func(t *testing.T) {
		need(t, "curl")
		lines(t, "curl", "")
	})
	t.Run("redis-cli", func(t *testing.T) {
		need(t, "redis-cli")
		lines(t, "redis-cli", "")
	})
	t.Run("grpcurl", func(t *testing.T) {
		program, err := process.Tool(t.Context(), "../../../../dev/pins/grpcurl", "github.com/fullstorydev/grpcurl/cmd/grpcurl")
		if err != nil {
			services.Missing(t, "there is no grpcurl; it takes a network with Go modules: %v", err)
		}
		dir := t.TempDir()
		testkit.OK(t, os.Symlink(program, filepath.Join(dir, "grpcurl")))
		lines(t, "grpcurl", dir)
	})
	t.Run("Python", func(t *testing.T) {
		need(t, "python3")
		for _, code := range examples(t, "Python", "python", port) {
			python := "python3"
			if strings.Contains(code, "import redis") && exec.Command(python, "-c", "import redis").Run() != nil {
				if python = "/usr/bin/python3"; exec.Command(python, "-c", "import redis").Run() != nil {
					t.Log("python3 has no package redis")
					continue
				}
			}
			run(t, "", nil, python, "-c", code)
		}
	})
	t.Run("JavaScript", func(t *testing.T) {
		need(t, "node")
		dir := t.TempDir()
		if services.InFull() { // npm needs the network
			need(t, "npm")
			testkit.OK(t, os.CopyFS(dir, os.DirFS("../resp/javascript")))
			run(t, dir, nil, "npm", "ci", "--no-audit", "--no-fund")
		}
		for i, code := range examples(t, "JavaScript", "js", port) {
			for _, library := range []string{"", "5"} { // the present version, and an older one that is in use
				if strings.Contains(code, "import ") != services.InFull() && strings.Contains(code, "import ") {
					continue
				}
				of := strings.NewReplacer(`"ioredis"`, `"ioredis`+library+`"`, `"redis"`, `"redis`+library+`"`).Replace(code)
				name := fmt.Sprintf("example%d%s.mjs", i, library)
				testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(of), 0o600))
				word := ""
				for range 4 {
					if word = rounded(t, run(t, dir, nil, "node", name)); word == "" {
						break
					}
				}
				if word != "" {
					t.Errorf("the integer %s was rounded in each of four runs", word)
				}
			}
		}
	})
	t.Run("Java", func(t *testing.T) {
		if exec.Command("java", "--list-modules").Run() != nil {
			t.Skip("there is no java")
		}
		if out, err := exec.Command("java", "--list-modules").Output(); err != nil || !strings.Contains(string(out), "jdk.compiler") {
			t.Skip("java has no compiler")
		}
		dir := t.TempDir()
		for _, code := range examples(t, "Java", "java", port) {
			path := filepath.Join(dir, "Ids.java")
			testkit.OK(t, os.WriteFile(path, []byte(code), 0o600))
			run(t, dir, nil, "java", path)
		}
	})
}

// rounded returns a 64-bit integer whose last digits are zeros, or "". JavaScript prints a Number of this size so, and
// one ID in 25 looks so by chance.
func rounded(t *testing.T, out string) string {
	t.Helper()
	for word := range strings.FieldsSeq(out) {
		n, err := strconv.ParseUint(strings.Trim(word, `'"n,`), 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrSyntax) {
			t.Errorf("the integer %s: %v", word, err)
		}
		if n > 1<<53 && n%100 == 0 {
			return word
		}
	}
	return ""
}
