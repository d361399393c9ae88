package cli

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"github.com/xhit/go-str2duration/v2"

	"github.com/firn-id/firn/internal/ages"
)

// ParseTime returns the time in UTC that a word of the command line says: in RFC 3339, a date, or Unix
// milliseconds.
func ParseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s) // with or without fractions of a second
	if date, bad := time.Parse(time.DateOnly, s); bad == nil {
		t, err = date, nil
	}
	if ms, bad := strconv.ParseInt(s, 10, 64); bad == nil && s[0] != '+' {
		if t, err = ages.Unix(ms); err != nil {
			return time.Time{}, err
		}
	}
	t = t.UTC()
	switch {
	case err != nil:
		return time.Time{}, errors.New("is not a time in RFC 3339, a date, or Unix milliseconds")
	case t.Year() < 1 || t.Year() > 9999:
		return time.Time{}, errors.New("is not between the years 1 and 9999")
	}
	return t, nil
}

// A Time is the value of a flag: a time.
type Time struct {
	Value time.Time
	Text  string
	Given bool
}

var _ pflag.Value = (*Time)(nil)

func (t *Time) Type() string { return "TIME" }

func (t *Time) String() string { return t.Text }

func (t *Time) Set(s string) error {
	v, err := ParseTime(s)
	if err == nil {
		*t = Time{v, s, true}
	}
	return err
}

// A Span is the value of a flag: a length of time, such as 15m, 36h or 7d.
type Span struct {
	Value time.Duration
	Text  string
	Given bool
}

var _ pflag.Value = (*Span)(nil)

func (d *Span) Type() string { return "DURATION" }

func (d *Span) String() string { return d.Text }

func (d *Span) Set(s string) error {
	v, err := parseDuration(s)
	switch {
	case err != nil:
		return err
	case v <= 0:
		return errors.New("is not longer than 0")
	}
	*d = Span{v, s, true}
	return nil
}

// parseDuration returns the length of time that a word of the command line says.
func parseDuration(s string) (time.Duration, error) {
	v, err := str2duration.ParseDuration(s)
	if err != nil {
		return 0, errors.New("is not a duration such as 30s, 15m, 36h, 7d or 2w")
	}
	return v, nil
}
