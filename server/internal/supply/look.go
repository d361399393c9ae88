package supply

import (
	"slices"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/server/internal/reason"
)

// A Reading is what a text can be: an ID of a format.
type Reading struct {
	inspect.Info
	Generators []string // the generators whose settings give this reading, in order; empty for the format's defaults alone
}

// longest is the length of the longest text that is read, in bytes. No form of an ID is as long.
const longest = 100

// Read reads an ID of this generator, in any form, by the settings of the generator.
func (s *Source) Read(text string) (Reading, error) {
	if len(text) > longest {
		return Reading{}, reason.ID.New("%d bytes are too long for an ID", len(text))
	}
	info, err := s.Format.Read(text, inspect.Settings(s.Recipe.Settings))
	if err != nil {
		return Reading{}, reason.ID.Because(err)
	}
	return Reading{info, []string{s.Name}}, nil
}

// Read returns what a text can be, the most plausible first: an ID of the generators, by their settings, and of all
// formats with the default settings.
func (s *Set) Read(text string, now time.Time) ([]Reading, error) {
	if len(text) > longest {
		return nil, reason.ID.New("%d bytes are too long for an ID", len(text))
	}
	var all []Reading
	for _, info := range inspect.Candidates(text, inspect.Settings{}, now) {
		all = append(all, Reading{Info: info})
	}
	for _, g := range s.ordered {
		i := slices.IndexFunc(all, func(r Reading) bool { return r.Format == g.Format })
		if i < 0 {
			continue // the text has no form of the format
		}
		if sameShape(g.Shape, g.Format.Descriptor().Default()) {
			all[i].Generators = append(all[i].Generators, g.Name)
		} else if r, err := g.Read(text); err == nil {
			all = slices.Insert(all, r.place(all, now), r)
		}
	}
	if len(all) == 0 {
		return nil, reason.ID.New("%q is no ID of any format", text)
	}
	return all, nil
}

// place returns where a reading belongs among others, the most plausible first: before the first reading whose time is not
// plausible, or further from now. A reading whose own time is not plausible is the last.
func (r Reading) place(all []Reading, now time.Time) int {
	if !inspect.Plausible(r.Time, now) {
		return len(all)
	}
	distance := r.Time.Sub(now).Abs()
	for i, other := range all {
		if !inspect.Plausible(other.Time, now) || other.Time.Sub(now).Abs() > distance {
			return i
		}
	}
	return len(all)
}

// sameShape reports whether IDs of two shapes have the same fields and the same times.
func sameShape(a, b shape.Shape) bool {
	return a.Epoch == b.Epoch && a.Unit == b.Unit && slices.Equal(a.Fields, b.Fields)
}
