package inspect

import (
	"cmp"
	"slices"
	"time"

	"github.com/firn-id/firn/internal/ages"
)

// young is how many days after the epoch of its format an ID is young.
const young = 30

// Plausible reports whether a time can be the time of an ID: the time is in the last 20 years, or in the next
// 24 hours, which count as past. Only whole milliseconds count.
func Plausible(t, now time.Time) bool {
	g := ages.At(now)
	plausible, _ := g.Weigh(t)
	return plausible
}

// Plausible reports whether the time of an ID in the binary form is [Plausible], and not [Reader.Young].
func (r *Reader) Plausible(id []byte, now time.Time) bool {
	return Plausible(r.shape.Time(id), now) && !r.Young(id)
}

// Young reports whether the time of an ID in the binary form is in the first 30 days after the format's own
// epoch. Nearly all small numbers have such a time. After an epoch of the Settings, no ID is Young.
func (r *Reader) Young(id []byte) bool {
	return int64(r.shape.Fields[0].Of(id)) < r.grown
}

// Candidates returns what s can be in all formats, the most plausible first. With forms, Candidates tries these
// forms alone. Without, each format reads s as [Format.Read] does, and digits that are no canonical text can be
// both decimal and hex, if the time of the hex is plausible. Several formats may fit: every Ulid-Flake is both
// stand-alone and scalable.
//
// Candidates of a [Reader.Plausible] time come first, and IDs of a [Reader.Young] time last. Among the
// others, past times come before future times, and times near now before others.
func Candidates(s string, set Settings, now time.Time, forms ...Form) []Info {
	var readers []*Reader
	for _, f := range Formats() {
		if r, err := f.NewReader(set); err == nil {
			readers = append(readers, r)
		}
	}
	var infos []Info
	for _, g := range Guesses(s, readers, now, forms...) {
		if info, err := g.Reader.Info(g.ID); err == nil {
			infos = append(infos, info)
		}
	}
	return infos
}

// A Guess is what a text can be: an ID that a Reader reads.
type Guess struct {
	Reader *Reader
	ID     []byte // the binary form
	Time   time.Time

	Plausible bool // as Reader.Plausible says
	Young     bool // as Reader.Young says

	distance int64 // of the time from now
}

// Guesses returns what s can be to the Readers, in the order of [Candidates]. Readers of one format can have different
// Settings: a pool with its own epoch is another guess than the format's default.
func Guesses(s string, readers []*Reader, now time.Time, forms ...Form) []Guess {
	var guesses []Guess
	weights := ages.At(now)
	for _, r := range readers {
		size := r.format.of.Size
		ids := r.readings([]byte(s), forms)
		for from := 0; from < len(ids); from += size {
			g := Guess{Reader: r, ID: ids[from : from+size]}
			g.Time, g.Young = r.Time(g.ID), r.Young(g.ID)
			g.Plausible, g.distance = weights.Weigh(g.Time)
			g.Plausible = g.Plausible && !g.Young
			if from == 0 || len(forms) > 0 || g.Plausible {
				guesses = append(guesses, g)
			}
		}
	}
	slices.SortStableFunc(guesses, func(a, b Guess) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.distance, b.distance))
	})
	return guesses
}

func (g *Guess) rank() int {
	switch {
	case g.Plausible:
		return 0
	case g.Young:
		return 2
	}
	return 1
}

// readings returns the binary forms of what s can be, in the forms or in all forms.
func (r *Reader) readings(s []byte, forms []Form) (ids []byte) {
	if len(forms) == 0 {
		return r.AppendReadings(nil, s)
	}
	for _, form := range forms {
		ids, _ = r.AppendReadAs(ids, s, form)
	}
	return ids
}
