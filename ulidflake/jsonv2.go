//go:build goexperiment.jsonv2

package ulidflake

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/firn-id/firn/internal/form/payload"
)

var (
	_ json.MarshalerTo = ID(0)
	_ json.MarshalerTo = ScalableID(0)
)

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. The name of an object member, a
// string, is the text of the ID.
func (id ID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }

// MarshalJSONTo implements [json.MarshalerTo]; see [ID.MarshalJSONTo].
func (id ScalableID) MarshalJSONTo(enc *jsontext.Encoder) error {
	return payload.MarshalJSONTo(enc, id)
}

// MarshalJSONTo is [ID.MarshalJSONTo].
func (t Text) MarshalJSONTo(enc *jsontext.Encoder) error { return t.ID().MarshalJSONTo(enc) }

// MarshalJSONTo is [ScalableID.MarshalJSONTo].
func (t ScalableText) MarshalJSONTo(enc *jsontext.Encoder) error { return t.ID().MarshalJSONTo(enc) }
