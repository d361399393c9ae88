package cli

import (
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Meter shows progress: as a bar on a terminal, elsewhere as a line or not at all.
type Meter struct {
	s   *Streams
	bar *progressbar.ProgressBar
}

// NewMeter returns a meter on stderr.
func NewMeter(s *Streams) *Meter {
	p := &Meter{s: s}
	if f, ok := s.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(s.Err), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionFullWidth())
	}
	return p
}

// Part shows the part that is done, from 0 to 1.
func (p *Meter) Part(part float64, text string) {
	if p.bar != nil {
		p.bar.Describe(text)
		p.bar.Set(min(int(1000*part), 999)) // 1000 would end the bar
	}
}

// Line writes a text where there is no bar.
func (p *Meter) Line(text string) {
	if p.bar == nil {
		fmt.Fprintf(p.s.Err, "firn: %s\n", text)
	}
}

// End removes the bar.
func (p *Meter) End() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
