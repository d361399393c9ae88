package decoders

import (
	"encoding"
	"fmt"
	"reflect"

	"github.com/go-playground/form/v4"
	"github.com/gorilla/schema"
)

// TextHook is a hook of mapstructure, viper and koanf: a type with the method UnmarshalText reads a
// string by the method, and refuses any other value.
func TextHook(from, to reflect.Type, data any) (any, error) {
	value := reflect.New(to)
	reader, ok := value.Interface().(encoding.TextUnmarshaler)
	if !ok || from == to {
		return data, nil
	}
	text, ok := data.(string)
	if !ok {
		return nil, fmt.Errorf("%v is a %v, and no text of a %v: write the text in quotes", data, from, to)
	}
	if err := reader.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	return value.Elem().Interface(), nil
}

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
