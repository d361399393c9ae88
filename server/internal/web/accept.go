package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/firn-id/firn/server/internal/reason"
)

// A media is a type of an answer.
type media int

// The types, the preferred type first: where a client likes several types equally, it gets the first of them.
const (
	asJSON media = iota
	asText
	asPacked
)

var (
	mediaTypes   = [...]string{asJSON: "application/json", asText: "text/plain", asPacked: "application/octet-stream"}
	contentTypes = [...]string{asJSON: "application/json", asText: "text/plain; charset=utf-8", asPacked: "application/octet-stream"}
)

// choose returns the type of the answer among the types up to last, by the header Accept of RFC 9110, section 12.5.1.
// The error is reason.Accept.
func choose(h http.Header, last media) (media, error) {
	values := h["Accept"]
	if len(values) == 0 {
		return asJSON, nil
	}
	ranges := readRanges(strings.Join(values, ","))
	best, most := asJSON, 0.0
	for m := asJSON; m <= last; m++ {
		if q := quality(ranges, mediaTypes[m]); q > most {
			best, most = m, q
		}
	}
	if most == 0 {
		return asJSON, reason.Accept.New("no type of the answer is accepted: accept %s", strings.Join(mediaTypes[:last+1], " or "))
	}
	return best, nil
}

// A mediaRange is an element of the header Accept.
type mediaRange struct {
	of string // as in "text/plain", "text/*" or "*/*"
	q  float64
}

// readRanges reads the header Accept. An element that is malformed accepts nothing.
func readRanges(accept string) []mediaRange {
	var ranges []mediaRange
	for element := range strings.SplitSeq(accept, ",") {
		of, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		r := mediaRange{of, 1}
		if text, ok := parameters["q"]; ok {
			if r.q, err = strconv.ParseFloat(text, 64); err != nil || !(r.q >= 0 && r.q <= 1) {
				continue
			}
		}
		ranges = append(ranges, r)
	}
	return ranges
}

// quality returns how much a client likes a type, from 0 to 1. The most specific range for the type decides.
func quality(ranges []mediaRange, of string) float64 {
	class, _, _ := strings.Cut(of, "/")
	for _, pattern := range [...]string{of, class + "/*", "*/*"} {
		for _, r := range ranges {
			if r.of == pattern {
				return r.q
			}
		}
	}
	return 0
}
