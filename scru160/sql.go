package scru160

import (
	"database/sql"
	"database/sql/driver"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID{}
	_ sql.Scanner   = (*Binary)(nil)
	_ driver.Valuer = Binary{}
)

// The columns of databases.
var (
	column = payload.Column[ID]{
		Format: format, Type: "scru160.ID", Holds: "a text, in a column of text",
		Else:   "use CHAR(32)",
		ToText: func(id ID) (string, error) { return id.String(), nil }, FromText: parseBytes,
		FromBytes: FromBytes, Size: Size,
	}
	columnBinary = payload.Column[ID]{
		Format: format, Type: "scru160.Binary", Holds: "20 bytes, in a BYTEA or BINARY(20) column",
		Else:    "use scru160.ID for a column of text",
		ToBytes: ID.Bytes, FromBytes: FromBytes, Size: Size,
	}
)

// Value implements [driver.Valuer]: the default text, for a CHAR(32) column. The zero ID is a
// *[iderr.ParseError]: use a *ID or a sql.Null[ID] for a column that may be NULL. [Binary] is the type
// for a column of bytes.
func (id ID) Value() (driver.Value, error) { return column.Value(id) }

// Scan implements [sql.Scanner]. It reads either text, and 20 bytes as the binary form. Any other
// value is a *[iderr.ParseError], and so is NULL.
func (id *ID) Scan(src any) error { return payload.Set(id)(column.Scan(src)) }

// BytesValue implements pgtype.BytesValuer of pgx: the 20 bytes, for a BYTEA column. pgx calls
// Value for a column of text, and in the modes that do not ask for the types of parameters;
// [Binary] is the 20 bytes in all modes.
func (id ID) BytesValue() ([]byte, error) { return columnBinary.Bytes(id) }

// ScanBytes implements pgtype.BytesScanner of pgx. It reads what Scan reads from bytes: pgx calls
// ScanBytes for columns of bytes and of text.
func (id *ID) ScanBytes(src []byte) error { return payload.Set(id)(column.ScanBytes(src)) }

// GormDataType is the type of columns that GORM makes.
func (ID) GormDataType() string { return "varchar(32)" }

// Stored describes how databases store the IDs, for package pgxid.
func (ID) Stored() shape.Stored { return descriptor.Stored(shape.Varchar) }
