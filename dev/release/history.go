package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/firn-id/firn/dev/release/git"
	"github.com/firn-id/firn/dev/release/tree"
)

// A history has the versions of the root module's tags, in their order.
type history struct {
	all     []string
	present []string // HEAD contains the tagged commit
}

// readHistory reads the tags of the clone.
func readHistory(repo *git.Repo) (*history, error) {
	h := &history{}
	var err error
	if h.all, err = versions(repo); err != nil {
		return nil, err
	}
	h.present, err = versions(repo, "--merged", "HEAD")
	return h, err
}

// versions returns the versions among the tags that git lists.
func versions(repo *git.Repo, args ...string) ([]string, error) {
	tags, err := repo.Lines(append([]string{"tag", "--list"}, args...)...)
	if err != nil {
		return nil, err
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool { return !tree.Canonical(tag) })
	semver.Sort(tags)
	return tags, nil
}

// latest returns the latest version that HEAD contains, or an empty text.
func (h *history) latest() string {
	if len(h.present) == 0 {
		return ""
	}
	return h.present[len(h.present)-1]
}

// base returns the release before a version: the latest earlier version in HEAD, without
// pre-releases. The text is empty if HEAD has no such version.
func (h *history) base(version string) string {
	for _, v := range slices.Backward(h.present) {
		if semver.Prerelease(v) == "" && semver.Compare(v, version) < 0 {
			return v
		}
	}
	return ""
}

// successors returns the versions that may follow a release.
func successors(v string) []string {
	n := numbers(v)
	return []string{
		fmt.Sprintf("v%d.%d.%d", n[0], n[1], n[2]+1),
		fmt.Sprintf("v%d.%d.0", n[0], n[1]+1),
		fmt.Sprintf("v%d.0.0", n[0]+1),
	}
}

// follows reports whether a version is a successor of a release, on any branch. For a pre-release,
// the version without its suffix counts.
func (h *history) follows(version string) bool {
	core := strings.TrimSuffix(version, semver.Prerelease(version))
	return slices.ContainsFunc(h.all, func(v string) bool {
		return semver.Prerelease(v) == "" && slices.Contains(successors(v), core)
	})
}

// numbers returns the three numbers of a canonical version.
func numbers(v string) [3]int {
	var n [3]int
	core := strings.TrimPrefix(strings.TrimSuffix(v, semver.Prerelease(v)), "v")
	for i, text := range strings.SplitN(core, ".", 3) {
		n[i], _ = strconv.Atoi(text) // a canonical version has three numbers
	}
	return n
}

// nextMinor returns the next version that may add to the API of a version.
func nextMinor(version string) string { return successors(version)[1] }

// nextMajor returns the next version that may break the API of a version from v1 on.
func nextMajor(version string) string { return successors(version)[2] }
