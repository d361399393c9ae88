package supply

import (
	"slices"
	"time"

	"github.com/firn-id/firn/inspect"
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
	var readers []*inspect.Reader
	for _, f := range inspect.Formats() {
		r, err := f.NewReader(inspect.Settings{})
		if err != nil {
			return nil, err
		}
		readers = append(readers, r)
	}
	generators := map[*inspect.Reader][]string{}
	for _, g := range s.ordered {
		i := slices.IndexFunc(readers, func(r *inspect.Reader) bool { // the same fields and the same times
			s := r.Shape()
			return r.Format() == g.Format && s.Epoch == g.Shape.Epoch && slices.Equal(s.Fields, g.Shape.Fields)
		})
		if i < 0 {
			r, err := g.Format.NewReader(inspect.Settings(g.Recipe.Settings))
			if err != nil {
				return nil, err
			}
			i, readers = len(readers), append(readers, r)
		}
		generators[readers[i]] = append(generators[readers[i]], g.Name)
	}
	var all []Reading
	for _, g := range inspect.Guesses(text, readers, now) {
		info, err := g.Reader.Info(g.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, Reading{info, generators[g.Reader]})
	}
	if len(all) == 0 {
		return nil, reason.ID.New("%q is no ID of any format", text)
	}
	return all, nil
}
