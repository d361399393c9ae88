// Package orders writes orders as JSON: docs/databases/json.md has the same code.
package orders

import (
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/snowflakesi"
)

// An Order can have a parent: an order that it replaces. A nil pointer is null; omitempty leaves the
// nil pointer out, and omitzero leaves the zero ID out.
type Order struct {
	ID      nanoflake.ID            `json:"id"`
	Parent  *nanoflake.ID           `json:"parent"`
	Refund  nanoflake.ID            `json:"refund,omitzero"`
	Seat    snowflakesi.ID          `json:"seat,omitzero"`
	Related []nanoflake.ID          `json:"related,omitempty"`
	Notes   map[nanoflake.ID]string `json:"notes,omitempty"`
}

// A Legacy order is what programs with int64 fields and the option string wrote: "id": "673740726894358528".
type Legacy struct {
	ID int64 `json:"id,string"`
}

// Order reads the integer of a legacy order.
func (l Legacy) Order() (o Order, err error) {
	o.ID, err = nanoflake.FromInt64(l.ID)
	return o, err
}
