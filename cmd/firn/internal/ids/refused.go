package ids

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/form/prefix"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
)

// refused returns the error for an input that is nothing.
func (s *scanner) refused(input string) error {
	if s.kind != "" {
		return fmt.Errorf("%s: no ID of %s", strconv.Quote(wrong.Clip(input)), s.kind)
	}
	if s.detect && s.named {
		if _, text, ok := prefix.Cut(input); ok {
			if _, err := s.readers[0].AppendReadAs(nil, []byte(text), inspect.Text); !errors.Is(err, iderr.ErrLength) {
				return err // of the text behind a prefix
			}
		}
	}
	errs := make([]error, len(s.readers))
	for i, r := range s.readers {
		if s.detect {
			_, errs[i] = r.AppendRead(nil, []byte(input))
		} else {
			_, errs[i] = r.AppendReadAs(nil, []byte(input), s.form)
		}
	}
	if s.named {
		return s.notOfFormat(input, errs[0])
	}
	return s.ofNoFormat(input, errs)
}

// notOfFormat returns the error for an input that the named format has refused. The error of a decimal that
// has the shape of a text says how to read the decimal.
func (s *scanner) notOfFormat(input string, err error) error {
	if s.detect && errors.Is(err, iderr.ErrRange) {
		if _, bad := s.readers[0].AppendReadAs(nil, []byte(input), inspect.Int); bad == nil {
			return fmt.Errorf("%w: if it is a decimal integer, add --as int", err)
		}
	}
	return err
}

// ofNoFormat returns the error for an input that all formats have refused. The error quotes the format that
// read the most.
func (s *scanner) ofNoFormat(input string, errs []error) error {
	var best *iderr.ParseError
	most := 0
	for i, err := range errs {
		var e *iderr.ParseError
		if !errors.As(err, &e) {
			continue
		}
		if n := progress(e, s.readers[i].Format().Descriptor()); best == nil || n > most {
			best, most = e, n
		}
	}
	quoted := strconv.Quote(wrong.Clip(input))
	unpadded := s.unpadded(input)
	switch {
	case strings.TrimSpace(input) == "":
		return fmt.Errorf("%s: no ID: it is empty", quoted)
	case unpadded != "":
		return fmt.Errorf("%s: no format's ID: if it is a %s whose leading zeros were left out, add --as base36", quoted, unpadded)
	case isUUID(input):
		return fmt.Errorf("%s: a UUID of no version from 1 to 8: it has no time", quoted)
	case s.detect && (best == nil || most < 0) && len(input) <= len("9223372036854775807"):
		return fmt.Errorf("%s: no format's ID: no format has IDs of length %d but decimals", quoted, len(input))
	case best == nil || most < 0:
		return fmt.Errorf("%s: no format's ID: no format has IDs of length %d", quoted, len(input))
	}
	return fmt.Errorf("no format's ID, nearest to %w", best)
}

// unpadded returns the name of a format that reads an input without its leading zeros, or "". Every short word
// can be read so, as an ID of the first hours of the epoch.
func (s *scanner) unpadded(input string) string {
	for _, r := range s.readers {
		id, err := r.AppendReadAs(nil, []byte(input), inspect.Base36)
		if err != nil || !s.detect && s.form != inspect.Text {
			continue
		}
		if r.Shape().Time(id).Sub(r.Shape().Start()) > 24*time.Hour {
			return r.Format().Name()
		}
	}
	return ""
}

// isUUID reports whether an input has the form of a UUID.
func isUUID(input string) bool {
	_, err := uuid.FromString(input)
	return err == nil
}

// progress returns how many bytes of an ID were right, or -1 if the input is nothing like an ID of the format. Where
// texts have many lengths, as decimals do, half of the bytes have to be right.
func progress(e *iderr.ParseError, f *shape.Format) int {
	switch {
	case e.Err == iderr.ErrLength, e.Err == iderr.ErrCharacter && f.Text.Least < f.Text.Most && 2*e.Offset < len(e.Input):
		return -1
	case e.Err == iderr.ErrCharacter:
		return e.Offset
	}
	return len(e.Input)
}
