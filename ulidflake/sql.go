package ulidflake

import (
	"database/sql"
	"database/sql/driver"
	"io"

	"github.com/firn-id/firn/internal/wire"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID(0)
	_ sql.Scanner   = (*Text)(nil)
	_ driver.Valuer = Text{}
	_ sql.Scanner   = (*ScalableID)(nil)
	_ driver.Valuer = ScalableID(0)
	_ sql.Scanner   = (*ScalableText)(nil)
	_ driver.Valuer = ScalableText{}
)

// The columns of databases.
var (
	column             = form.Column("ulidflake.ID", "ulidflake.Text")
	columnText         = form.TextColumn("ulidflake.Text", "ulidflake.ID")
	columnScalable     = formScalable.Column("ulidflake.ScalableID", "ulidflake.ScalableText")
	columnScalableText = formScalable.TextColumn("ulidflake.ScalableText", "ulidflake.ScalableID")
)

// Value implements [driver.Valuer]: the integer, for a BIGINT column. The zero ID is a
// *[ParseError]: use a *ID or a sql.Null[ID] for a column that may be NULL.
func (id ID) Value() (driver.Value, error) { return column.Value(id) }

// Scan implements [sql.Scanner]. Scan reads an integer. Any other value is a *[ParseError], and so
// is NULL. A text of decimal digits could be the text of another ID, so Scan reads no text: [Text]
// is the type for a column of text. If a driver returns an integer as text, scan into an int64, and
// call [FromInt64].
func (id *ID) Scan(src any) error { return wire.Set(id)(column.Scan(src)) }

// SkipUnderlyingTypePlan keeps pgx from reading an integer past the checks of Scan.
func (ID) SkipUnderlyingTypePlan() {}

// GormDataType is the type of columns that GORM makes. GORM numbers the rows of an integer type by
// itself if the type has no such method.
func (ID) GormDataType() string { return "bigint" }

// Text is an ID in a column of text: VARCHAR(13), with a collation of bytes where texts shall sort
// as the IDs do. Text has the methods of ID; only databases see the difference.
type Text struct{ ID }

// Value implements [driver.Valuer]: the canonical text. The zero ID is a *[ParseError].
func (t Text) Value() (driver.Value, error) { return columnText.Value(t.ID) }

// Scan implements [sql.Scanner]. Scan reads the canonical text, as a string or as bytes. Any other
// value is a *[ParseError], and so are an integer and NULL.
func (t *Text) Scan(src any) error { return wire.Set(&t.ID)(columnText.Scan(src)) }

// GormDataType is the type of columns that GORM makes.
func (Text) GormDataType() string { return "varchar(13)" }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: a string.
func (t Text) MarshalBSONValue() (byte, []byte, error) { return columnText.BSON(t.ID) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. UnmarshalBSONValue reads
// a string.
func (t *Text) UnmarshalBSONValue(kind byte, data []byte) error {
	return wire.Set(&t.ID)(columnText.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does. gqlgen does not look for
// methods of embedded types.
func (t Text) MarshalGQL(w io.Writer) { t.ID.MarshalGQL(w) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. UnmarshalGQL reads what the ID reads.
func (t *Text) UnmarshalGQL(v any) error { return t.ID.UnmarshalGQL(v) }

// Compare returns -1, 0 or 1 as t is less than, equal to or greater than other.
func (t Text) Compare(other Text) int { return t.ID.Compare(other.ID) }

// Value implements [driver.Valuer]: the integer, for a BIGINT column. The zero ID is a
// *[ParseError]: use a *ScalableID or a sql.Null[ScalableID] for a column that may be NULL.
func (id ScalableID) Value() (driver.Value, error) { return columnScalable.Value(id) }

// Scan implements [sql.Scanner]. Scan reads an integer. Any other value is a *[ParseError], and so
// is NULL. A text of decimal digits could be the text of another ID, so Scan reads no text:
// [ScalableText] is the type for a column of text. If a driver returns an integer as text, scan
// into an int64, and call [ScalableFromInt64].
func (id *ScalableID) Scan(src any) error { return wire.Set(id)(columnScalable.Scan(src)) }

// SkipUnderlyingTypePlan keeps pgx from reading an integer past the checks of Scan.
func (ScalableID) SkipUnderlyingTypePlan() {}

// GormDataType is the type of columns that GORM makes. GORM numbers the rows of an integer type by
// itself if the type has no such method.
func (ScalableID) GormDataType() string { return "bigint" }

// ScalableText is an ID in a column of text: VARCHAR(13), with a collation of bytes where texts
// shall sort as the IDs do. ScalableText has the methods of ScalableID; only databases see the
// difference.
type ScalableText struct{ ScalableID }

// Value implements [driver.Valuer]: the canonical text. The zero ID is a *[ParseError].
func (t ScalableText) Value() (driver.Value, error) { return columnScalableText.Value(t.ScalableID) }

// Scan implements [sql.Scanner]. Scan reads the canonical text, as a string or as bytes. Any other
// value is a *[ParseError], and so are an integer and NULL.
func (t *ScalableText) Scan(src any) error {
	return wire.Set(&t.ScalableID)(columnScalableText.Scan(src))
}

// GormDataType is the type of columns that GORM makes.
func (ScalableText) GormDataType() string { return "varchar(13)" }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: a string.
func (t ScalableText) MarshalBSONValue() (byte, []byte, error) {
	return columnScalableText.BSON(t.ScalableID)
}

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. UnmarshalBSONValue reads
// a string.
func (t *ScalableText) UnmarshalBSONValue(kind byte, data []byte) error {
	return wire.Set(&t.ScalableID)(columnScalableText.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does. gqlgen does not look for
// methods of embedded types.
func (t ScalableText) MarshalGQL(w io.Writer) { t.ScalableID.MarshalGQL(w) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. UnmarshalGQL reads what the ID reads.
func (t *ScalableText) UnmarshalGQL(v any) error { return t.ScalableID.UnmarshalGQL(v) }

// Compare returns -1, 0 or 1 as t is less than, equal to or greater than other.
func (t ScalableText) Compare(other ScalableText) int { return t.ScalableID.Compare(other.ScalableID) }
