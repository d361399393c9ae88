//go:build goexperiment.jsonv2

package typed

import (
	"encoding/json/jsontext"

	"github.com/firn-id/firn/internal/form/payload"
)

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. As the name of an object member,
// which must be a string, an ID is its text.
func (id ID[T, K]) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }
