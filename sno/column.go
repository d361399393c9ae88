package sno

import (
	"database/sql/driver"
	"fmt"
	"io"
	"time"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
)

// Text is an ID in a column of text: CHAR(16), with a collation of bytes where texts shall sort as
// the IDs do. It has the methods of ID; only databases see the difference.
type Text [SizeBinary]byte

// Text returns the ID for a column of text.
func (id ID) Text() Text { return Text(id) }

// ID returns the ID.
func (t Text) ID() ID { return ID(t) }

// Value implements [driver.Valuer]: the canonical text. The zero ID is a *[ParseError].
func (t Text) Value() (driver.Value, error) { return columnText.Value(t.ID()) }

// Scan implements [sql.Scanner]. It reads the canonical text, as a string or as bytes. Any other
// value is an error, and so is NULL.
func (t *Text) Scan(src any) error { return payload.Set((*ID)(t))(columnText.Scan(src)) }

// BytesValue refuses a column of bytes: pgx calls BytesValue for no column of text.
func (t Text) BytesValue() ([]byte, error) { return columnText.Bytes(t.ID()) }

// ScanBytes implements pgtype.BytesScanner of pgx. It reads the characters of the canonical text.
func (t *Text) ScanBytes(src []byte) error { return payload.Set((*ID)(t))(columnText.ScanBytes(src)) }

// GormDataType is the type of columns that GORM makes.
func (Text) GormDataType() string { return "varchar(16)" }

// Stored describes how databases store the IDs, for package pgxid.
func (Text) Stored() shape.Stored { return descriptor.Stored(shape.Varchar) }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: a string.
func (t Text) MarshalBSONValue() (byte, []byte, error) { return columnText.BSON(t.ID()) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads a string.
func (t *Text) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set((*ID)(t))(columnText.FromBSON(kind, data))
}

// Time is [ID.Time].
func (t Text) Time() time.Time { return t.ID().Time() }

// Timestamp is [ID.Timestamp].
func (t Text) Timestamp() int64 { return t.ID().Timestamp() }

// TickTock is [ID.TickTock].
func (t Text) TickTock() int { return t.ID().TickTock() }

// Meta is [ID.Meta].
func (t Text) Meta() byte { return t.ID().Meta() }

// Partition is [ID.Partition].
func (t Text) Partition() Partition { return t.ID().Partition() }

// Sequence is [ID.Sequence].
func (t Text) Sequence() uint16 { return t.ID().Sequence() }

// Bytes is [ID.Bytes].
func (t Text) Bytes() []byte { return t.ID().Bytes() }

// Hex is [ID.Hex].
func (t Text) Hex() string { return t.ID().Hex() }

// UUID is [ID.UUID].
func (t Text) UUID() UUID { return t.ID().UUID() }

// Compare returns -1, 0 or 1 as t is less than, equal to or greater than other.
func (t Text) Compare(other Text) int { return t.ID().Compare(other.ID()) }

// IsZero is [ID.IsZero].
func (t Text) IsZero() bool { return t.ID().IsZero() }

// String is [ID.String].
func (t Text) String() string { return t.ID().String() }

// AppendText is [ID.AppendText].
func (t Text) AppendText(dst []byte) ([]byte, error) { return t.ID().AppendText(dst) }

// MarshalText is [ID.MarshalText].
func (t Text) MarshalText() ([]byte, error) { return t.ID().MarshalText() }

// UnmarshalText is [ID.UnmarshalText].
func (t *Text) UnmarshalText(text []byte) error { return (*ID)(t).UnmarshalText(text) }

// AppendBinary is [ID.AppendBinary].
func (t Text) AppendBinary(dst []byte) ([]byte, error) { return t.ID().AppendBinary(dst) }

// MarshalBinary is [ID.MarshalBinary].
func (t Text) MarshalBinary() ([]byte, error) { return t.ID().MarshalBinary() }

// UnmarshalBinary is [ID.UnmarshalBinary].
func (t *Text) UnmarshalBinary(data []byte) error { return (*ID)(t).UnmarshalBinary(data) }

// MarshalJSON is [ID.MarshalJSON].
func (t Text) MarshalJSON() ([]byte, error) { return t.ID().MarshalJSON() }

// UnmarshalJSON is [ID.UnmarshalJSON].
func (t *Text) UnmarshalJSON(data []byte) error { return (*ID)(t).UnmarshalJSON(data) }

// MarshalGQL is [ID.MarshalGQL].
func (t Text) MarshalGQL(w io.Writer) { t.ID().MarshalGQL(w) }

// UnmarshalGQL is [ID.UnmarshalGQL].
func (t *Text) UnmarshalGQL(v any) error { return (*ID)(t).UnmarshalGQL(v) }

// ScanRedis is [ID.ScanRedis].
func (t *Text) ScanRedis(s string) error { return (*ID)(t).ScanRedis(s) }

// UnmarshalParam is [ID.UnmarshalParam].
func (t *Text) UnmarshalParam(param string) error { return (*ID)(t).UnmarshalParam(param) }

// Format is [ID.Format], and calls Text in the expression for %#v.
func (t Text) Format(s fmt.State, verb rune) { payload.FormatColumn(s, verb, t.ID(), "Text") }
