package payload

import (
	"database/sql/driver"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
)

// A Column is how databases and documents hold the IDs of one Go type. The first form with a
// function To is the form that is written. A value in a form without a function From is refused:
// a value of another form could read as another ID.
//
// The zero ID means "no ID". A Column refuses to write the zero ID and to read NULL. A program that
// forgot to make an ID gets an error. A column that may be NULL needs another Go type.
type Column[T comparable] struct {
	Format string // of the IDs, first in errors
	Type   string // the Go type, as programs name it
	Holds  string // what the column holds and its type in SQL
	Else   string // for columns of another type: the remedy

	ToInt     func(T) (int64, error)
	ToText    func(T) (string, error)
	ToBytes   func(T) []byte
	FromInt   func(int64) (T, error)
	FromText  func([]byte) (T, error)
	FromBytes func([]byte) (T, error) // of Size bytes

	Size    int  // number of bytes of FromBytes
	Subtype byte // of bytes in BSON
	Float   bool // BSON's double holds all IDs, and JavaScript writes it
}

// noID returns the error of a missing ID; why is the fault and the remedy.
func (c *Column[T]) noID(why string) error {
	return &iderr.ParseError{Format: c.Format, Offset: -1, Err: iderr.ErrNoID, Reason: why}
}

// null returns the error of a NULL.
func (c *Column[T]) null() error {
	return c.noID("NULL is no ID: read a column that may be NULL into a pointer or a sql.Null")
}

// zero returns the error of the zero ID.
func (c *Column[T]) zero() error {
	return c.noID("the zero ID means \"no ID\" and is not stored: make an ID first, or use a pointer or a sql.Null for a column that may be NULL")
}

// other returns the error of a value in a form that the type does not read.
func (c *Column[T]) other(what string) error {
	return &iderr.ParseError{Format: c.Format, Offset: -1, Err: iderr.ErrType,
		Reason: what + " holds no " + c.Type + ", which is " + c.Holds + ": " + c.Else}
}

// refused is the value beside an error of Value. GORM drops the error, and takes nil for NULL. No
// driver stores a complex number, and GORM makes no condition of it, as it would of a struct or bytes.
const refused = 0i

// Value returns what database/sql stores.
func (c *Column[T]) Value(id T) (driver.Value, error) {
	var zero T
	switch {
	case id == zero:
		return refused, c.zero()
	case c.ToInt != nil:
		v, err := c.ToInt(id)
		if err != nil {
			return refused, err
		}
		return v, nil
	case c.ToText != nil:
		text, err := c.ToText(id)
		if err != nil {
			return refused, err
		}
		return text, nil
	}
	return c.ToBytes(id), nil
}

// Bytes returns the bytes that pgx stores in a column of bytes.
func (c *Column[T]) Bytes(id T) ([]byte, error) {
	var zero T
	switch {
	case id == zero:
		return nil, c.zero()
	case c.ToBytes == nil:
		return nil, c.other("a column of bytes")
	}
	return c.ToBytes(id), nil
}

// Scan reads a value of database/sql.
func (c *Column[T]) Scan(src any) (id T, err error) {
	switch v := src.(type) {
	case nil:
		return id, c.null()
	case int64:
		if c.FromInt != nil {
			return c.FromInt(v)
		}
		return id, c.other("an integer")
	case uint64: // MySQL's unsigned columns
		switch {
		case c.FromInt == nil:
			return id, c.other("an integer")
		case v > math.MaxInt64:
			return id, wrong.Range(c.Format, strconv.FormatUint(v, 10), "the range of signed integers")
		}
		return c.FromInt(int64(v))
	case string:
		if c.FromText != nil {
			return c.FromText([]byte(v))
		}
		return id, c.other("a text of length " + strconv.Itoa(len(v)))
	case []byte:
		return c.ScanBytes(v)
	case complex128: // refused, which GORM may scan into another field
		return id, c.zero()
	}
	return id, wrong.Type(c.Format, src)
}

// ScanBytes reads a value that is bytes or the characters of a text. Some drivers and pgx hand over
// texts as bytes: the length tells the two apart. No format has texts of Size characters.
func (c *Column[T]) ScanBytes(b []byte) (id T, err error) {
	switch {
	case b == nil:
		return id, c.null()
	case c.FromBytes != nil && len(b) == c.Size:
		return c.FromBytes(b)
	case c.FromText != nil:
		return c.FromText(b)
	}
	return id, c.other("a value of length " + strconv.Itoa(len(b)))
}

// Types of values in BSON. Specification: bsonspec.org, "Basic Types" and "Non-terminals".
const (
	bsonDouble = 0x01
	bsonString = 0x02
	bsonBinary = 0x05
	bsonNull   = 0x0a
	bsonInt32  = 0x10
	bsonInt64  = 0x12
)

var bsonNames = map[byte]string{
	bsonDouble: "a double", bsonString: "a string", bsonBinary: "binary data", bsonInt32: "an int32", bsonInt64: "an int64",
	0x03: "a document", 0x04: "an array", 0x07: "an ObjectID", 0x08: "a boolean", 0x09: "a date", 0x0b: "a regular expression",
	0x11: "a timestamp", 0x13: "a decimal128",
}

// BSON returns the type and the bytes of an ID's value in BSON.
func (c *Column[T]) BSON(id T) (byte, []byte, error) {
	var zero T
	switch {
	case id == zero:
		return 0, nil, c.noID("the zero ID means \"no ID\" and is not stored: make an ID first, or leave the field out by the option omitempty")
	case c.ToInt != nil:
		v, err := c.ToInt(id)
		if err != nil {
			return 0, nil, err
		}
		return bsonInt64, binary.LittleEndian.AppendUint64(nil, uint64(v)), nil
	case c.ToText != nil:
		text, err := c.ToText(id)
		if err != nil {
			return 0, nil, err
		}
		b := make([]byte, 0, 4+len(text)+1)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)+1))
		return bsonString, append(append(b, text...), 0), nil
	}
	data := c.ToBytes(id)
	b := make([]byte, 0, 4+1+len(data))
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), c.Subtype)
	return bsonBinary, append(b, data...), nil
}

// FromBSON reads a value in BSON.
func (c *Column[T]) FromBSON(kind byte, data []byte) (id T, err error) {
	if kind == bsonNull {
		return id, c.noID("null is no ID: read a field that may be null into a pointer")
	}
	switch {
	case kind == bsonInt64 && c.FromInt != nil && len(data) == 8:
		return c.FromInt(int64(binary.LittleEndian.Uint64(data)))
	case kind == bsonInt32 && c.FromInt != nil && len(data) == 4: // what the shell writes for small numbers
		return c.FromInt(int64(int32(binary.LittleEndian.Uint32(data))))
	case kind == bsonDouble && c.Float && len(data) == 8:
		v := math.Float64frombits(binary.LittleEndian.Uint64(data))
		if v != math.Trunc(v) || v < 0 || v >= 1<<53 {
			return id, wrong.Range(c.Format, strconv.FormatFloat(v, 'g', -1, 64), "the whole numbers below 2^53")
		}
		return c.FromInt(int64(v))
	case kind == bsonString && c.FromText != nil && len(data) >= 5 && data[len(data)-1] == 0 &&
		binary.LittleEndian.Uint32(data) == uint32(len(data)-4):
		return c.FromText(data[4 : len(data)-1])
	case kind == bsonBinary && c.FromBytes != nil && len(data) >= 5 && data[4] == c.Subtype &&
		binary.LittleEndian.Uint32(data) == uint32(len(data)-5):
		return c.FromBytes(data[5:])
	}
	name, known := bsonNames[kind]
	if !known {
		name = "a value of type " + strconv.Itoa(int(kind))
	}
	return id, &iderr.ParseError{Format: c.Format, Offset: -1, Err: iderr.ErrType,
		Reason: name + " in BSON holds no " + c.Type + ": the type writes " + c.written() + ": look for the type that wrote the field"}
}

// written names the type in BSON that the column writes.
func (c *Column[T]) written() string {
	switch {
	case c.ToInt != nil:
		return bsonNames[bsonInt64]
	case c.ToText != nil:
		return bsonNames[bsonString]
	}
	return bsonNames[bsonBinary] + " of subtype " + strconv.Itoa(int(c.Subtype))
}
