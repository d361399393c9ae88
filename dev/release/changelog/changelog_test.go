package changelog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/dev/release/changelog"
	"github.com/firn-id/firn/dev/release/tree"
)

// whole is a log without faults.
const whole = `# Changelog

All notable changes.

- A list in the preface.

## [Unreleased]

## [0.2.0] - 2026-03-01

Two lines about
the release.

### Added

- ` + "`Open` opens a\n  [store](docs/store.md#open \"Stores\"), [here](https://example.test/x) and [there][ref].\n  A [`code`](<a b.md>)" + `.
- One more:

  ` + "```go\n  x :=\n    1\n  ```" + `

### Changed

- ` + "`Config.Create`, **`a.B`** and `Close()`" + `:
  - ` + "`Inner`" + `

### Fixed

- ` + "`Fixed`" + `

## [0.1.0] - 2026-01-05 [YANKED]

### Removed

- ` + "`Old`" + `

[Unreleased]: https://example.test/compare/v0.2.0...HEAD
[0.2.0]: https://example.test/compare/v0.1.0...v0.2.0
[0.1.0]: https://example.test/releases/tag/v0.1.0
[ref]: docs/ref.md
`

// day is the day of the releases that tests check.
var day = time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)

func texts(problems []tree.Problem) []string {
	var list []string
	for _, p := range problems {
		list = append(list, p.Error())
	}
	return list
}

func TestWhole(t *testing.T) {
	l := changelog.Parse([]byte(whole))
	if got := texts(append(l.Problems(), l.CheckRelease("v0.2.0", day)...)); len(got) > 0 {
		t.Errorf("problems\n%s", strings.Join(got, "\n"))
	}
	s, ok := l.Section("v0.2.0")
	if !ok || s.Name != "0.2.0" || s.Date != "2026-03-01" || s.Line != 9 || len(s.Parts) != 3 {
		t.Errorf("section %+v, %t", s, ok)
	}
	for name, want := range map[string]bool{"Config.Create": true, "a.B": true, "Close": true, "Inner": true, "Open": false, "Fixed": false, "Old": false, "B": false} {
		if got := s.Names(name); got != want {
			t.Errorf("names %s: %t, want %t", name, got, want)
		}
	}
	if s, ok := l.Section("v0.1.0"); !ok || s.Date != "2026-01-05" || !s.Names("x", "Old") {
		t.Errorf("section %+v, %t", s, ok)
	}
	if _, ok := l.Section(""); ok {
		t.Error("Unreleased has a version")
	}
}

func TestNotes(t *testing.T) {
	const want = `Two lines about the release.

### Added

- ` + "`Open` opens a [store](https://host.test/o/r/blob/v0.2.0/docs/store.md#open \"Stores\"), [here](https://example.test/x) and [there][ref]. " +
		"A [`code`](<https://host.test/o/r/blob/v0.2.0/a%20b.md>)" + `.
- One more:

  ` + "```go\n  x :=\n    1\n  ```" + `

### Changed

- ` + "`Config.Create`, **`a.B`** and `Close()`" + `:
  - ` + "`Inner`" + `

### Fixed

- ` + "`Fixed`" + `

**All changes**: <https://example.test/compare/v0.1.0...v0.2.0>

[ref]: https://host.test/o/r/blob/v0.2.0/docs/ref.md
`
	got, err := changelog.Parse([]byte(whole)).Notes("v0.2.0", "https://host.test/o/r")
	if err != nil || got != want {
		t.Errorf("notes, %v\n%s\nwant\n%s", err, got, want)
	}
	got, err = changelog.Parse([]byte(whole)).Notes("v0.1.0", "https://host.test/o/r")
	if want := "### Removed\n\n- `Old`\n"; err != nil || got != want {
		t.Errorf("notes, %v\n%s\nwant\n%s", err, got, want)
	}
}

// mistakes are edits of the log, and the problems that follow.
var mistakes = []struct {
	name          string
	before, after string
	want          []string
}{
	{"no Unreleased", "## [Unreleased]\n\n", "", []string{
		"CHANGELOG.md:7: the first section is not [Unreleased]; write ## [Unreleased] above all versions",
	}},
	{"no sections", whole, "# Changelog\n", []string{
		"CHANGELOG.md: the first section is not [Unreleased]; write ## [Unreleased] above all versions",
		"CHANGELOG.md: no section of version 0.2.0; write ## [0.2.0] - 2026-03-01 below [Unreleased], and the changes below",
	}},
	{"empty file", whole, "", []string{
		"CHANGELOG.md: the first section is not [Unreleased]; write ## [Unreleased] above all versions",
		"CHANGELOG.md: no section of version 0.2.0; write ## [0.2.0] - 2026-03-01 below [Unreleased], and the changes below",
	}},
	{"no brackets", "## [Unreleased]", "## Unreleased", []string{
		`CHANGELOG.md:7: the heading "Unreleased" does not name a version in brackets; write ## [Unreleased], or ## [X.Y.Z] - YYYY-MM-DD`,
	}},
	{"Unreleased with a date", "## [Unreleased]", "## [Unreleased] - 2026-03-01", []string{
		"CHANGELOG.md:7: the section of unreleased changes has a date; write ## [Unreleased]",
	}},
	{"Unreleased with changes", "## [Unreleased]\n", "## [Unreleased]\n\n### Fixed\n\n- x\n", []string{
		"CHANGELOG.md:7: [Unreleased] is not empty; move the changes to ## [0.2.0] - 2026-03-01",
	}},
	{"Unreleased with a text", "## [Unreleased]\n", "## [Unreleased]\n\nNothing.\n", []string{
		"CHANGELOG.md:7: [Unreleased] is not empty; move the changes to ## [0.2.0] - 2026-03-01",
	}},
	{"Unreleased with an old link", "compare/v0.2.0...HEAD", "compare/v0.1.0...HEAD", []string{
		"CHANGELOG.md:7: [Unreleased] is not a link to the changes since v0.2.0; end the file's reference [Unreleased]: with /compare/v0.2.0...HEAD",
	}},
	{"Unreleased twice", "### Fixed\n", "## [Unreleased]\n\n### Fixed\n", []string{
		"CHANGELOG.md:31: [Unreleased] is not the first section; move the section above all versions",
	}},
	{"no section of the version", "0.2.0] - 2026-03-01", "0.1.9] - 2026-03-01", []string{
		"CHANGELOG.md:7: no section of version 0.2.0; write ## [0.2.0] - 2026-03-01 below [Unreleased], and the changes below",
	}},
	{"a version with v", "## [0.2.0]", "## [v0.2.0]", []string{
		`CHANGELOG.md:9: "v0.2.0" is not a semantic version; write ## [X.Y.Z] - YYYY-MM-DD`,
		"CHANGELOG.md:7: no section of version 0.2.0; write ## [0.2.0] - 2026-03-01 below [Unreleased], and the changes below",
	}},
	{"no date", "0.2.0] - 2026-03-01", "0.2.0]", []string{
		"CHANGELOG.md:9: version 0.2.0 has no date; write ## [0.2.0] - YYYY-MM-DD",
	}},
	{"no such date", "0.2.0] - 2026-03-01", "0.2.0] - 2026-02-30", []string{
		`CHANGELOG.md:9: "2026-02-30" is not a date; write ## [0.2.0] - YYYY-MM-DD`,
	}},
	{"a date of another form", "0.2.0] - 2026-03-01", "0.2.0] - 1 March 2026", []string{
		`CHANGELOG.md:9: "1 March 2026" is not a date; write ## [0.2.0] - YYYY-MM-DD`,
	}},
	{"a date to come", "0.2.0] - 2026-03-01", "0.2.0] - 2026-03-02", []string{
		"CHANGELOG.md:9: version 0.2.0 has the date 2026-03-02, and today is 2026-03-01; write ## [0.2.0] - 2026-03-01",
	}},
	{"a date before the earlier version", "0.2.0] - 2026-03-01", "0.2.0] - 2026-01-04", []string{
		"CHANGELOG.md:9: version 0.2.0 has the date 2026-01-04, and the earlier version 0.1.0 has 2026-01-05; write the day of the release",
	}},
	{"versions out of order", "## [0.1.0] - 2026-01-05 [YANKED]", "## [0.3.0] - 2026-01-05", []string{
		"CHANGELOG.md:35: version 0.3.0 stands below 0.2.0; sort the versions, the latest first, each with one section",
	}},
	{"a version twice", "## [0.1.0] - 2026-01-05 [YANKED]", "## [0.2.0] - 2026-01-05", []string{
		"CHANGELOG.md:35: version 0.2.0 stands below 0.2.0; sort the versions, the latest first, each with one section",
	}},
	{"a later version", "## [0.2.0] -", "## [0.3.0] - 2026-03-01\n\n## [0.2.0] -", []string{
		"CHANGELOG.md:9: the latest section is of version 0.3.0, not of 0.2.0; set the version that is to be released, or remove the section",
	}},
	{"no link", "[0.2.0]: https://example.test/compare/v0.1.0...v0.2.0\n", "", []string{
		"CHANGELOG.md:9: [0.2.0] is not a link to the version; add the reference [0.2.0]: with the address of a comparison that ends with ...v0.2.0, " +
			"or for the first release with /releases/tag/v0.2.0",
	}},
	{"a link to another version", "...v0.2.0", "...v0.1.1", []string{
		"CHANGELOG.md:9: [0.2.0] is not a link to the version; add the reference [0.2.0]: with the address of a comparison that ends with ...v0.2.0, " +
			"or for the first release with /releases/tag/v0.2.0",
	}},
	{"a wrong kind", "### Fixed", "### Bugs", []string{
		`CHANGELOG.md:31: "Bugs" is not a kind of change; move the entries below one of Added, Changed, Deprecated, Removed, Fixed, Security`,
	}},
	{"a kind twice", "### Fixed", "### Added", []string{
		"CHANGELOG.md:31: 0.2.0 has Added twice; move the entries to the first of the two",
	}},
	{"a kind without entries", "- `Fixed`\n", "Soon.\n", []string{
		"CHANGELOG.md:31: Fixed of version 0.2.0 has no entries; delete the heading, or write list items below",
	}},
	{"no entries", whole, "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-01\n\nMuch.\n\n" +
		"[Unreleased]: https://example.test/compare/v0.2.0...HEAD\n[0.2.0]: https://example.test/releases/tag/v0.2.0\n", []string{
		"CHANGELOG.md:5: version 0.2.0 has no entries; write what changes for users, as list items",
	}},
	{"a list without a kind", "Two lines about\n", "- A change\n\n", []string{
		"CHANGELOG.md:11: 0.2.0 has a list of changes without a kind; write a heading above the list: one of " +
			"### Added, ### Changed, ### Deprecated, ### Removed, ### Fixed, ### Security",
	}},
	{"an underlined heading", "## [Unreleased]\n", "[Unreleased]\n---\n", []string{
		"CHANGELOG.md:7: the heading is underlined; write ## before the name, and no line below",
	}},
}

func TestProblems(t *testing.T) {
	for _, test := range mistakes {
		t.Run(test.name, func(t *testing.T) {
			if n := strings.Count(whole, test.before); n != 1 {
				t.Fatalf("the log has the text %d times", n)
			}
			l := changelog.Parse([]byte(strings.Replace(whole, test.before, test.after, 1)))
			got := texts(append(l.Problems(), l.CheckRelease("v0.2.0", day)...))
			if !slices.Equal(got, test.want) {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// FuzzParse makes notes of any log without a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("## \n\n## [0.2.0]\n***\n<!-- x -->\n[a]: b\n"))
	f.Add([]byte("## [0.2.0] - 2026-03-01\n- [x\n  y](z)\n[0.2.0]: c\n## [0.2.0]"))
	f.Add([]byte("> ## [0.2.0]\n> a\n> b\n\n## [0.2.0]\n> [a](b)\n> c\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		l := changelog.Parse(source)
		l.Problems()
		l.CheckRelease("v0.2.0", day)
		_, _ = l.Notes("v0.2.0", "https://host.test/o/r")
	})
}
