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

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. An ID that names an object
// member is its text, as names must be strings.
func (id ID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. A UUID that names an object
// member is its text, as names must be strings.
func (u UUID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, u) }

// MarshalJSONTo is [ID.MarshalJSONTo].
func (t Text) MarshalJSONTo(enc *jsontext.Encoder) error { return t.ID().MarshalJSONTo(enc) }
