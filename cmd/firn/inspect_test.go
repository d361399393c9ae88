package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn"
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
	long := strings.Repeat("0", maxLine+1)
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
			wantCode := exitOK
			for _, bad := range test.invalid {
				wantCode = exitFailed
				_, err := nanoflake.Parse(bad.text)
				if len(bad.text) > maxLine {
					err = errLongLine
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

// FuzzLines compares the reader of lines with the obvious one, in whatever pieces the
// input comes.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\n\x00\r\nb"), byte(1))
	f.Add([]byte(strings.Repeat("x", maxLine)+"\r\n"+strings.Repeat("y", maxLine+1)+"\nz"), byte(200))
	f.Add(bytes.Repeat([]byte("long"), 20*maxLine), byte(0))
	f.Fuzz(func(t *testing.T, input []byte, piece byte) {
		var want []string
		for line := range bytes.Lines(input) {
			s := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
			if len(s) > maxLine {
				s = errLongLine.Error()
			}
			want = append(want, s)
		}
		l := newLines(&pieces{input: input, size: int(piece)*16 + 1})
		for n, line := range want {
			got, err := l.next()
			if err == errLongLine {
				got = err.Error()
			} else if err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
			if got != line {
				t.Fatalf("line %d is %q, not %q", n+1, got, line)
			}
		}
		if got, err := l.next(); err == nil || err == errLongLine {
			t.Fatalf("another line: %q, %v", got, err)
		}
	})
}

// pieces is a reader of so many bytes at a time.
type pieces struct {
	input []byte
	size  int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.input) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.input[:min(p.size, len(p.input))])
	p.input = p.input[n:]
	return n, nil
}

// FuzzAnswer: whatever an ID is said to be, there is an answer or an error, each of
// which is text.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "0", "07en9rb30swmf", "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "9007199254740991",
		"017bdf6431bb33750751eb63beb3c3f8c5969d86", "9223372036854775807", "7fffffffffffffff", "\x00", "\xff\xfe", "é"} {
		for form := range readForms {
			f.Add(s, byte(form), true, int64(0))
			f.Add(s, byte(form), false, int64(253402300799999)) // the last epoch
		}
	}
	f.Fuzz(func(t *testing.T, s string, form byte, json bool, epoch int64) {
		i := inspector{
			form: readForms[int(form)%len(readForms)], json: json, pens: newPens(false), now: time.Now(),
			settings: firn.Settings{Epoch: time.UnixMilli(epoch % 253402300799999)},
		}
		check := func() {
			var w bytes.Buffer
			err := i.answer(&w, s)
			if err != nil {
				complain(&w, err)
			}
			if w.Len() == 0 || bytes.ContainsFunc(w.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
				t.Fatalf("%q: answer %q", s, w.Bytes())
			}
			if lines := bytes.Count(w.Bytes(), []byte("\n")); (json || err != nil) && lines != 1 {
				t.Fatalf("%q: %d lines: %q", s, lines, w.Bytes())
			}
		}
		i.formats = firn.Formats()
		check()
		for _, format := range firn.Formats() {
			i.formats, i.named = []firn.Format{format}, true
			check()
		}
	})
}

func TestMisspelled(t *testing.T) {
	for word, want := range map[string]string{
		"sno": "sno", "SNO": "sno", "sn": "sno", "so": "sno", "no": "sno", "snoo": "sno", "ssno": "sno", "sna": "sno", "son": "sno", "nso": "sno",
		"scru16": "scru160", "SCRU-160": "scru160", "scru106": "scru160", "scrul60": "scru160",
		"ulid-flake": "ulidflake", "ulidflake-Scalable": "ulidflake-scalable", "ulidflake_scalable": "ulidflake-scalable", "snowflakesl": "snowflakesi", "snowflake-si": "snowflakesi",
		"": "", "s": "", "ns": "", "snooo": "", "ons": "", "snaa": "", "xsnox": "", "osn": "", "nanofla": "", "ulidflake-": "ulidflake", "ulid": "", "snowflake": "", "07en9rb30swmf": "",
	} {
		if got := misspelled(word); got != want {
			t.Errorf("%q is meant to be %q, want %q", word, got, want)
		}
	}
}
