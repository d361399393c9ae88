package version

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestRead: each way to build the program tells the version, and the commit if it is known.
func TestRead(t *testing.T) {
	const hash, other = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	info := func(version string, settings ...string) *debug.BuildInfo {
		i := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for _, s := range settings {
			key, value, _ := strings.Cut(s, "=")
			i.Settings = append(i.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		return i
	}
	clean := []string{"vcs.revision=" + hash, "vcs.time=2026-01-02T03:04:05Z", "vcs.modified=false"}
	for _, v := range []struct {
		name            string
		info            *debug.BuildInfo
		release, commit string
		text, json      string // without the parts of Go, system and processor
	}{
		{"go install of a version", info("v1.2.3"), "", "",
			"v1.2.3 (built with GO)", `{"version":"v1.2.3",}`},
		{"a clone at a tag", info("v1.2.3", clean...), "", "",
			"v1.2.3 (commit 0123456789ab, built with GO)",
			`{"version":"v1.2.3",,"revision":"` + hash + `","time":"2026-01-02T03:04:05Z","modified":false}`},
		{"a clone with changes", info("v1.2.4-0.20260102030405-0123456789ab+dirty", clean[0], clean[1], "vcs.modified=true"), "", "",
			"v1.2.4-0.20260102030405-0123456789ab+dirty (commit 0123456789ab, modified, built with GO)",
			`{"version":"v1.2.4-0.20260102030405-0123456789ab+dirty",,"revision":"` + hash + `","time":"2026-01-02T03:04:05Z","modified":true}`},
		{"no stamp", info(""), "", "", "(devel) (built with GO)", `{"version":"(devel)",}`},
		{"a release", info("v0.9.0-0.2026", clean...), "v1.2.3", hash,
			"v1.2.3 (commit 0123456789ab, built with GO)",
			`{"version":"v1.2.3",,"revision":"` + hash + `","time":"2026-01-02T03:04:05Z","modified":false}`},
		{"a release without a repository", info("(devel)"), "v1.2.3", hash,
			"v1.2.3 (commit 0123456789ab, built with GO)", `{"version":"v1.2.3",,"revision":"` + hash + `"}`},
		{"a commit that is not the stamp's", info("v1.2.3", clean...), "v1.2.3", other,
			"v1.2.3 (commit fedcba987654, built with GO)", `{"version":"v1.2.3",,"revision":"` + other + `"}`},
		{"a short commit", info(""), "v1.2.3", "abc", "v1.2.3 (commit abc, built with GO)", `{"version":"v1.2.3",,"revision":"abc"}`},
		{"nothing known", nil, "", "", "unknown (built with GO)", `{"version":"unknown",}`},
	} {
		b := read(v.info, v.release, v.commit)
		if got := strings.Replace(b.String(), runtime.Version(), "GO", 1); got != v.text {
			t.Errorf("%s: %s\nwant: %s", v.name, got, v.text)
		}
		data, err := json.Marshal(b)
		testkit.OK(t, err)
		system := `"go":"` + runtime.Version() + `","os":"` + runtime.GOOS + `","arch":"` + runtime.GOARCH + `"`
		if got := strings.Replace(string(data), system, "", 1); got != v.json {
			t.Errorf("%s: %s\nwant: %s", v.name, got, v.json)
		}
	}
}
