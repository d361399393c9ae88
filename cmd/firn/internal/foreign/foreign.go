// Package foreign recognises IDs that Firn does not make: UUIDs, ULIDs, snowflakes of others and the like. Each
// kind is a descriptor of its own. Where a well-kept library reads the kind, the library reads it here.
package foreign

import (
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/internal/form/object"
	"github.com/firn-id/firn/internal/shape"
)

// A Kind is a kind of IDs.
type Kind struct {
	Name   string
	Weak   string        // what else fits the kind, if a text of the kind proves little; else ""
	Marked bool          // what an ID of the kind consists of, a text of another kind has by chance once in billions
	Epoch  time.Time     // of timestamp 0, for a kind of decimals; else the zero time
	Fields []shape.Field // of the binary form; nil for a kind of characters only
	Parts  []object.Part // of a text of characters

	number int // the index in all
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

// A Reader reads many texts. The zero Reader is ready for use. A Reader is for one goroutine.
type Reader struct {
	ids     []ID
	decimal [8]byte        // the binary form of a decimal
	objects []*object.Kind // by the number of the Kind
}

// Object describes the JSON objects of a kind's IDs.
func (r *Reader) Object(k *Kind) *object.Kind {
	if r.objects == nil {
		for _, k := range all {
			r.objects = append(r.objects, object.NewKind(k.Name, k.Decimal(), k.Fields, k.Parts))
		}
	}
	return r.objects[k.number]
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

// Read returns what s can be, in the order of the kinds. The IDs are valid until the next call.
func (r *Reader) Read(s string) []ID {
	r.ids = r.ids[:0]
	for _, read := range readers[len(s)] {
		r.ids = read(r.ids, s)
	}
	r.addDecimals(s)
	r.ids = typeIDs(r.ids, s)
	return r.ids
}

// All returns all kinds, in the order of listings.
func All() []*Kind { return slices.Clone(all) }

var all = numbered()

// numbered returns all kinds, with their numbers.
func numbered() (all []*Kind) {
	for version := 1; version < len(uuidKinds); version++ {
		all = append(all, &uuidKinds[version])
	}
	all = append(all, &ulidKind, &ksuidKind, &xidKind, &objectIDKind)
	for i := range decimalKinds {
		all = append(all, &decimalKinds[i].Kind)
	}
	all = append(all, &typeIDKind, &typeIDOtherKind, &pushIDKind, &cuidKind, &cuid2Kind, &nanoidKind)
	for n, k := range all {
		k.number = n
	}
	return all
}

// Named reports whether a name is a kind's, in either case.
func Named(name string) bool {
	return slices.ContainsFunc(all, func(k *Kind) bool { return strings.EqualFold(k.Name, name) })
}

// fields returns the fields of these names and widths, from the most significant.
func fields(names string, widths ...int) []shape.Field {
	all := make([]shape.Field, len(widths))
	for i, name := range strings.Fields(names) {
		all[i] = shape.Field{Name: name, Bits: widths[i]}
	}
	return shape.Fields(all...)
}
