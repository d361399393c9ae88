// Package times has the commands about IDs and times: firn range and firn at.
//
//	source.go     the settings of IDs, from flags or from a pool
//	interval.go   an interval of times, and its first and last ID
//	range.go      the command firn range
//	where.go      conditions for databases
//	at.go         the command firn at
package times

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// encodings are an ID in all forms that the format has.
type encodings struct {
	Text string `json:"text"`
	Int  string `json:"int,omitempty"`
	Hex  string `json:"hex"`
	UUID string `json:"uuid,omitempty"`
}

// encode returns the forms of an ID in binary form.
func (l layout) encode(id []byte) (encodings, error) {
	d := l.Descriptor()
	text, err := d.AppendText(nil, id)
	if err != nil {
		return encodings{}, err
	}
	e := encodings{Text: string(text), Hex: hex.EncodeToString(id)}
	if d.Integer() {
		e.Int = strconv.FormatUint(binary.BigEndian.Uint64(id), 10)
	}
	if d.AppendUUID != nil {
		uuid, err := d.AppendUUID(nil, id)
		if err != nil {
			return encodings{}, err
		}
		e.UUID = string(uuid)
	}
	return e, nil
}
