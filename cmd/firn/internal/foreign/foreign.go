// Package foreign recognises IDs that Firn does not make: UUIDs, ULIDs, snowflakes of others and the like. Each
// kind is a descriptor of its own. Where a well-kept library reads the kind, the library reads it here.
package foreign

import (
	"time"

	"github.com/firn-id/firn/internal/form/object"
	"github.com/firn-id/firn/internal/shape"
)

// A Kind is a kind of IDs.
type Kind struct {
	Name   string
	Weak   string        // what else fits the kind, if a text of the kind proves little; else ""
	Epoch  time.Time     // of timestamp 0, for a kind of decimals; else the zero time
	Fields []shape.Field // of the binary form; nil for a kind of characters only
	Parts  []object.Part // of a text of characters
}

// Decimal reports whether IDs of the kind are decimals, as the integers of Firn's formats are.
func (k *Kind) Decimal() bool { return !k.Epoch.IsZero() }

// An ID is an ID of a kind.
type ID struct {
	Kind   *Kind
	Text   string // canonical
	Prefix string // of a TypeID
	Binary []byte // nil for a kind of characters only
	Timed  bool   // the ID has a time
	Time   time.Time
}

// A Writer writes JSON objects of IDs. The zero Writer is ready for use. A Writer is for one goroutine.
type Writer struct{ objects map[*Kind]*object.ID }

// AppendJSON appends the JSON object of an ID.
func (w *Writer) AppendJSON(dst []byte, id *ID) []byte {
	o := w.objects[id.Kind]
	if o == nil {
		if w.objects == nil {
			w.objects = make(map[*Kind]*object.ID)
		}
		o = &object.ID{Format: id.Kind.Name, Integer: id.Kind.Decimal(), Fields: id.Kind.Fields, Parts: id.Kind.Parts}
		w.objects[id.Kind] = o
	}
	o.Text = append(o.Text[:0], id.Text...)
	o.Binary, o.Timed, o.Time = id.Binary, id.Timed, id.Time
	return object.Append(dst, o)
}

// readers are functions that append to ids what a text can be. The length of the text decides which readers
// are called, so a text of another length takes no time.
var readers = map[int][]func(ids []ID, s string) []ID{
	20: {xids, pushIDs},
	21: {nanoids},
	24: {objectIDs, cuid2s},
	25: {cuids},
	26: {ulids},
	27: {ksuids},
	32: {uuids},
	34: {uuids}, // in braces
	36: {uuids},
	38: {uuids}, // in braces
	41: {uuids}, // as a URN
	45: {uuids}, // as a URN
}

// AppendIDs appends to ids what s can be, in the order of the kinds.
func AppendIDs(ids []ID, s string) []ID {
	for _, read := range readers[len(s)] {
		ids = read(ids, s)
	}
	return typeIDs(decimals(ids, s), s)
}

// All returns all kinds, in the order of listings.
func All() []*Kind {
	var all []*Kind
	for version := 1; version < len(uuidKinds); version++ {
		all = append(all, &uuidKinds[version])
	}
	all = append(all, &ulidKind, &ksuidKind, &xidKind, &objectIDKind)
	for i := range decimalKinds {
		all = append(all, &decimalKinds[i].Kind)
	}
	return append(all, &typeIDKind, &typeIDOtherKind, &pushIDKind, &cuidKind, &cuid2Kind, &nanoidKind)
}

// fields returns the fields of these names and widths, from the most significant.
func fields(names string, widths ...int) []shape.Field {
	all := make([]shape.Field, len(widths))
	for i, name := range splitNames(names) {
		all[i] = shape.Field{Name: name, Bits: widths[i]}
	}
	return shape.Fields(all...)
}
