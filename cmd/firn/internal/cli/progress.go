package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Progress shows on a terminal how much of an input is read: the throughput, and the time that remains
// where the size is known. The nil Progress shows nothing.
//
// The bar is known by its functions alone. A field of the library's type would link all methods of the type
// wherever a Progress is in an interface, and with them an HTTP server of 280 kB.
type Progress struct {
	set    func(int64) error
	finish func() error
}

// NewProgress returns a Progress on stderr, or nil where there is no terminal. total is the bytes of the
// input, or -1 if nobody knows. Nobody sees a bar between lines: if a command writes to a terminal while it
// reads, the Progress is nil.
func NewProgress(s *Streams, text string, total int64, writes bool) *Progress {
	f, ok := s.Err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || writes && s.stdout != nil && term.IsTerminal(int(s.stdout.Fd())) {
		return nil
	}
	const redraw = 100 * time.Millisecond
	bar := progressbar.NewOptions64(total, progressbar.OptionSetWriter(s.Err), progressbar.OptionSetDescription(text),
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(redraw), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	bar.StartWithoutRender() // otherwise the time of the throughput begins with the end of the first part
	return &Progress{bar.Set64, bar.Finish}
}

// Set shows that so many bytes are read.
func (p *Progress) Set(done int64) {
	if p != nil && p.set != nil {
		p.set(done)
	}
}

// End removes the bar.
func (p *Progress) End() {
	if p != nil && p.set != nil {
		p.finish()
		p.set = nil
	}
}

// SizeOf returns the bytes that are left to read of a regular file, and -1 for all other inputs.
func SizeOf(in io.Reader) int64 {
	f, ok := in.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil || at > info.Size() {
		return -1
	}
	return info.Size() - at
}
