package resp

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/server/internal/supply"
)

// A script is a connection whose client has sent everything. It gives the bytes in pieces of some sizes.
type script struct {
	net.Conn // nil: a conn uses only the methods below
	rest     []byte
	sizes    []byte // of the pieces, in turn; no sizes mean one piece
	turn     int
	answers  bytes.Buffer
}

func (s *script) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := len(s.rest)
	if len(s.sizes) > 0 {
		n = int(s.sizes[s.turn%len(s.sizes)])%600 + 1
		s.turn++
	}
	n = copy(b, s.rest[:min(n, len(s.rest))])
	s.rest = s.rest[n:]
	return n, nil
}

func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *script) Write(b []byte) (int, error)      { return s.answers.Write(b) }
func (s *script) Close() error                     { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// A loud log fails the test with an error.
type loud struct {
	t *testing.T
	slog.Handler
}

func (l loud) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (l loud) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		l.t.Error(r.Message, a)
		return true
	})
	return nil
}

// changing is what differs between the same answers at different times.
var changing = regexp.MustCompile(`uptime_in_seconds:[0-9]+`)

// FuzzConn sends any bytes, in any pieces. All answers are well-formed, and those to the pieces are those to the whole.
// Behind a malformed command nothing is answered.
func FuzzConn(f *testing.F) {
	for _, v := range fixed {
		f.Add([]byte(v.command+v.command), []byte{1, 5, 30})
	}
	for _, v := range malformed {
		f.Add([]byte(frameOf("PING")+v.bytes[:min(len(v.bytes), 200)]), []byte{3})
	}
	for _, command := range [][]string{{"INCR", "snowflakesi"}, {"FIRN.RUN", "nanoflake", "2"}, {"INFO"}, {"FIRN.LIST"}, {"HELLO", "3"}, {"COMMAND"}, {"COMMAND", "DOCS"},
		{"FIRN.NEXT", "nanoflake", "3"}, {"CLIENT", "ID"}, {"QUIT"}, {"FIRN.INSPECT", "673740726894358528"}, {"INCR", "order:1"}} {
		f.Add([]byte(strings.Repeat(frameOf(command...), 3)), []byte{255, 0})
	}
	full, none := newSet(f), &supply.Set{}
	f.Fuzz(func(t *testing.T, b, sizes []byte) {
		// With generators, answers have IDs. Binary IDs are as good as any bytes, so the answers of one connection are
		// compared without generators.
		for _, set := range []*supply.Set{full, none} {
			whole, pieces := &script{rest: b}, &script{rest: b, sizes: sizes}
			for _, c := range []*script{whole, pieces} {
				New(Config{Set: set, MaxIDs: 100, Log: slog.New(loud{t, slog.DiscardHandler})}).ServeConn(c, nil, func() {})
				r := bufio.NewReader(bytes.NewReader(c.answers.Bytes()))
				for ended := false; ; {
					v, err := readValue(r)
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatalf("%q is answered by %q: %v", b, c.answers.Bytes(), err)
					}
					if ended {
						t.Fatalf("%q is answered by %q: an answer behind the end", b, c.answers.Bytes())
					}
					ended = v.kind == '-' && strings.HasPrefix(v.text, "ERR request: Protocol error: ")
				}
			}
			if set == full {
				continue
			}
			one := changing.ReplaceAll(whole.answers.Bytes(), []byte("…"))
			other := changing.ReplaceAll(pieces.answers.Bytes(), []byte("…"))
			if !bytes.Equal(one, other) {
				t.Fatalf("%q is answered by\n%q, and in pieces by\n%q", b, one, other)
			}
		}
	})
}
