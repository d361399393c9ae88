package cli

import (
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A meter is a bar on a terminal, and elsewhere a line or none.
type meter struct {
	s   *Streams
	bar *progressbar.ProgressBar
}

func NewMeter(s *Streams) *meter {
	p := &meter{s: s}
	if f, ok := s.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(s.Err), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionFullWidth())
	}
	return p
}

// Part shows how far it has come.
func (p *meter) Part(part float64, text string) {
	if p.bar != nil {
		p.bar.Describe(text)
		p.bar.Set(min(int(1000*part), 999)) // the end would finish it
	}
}

// Line says what goes on where there is no bar.
func (p *meter) Line(text string) {
	if p.bar == nil {
		fmt.Fprintf(p.s.Err, "firn: %s\n", text)
	}
}

func (p *meter) End() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
