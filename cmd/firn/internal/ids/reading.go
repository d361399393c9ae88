package ids

import (
	"cmp"
	"slices"
	"strings"
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

	at       time.Time
	timed    bool // the ID has a time, at
	rank     rank
	distance int64 // of the time from now
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

// time returns the time of the ID. ok is false for a kind without a time.
func (r *reading) time() (t time.Time, ok bool) { return r.at, r.timed }

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

// weighAll weighs the readings that were found, and returns them in this order.
func (s *scanner) weighAll() []*reading {
	if s.guesses == (ages.Guesses{}) {
		s.guesses = ages.At(s.now)
	}
	s.readings = s.readings[:0]
	for i := range s.found {
		s.weigh(&s.found[i])
		s.readings = append(s.readings, &s.found[i])
	}
	return s.readings
}

// weigh finds out the time of a reading, and how plausible the reading is.
func (s *scanner) weigh(r *reading) {
	if r.reader == nil {
		r.at, r.timed = r.foreign.Time, r.foreign.Timed
	} else {
		r.at, r.timed = r.reader.Time(r.id), true
	}
	usual := false
	if r.timed {
		usual, r.distance = s.guesses.Weigh(r.at)
	}
	switch {
	case r.reader == nil && r.foreign.Kind.Marked:
		r.rank = marked
	case r.reader == nil && !r.timed:
		r.rank = timeless
	case r.reader == nil && usual:
		r.rank = plausibleForeign
	case r.reader == nil:
		r.rank = doubtfulForeign
	case r.reader.Young(r.id):
		r.rank = young
	case usual:
		r.rank = plausible
	default:
		r.rank = doubtful
	}
}

// A scanner finds out what inputs can be. The zero values of its options mean that nothing is known.
type scanner struct {
	readers []*inspect.Reader // of the possible formats
	named   bool              // the user named the format
	kind    string            // the foreign kind that the user named, or ""
	form    inspect.Form
	detect  bool // the form is not known
	now     time.Time

	guesses ages.Guesses // at the time now
	foreign foreign.Reader

	// Room for the answers of a call, which the next call overwrites.
	input    []byte
	ids      []byte
	found    []reading  // in the order of the readers
	readings []*reading // those found, in another order
}

// read returns what an input can be, the most plausible first. The readings are valid until the next call. The
// error is for an input that is nothing.
func (s *scanner) read(input string) ([]*reading, error) {
	s.ids, s.found = s.ids[:0], s.found[:0]
	s.scan(input)
	bare := input
	if s.detect {
		if bare = unquoted(input); len(s.found) == 0 && bare != input {
			s.scan(bare)
		}
	}
	if len(s.found) == 0 {
		return nil, s.refused(bare)
	}
	readings := s.weighAll()
	if s.named {
		return readings[:1], nil // the first form that fits
	}
	s.leaveOut()
	slices.SortStableFunc(s.readings, compare)
	return s.readings, nil
}

// compare compares how plausible readings are: the more plausible reading is less.
func compare(a, b *reading) int {
	switch {
	case a.rank != b.rank:
		return cmp.Compare(a.rank, b.rank)
	case a.distance != b.distance:
		return cmp.Compare(a.distance, b.distance)
	case a.written == b.written:
		return 0
	case a.written:
		return -1
	}
	return 1
}

// leaveOut leaves out a format's second reading of an input, unless its time is plausible. Digits can be both
// decimal and hex.
func (s *scanner) leaveOut() {
	kept := s.readings[:0]
	var last *inspect.Reader
	for _, r := range s.readings {
		if r.reader == nil || r.reader != last || r.rank == plausible {
			kept = append(kept, r)
		}
		last = r.reader
	}
	s.readings = kept
}

// scan adds the readings of an input.
func (s *scanner) scan(input string) {
	s.input = append(s.input[:0], input...)
	for _, r := range s.readers {
		from := len(s.ids)
		if s.detect {
			s.ids = r.AppendReadings(s.ids, s.input)
		} else if ids, err := r.AppendReadAs(s.ids, []byte(input), s.form); err == nil {
			s.ids = ids
		}
		s.add(r, from, "")
	}
	if s.detect {
		if p, text, ok := prefix.Cut(input); ok {
			for _, r := range s.readers {
				from := len(s.ids)
				if ids, err := r.AppendReadAs(s.ids, []byte(text), inspect.Text); err == nil {
					s.ids = ids
				}
				s.add(r, from, p)
			}
		}
	}
	if !s.named {
		s.scanForeign(input)
	}
}

// add adds the readings whose IDs begin at an offset.
func (s *scanner) add(r *inspect.Reader, from int, prefix string) {
	for size := r.Format().Descriptor().Size; from < len(s.ids); from += size {
		s.found = append(s.found, reading{reader: r, id: s.ids[from : from+size], prefix: prefix})
	}
}

// scanForeign adds the readings of foreign kinds. The forms of Firn's formats say which kinds are possible:
// decimals, or texts.
func (s *scanner) scanForeign(input string) {
	if !s.detect && s.form != inspect.Text && s.form != inspect.Int {
		return
	}
	ids := s.foreign.Read(input)
	for n := range ids {
		f := &ids[n]
		if s.kind != "" && f.Kind.Name != s.kind {
			continue
		}
		if s.detect || f.Kind.Decimal() == (s.form == inspect.Int) {
			s.found = append(s.found, reading{foreign: f, prefix: f.Prefix, written: f.Text == input, named: s.kind != ""})
		}
	}
}

// unquoted returns an input without a trailing comma, and without the quotes around the rest.
func unquoted(s string) string {
	if s == "" || s[len(s)-1] != ',' && strings.IndexByte("\"'`", s[0]) < 0 { // nearly all inputs
		return s
	}
	return string(intake.Unquoted([]byte(s)))
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
func judge(readings []*reading) verdict {
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
		if r.rank == first.rank && (r.distance != first.distance || r.rank == timeless) {
			return ambiguous
		}
	}
	return guess
}
