package scru160

import (
	"database/sql/driver"
	"fmt"
	"io"
	"time"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
)

// Binary is an ID in a column of 20 bytes: BYTEA, BINARY(20) or BLOB. It has the methods of ID;
// only databases see the difference.
type Binary [Size]byte

// Binary returns the ID for a column of bytes.
func (id ID) Binary() Binary { return Binary(id) }

// ID returns the ID.
func (b Binary) ID() ID { return ID(b) }

// Value implements [driver.Valuer]: the 20 bytes. The zero ID is a *[iderr.ParseError].
//
// GORM takes a slice of bytes apart if it is the whole condition: First(&row, id), Not(id) and
// Delete(&row, id) ask for 20 numbers, and MySQL then finds or deletes other rows. Write "id = ?", id
// and "id IN ?", ids, or use ID.
func (b Binary) Value() (driver.Value, error) { return columnBinary.Value(b.ID()) }

// Scan implements [sql.Scanner]. It reads 20 bytes. Any other value is a *[iderr.ParseError], and
// so are a text and NULL.
func (b *Binary) Scan(src any) error { return payload.Set((*ID)(b))(columnBinary.Scan(src)) }

// BytesValue implements pgtype.BytesValuer of pgx: the 20 bytes.
func (b Binary) BytesValue() ([]byte, error) { return columnBinary.Bytes(b.ID()) }

// ScanBytes implements pgtype.BytesScanner of pgx. It reads 20 bytes.
func (b *Binary) ScanBytes(src []byte) error {
	return payload.Set((*ID)(b))(columnBinary.ScanBytes(src))
}

// GormDataType is the type of columns that GORM makes. MySQL needs the tag size:20 for an index.
func (Binary) GormDataType() string { return "bytes" }

// Stored describes how databases store the IDs, for package pgxid.
func (Binary) Stored() shape.Stored { return descriptor.Stored(shape.Bytea) }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: binary data of subtype 0.
func (b Binary) MarshalBSONValue() (byte, []byte, error) { return columnBinary.BSON(b.ID()) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads binary data of
// subtype 0.
func (b *Binary) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set((*ID)(b))(columnBinary.FromBSON(kind, data))
}

// Time is [ID.Time].
func (b Binary) Time() time.Time { return b.ID().Time() }

// Timestamp is [ID.Timestamp].
func (b Binary) Timestamp() int64 { return b.ID().Timestamp() }

// Counter is [ID.Counter].
func (b Binary) Counter() int { return b.ID().Counter() }

// Random16 is [ID.Random16].
func (b Binary) Random16() int { return b.ID().Random16() }

// Random80 is [ID.Random80].
func (b Binary) Random80() [10]byte { return b.ID().Random80() }

// NodeID is [ID.NodeID].
func (b Binary) NodeID(counterBits, nodeBits int) int { return b.ID().NodeID(counterBits, nodeBits) }

// Bytes is [ID.Bytes].
func (b Binary) Bytes() []byte { return b.ID().Bytes() }

// Hex is [ID.Hex].
func (b Binary) Hex() string { return b.ID().Hex() }

// Compare returns -1, 0 or 1 as b is less than, equal to or greater than other.
func (b Binary) Compare(other Binary) int { return b.ID().Compare(other.ID()) }

// IsZero is [ID.IsZero].
func (b Binary) IsZero() bool { return b.ID().IsZero() }

// String is [ID.String].
func (b Binary) String() string { return b.ID().String() }

// AppendText is [ID.AppendText].
func (b Binary) AppendText(dst []byte) ([]byte, error) { return b.ID().AppendText(dst) }

// MarshalText is [ID.MarshalText].
func (b Binary) MarshalText() ([]byte, error) { return b.ID().MarshalText() }

// UnmarshalText is [ID.UnmarshalText].
func (b *Binary) UnmarshalText(text []byte) error { return (*ID)(b).UnmarshalText(text) }

// AppendBinary is [ID.AppendBinary].
func (b Binary) AppendBinary(dst []byte) ([]byte, error) { return b.ID().AppendBinary(dst) }

// MarshalBinary is [ID.MarshalBinary].
func (b Binary) MarshalBinary() ([]byte, error) { return b.ID().MarshalBinary() }

// UnmarshalBinary is [ID.UnmarshalBinary].
func (b *Binary) UnmarshalBinary(data []byte) error { return (*ID)(b).UnmarshalBinary(data) }

// MarshalJSON is [ID.MarshalJSON].
func (b Binary) MarshalJSON() ([]byte, error) { return b.ID().MarshalJSON() }

// UnmarshalJSON is [ID.UnmarshalJSON].
func (b *Binary) UnmarshalJSON(data []byte) error { return (*ID)(b).UnmarshalJSON(data) }

// MarshalGQL is [ID.MarshalGQL].
func (b Binary) MarshalGQL(w io.Writer) { b.ID().MarshalGQL(w) }

// UnmarshalGQL is [ID.UnmarshalGQL].
func (b *Binary) UnmarshalGQL(v any) error { return (*ID)(b).UnmarshalGQL(v) }

// ScanRedis is [ID.ScanRedis].
func (b *Binary) ScanRedis(s string) error { return (*ID)(b).ScanRedis(s) }

// UnmarshalParam is [ID.UnmarshalParam].
func (b *Binary) UnmarshalParam(param string) error { return (*ID)(b).UnmarshalParam(param) }

// Format is [ID.Format], and calls Binary in the expression for %#v.
func (b Binary) Format(s fmt.State, verb rune) { payload.FormatColumn(s, verb, b.ID(), "Binary") }
