//go:build goexperiment.jsonv2

package scru160

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/firn-id/firn/internal/form/payload"
)

var _ json.MarshalerTo = ID{}

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. The name of an object member, a
// string, is the text of the ID.
func (id ID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }

// MarshalJSONTo is [ID.MarshalJSONTo].
func (b Binary) MarshalJSONTo(enc *jsontext.Encoder) error { return b.ID().MarshalJSONTo(enc) }
