// Package version describes this build of firn.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// The linker sets release and commit in the binaries of a release and in the container image, whose
// builds may see no repository: -ldflags "-X PACKAGE.release=v1.2.3 -X PACKAGE.commit=HASH".
var (
	release string
	commit  string
)

// A Build describes a build of this program.
type Build struct {
	Version  string `json:"version"` // of the release, the module or the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Revision string `json:"revision,omitempty"` // the commit
	Time     string `json:"time,omitempty"`     // of the commit
	Modified *bool  `json:"modified,omitempty"` // files differed from the commit
}

// Read returns the build of this program, as noted by the linker and the Go toolchain.
func Read() Build {
	info, _ := debug.ReadBuildInfo()
	return read(info, release, commit)
}

// read returns the build that info, the release and the commit describe. All may be missing.
func read(info *debug.BuildInfo, release, commit string) Build {
	b := Build{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info != nil {
		b.Version = cmp.Or(info.Main.Version, "(devel)")
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				modified := s.Value == "true"
				b.Modified = &modified
			}
		}
	}
	b.Version = cmp.Or(release, b.Version)
	if commit != "" && commit != b.Revision {
		b.Revision, b.Time, b.Modified = commit, "", nil // time and changes of another commit
	}
	return b
}

// String returns the build for people: "v1.2.3 (commit 0123456789ab, built with go1.26.0)".
func (b Build) String() string {
	var text strings.Builder
	text.WriteString(b.Version + " (")
	if b.Revision != "" {
		fmt.Fprintf(&text, "commit %.12s, ", b.Revision)
	}
	if b.Modified != nil && *b.Modified {
		text.WriteString("modified, ")
	}
	return text.String() + "built with " + b.Go + ")"
}

// Command returns the command firn version.
func Command(s *cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  firn version\n  firn version --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return cli.WriteJSON(s.Out, Read())
			}
			_, err := fmt.Fprintf(s.Out, "firn version %v\n", Read())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON object")
	return cmd
}
