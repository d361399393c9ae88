package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"

	"golang.org/x/mod/module"
)

// makeTags makes the tags of the release, all or none.
func (r *release) makeTags() (err error) {
	// A signal also ends the git command that runs, and an error of git deletes the tags.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	var made []string
	defer func() {
		if err == nil || len(made) == 0 {
			return
		}
		if _, deleteErr := r.repo.Run(append([]string{"tag", "--delete"}, made...)...); deleteErr != nil {
			err = fmt.Errorf("%w; delete the tags that were made before: %w", err, deleteErr)
			return
		}
		err = fmt.Errorf("%w; the tags that were made before are deleted again", err)
	}()
	prefix, _, _ := module.SplitPathVersion(r.tree.Root().Path)
	for _, m := range r.tree.Published() {
		tag := m.Tag(r.tree.Version)
		message := path.Join(path.Base(prefix), m.Dir) + " " + r.tree.Version
		if _, err := r.repo.Run("tag", "--annotate", "--message", message, tag, r.commit); err != nil {
			return fmt.Errorf("no tag made: %w", err)
		}
		made = append(made, tag)
		select {
		case s := <-signals:
			return errors.New("no tag made: the program received the signal " + s.String())
		default:
		}
	}
	return nil
}

// pushes returns the commands that push the release. The tag of the root module starts the build of
// the binaries, and GitHub starts nothing for a push of more than three tags.
func (r *release) pushes() []string {
	branch, remote := "HEAD", "origin"
	if out, err := r.repo.Run("symbolic-ref", "--short", "HEAD"); err == nil {
		branch = strings.TrimSpace(out)
	}
	if out, err := r.repo.Run("config", "--get", "branch."+branch+".remote"); err == nil {
		remote = strings.TrimSpace(out)
	}
	var root string
	nested := []string{"git push --atomic", remote, branch}
	for _, m := range r.tree.Published() {
		if m.Dir == "." {
			root = m.Tag(r.tree.Version)
		} else {
			nested = append(nested, m.Tag(r.tree.Version))
		}
	}
	return []string{strings.Join(nested, " "), "git push " + remote + " " + root}
}
