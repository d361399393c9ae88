//go:build goexperiment.jsonv2

package typed

import (
	"encoding/json/jsontext"

	"github.com/firn-id/firn/internal/form/payload"
)

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. The name of an object member, a
// string, is the text of the ID.
func (id ID[T, K]) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }
