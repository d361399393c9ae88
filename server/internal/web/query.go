package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firn-id/firn/server/internal/reason"
)

// A form is how an ID is written in JSON and in text.
type form int

const (
	asCanonical form = iota // the canonical text
	asInteger               // decimal
	asHex                   // the binary form in hexadecimal
)

var forms = map[string]form{"text": asCanonical, "int": asInteger, "hex": asHex}

// An order is what a request for IDs asks for.
type order struct {
	n  int
	as form
	in bool // the request names the form
}

// readOrder reads the query of a request for IDs. A request without a number orders 1 ID.
func readOrder(query string, most int) (order, error) {
	if query == "" {
		return order{n: 1}, nil
	}
	values, err := readQuery(query, "n", "as")
	if err != nil {
		return order{}, err
	}
	o := order{n: 1}
	if values.Has("n") {
		n, err := strconv.ParseUint(values.Get("n"), 10, 64)
		if err != nil || n == 0 || n > uint64(most) {
			return order{}, reason.Count.New("n is %.40q: n must be a number from 1 to %d", values.Get("n"), most)
		}
		o.n = int(n)
	}
	if o.in = values.Has("as"); o.in {
		var ok bool
		if o.as, ok = forms[values.Get("as")]; !ok {
			return order{}, reason.Request.New("as is %.40q: as must be text, int or hex", values.Get("as"))
		}
	}
	return o, nil
}

// readQuery reads a query whose parameters may have these names, once each. A misspelt parameter would otherwise mean
// the default.
func readQuery(query string, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, reason.Request.New("the query is malformed: %v", err)
	}
	for name, all := range values {
		switch {
		case !slices.Contains(names, name) && len(names) == 0:
			return nil, reason.Request.New("unknown parameter %.40q: the path takes no parameters", name)
		case !slices.Contains(names, name):
			return nil, reason.Request.New("unknown parameter %.40q: the path takes %s", name, strings.Join(names, " and "))
		case len(all) > 1 && name == "n":
			return nil, reason.Count.New("n is given %d times: give n once", len(all))
		case len(all) > 1:
			return nil, reason.Request.New("%s is given %d times: give %s once", name, len(all), name)
		}
	}
	return values, nil
}
