package sno

import (
	"database/sql"
	"database/sql/driver"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID{}
	_ sql.Scanner   = (*Text)(nil)
	_ driver.Valuer = Text{}
	_ sql.Scanner   = (*UUID)(nil)
	_ driver.Valuer = UUID{}
)

// The columns of databases.
var (
	column = payload.Column[ID]{
		Format: format, Type: "sno.ID", Holds: "10 bytes, in a BYTEA or BINARY(10) column",
		Else:    "use sno.Text for a column of text, and sno.UUID for a column of type UUID",
		ToBytes: ID.Bytes, FromBytes: FromBinaryBytes, FromText: parseBytes, Size: SizeBinary,
	}
	columnText = payload.Column[ID]{
		Format: format, Type: "sno.Text", Holds: "a text, in a column of text",
		Else:   "use sno.ID for a column of bytes, and sno.UUID for a column of type UUID",
		ToText: func(id ID) (string, error) { return id.String(), nil }, FromText: parseBytes,
	}
	columnUUID = payload.Column[UUID]{
		Format: format, Type: "sno.UUID", Holds: "a UUID, in a column of type UUID",
		Else:   "use sno.ID for a column of bytes, and sno.Text for a column of text",
		ToText: UUID.text, FromText: parseUUID[[]byte], FromBytes: uuidOf, Size: SizeEncoded,
	}
	documentUUID = payload.Column[UUID]{
		Format: format, Type: "sno.UUID", Holds: "binary data of subtype 4", Else: columnUUID.Else,
		ToBytes: func(u UUID) []byte { return u[:] }, FromBytes: uuidOf, Size: SizeEncoded, Subtype: 4,
	}
)

// Value implements [driver.Valuer] by the 10 bytes. The zero ID is ten zeros: a row whose ID was
// forgotten is not an error. [Text] and [UUID] refuse the zero ID. Use a *ID or a sql.Null[ID] for a
// column that may be NULL, [Text] for a column of text, and [UUID] for a column of type UUID. Some
// drivers take the 10 bytes there, and fill them up to 16.
//
// GORM takes a slice of bytes apart if it is the whole condition: First(&row, id), Not(id) and
// Delete(&row, id) ask for 10 numbers, and MySQL then finds or deletes other rows. Write "id = ?", id
// and "id IN ?", ids, or use Text or UUID.
func (id ID) Value() (driver.Value, error) { return id.Bytes(), nil }

// Scan implements [sql.Scanner]. It reads 10 bytes as the binary form, a string as the canonical
// text, and NULL, no bytes and the empty string as the zero ID. Bytes and strings of another length
// are an *[InvalidDataSizeError], and any other type is an *[InvalidTypeError]. An error sets the ID
// to zero.
//
// Drivers of MySQL return a column of text as bytes: [Text] reads both.
func (id *ID) Scan(value any) (err error) {
	*id, err = scan(value)
	return err
}

func scan(value any) (ID, error) {
	switch v := value.(type) {
	case nil:
		return zero, nil
	case []byte:
		if len(v) == 0 {
			return zero, nil
		}
		return FromBinaryBytes(v)
	case string:
		if len(v) == 0 {
			return zero, nil
		}
		return Parse(v)
	}
	return zero, &InvalidTypeError{Value: value}
}

// BytesValue implements pgtype.BytesValuer of pgx: the 10 bytes, for a BYTEA column. The zero ID is
// a *[ParseError].
func (id ID) BytesValue() ([]byte, error) { return column.Bytes(id) }

// ScanBytes implements pgtype.BytesScanner of pgx. It reads 10 bytes as the binary form, the
// characters of the canonical text, and NULL and no bytes as the zero ID: pgx calls ScanBytes for
// columns of bytes and of text. An error sets the ID to zero.
func (id *ID) ScanBytes(src []byte) (err error) {
	if *id = zero; len(src) > 0 {
		*id, err = column.ScanBytes(src)
	}
	return err
}

// GormDataType is the type of columns that GORM makes. MySQL needs the tag size:10 for an index.
func (ID) GormDataType() string { return "bytes" }

// Stored describes how databases store the IDs, for package pgxid.
func (ID) Stored() shape.Stored { return descriptor.Stored(shape.Bytea) }

// Value implements [driver.Valuer] by the text of String: databases take the text for their type
// UUID. Pass u[:] to a column of 16 bytes. The UUID of no ID is a *[ParseError], and so is the UUID
// of the zero ID.
func (u UUID) Value() (driver.Value, error) {
	if u.IsZero() {
		u = UUID{} // the error of no ID
	}
	return columnUUID.Value(u)
}

// Scan implements [sql.Scanner]. It reads the text of String, as a string or as bytes, and the 16
// bytes of a UUID. Any other value is a *[ParseError], and so are NULL and the UUID of no ID. An
// error leaves the UUID unchanged.
//
// SQL Server returns the bytes of a UNIQUEIDENTIFIER in another order. Convert such bytes with the
// type of the driver, and do not Scan them.
func (u *UUID) Scan(value any) error {
	if v, ok := value.([SizeEncoded]byte); ok {
		value = v[:]
	}
	return payload.Set(u)(columnUUID.Scan(value))
}

// GormDataType is the type of columns that GORM makes.
func (UUID) GormDataType() string { return "uuid" }

// Stored describes how databases store the IDs, for package pgxid.
func (UUID) Stored() shape.Stored { return descriptor.Stored(shape.UUID) }

func (u UUID) text() (string, error) {
	_, err := u.checked()
	return u.String(), err
}

func uuidOf(b []byte) (UUID, error) {
	if len(b) != SizeEncoded {
		return UUID{}, wrong.Length(format, b, "16 bytes")
	}
	return UUID(b).checked()
}
