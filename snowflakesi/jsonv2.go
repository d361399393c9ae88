//go:build goexperiment.jsonv2

package snowflakesi

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/firn-id/firn/internal/form/payload"
)

var _ json.MarshalerTo = ID(0)

// MarshalJSONTo implements [json.MarshalerTo] as MarshalJSON does. An ID that names an object
// member is its text, as names must be strings.
func (id ID) MarshalJSONTo(enc *jsontext.Encoder) error { return payload.MarshalJSONTo(enc, id) }
