//go:build goexperiment.jsonv2

package sno

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/firn-id/firn/internal/form/payload"
)

var (
	_ json.MarshalerTo = ID{}
	_ json.MarshalerTo = UUID{}
)

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. The name of an object member is
// the text of the ID.
func (id ID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. The name of an object member is
// the text of the UUID.
func (u UUID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, u) }

// MarshalJSONTo is [ID.MarshalJSONTo].
func (t Text) MarshalJSONTo(enc *jsontext.Encoder) error { return t.ID().MarshalJSONTo(enc) }
