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
	var own []Reading // by settings that are not the defaults
	for _, g := range s.ordered {
		i := slices.IndexFunc(all, func(r Reading) bool { return r.Format == g.Format })
		if i < 0 {
			continue // the text has no form of the format
		}
		if sameShape(g.Shape, g.Format.Descriptor().Default()) {
			all[i].Generators = append(all[i].Generators, g.Name)
		} else if r, err := g.Read(text); err == nil {
			own = append(own, r)
		}
	}
	// A generator of this server is the better guess, if the time is plausible.
	slices.SortStableFunc(own, func(a, b Reading) int { return rank(a, now) - rank(b, now) })
	plausible, _ := slices.BinarySearchFunc(own, 1, func(r Reading, at int) int { return rank(r, now) - at })
	all = slices.Concat(own[:plausible], all, own[plausible:])
	if len(all) == 0 {
		return nil, reason.ID.New("%q is no ID of any format", text)
	}
	return all, nil
}

func rank(r Reading, now time.Time) int {
	if inspect.Plausible(r.Time, now) {
		return 0
	}
	return 1
}

// sameShape reports whether IDs of two shapes have the same fields and the same times.
func sameShape(a, b shape.Shape) bool {
	return a.Epoch == b.Epoch && a.Unit == b.Unit && slices.Equal(a.Fields, b.Fields)
}
