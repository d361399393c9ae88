package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/dev/release/changelog"
	"github.com/firn-id/firn/dev/release/fixture"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"release": main})
}

// TestScripts runs the program in repositories of a small project, as testdata/script says. Each
// script begins in the repository, whose only commit has fixture/tree.txtar.
func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	environment := goEnvironment(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, environment...)
			program, err := exec.LookPath("release") // testscript.Main has put the program into $PATH
			if err != nil {
				return err
			}
			env.Setenv("RELEASE", program)
			env.Cd = filepath.Join(env.WorkDir, "tree")
			if err := fixture.Write(env.Cd); err != nil {
				return err
			}
			for _, args := range [][]string{
				{"init", "--quiet", "--initial-branch", "main", "--template="},
				{"add", "--all"},
				{"commit", "--quiet", "--message", "The tree"},
			} {
				cmd := exec.Command("git", args...)
				cmd.Dir, cmd.Env = env.Cd, env.Vars
				if out, err := cmd.CombinedOutput(); err != nil {
					return errors.New(string(out))
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"sub": substitute},
	})
}

// substitute is the command sub FILE BEFORE AFTER of scripts. The command replaces a text that the
// file has once. In the texts, \n is a line break.
func substitute(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sub FILE BEFORE AFTER")
	}
	breaks := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	before, after := breaks.Replace(args[1]), breaks.Replace(args[2])
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, before); n != 1 {
		ts.Fatalf("%s has %q %d times, want once", args[0], before, n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, before, after, 1)), 0o666))
}

// goEnvironment returns variables for git and go in scripts.
func goEnvironment(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []string{
		"GOCACHE=" + values[0], "GOMODCACHE=" + values[1], "GOROOT=" + values[2],
		"GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOENV=off",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.test",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.test",
	}
}

// TestChangelog finds faults in the form of the project's own change log.
func TestChangelog(t *testing.T) {
	source, err := os.ReadFile("../../" + changelog.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range changelog.Parse(source).Problems() {
		t.Error(problem)
	}
}
