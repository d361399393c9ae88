//go:build goexperiment.jsonv2

package typed

import (
	"encoding/json/jsontext"

	"github.com/firn-id/firn/internal/form/payload"
)

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. An ID that names an object
// member is its text, as names must be strings.
func (id ID[T, K]) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }
