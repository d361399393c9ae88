package orders

import (
	"encoding"
	"net/url"
	"reflect"

	"github.com/go-playground/form/v4"
	"github.com/gorilla/schema"

	"github.com/firn-id/firn/nanoflake"
)

// FormText lets a decoder of go-playground/form read the type T by its text.
func FormText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](d *form.Decoder) {
	var zero T
	d.RegisterCustomTypeFunc(func(values []string) (any, error) {
		var id T
		err := P(&id).UnmarshalText([]byte(values[0]))
		return id, err
	}, zero)
}

// SchemaText lets a decoder of gorilla/schema read lists of the type T by their texts.
func SchemaText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](d *schema.Decoder) {
	var zero T
	d.RegisterConverter(zero, func(text string) reflect.Value {
		var id T
		if P(&id).UnmarshalText([]byte(text)) != nil {
			return reflect.Value{} // the decoder makes an error of it
		}
		return reflect.ValueOf(id)
	})
}

// Forms reads a search by go-playground/form.
func Forms() func(url.Values) (Search, error) {
	d := form.NewDecoder()
	FormText[nanoflake.ID](d) // one line for each type of IDs
	return func(v url.Values) (s Search, err error) {
		err = d.Decode(&s, v)
		return s, err
	}
}

// Schemas reads a search by gorilla/schema.
func Schemas() func(url.Values) (Search, error) {
	d := schema.NewDecoder()
	d.SetAliasTag("query")
	SchemaText[nanoflake.ID](d)
	return func(v url.Values) (s Search, err error) {
		err = d.Decode(&s, v)
		return s, err
	}
}

// Query writes a search: the text of each ID is String.
func Query(s Search) url.Values {
	v := url.Values{}
	if !s.After.IsZero() {
		v.Set("after", s.After.String())
	}
	if s.Only != nil {
		v.Set("only", s.Only.String())
	}
	for _, id := range s.IDs {
		v.Add("id", id.String())
	}
	return v
}
