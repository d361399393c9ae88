package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// A Progress tells how far a command is that takes long: by a line every 30 seconds.
type Progress struct {
	w    io.Writer
	next time.Time // of the next line
}

// progressEvery is the time between two lines of a Progress.
const progressEvery = 30 * time.Second

// NewProgress returns a Progress on stderr.
func NewProgress(s *Streams) *Progress { return &Progress{s.Err, time.Now().Add(progressEvery)} }

// Say writes a line if it is time for one.
func (p *Progress) Say(format string, args ...any) {
	if now := time.Now(); !now.Before(p.next) {
		p.next = now.Add(progressEvery)
		fmt.Fprintf(p.w, "firn: "+format+"\n", args...)
	}
}

// Reading returns a function that takes how many bytes of stdin a command has read. On a terminal the function
// tells the progress; elsewhere stderr is for errors alone.
func (s *Streams) Reading(command string) func(done int64) {
	if f, ok := s.Err.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return func(int64) {}
	}
	p, size := NewProgress(s), sizeOf(s.In)
	return func(done int64) {
		if size > 0 {
			p.Say("%s: %.0f %% of the input is read", command, 100*float64(done)/float64(size))
		} else {
			p.Say("%s: %s are read", command, humanize.Bytes(uint64(done)))
		}
	}
}

// sizeOf returns the bytes of a regular file, and 0 for all other inputs.
func sizeOf(in io.Reader) int64 {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}
