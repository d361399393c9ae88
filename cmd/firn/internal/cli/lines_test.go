package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzLines compares the reader of lines with the obvious one, in whatever pieces the
// input comes.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\n\x00\r\nb"), byte(1))
	f.Add([]byte(strings.Repeat("x", MaxLine)+"\r\n"+strings.Repeat("y", MaxLine+1)+"\nz"), byte(200))
	f.Add(bytes.Repeat([]byte("long"), 20*MaxLine), byte(0))
	f.Add([]byte("\ufeff07en9rb30swmf\r\n\ufeff"), byte(0))
	f.Add([]byte("\ufeff"), byte(0))
	f.Fuzz(func(t *testing.T, input []byte, piece byte) {
		var want, raw []string
		for line := range bytes.Lines(bytes.TrimPrefix(input, []byte(byteOrderMark))) {
			s := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
			raw = append(raw, s)
			if len(s) > MaxLine {
				s = ErrLongLine.Error()
			}
			want = append(want, s)
		}
		l := newLines(&pieces{input: input, size: int(piece)*16 + 1})
		for n, line := range want {
			got, err := l.Next()
			if err == ErrLongLine {
				if begins := raw[n][:MaxLine]; got != begins {
					t.Fatalf("line %d begins with %q, not %q", n+1, got, begins)
				}
				got = err.Error()
			} else if err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
			if got != line {
				t.Fatalf("line %d is %q, not %q", n+1, got, line)
			}
		}
		if got, err := l.Next(); err == nil || err == ErrLongLine {
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
