package ulidflake

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
)

// A Text is an ID in a column of text: VARCHAR(13), with a collation of bytes where
// texts shall sort as the IDs do. [ID.Text] makes a Text of an ID, and [Text.ID] returns the ID.
// A Text has the methods of ID; only databases see the difference.
//
// A Text is the binary form of the ID, and no integer: a library that goes by the kind of a type
// would read a text of digits as the integer of another ID.
type Text [8]byte

// Text returns the ID for a column of text.
func (id ID) Text() (t Text) {
	binary.BigEndian.PutUint64(t[:], uint64(id))
	return t
}

// ID returns the ID.
func (t Text) ID() ID { return ID(binary.BigEndian.Uint64(t[:])) }

// set takes the results of a reader.
func (t *Text) set(id ID, err error) error {
	if err == nil {
		*t = id.Text()
	}
	return err
}

// Value implements [driver.Valuer]: the canonical text. The zero ID is a *[iderr.ParseError].
func (t Text) Value() (driver.Value, error) { return columnText.Value(t.ID()) }

// Scan implements [sql.Scanner]. It reads the canonical text, as a string or as bytes. Any other
// value is a *[iderr.ParseError], and so are an integer and NULL.
func (t *Text) Scan(src any) error { return t.set(columnText.Scan(src)) }

// GormDataType is the type of columns that GORM makes.
func (Text) GormDataType() string { return "varchar(13)" }

// Stored describes how databases store the IDs, for package pgxid.
func (Text) Stored() shape.Stored { return descriptor.Stored(shape.Varchar) }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: a string.
func (t Text) MarshalBSONValue() (byte, []byte, error) { return columnText.BSON(t.ID()) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads a string.
func (t *Text) UnmarshalBSONValue(kind byte, data []byte) error {
	return t.set(columnText.FromBSON(kind, data))
}

// Int is [ID.Int].
func (t Text) Int() int64 { return t.ID().Int() }

// Int64 is [ID.Int64].
func (t Text) Int64() int64 { return t.ID().Int64() }

// Timestamp is [ID.Timestamp].
func (t Text) Timestamp() int64 { return t.ID().Timestamp() }

// Randomness is [ID.Randomness].
func (t Text) Randomness() int { return t.ID().Randomness() }

// Time is [ID.Time].
func (t Text) Time(epoch time.Time) time.Time { return t.ID().Time(epoch) }

// Decimal is [ID.Decimal].
func (t Text) Decimal() string { return t.ID().Decimal() }

// Hex is [ID.Hex].
func (t Text) Hex() string { return t.ID().Hex() }

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
func (t *Text) UnmarshalText(text []byte) error { return t.set(parseBytes(text)) }

// AppendBinary is [ID.AppendBinary].
func (t Text) AppendBinary(dst []byte) ([]byte, error) { return t.ID().AppendBinary(dst) }

// MarshalBinary is [ID.MarshalBinary].
func (t Text) MarshalBinary() ([]byte, error) { return t.ID().MarshalBinary() }

// UnmarshalBinary is [ID.UnmarshalBinary].
func (t *Text) UnmarshalBinary(data []byte) error { return t.set(form.Binary(data)) }

// MarshalJSON is [ID.MarshalJSON].
func (t Text) MarshalJSON() ([]byte, error) { return t.ID().MarshalJSON() }

// UnmarshalJSON is [ID.UnmarshalJSON].
func (t *Text) UnmarshalJSON(data []byte) error { return t.set(form.JSON(data)) }

// MarshalGQL is [ID.MarshalGQL].
func (t Text) MarshalGQL(w io.Writer) { t.ID().MarshalGQL(w) }

// UnmarshalGQL is [ID.UnmarshalGQL].
func (t *Text) UnmarshalGQL(v any) error { return t.set(form.FromGQL(v)) }

// ScanRedis is [ID.ScanRedis].
func (t *Text) ScanRedis(s string) error { return t.set(form.Redis(s)) }

// UnmarshalParam is [ID.UnmarshalParam].
func (t *Text) UnmarshalParam(param string) error { return t.UnmarshalText([]byte(param)) }

// SkipUnderlyingTypePlan keeps pgx from reading bytes past the checks of Scan.
func (Text) SkipUnderlyingTypePlan() {}

// Format is [ID.Format], and calls Text in the expression for %#v.
func (t Text) Format(s fmt.State, verb rune) { payload.FormatColumn(s, verb, t.ID(), "Text") }

// A ScalableText is a ScalableID in a column of text: VARCHAR(13), with a collation of bytes where
// texts shall sort as the IDs do. [ScalableID.Text] makes a ScalableText of an ID, and [ScalableText.ID] returns the ID.
// A ScalableText has the methods of ScalableID; only databases see the difference.
//
// A ScalableText is the binary form of the ID, and no integer: a library that goes by the kind of a type
// would read a text of digits as the integer of another ID.
type ScalableText [8]byte

// Text returns the ID for a column of text.
func (id ScalableID) Text() (t ScalableText) {
	binary.BigEndian.PutUint64(t[:], uint64(id))
	return t
}

// ID returns the ID.
func (t ScalableText) ID() ScalableID { return ScalableID(binary.BigEndian.Uint64(t[:])) }

// set takes the results of a reader.
func (t *ScalableText) set(id ScalableID, err error) error {
	if err == nil {
		*t = id.Text()
	}
	return err
}

// Value implements [driver.Valuer]: the canonical text. The zero ID is a *[iderr.ParseError].
func (t ScalableText) Value() (driver.Value, error) { return columnScalableText.Value(t.ID()) }

// Scan implements [sql.Scanner]. It reads the canonical text, as a string or as bytes. Any other
// value is a *[iderr.ParseError], and so are an integer and NULL.
func (t *ScalableText) Scan(src any) error { return t.set(columnScalableText.Scan(src)) }

// GormDataType is the type of columns that GORM makes.
func (ScalableText) GormDataType() string { return "varchar(13)" }

// Stored describes how databases store the IDs, for package pgxid.
func (ScalableText) Stored() shape.Stored { return descriptorScalable.Stored(shape.Varchar) }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: a string.
func (t ScalableText) MarshalBSONValue() (byte, []byte, error) {
	return columnScalableText.BSON(t.ID())
}

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads a string.
func (t *ScalableText) UnmarshalBSONValue(kind byte, data []byte) error {
	return t.set(columnScalableText.FromBSON(kind, data))
}

// Int64 is [ScalableID.Int64].
func (t ScalableText) Int64() int64 { return t.ID().Int64() }

// Timestamp is [ScalableID.Timestamp].
func (t ScalableText) Timestamp() int64 { return t.ID().Timestamp() }

// Randomness is [ScalableID.Randomness].
func (t ScalableText) Randomness() int { return t.ID().Randomness() }

// Scalability is [ScalableID.Scalability].
func (t ScalableText) Scalability() int { return t.ID().Scalability() }

// Time is [ScalableID.Time].
func (t ScalableText) Time(epoch time.Time) time.Time { return t.ID().Time(epoch) }

// Decimal is [ScalableID.Decimal].
func (t ScalableText) Decimal() string { return t.ID().Decimal() }

// Hex is [ScalableID.Hex].
func (t ScalableText) Hex() string { return t.ID().Hex() }

// Compare returns -1, 0 or 1 as t is less than, equal to or greater than other.
func (t ScalableText) Compare(other ScalableText) int { return t.ID().Compare(other.ID()) }

// IsZero is [ScalableID.IsZero].
func (t ScalableText) IsZero() bool { return t.ID().IsZero() }

// String is [ScalableID.String].
func (t ScalableText) String() string { return t.ID().String() }

// AppendText is [ScalableID.AppendText].
func (t ScalableText) AppendText(dst []byte) ([]byte, error) { return t.ID().AppendText(dst) }

// MarshalText is [ScalableID.MarshalText].
func (t ScalableText) MarshalText() ([]byte, error) { return t.ID().MarshalText() }

// UnmarshalText is [ScalableID.UnmarshalText].
func (t *ScalableText) UnmarshalText(text []byte) error { return t.set(parseScalableBytes(text)) }

// AppendBinary is [ScalableID.AppendBinary].
func (t ScalableText) AppendBinary(dst []byte) ([]byte, error) { return t.ID().AppendBinary(dst) }

// MarshalBinary is [ScalableID.MarshalBinary].
func (t ScalableText) MarshalBinary() ([]byte, error) { return t.ID().MarshalBinary() }

// UnmarshalBinary is [ScalableID.UnmarshalBinary].
func (t *ScalableText) UnmarshalBinary(data []byte) error { return t.set(formScalable.Binary(data)) }

// MarshalJSON is [ScalableID.MarshalJSON].
func (t ScalableText) MarshalJSON() ([]byte, error) { return t.ID().MarshalJSON() }

// UnmarshalJSON is [ScalableID.UnmarshalJSON].
func (t *ScalableText) UnmarshalJSON(data []byte) error { return t.set(formScalable.JSON(data)) }

// MarshalGQL is [ScalableID.MarshalGQL].
func (t ScalableText) MarshalGQL(w io.Writer) { t.ID().MarshalGQL(w) }

// UnmarshalGQL is [ScalableID.UnmarshalGQL].
func (t *ScalableText) UnmarshalGQL(v any) error { return t.set(formScalable.FromGQL(v)) }

// ScanRedis is [ScalableID.ScanRedis].
func (t *ScalableText) ScanRedis(s string) error { return t.set(formScalable.Redis(s)) }

// UnmarshalParam is [ScalableID.UnmarshalParam].
func (t *ScalableText) UnmarshalParam(param string) error { return t.UnmarshalText([]byte(param)) }

// SkipUnderlyingTypePlan keeps pgx from reading bytes past the checks of Scan.
func (ScalableText) SkipUnderlyingTypePlan() {}

// Format is [ScalableID.Format], and calls Text in the expression for %#v.
func (t ScalableText) Format(s fmt.State, verb rune) { payload.FormatColumn(s, verb, t.ID(), "Text") }
