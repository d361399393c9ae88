package cli

import (
	"strings"
	"sync"

	"golang.org/x/term"
)

// The control sequences of a screen, as ECMA-48 and xterm define them. A library of sequences would
// add 450 kB to the program.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l" // the alternate screen, without a cursor; long lines are cut
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	beginUpdate = "\x1b[?2026h\x1b[H" // the terminal shows the update as a whole, from the top left
	endUpdate   = "\x1b[J\x1b[?2026l" // nothing is left below
	endLine     = "\x1b[K"            // nothing is left to the right
)

// A Screen shows one picture after the other on the terminal of stdout. The content before comes back
// when the screen is closed, however the command ends.
type Screen struct {
	s       *Streams
	changed chan struct{}
	ignore  func()     // ends the signals of the terminal
	drawing sync.Mutex // is held while the process writes a picture, or is stopped
	closed  bool       // under drawing
}

// OpenScreen opens a screen. The caller must close it.
func OpenScreen(s *Streams) *Screen {
	c := &Screen{s: s, changed: make(chan struct{}, 1)}
	s.Cleanup.Set(c.leave)
	c.ignore = c.onSignals()
	s.Out.WriteString(enterScreen)
	return c
}

// Changed gets a value when the size of the terminal has changed, and when the process goes on after
// Ctrl-Z: it is time to draw.
func (c *Screen) Changed() <-chan struct{} { return c.changed }

// Draw shows lines, in one write. Of a line that is too long, the terminal shows the beginning.
func (c *Screen) Draw(lines []string) error {
	var all strings.Builder
	all.WriteString(beginUpdate)
	for i, line := range lines {
		if i > 0 {
			all.WriteString("\r\n")
		}
		all.WriteString(line + endLine)
	}
	all.WriteString(endUpdate)
	c.drawing.Lock()
	defer c.drawing.Unlock()
	c.s.Out.WriteString(all.String())
	return c.s.Out.Flush()
}

// Close closes the screen. Closing again does nothing.
func (c *Screen) Close() {
	c.drawing.Lock()
	defer c.drawing.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.ignore()
	c.s.Cleanup.Set(nil)
	c.s.Out.WriteString(leaveScreen)
	c.s.Out.Flush()
}

// leave shows the content from before, while another goroutine may be drawing.
func (c *Screen) leave() { c.s.stdout.WriteString(endUpdate + leaveScreen) }

// signal sends a value to the channel of Changed.
func (c *Screen) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Size returns the columns and rows of the terminal of stdout as they are now. Elsewhere rows is 0.
func (s *Streams) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(s.stdout.Fd()))
	if err != nil || columns < 1 {
		return s.Width, 0
	}
	return columns, rows
}
