package scru160

import (
	"database/sql"
	"database/sql/driver"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/wire"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ driver.Valuer = ID{}
)

// Value implements [driver.Valuer]: the default text, for a CHAR(32) column, and NULL for the zero
// ID. Pass [ID.Bytes] to a column of 20 bytes.
func (id ID) Value() (driver.Value, error) {
	if id.IsZero() {
		return nil, nil
	}
	return id.String(), nil
}

// Scan implements [sql.Scanner]. Scan reads either text, 20 bytes as the binary form, and NULL as
// the zero ID.
func (id *ID) Scan(src any) error { return wire.Set(id)(scan(src)) }

func scan(src any) (ID, error) {
	switch v := src.(type) {
	case nil:
		return ID{}, nil
	case string:
		return Parse(v)
	case []byte:
		if len(v) == Size {
			return ID(v), nil
		}
		return parseBytes(v)
	}
	return ID{}, iderr.BadType(format, src)
}
