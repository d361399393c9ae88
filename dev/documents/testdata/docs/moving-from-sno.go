// Package page has what the pieces of docs/moving-from-sno.md do not declare.
package page

import (
	"database/sql"
	"encoding/json"

	"github.com/firn-id/firn/sno"
)

const PersonType = 1

var (
	db             *sql.DB
	id             sno.ID
	saved          []byte
	fromOldPackage bool
)
