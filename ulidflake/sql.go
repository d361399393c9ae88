package ulidflake

import (
	"database/sql"
	"database/sql/driver"

	"github.com/firn-id/firn/internal/wire"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID(0)
)

// Value implements [driver.Valuer]: the integer, for a BIGINT column, and NULL for the zero ID.
func (id ID) Value() (driver.Value, error) { return form.Value(id) }

// Scan implements [sql.Scanner]. Scan reads an integer, the text as [Parse] does, 8 bytes as the
// binary form, and NULL as the zero ID. A text column must have the canonical text if the driver
// returns bytes: 8 bytes are a binary form. Some drivers return a DECIMAL column as text, which is
// no text of an ID: use BIGINT.
func (id *ID) Scan(src any) error { return wire.Set(id)(form.Scan(src)) }
