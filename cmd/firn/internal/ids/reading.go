package ids

import (
	"cmp"
	"slices"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/foreign"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/ages"
	"github.com/firn-id/firn/internal/form/prefix"
)

// A reading is what an input can be: an ID of a format, or of a foreign kind.
type reading struct {
	reader  *inspect.Reader // nil for a foreign kind
	id      []byte          // the binary form, of a format
	foreign *foreign.ID
	prefix  string // of a typed ID

	time     time.Time
	timed    bool // the ID has a time
	rank     rank
	distance int64 // of a foreign kind's time from now
	written  bool  // the input is the canonical text of a foreign kind
	named    bool  // the user named the kind
}

// A rank says how plausible a reading is. Foreign decimals come behind Firn's formats: every time fits
// decimals of several kinds.
type rank int

const (
	marked    rank = iota // of a kind with marks, whatever the time
	plausible             // a format's ID of a plausible time
	plausibleForeign
	timeless // of a kind without a time
	doubtful // a format's ID of a future or a long past time
	doubtfulForeign
	young // a format's ID of the time near the epoch, as small numbers have
)

// kind returns the name of the format or of the kind.
func (r *reading) kind() string {
	if r.reader == nil {
		return r.foreign.Kind.Name
	}
	return r.reader.Format().Name()
}

// text returns the canonical text.
func (r *reading) text() string {
	if r.reader == nil {
		return r.foreign.Text
	}
	text, err := r.reader.AppendText(nil, r.id)
	if err != nil {
		return "" // an ID that was read has a text
	}
	return string(text)
}

// A scanner finds out what inputs can be. The zero values of its options mean that nothing is known.
type scanner struct {
	readers []*inspect.Reader // of the possible formats
	named   bool              // the user named the format
	kind    string            // the foreign kind that the user named, or ""
	form    inspect.Form
	detect  bool // the form is not known
	now     time.Time
	foreign foreign.Reader
}

// read returns what an input can be, the most plausible first. The readings are valid until the next call. The
// error is for an input that is nothing.
func (s *scanner) read(input string) ([]reading, error) {
	found := s.scan(input)
	if bare := intake.Unquoted([]byte(input)); s.detect && len(found) == 0 && len(bare) > 0 {
		input = string(bare)
		found = s.scan(input)
	}
	if len(found) == 0 {
		return nil, s.refused(input)
	}
	slices.SortStableFunc(found, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance), byWritten(a, b))
	})
	return found, nil
}

// byWritten compares readings: one whose canonical text is the input is less.
func byWritten(a, b reading) int {
	switch {
	case a.written == b.written:
		return 0
	case a.written:
		return -1
	}
	return 1
}

// scan returns the readings of an input.
func (s *scanner) scan(input string) (found []reading) {
	var forms []inspect.Form // all of them
	if !s.detect {
		forms = []inspect.Form{s.form}
	}
	found = s.guesses(input, "", forms...)
	if p, text, ok := prefix.Cut(input); ok && s.detect {
		found = append(found, s.guesses(text, p, inspect.Text)...)
	}
	if !s.named {
		found = s.appendForeign(found, input)
	}
	return found
}

// guesses returns what an input can be in the formats. Of a named format it is the first form that fits.
func (s *scanner) guesses(input, prefix string, forms ...inspect.Form) (found []reading) {
	if s.named && len(forms) == 0 {
		r := s.readers[0]
		if ids := r.AppendReadings(nil, []byte(input)); len(ids) > 0 {
			return []reading{readingOf(r, ids[:r.Format().Descriptor().Size])}
		}
		return nil
	}
	for _, g := range inspect.Guesses(input, s.readers, s.now, forms...) {
		r := readingOf(g.Reader, g.ID)
		r.prefix, r.rank = prefix, doubtful
		switch {
		case g.Plausible:
			r.rank = plausible
		case g.Young:
			r.rank = young
		}
		found = append(found, r)
	}
	return found
}

func readingOf(r *inspect.Reader, id []byte) reading {
	return reading{reader: r, id: id, time: r.Time(id), timed: true}
}

// appendForeign appends the readings of foreign kinds. The forms of Firn's formats say which kinds are possible:
// decimals, or texts.
func (s *scanner) appendForeign(found []reading, input string) []reading {
	if !s.detect && s.form != inspect.Text && s.form != inspect.Int {
		return found
	}
	weights := ages.At(s.now)
	ids := s.foreign.Read(input)
	for n := range ids {
		f := &ids[n]
		if s.kind != "" && f.Kind.Name != s.kind || !s.detect && f.Kind.Decimal() != (s.form == inspect.Int) {
			continue
		}
		r := reading{foreign: f, prefix: f.Prefix, written: f.Text == input, named: s.kind != "", time: f.Time, timed: f.Timed}
		usual := false
		if r.timed {
			usual, r.distance = weights.Weigh(r.time)
		}
		switch {
		case f.Kind.Marked:
			r.rank = marked
		case !r.timed:
			r.rank = timeless
		case usual:
			r.rank = plausibleForeign
		default:
			r.rank = doubtfulForeign
		}
		found = append(found, r)
	}
	return found
}

// A verdict says which of several readings a tool may take.
type verdict int

const (
	certain   verdict = iota // nothing else fits
	guess                    // the only plausible one, of several that fit
	ambiguous                // several are plausible, or none is
)

// judge says whether the first reading stands for an input. Foreign decimals do not count where a format's ID is
// plausible. Readings of the same time count once: every Ulid-Flake is both stand-alone and scalable.
func judge(readings []reading) verdict {
	first := readings[0]
	switch {
	case len(readings) == 1 && (first.reader != nil || first.named || first.foreign.Kind.Weak == ""):
		return certain
	case len(readings) == 1:
		return guess
	case first.rank > timeless:
		return ambiguous
	}
	for _, r := range readings[1:] {
		if r.rank == first.rank && (!r.time.Equal(first.time) || r.rank == timeless) {
			return ambiguous
		}
	}
	return guess
}
