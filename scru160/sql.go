package scru160

import (
	"database/sql"
	"database/sql/driver"
	"io"

	"github.com/firn-id/firn/internal/wire"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID{}
	_ sql.Scanner   = (*Binary)(nil)
	_ driver.Valuer = Binary{}
)

// The columns of databases.
var (
	column = wire.Column[ID]{
		Format: format, Type: "scru160.ID", Holds: "a text, in a column of text",
		Else:   "use CHAR(32)",
		ToText: func(id ID) (string, error) { return id.String(), nil }, FromText: parseBytes,
		FromBytes: FromBytes, Size: Size,
	}
	columnBinary = wire.Column[ID]{
		Format: format, Type: "scru160.Binary", Holds: "20 bytes, in a BYTEA or BINARY(20) column",
		Else:    "use scru160.ID for a column of text",
		ToBytes: ID.Bytes, FromBytes: FromBytes, Size: Size,
	}
)

// Value implements [driver.Valuer]: the default text, for a CHAR(32) column. The zero ID is a
// *[ParseError]: use a *ID or a sql.Null[ID] for a column that may be NULL. [Binary] is the type
// for a column of bytes.
func (id ID) Value() (driver.Value, error) { return column.Value(id) }

// Scan implements [sql.Scanner]. Scan reads either text, and 20 bytes as the binary form. Any other
// value is a *[ParseError], and so is NULL.
func (id *ID) Scan(src any) error { return wire.Set(id)(column.Scan(src)) }

// BytesValue implements pgtype.BytesValuer of pgx: the 20 bytes, for a BYTEA column. pgx calls
// Value for a column of text, and in the modes that do not ask for the types of parameters;
// [Binary] is the 20 bytes in all modes.
func (id ID) BytesValue() ([]byte, error) { return columnBinary.Bytes(id) }

// ScanBytes implements pgtype.BytesScanner of pgx. ScanBytes reads what Scan reads from bytes: pgx
// calls ScanBytes for columns of bytes and of text.
func (id *ID) ScanBytes(src []byte) error { return wire.Set(id)(column.ScanBytes(src)) }

// GormDataType is the type of columns that GORM makes.
func (ID) GormDataType() string { return "varchar(32)" }

// Binary is an ID in a column of 20 bytes: BYTEA, BINARY(20) or BLOB. Binary has the methods of ID;
// only databases see the difference.
type Binary struct{ ID }

// Value implements [driver.Valuer]: the 20 bytes. The zero ID is a *[ParseError].
//
// GORM takes a slice of bytes apart if it is the only condition: First(&row, id) and Delete(&row,
// id) ask for 20 numbers, and MySQL then finds other rows. Write First(&row, "id = ?", id).
func (b Binary) Value() (driver.Value, error) { return columnBinary.Value(b.ID) }

// Scan implements [sql.Scanner]. Scan reads 20 bytes. Any other value is a *[ParseError], and so
// are a text and NULL.
func (b *Binary) Scan(src any) error { return wire.Set(&b.ID)(columnBinary.Scan(src)) }

// BytesValue implements pgtype.BytesValuer of pgx: the 20 bytes.
func (b Binary) BytesValue() ([]byte, error) { return columnBinary.Bytes(b.ID) }

// ScanBytes implements pgtype.BytesScanner of pgx. ScanBytes reads 20 bytes.
func (b *Binary) ScanBytes(src []byte) error { return wire.Set(&b.ID)(columnBinary.ScanBytes(src)) }

// GormDataType is the type of columns that GORM makes. MySQL needs the tag size:20 for an index.
func (Binary) GormDataType() string { return "bytes" }

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: binary data of subtype 0.
func (b Binary) MarshalBSONValue() (byte, []byte, error) { return columnBinary.BSON(b.ID) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. UnmarshalBSONValue reads
// binary data of subtype 0.
func (b *Binary) UnmarshalBSONValue(kind byte, data []byte) error {
	return wire.Set(&b.ID)(columnBinary.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does. gqlgen does not look for
// methods of embedded types.
func (b Binary) MarshalGQL(w io.Writer) { b.ID.MarshalGQL(w) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. UnmarshalGQL reads what the ID reads.
func (b *Binary) UnmarshalGQL(v any) error { return b.ID.UnmarshalGQL(v) }

// Compare returns -1, 0 or 1 as b is less than, equal to or greater than other.
func (b Binary) Compare(other Binary) int { return b.ID.Compare(other.ID) }
