package tests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/nanoflake"
)

// membersInOrder finds the answers to invalid lines, whose members Go's maps have the other way round.
var membersInOrder = regexp.MustCompile(`(?m)^\{"input":(".*"),"error":(".*")\}$`)

// TestInspectLines: whatever stdin holds, each line has an answer or an error of its own.
func TestInspectLines(t *testing.T) {
	const (
		id     = "07en9rb30swmf"
		answer = `{"format":"nanoflake","id":"07en9rb30swmf","int":"974901554009075751","hex":"0d878bcc51aff027",` +
			`"time":"2028-05-14T05:10:43.27Z","unix_ms":1841893843270,` +
			`"fields":{"timestamp":232434643270,"generator_id":767,"sequence":39}}` + "\n"
	)
	long := strings.Repeat("0", cli.MaxLine+1)
	for _, test := range []struct {
		name, stdin string
		lines       string   // what is said of each: "a"n answer, an "e"rror or "-", nothing
		invalid     []string // the lines of the errors, as the format gets them
	}{
		{"nothing", "", "", nil},
		{"one", id + "\n", "a", nil},
		{"without end", id, "a", nil},
		{"CRLF", id + "\r\n" + id + "\r\n", "aa", nil},
		{"upper case", strings.ToUpper(id) + "\n", "a", nil},
		{"spaces around", " " + id + "\n\t" + id + " \t\r\n\u00a0" + id + "\v", "aaa", nil},
		{"two CR", id + "\r\r\n", "a", nil},
		{"blank", "\n", "-", nil},
		{"blank CRLF", "\r\n", "-", nil},
		{"blank lines", "\n  \n" + id + "\n\t\r\n\n" + id + "\n\n", "--a--a-", nil},
		{"decimal and hex", "974901554009075751\n0d878bcc51aff027\n0xd878bcc51aff027\n", "aaa", nil},

		{"CR inside", "07en9\rb30sw\n", "e", []string{"07en9\rb30sw"}},
		{"NUL", "07en\x00b30swmf\n", "e", []string{"07en\x00b30swmf"}},
		{"not UTF-8", "07\xff9\n", "e", []string{"07\xff9"}},
		{"UTF-8", "07é9\n", "e", []string{"07é9"}},
		{"escape", "\x1b[31m\n", "e", []string{"\x1b[31m"}},
		{"plus", "+7\n", "e", []string{"+7"}},
		{"minus", "-7\n", "e", []string{"-7"}},
		{"space inside", "07en9 b30sw\n", "e", []string{"07en9 b30sw"}},
		{"underscore", "7_7\n", "e", []string{"7_7"}},
		{"too large", "1y2p0ij32e8e8\n", "e", []string{"1y2p0ij32e8e8"}},
		{"too short", "7en9rb30swmf\n", "e", []string{"7en9rb30swmf"}},
		{"longest line", long[1:] + "\n", "e", []string{long[1:]}},
		{"longest line, CRLF", long[1:] + "\r\n", "e", []string{long[1:]}},
		{"too long", long + "\n", "e", []string{long}},
		{"far too long", strings.Repeat(long, 100) + "\n" + id, "ea", []string{long}},

		{"among others", id + "\n" + id + "\nno!\n" + id + "\n" + long + "\n\n" + id, "aaeae-a", []string{"no!", long}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var wantOut, wantErr strings.Builder
			wantCode := cli.ExitOK
			bad := test.invalid
			for n, said := range test.lines {
				switch said {
				case 'a':
					wantOut.WriteString(answer)
				case 'e':
					wantCode = cli.ExitFailed
					input := bad[0]
					_, err := nanoflake.Parse(input)
					if len(input) > cli.MaxLine {
						input, err = input[:cli.MaxLine], cli.ErrLongLine
					}
					fmt.Fprintf(&wantErr, "firn: line %d: %v\n", n+1, err)
					check(t, json.NewEncoder(&wantOut).Encode(map[string]string{"error": err.Error(), "input": input}))
					bad = bad[1:]
				}
			}
			stdout, stderr, code := firnRun(t, test.stdin, "inspect", "nanoflake", "--json")
			if got := membersInOrder.ReplaceAllString(stdout, `{"error":$2,"input":$1}`); got != wantOut.String() {
				t.Errorf("stdout is\n%snot\n%s", got, &wantOut)
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
