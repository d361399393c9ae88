package ulidflake

import (
	"database/sql"
	"database/sql/driver"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
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
// *[iderr.ParseError]: use a *ID or a sql.Null[ID] for a column that may be NULL.
func (id ID) Value() (driver.Value, error) { return column.Value(id) }

// Scan implements [sql.Scanner]. It reads an integer. Any other value is a *[iderr.ParseError], and
// so is NULL. A text of decimal digits could be the text of another ID, so Scan reads no text:
// [Text] is the type for a column of text. If a driver returns an integer as text, scan into an
// int64, and call [FromInt64].
func (id *ID) Scan(src any) error { return payload.Set(id)(column.Scan(src)) }

// SkipUnderlyingTypePlan keeps pgx from reading an integer past the checks of Scan.
func (ID) SkipUnderlyingTypePlan() {}

// GormDataType is the type of columns that GORM makes. GORM numbers the rows of an integer type by
// itself if the type has no such method.
func (ID) GormDataType() string { return "bigint" }

// Stored describes how databases store the IDs, for package pgxid.
func (ID) Stored() shape.Stored { return descriptor.Stored(shape.Bigint) }

// Value implements [driver.Valuer]: the integer, for a BIGINT column. The zero ID is a
// *[iderr.ParseError]: use a *ScalableID or a sql.Null[ScalableID] for a column that may be NULL.
func (id ScalableID) Value() (driver.Value, error) { return columnScalable.Value(id) }

// Scan implements [sql.Scanner]. It reads an integer. Any other value is a *[iderr.ParseError], and
// so is NULL. A text of decimal digits could be the text of another ID, so Scan reads no text:
// [ScalableText] is the type for a column of text. If a driver returns an integer as text, scan
// into an int64, and call [ScalableFromInt64].
func (id *ScalableID) Scan(src any) error { return payload.Set(id)(columnScalable.Scan(src)) }

// SkipUnderlyingTypePlan keeps pgx from reading an integer past the checks of Scan.
func (ScalableID) SkipUnderlyingTypePlan() {}

// GormDataType is the type of columns that GORM makes. GORM numbers the rows of an integer type by
// itself if the type has no such method.
func (ScalableID) GormDataType() string { return "bigint" }

// Stored describes how databases store the IDs, for package pgxid.
func (ScalableID) Stored() shape.Stored { return descriptorScalable.Stored(shape.Bigint) }
