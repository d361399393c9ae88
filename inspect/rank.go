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
		infos = append(infos, g.Info)
	}
	return infos
}

// A Guess is what a text can be: an ID that a Reader reads.
type Guess struct {
	Info
	Reader *Reader
}

// Guesses returns what s can be to the Readers, in the order of [Candidates]. Readers of one format can have different
// Settings: a pool with its own epoch is another guess than the format's default.
func Guesses(s string, readers []*Reader, now time.Time, forms ...Form) []Guess {
	type candidate struct {
		Guess
		rank     int
		distance int64
	}
	var fits []candidate
	weights := ages.At(now)
	for _, r := range readers {
		first := true
		size := r.format.of.Size
		for ids := r.readings(s, forms); len(ids) > 0; ids = ids[size:] {
			id := ids[:size]
			plausible, distance := weights.Weigh(r.Time(id))
			rank := r.rank(id, plausible)
			if info, err := r.Info(id); err == nil && (first || len(forms) > 0 || rank == 0) {
				fits = append(fits, candidate{Guess{info, r}, rank, distance})
			}
			first = false
		}
	}
	slices.SortStableFunc(fits, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance))
	})
	var guesses []Guess
	for _, c := range fits {
		guesses = append(guesses, c.Guess)
	}
	return guesses
}

// rank returns 0 for an ID of a plausible time, 2 for a young ID and 1 for other IDs.
func (r *Reader) rank(id []byte, plausible bool) int {
	switch {
	case r.Young(id):
		return 2
	case plausible:
		return 0
	}
	return 1
}

// readings returns the binary forms of what s can be, in the forms or in all forms.
func (r *Reader) readings(s string, forms []Form) (ids []byte) {
	if len(forms) == 0 {
		return r.AppendReadings(nil, []byte(s))
	}
	for _, form := range forms {
		if read := r.format.reader(form); read != nil {
			if id, err := read(s); err == nil {
				ids = append(ids, id...)
			}
		}
	}
	return ids
}
