// Package frozen knows the folders of test data that released versions have written, for tests of
// package lease and of stores. See lease/testdata and VERSIONING.md.
package frozen

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var form = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)$`)

// Folders returns the folders of versions in a folder, the oldest version first. Folders returns an
// error if there are none, or if the name of a folder is no version.
func Folders(testdata string) ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(testdata, "v*"))
	if err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		return nil, fmt.Errorf("%s has no stores of released versions", testdata)
	}
	numbers := make(map[string][]int)
	for _, folder := range folders {
		parts := form.FindStringSubmatch(filepath.Base(folder))
		if parts == nil {
			return nil, fmt.Errorf("%s is not the folder of a version", folder)
		}
		for _, part := range parts[1:] {
			n, err := strconv.Atoi(part)
			if err != nil {
				return nil, fmt.Errorf("%s is not the folder of a version: %w", folder, err)
			}
			numbers[folder] = append(numbers[folder], n)
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return slices.Compare(numbers[a], numbers[b]) })
	return folders, nil
}

// Writable returns an error unless the folder of a version may be written: the version has no tag.
// The function tags returns the names of all tags, each on a line.
func Writable(version string, tags func() ([]byte, error)) error {
	if !form.MatchString(version) {
		return fmt.Errorf("%q is not a version like v1.2.3", version)
	}
	out, err := tags()
	if err != nil {
		return fmt.Errorf("git cannot say whether %s is released: %w", version, err)
	}
	if slices.Contains(strings.Fields(string(out)), version) {
		return fmt.Errorf("%s is released, and its folder stays as it is: write the folder of the next version", version)
	}
	return nil
}
