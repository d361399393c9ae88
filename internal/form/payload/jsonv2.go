//go:build goexperiment.jsonv2

package payload

import "encoding/json/jsontext"

// MarshalJSONTo writes an ID with encoding/json/v2. It writes the ID's text for the name of an
// object's member, and the result of MarshalJSON elsewhere. The first version of the package calls
// MarshalText for names itself.
func MarshalJSONTo[T interface {
	MarshalText() ([]byte, error)
	MarshalJSON() ([]byte, error)
}](enc *jsontext.Encoder, id T) error {
	if kind, n := enc.StackIndex(enc.StackDepth()); kind == '{' && n%2 == 0 {
		text, err := id.MarshalText()
		if err != nil {
			return err
		}
		return enc.WriteToken(jsontext.String(string(text)))
	}
	value, err := id.MarshalJSON()
	if err != nil {
		return err
	}
	return enc.WriteValue(value)
}
