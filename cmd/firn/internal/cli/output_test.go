package cli

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestOutputWholeLines: after each write, stdout ends with a whole line, and at the end it has all bytes.
func TestOutputWholeLines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		path := filepath.Join(t.TempDir(), "out")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		s := NewStreams(f, f, f)
		var want []byte
		for range 200 {
			piece := bytes.Repeat([]byte("x"), random.IntN(20))
			if random.IntN(3) == 0 {
				piece = append(piece, '\n')
			}
			want = append(want, piece...)
			s.Out.Write(piece)
			if random.IntN(2) == 0 {
				s.Out.Flush()
			}
			if got, _ := os.ReadFile(path); len(got) > 0 && got[len(got)-1] != '\n' {
				t.Fatalf("stdout ends with %q", got[max(0, len(got)-10):])
			}
		}
		if code := s.End(nil, nil); code != ExitOK {
			t.Fatalf("exit code %d", code)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
			t.Fatalf("stdout has %d bytes, not %d", len(got), len(want))
		}
		f.Close()
	}
}

// TestOutputLongLine: a line without an end does not wait for ever.
func TestOutputLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := NewStreams(f, f, f)
	for range 4 * mostRest / outSize {
		s.Out.Write(make([]byte, outSize))
	}
	s.Out.Flush()
	if len(s.Cleanup.stdout.rest) > mostRest {
		t.Errorf("%d bytes wait", len(s.Cleanup.stdout.rest))
	}
	s.End(nil, nil)
	if got, _ := os.ReadFile(path); len(got) != 4*mostRest {
		t.Errorf("%d bytes", len(got))
	}
}
