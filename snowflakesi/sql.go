package snowflakesi

import (
	"database/sql"
	"database/sql/driver"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID(0)
)

// column is how databases hold IDs.
var column = form.Column("snowflakesi.ID", "")

// Value implements [driver.Valuer]: the integer, for a BIGINT column. The zero ID is a
// *[iderr.ParseError]: use a *ID or a sql.Null[ID] for a column that may be NULL.
func (id ID) Value() (driver.Value, error) { return column.Value(id) }

// Scan implements [sql.Scanner]. It reads an integer, and a decimal text as [Parse] does. Any other
// value is a *[iderr.ParseError], and so is NULL.
func (id *ID) Scan(src any) error { return payload.Set(id)(column.Scan(src)) }

// SkipUnderlyingTypePlan keeps pgx from reading an integer past the checks of Scan.
func (ID) SkipUnderlyingTypePlan() {}

// GormDataType is the type of columns that GORM makes. GORM numbers the rows of an integer type by
// itself if the type has no such method.
func (ID) GormDataType() string { return "bigint" }

// Stored describes how databases store the IDs, for package pgxid.
func (ID) Stored() shape.Stored { return descriptor.Stored(shape.Bigint) }
