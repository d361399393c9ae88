// Package git runs the git command in a work tree.
package git

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Repo is a work tree of git.
type Repo struct {
	Dir string // the top folder
}

// Open returns the work tree that has the folder dir.
func Open(dir string) (*Repo, error) {
	r := &Repo{dir}
	top, err := r.Run("rev-parse", "--show-toplevel")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("no command git in $PATH; install git")
	case err != nil && strings.Contains(err.Error(), "not a git repository"):
		abs, _ := filepath.Abs(dir)
		return nil, fmt.Errorf("%s is not in a git repository; run the command in a clone of the project", abs)
	case err != nil:
		return nil, err
	}
	r.Dir = filepath.FromSlash(strings.TrimSuffix(top, "\n"))
	return r, nil
}

// Run runs git in the top folder, and returns the output.
func (r *Repo) Run(args ...string) (string, error) { return r.run(nil, args) }

// run runs git with more variables of the environment.
func (r *Repo) run(env, args []string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = slices.Concat(os.Environ(), []string{"LC_ALL=C"}, env) // Open knows an error by its English text
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return out.String(), nil
}

// Lines runs git in the top folder, and returns the lines of the output.
func (r *Repo) Lines(args ...string) ([]string, error) {
	out, err := r.Run(args...)
	return split(out, "\n"), err
}

// Files returns the files that git knows and whose paths match the pathspecs, with slashes.
func (r *Repo) Files(pathspecs ...string) ([]string, error) {
	out, err := r.Run(append([]string{"ls-files", "-z", "--"}, pathspecs...)...)
	return split(out, "\x00"), err
}

// WorkFiles returns the files that git knows or would add, with slashes.
func (r *Repo) WorkFiles() ([]string, error) {
	out, err := r.Run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	return split(out, "\x00"), err
}

// Extract writes the files of a revision to an empty folder, and returns their paths, with slashes.
func (r *Repo) Extract(revision, dir string) ([]string, error) {
	index, err := os.MkdirTemp("", "firn-index-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(index)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(index, "index")}
	if _, err := r.run(env, []string{"read-tree", revision}); err != nil {
		return nil, err
	}
	prefix := "--prefix=" + filepath.ToSlash(dir) + "/"
	if _, err := r.run(env, []string{"checkout-index", "--all", prefix}); err != nil {
		return nil, err
	}
	out, err := r.run(env, []string{"ls-files", "-z"})
	return split(out, "\x00"), err
}

// split returns the parts of s, each of which ends with end.
func split(s, end string) []string {
	if s = strings.TrimSuffix(s, end); s == "" {
		return nil
	}
	return strings.Split(s, end)
}
