package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/firn-id/firn/dev/release/api"
	"github.com/firn-id/firn/dev/release/changelog"
	"github.com/firn-id/firn/dev/release/git"
	"github.com/firn-id/firn/dev/release/tree"
)

// A release is the release that the tree is for.
type release struct {
	repo    *git.Repo
	tree    *tree.Tree
	log     *changelog.Log
	history *history
	commit  string // HEAD
	base    string // the release before; empty for the first one
	changes []api.Change

	problems []tree.Problem
}

// open reads the tree that has the folder dir.
func open(dir string) (*release, error) {
	repo, err := git.Open(dir)
	if err != nil {
		return nil, err
	}
	r := &release{repo: repo}
	if r.tree, err = tree.Read(repo.Dir); err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(repo.Dir, changelog.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, tree.Problem{File: changelog.File, Text: "no such file in " + repo.Dir, Advice: "write a change log: docs/releasing.md shows the form"}
	}
	if err != nil {
		return nil, err
	}
	r.log = changelog.Parse(source)
	return r, nil
}

// check finds the problems of the release.
func (r *release) check(ctx context.Context) error {
	head, err := r.repo.Run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return errors.New("the repository has no commit; commit the tree first")
	}
	r.commit = strings.TrimSpace(head)
	if r.history, err = readHistory(r.repo); err != nil {
		return err
	}
	if err := r.checkClone(); err != nil {
		return err
	}
	if err := r.checkClean(); err != nil {
		return err
	}
	r.problems = append(r.problems, r.log.Problems()...)
	r.problems = append(r.problems, r.log.CheckRelease(r.tree.Version, time.Now())...)
	before := len(r.problems)
	r.problems = append(r.problems, r.tree.Check()...)
	if err := r.checkVersion(); err != nil {
		return err
	}
	if err := r.checkPages(); err != nil {
		return err
	}
	if len(r.problems) == before { // a tree with other problems may not compile
		if err := r.checkAPI(ctx); err != nil {
			return err
		}
	}
	tree.Sort(r.problems)
	return ctx.Err()
}

// add adds a problem of a line of a file.
func (r *release) add(file string, line int, advice, format string, args ...any) {
	r.problems = append(r.problems, tree.Problem{File: file, Line: line, Text: fmt.Sprintf(format, args...), Advice: advice})
}

// addVersion adds a problem of the version.
func (r *release) addVersion(advice, format string, args ...any) {
	r.add(tree.VersionsFile, r.tree.VersionLine(), advice, format, args...)
}

// command returns a command line of this program.
func command(args string) string { return "run `go run -C dev ./release " + args + "`" }

// checkPages checks that no page says that nothing is published.
func (r *release) checkPages() error {
	pages, err := filepath.Glob(filepath.Join(r.repo.Dir, "docs", "*.md"))
	for _, page := range pages {
		text, failed := os.ReadFile(page)
		err = errors.Join(err, failed)
		line := 0
		for of := range strings.Lines(string(text)) {
			line++
			if early.MatchString(of) {
				r.add("docs/"+filepath.Base(page), line, "say what holds once the version is released", "the page is of the time before the first release")
			}
		}
	}
	return err
}

// early finds words that the first release makes false.
var early = regexp.MustCompile(`(?i)nothing is published yet|before the first release, |from the first release on`)

// checkClone checks that the clone has a branch, and the tags of earlier releases.
func (r *release) checkClone() error {
	if _, err := r.repo.Run("symbolic-ref", "--quiet", "HEAD"); err != nil {
		r.add("", 0, "switch to the branch of the release: git switch BRANCH", "HEAD is detached at %.12s", r.commit)
	}
	shallow, err := r.repo.Run("rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	if strings.TrimSpace(shallow) == "true" {
		r.add("", 0, "run `git fetch --unshallow --tags`", "the clone is shallow and may lack the tags of earlier releases")
	}
	for _, s := range r.log.Sections {
		v := s.Version()
		if tree.Canonical(v) && semver.Compare(v, r.tree.Version) < 0 && !slices.Contains(r.history.present, v) {
			r.add(changelog.File, s.Line, "run `git fetch --tags`, and release from a branch that contains the tag",
				"version %s is released, and HEAD contains no tag %s", s.Name, v)
		}
	}
	return nil
}

// checkClean checks that all files are committed.
func (r *release) checkClean() error {
	out, err := r.repo.Run("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		switch {
		case len(entry) < 4:
		case strings.HasPrefix(entry, "??"):
			r.add(entry[3:], 0, "commit the file, or move the file out of the tree", "git does not know the file")
		default:
			r.add(entry[3:], 0, "commit the change, or put the change aside with git stash", "the file has changed since the last commit")
		}
	}
	return nil
}

// checkVersion checks that the version is new, and follows the releases before.
func (r *release) checkVersion() error {
	v := r.tree.Version
	tags, err := r.repo.Lines("tag", "--list")
	if err != nil {
		return err
	}
	latest := r.history.latest()
	later := command("set VERSION") + " with a later version"
	if latest != "" {
		later = command("set "+nextMinor(latest)) + ", or another version after " + latest
	}
	existing := slices.DeleteFunc(r.tree.Tags(v), func(tag string) bool { return !slices.Contains(tags, tag) })
	switch {
	case len(existing) > 0:
		r.addVersion(later, "version %s exists: %s", v, strings.Join(existing, ", "))
	case latest != "" && semver.Compare(v, latest) <= 0:
		r.addVersion(later, "version %s is not later than the release %s", v, latest)
	case r.history.base(v) != "" && !r.history.follows(v):
		next := successors(r.history.base(v))
		r.addVersion(fmt.Sprintf("set one of %s", strings.Join(next, ", ")), "version %s leaves out versions after %s", v, r.history.base(v))
	}
	return nil
}

// checkAPI compares the exported API with the release before.
func (r *release) checkAPI(ctx context.Context) error {
	v := r.tree.Version
	r.base = r.history.base(v)
	if r.base == "" || numbers(v)[0] > max(numbers(r.base)[0], 1) {
		return nil // a first release, or a new major version with other module paths
	}
	dir, err := os.MkdirTemp("", "firn-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	files, err := r.repo.Extract(r.base, dir)
	if err != nil {
		return err
	}
	before, err := tree.ReadFiles(dir, files)
	if err != nil {
		return fmt.Errorf("the tree of %s: %w", r.base, err)
	}
	if r.changes, err = api.Compare(ctx, before, r.tree); err != nil {
		return err
	}
	for _, c := range r.changes {
		r.checkChange(c)
	}
	return nil
}

// kept is the package whose API no release breaks, before v1 either: VERSIONING.md has the promise.
const kept = "sno"

// checkChange checks that the version may have a change of the API.
func (r *release) checkChange(c api.Change) {
	v := r.tree.Version
	patch := semver.MajorMinor(v) == semver.MajorMinor(r.base)
	minor := nextMinor(r.base)
	section, _ := r.log.Section(v)
	prefix, _, _ := module.SplitPathVersion(r.tree.Root().Path)
	names := c.Names()
	name := names[len(names)-1]
	entry := "name `" + name + "` in backquotes under Changed or Removed"
	switch {
	case c.Break && c.Package == prefix+"/"+kept:
		r.add(c.File, c.Line, "undo the change", "no release breaks package %s: %s", c.Package, c.Message)
	case !c.Break && patch:
		r.add(c.File, c.Line, command("set "+minor), "the patch release %s adds to package %s: %s", v, c.Package, c.Message)
	case !c.Break:
	case numbers(r.base)[0] == 0 && patch:
		r.add(c.File, c.Line, "undo the change, or "+command("set "+minor)+" and "+entry+" in "+changelog.File,
			"the patch release %s breaks package %s: %s", v, c.Package, c.Message)
	case numbers(r.base)[0] == 0 && !section.Names(names...):
		r.add(c.File, c.Line, "undo the change, or "+entry+" in version "+strings.TrimPrefix(v, "v")+" of "+changelog.File,
			"%s breaks package %s, and %s does not say so: %s", v, c.Package, changelog.File, c.Message)
	case numbers(r.base)[0] > 0 && numbers(v)[0] == numbers(r.base)[0]:
		major := nextMajor(r.base)
		r.add(c.File, c.Line, fmt.Sprintf("undo the change, or release %s with module paths that end with /%s", major, semver.Major(major)),
			"%s breaks package %s: %s", v, c.Package, c.Message)
	}
}

// breaks returns the number of changes that can break programs.
func (r *release) breaks() int {
	n := 0
	for _, c := range r.changes {
		if c.Break {
			n++
		}
	}
	return n
}
