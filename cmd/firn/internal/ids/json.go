package ids

import (
	"encoding/json"
	"strconv"

	"github.com/firn-id/firn/cmd/firn/internal/makers"
	"github.com/firn-id/firn/internal/form/object"
)

// appendJSON appends the line of an input in JSON: an object, or all candidates if several kinds fit.
func (i *inspector) appendJSON(dst []byte, input string, readings []reading) ([]byte, error) {
	if len(readings) == 1 {
		dst, err := i.appendObject(dst, &readings[0])
		return append(dst, '\n'), err
	}
	dst = appendString(append(dst, `{"input":`...), input)
	dst = append(dst, `,"candidates":[`...)
	for n := range readings {
		if n > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = i.appendObject(dst, &readings[n]); err != nil {
			return dst, err
		}
	}
	return append(dst, "]}\n"...), nil
}

// appendObject appends the object of a reading. A typed ID has its prefix as the last member. With a pool, the
// object has the worker and the holder, too.
func (i *inspector) appendObject(dst []byte, r *reading) ([]byte, error) {
	id := object.ID{Timed: r.timed, Time: r.time}
	kind, err := (*object.Kind)(nil), error(nil)
	if r.reader == nil {
		kind = i.foreign.Object(r.foreign.Kind)
		id.Text, id.Binary = append(i.text[:0], r.foreign.Text...), r.foreign.Binary
	} else {
		kind, id.Binary = r.reader.Kind(), r.id
		if id.Text, err = r.reader.AppendText(i.text[:0], r.id); err != nil {
			return dst, err
		}
	}
	i.text = id.Text
	dst = i.objects.Append(dst, kind, &id)
	if r.prefix == "" && i.pool == nil && i.line == 0 {
		return dst, nil
	}
	dst = dst[:len(dst)-1] // the object goes on
	if i.line > 0 {
		dst = strconv.AppendInt(append(dst, `,"line":`...), i.line, 10)
	}
	if r.prefix != "" {
		dst = appendString(append(dst, `,"prefix":`...), r.prefix)
	}
	if i.pool != nil {
		m, err := i.pool.Of(i.ctx, r.id)
		if err != nil {
			return dst, err
		}
		made, err := json.Marshal(madeObject{i.pool.Name(), m.Worker, makers.ObjectOf(m.Holder), m.KnownTime()})
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, ','), made[1:len(made)-1]...)
	}
	return append(dst, '}'), nil
}

// A madeObject is what a pool knows of an ID, in JSON. Known is the time of the earliest known holder, if nobody
// is recorded.
type madeObject struct {
	Pool   string         `json:"pool"`
	Worker int            `json:"worker"`
	Holder *makers.Object `json:"holder"`
	Known  *makers.Time   `json:"known,omitempty"`
}

// appendString appends a string in JSON. Nearly all IDs need no escapes.
func appendString(dst []byte, s string) []byte {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string has a form in JSON
			}
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}
