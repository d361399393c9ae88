package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/nanoflake"
)

// TestInspectLines: whatever stdin holds, each line has an answer or an error of its own.
func TestInspectLines(t *testing.T) {
	const (
		id     = "07en9rb30swmf"
		answer = `{"format":"nanoflake","id":"07en9rb30swmf","int":"974901554009075751","hex":"0d878bcc51aff027",` +
			`"time":"2028-05-14T05:10:43.27Z","unix_ms":1841893843270,` +
			`"fields":{"timestamp":232434643270,"generator_id":767,"sequence":39}}` + "\n"
	)
	long := strings.Repeat("0", cli.MaxLine+1)
	type invalid struct {
		line int
		text string // as the format gets it
	}
	for _, test := range []struct {
		name, stdin string
		answers     int
		invalid     []invalid
	}{
		{"nothing", "", 0, nil},
		{"one", id + "\n", 1, nil},
		{"without end", id, 1, nil},
		{"CRLF", id + "\r\n" + id + "\r\n", 2, nil},
		{"upper case", strings.ToUpper(id) + "\n", 1, nil},

		{"empty", "\n", 0, []invalid{{1, ""}}},
		{"empty CRLF", "\r\n", 0, []invalid{{1, ""}}},
		{"CR inside", "07en9\rb30sw\n", 0, []invalid{{1, "07en9\rb30sw"}}},
		{"two CR", "07en9\r\r\n", 0, []invalid{{1, "07en9\r"}}},
		{"NUL", "07en\x00b30swmf\n", 0, []invalid{{1, "07en\x00b30swmf"}}},
		{"not UTF-8", "07\xff9\n", 0, []invalid{{1, "07\xff9"}}},
		{"UTF-8", "07é9\n", 0, []invalid{{1, "07é9"}}},
		{"escape", "\x1b[31m\n", 0, []invalid{{1, "\x1b[31m"}}},
		{"plus", "+7\n", 0, []invalid{{1, "+7"}}},
		{"minus", "-7\n", 0, []invalid{{1, "-7"}}},
		{"space before", " 7\n", 0, []invalid{{1, " 7"}}},
		{"space after", "7 \n", 0, []invalid{{1, "7 "}}},
		{"tab", "7\t\n", 0, []invalid{{1, "7\t"}}},
		{"underscore", "7_7\n", 0, []invalid{{1, "7_7"}}},
		{"too large", "1y2p0ij32e8e8\n", 0, []invalid{{1, "1y2p0ij32e8e8"}}},
		{"too short", "7en9rb30swmf\n", 0, []invalid{{1, "7en9rb30swmf"}}},
		{"longest line", long[1:] + "\n", 0, []invalid{{1, long[1:]}}},
		{"longest line, CRLF", long[1:] + "\r\n", 0, []invalid{{1, long[1:]}}},
		{"too long", long + "\n", 0, []invalid{{1, long}}},
		{"far too long", strings.Repeat(long, 100) + "\n" + id, 1, []invalid{{1, long}}},

		{"among others", id + "\n" + id + "\nno!\n" + id + "\n" + long + "\n\n" + id, 4,
			[]invalid{{3, "no!"}, {5, long}, {6, ""}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var wantErr strings.Builder
			wantCode := cli.ExitOK
			for _, bad := range test.invalid {
				wantCode = cli.ExitFailed
				_, err := nanoflake.Parse(bad.text)
				if len(bad.text) > cli.MaxLine {
					err = cli.ErrLongLine
				}
				fmt.Fprintf(&wantErr, "firn: line %d: %v\n", bad.line, err)
			}
			stdout, stderr, code := firnRun(t, test.stdin, "inspect", "nanoflake", "--json")
			if want := strings.Repeat(answer, test.answers); stdout != want {
				t.Errorf("stdout is\n%snot\n%s", stdout, want)
			}
			if stderr != wantErr.String() {
				t.Errorf("stderr is\n%snot\n%s", stderr, &wantErr)
			}
			if code != wantCode {
				t.Errorf("exit code is %d, not %d", code, wantCode)
			}
		})
	}
}
