package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
)

// TimeText returns t in RFC 3339, with as many digits as needed.
func TimeText(t time.Time) string { return t.Format(time.RFC3339Nano) }

// Relative returns roughly how far t is from now.
func Relative(t, now time.Time) string {
	const (
		minute = 60
		hour   = 60 * minute
		day    = 24 * hour
		year   = 365.2425 * day
	)
	s := t.Unix() - now.Unix() // a time.Duration ends at 292 years
	form := "in %d %s"
	if s < 0 {
		s, form = -s, "%d %s ago"
	}
	say := func(n int64, unit string) string {
		return fmt.Sprintf(form, n, english.PluralWord(int(n), unit, ""))
	}
	switch {
	case s == 0:
		return "now"
	case s < minute:
		return say(s, "second")
	case s < hour:
		return say(s/minute, "minute")
	case s < 2*day:
		return say(s/hour, "hour")
	case s < 2*year:
		return say(s/day, "day")
	}
	return say(int64(float64(s)/year), "year")
}

// List joins words for a sentence, with last before the last word.
func List(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}

// WriteJSON writes an object as one line.
func WriteJSON(w io.Writer, object any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(object)
}
