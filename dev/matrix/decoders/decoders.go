// Package decoders has the ways by which programs read and write IDs without a server: forms, queries,
// configurations, flags, CSV and other encodings. Many of the libraries go by the kind of a type, such as
// int64, and do not ask for the type's methods. A way is what the pages in docs/databases say for the library.
package decoders

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/gob"
	"encoding/xml"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"

	burntsushi "github.com/BurntSushi/toml"
	"github.com/caarlos0/env/v11"
	"github.com/fxamacker/cbor/v2"
	"github.com/go-playground/form/v4"
	"github.com/go-viper/mapstructure/v2"
	"github.com/gocarina/gocsv"
	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-querystring/query"
	"github.com/gorilla/schema"
	"github.com/jszwec/csvutil"
	"github.com/kelseyhightower/envconfig"
	koanfyaml "github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/oapi-codegen/runtime"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"github.com/vmihailenco/msgpack/v5"
	"go.yaml.in/yaml/v3"
	kubernetes "sigs.k8s.io/yaml"

	shop "github.com/firn-id/firn/dev/examples/databases/configuration"
	orders "github.com/firn-id/firn/dev/examples/databases/http"
	"github.com/firn-id/firn/dev/matrix/cell"
)

// A Reader is a pointer to a type of IDs.
type Reader[T any] interface {
	*T
	encoding.TextUnmarshaler
}

// A Way is a way to write an ID and to read the ID back.
type Way[T cell.ID] struct {
	Name  string
	Store cell.Store[T]
}

// A record has an ID in each form of a field.
type record[T any] struct {
	ID   T   `env:"ID"`
	Only *T  `env:"ONLY"`
	All  []T `env:"ALL"`
}

func recordOf[T any](id T) record[T] { return record[T]{id, &id, []T{id, id}} }

// same returns the ID of all fields. If a field has another ID, or none, same returns that.
func same[T comparable](r record[T]) (other T) {
	switch {
	case r.Only == nil || len(r.All) != 2:
		return other
	case *r.Only != r.ID:
		return *r.Only
	case r.All[0] != r.ID:
		return r.All[0]
	case r.All[1] != r.ID:
		return r.All[1]
	}
	return r.ID
}

// A keyed record also has an ID as a key.
type keyed[T comparable] struct {
	ID   T
	Only *T
	All  []T
	Keys map[T]int
}

func keyedOf[T comparable](id T) keyed[T] { return keyed[T]{id, &id, []T{id, id}, map[T]int{id: 1}} }

func sameKeyed[T comparable](k keyed[T]) (other T) {
	if len(k.Keys) != 1 {
		return other
	}
	for key := range k.Keys {
		if key != k.ID {
			return key
		}
	}
	return same(record[T]{k.ID, k.Only, k.All})
}

// A line is a row of CSV.
type line[T any] struct {
	ID   T  `csv:"id"`
	Only *T `csv:"only"`
}

// An element has an ID in an attribute.
type element[T any] struct {
	ID   T   `xml:"id,attr"`
	Only *T  `xml:"only"`
	All  []T `xml:"all"`
}

// store is the store of encoded data in memory. Texts and encodings keep the zero ID.
func store[T cell.ID, D any](encode func(T) (D, error), decode func(D) (T, error)) cell.Store[T] {
	data := map[int]D{}
	return cell.Store[T]{
		Zero: true,
		Put: func(n int, id T) (err error) {
			data[n], err = encode(id)
			return err
		},
		Get: func(n int) (T, error) { return decode(data[n]) },
	}
}

func text[T cell.ID](id T) (string, error) {
	b, err := any(id).(encoding.TextMarshaler).MarshalText()
	return string(b), err
}

// fromText is a store for a library that reads texts.
func fromText[T cell.ID](decode func(text string) (T, error)) cell.Store[T] {
	return store(text[T], decode)
}

// whole is the store of a library that writes and reads a record.
func whole[T cell.ID](marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) cell.Store[T] {
	return store(func(id T) ([]byte, error) { return marshal(recordOf(id)) }, func(data []byte) (T, error) {
		var r record[T]
		err := unmarshal(data, &r)
		return same(r), err
	})
}

// wholeKeyed is whole with IDs as keys.
func wholeKeyed[T cell.ID](marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) cell.Store[T] {
	return store(func(id T) ([]byte, error) { return marshal(keyedOf(id)) }, func(data []byte) (T, error) {
		var k keyed[T]
		err := unmarshal(data, &k)
		return sameKeyed(k), err
	})
}

// file is the store of a configuration in YAML, with the texts of IDs in quotes.
func file[T cell.ID](read func(file []byte, dst any) error) cell.Store[T] {
	return fromText(func(text string) (T, error) {
		var k keyed[T]
		q := `"` + text + `"`
		err := read([]byte("id: "+q+"\nonly: "+q+"\nall: ["+q+", "+q+"]\nkeys: {"+q+": 1}\n"), &k)
		return sameKeyed(k), err
	})
}

// values are the values of a request.
func values(text string) url.Values {
	return url.Values{"ID": {text}, "Only": {text}, "All": {text, text}}
}

func decodeGob(data []byte, dst any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(dst) }

func encodeGob(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

// Ways returns the ways for a type.
func Ways[T cell.ID, P Reader[T]]() []Way[T] {
	return slices.Concat(requests[T, P](), configurations[T, P](), encodings[T, P]())
}

// requests are forms, queries and paths.
func requests[T cell.ID, P Reader[T]]() []Way[T] {
	return []Way[T]{
		{"go-playground/form, the type [registered](databases/http.md#forms-and-queries)", fromText(func(text string) (T, error) {
			d := form.NewDecoder()
			orders.FormText[T, P](d)
			var r record[T]
			err := d.Decode(&r, values(text))
			return same(r), err
		})},
		{"gorilla/schema", fromText(func(text string) (id T, err error) {
			var r struct {
				ID   T
				Only *T
			}
			v := values(text)
			v.Del("All")
			err = schema.NewDecoder().Decode(&r, v)
			return same(record[T]{r.ID, r.Only, []T{r.ID, r.ID}}), err
		})},
		{"gorilla/schema, lists, the type [registered](databases/http.md#forms-and-queries)", fromText(func(text string) (T, error) {
			d := schema.NewDecoder()
			orders.SchemaText[T, P](d)
			var r record[T]
			err := d.Decode(&r, values(text))
			return same(r), err
		})},
		{"google/go-querystring, a field of type `string`", store(func(id T) (url.Values, error) {
			s, err := text(id)
			if err != nil {
				return nil, err
			}
			return query.Values(struct{ ID string }{s})
		}, func(v url.Values) (id T, err error) {
			err = P(&id).UnmarshalText([]byte(v.Get("ID")))
			return id, err
		})},
		{"oapi-codegen/runtime, parameters of a path", fromText(func(text string) (id T, err error) {
			err = runtime.BindStyledParameterWithOptions("simple", "id", text, &id, runtime.BindStyledParameterOptions{ParamLocation: runtime.ParamLocationPath, Required: true})
			return id, err
		})},
	}
}

// configurations are files, the environment and flags.
func configurations[T cell.ID, P Reader[T]]() []Way[T] {
	return []Way[T]{
		{"mapstructure, with [the hook](databases/configuration.md#viper-mapstructure-koanf)", fromText(func(text string) (T, error) {
			var k keyed[T]
			d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: &k, DecodeHook: shop.TextHook, WeaklyTypedInput: true})
			if err == nil {
				err = d.Decode(map[string]any{"id": text, "only": text, "all": []any{text, text}, "keys": map[string]any{text: 1}})
			}
			return sameKeyed(k), err
		})},
		{"viper, with [the hook](databases/configuration.md#viper-mapstructure-koanf)", file[T](func(file []byte, dst any) error {
			v := viper.New()
			v.SetConfigType("yaml")
			if err := v.ReadConfig(bytes.NewReader(file)); err != nil {
				return err
			}
			return v.Unmarshal(dst, viper.DecodeHook(shop.TextHook))
		})},
		{"koanf, with [the hook](databases/configuration.md#viper-mapstructure-koanf)", file[T](func(file []byte, dst any) error {
			k := koanf.New(".")
			if err := k.Load(rawbytes.Provider(file), koanfyaml.Parser()); err != nil {
				return err
			}
			return k.UnmarshalWithConf("", dst, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
				Result: dst, DecodeHook: shop.TextHook, WeaklyTypedInput: true,
			}})
		})},
		{"yaml.v3", wholeKeyed[T](yaml.Marshal, yaml.Unmarshal)},
		{"goccy/go-yaml", wholeKeyed[T](goccy.Marshal, func(data []byte, dst any) error { return goccy.Unmarshal(data, dst) })},
		{"sigs.k8s.io/yaml", wholeKeyed[T](kubernetes.Marshal, func(data []byte, dst any) error { return kubernetes.Unmarshal(data, dst) })},
		{"pelletier/go-toml", whole[T](toml.Marshal, toml.Unmarshal)},
		{"BurntSushi/toml", whole[T](burntsushi.Marshal, burntsushi.Unmarshal)},
		{"caarlos0/env", fromText(func(text string) (T, error) {
			var r record[T]
			err := env.ParseWithOptions(&r, env.Options{Environment: map[string]string{"ID": text, "ONLY": text, "ALL": text + "," + text}})
			return same(r), err
		})},
		{"kelseyhightower/envconfig", fromText(func(text string) (T, error) {
			var r struct {
				ID  T
				All []T
			}
			err := errors.Join(os.Setenv("FIRN_MATRIX_ID", text), os.Setenv("FIRN_MATRIX_ALL", text+","+text), envconfig.Process("firn_matrix", &r))
			return same(record[T]{r.ID, &r.ID, r.All}), err
		})},
		{"spf13/pflag, `TextVar`", fromText(func(text string) (id T, err error) {
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.TextVar(P(&id), "id", any(id).(encoding.TextMarshaler), "")
			err = flags.Parse([]string{"--id", text})
			return id, err
		})},
	}
}

// encodings are CSV, XML and forms of bytes.
func encodings[T cell.ID, P Reader[T]]() []Way[T] {
	return []Way[T]{
		{"gocarina/gocsv", store(func(id T) ([]byte, error) { return gocsv.MarshalBytes([]line[T]{{id, &id}}) }, func(data []byte) (T, error) {
			return fromLine[T](data, func(data []byte, rows *[]line[T]) error { return gocsv.UnmarshalBytes(data, rows) })
		})},
		{"jszwec/csvutil", store(func(id T) ([]byte, error) { return csvutil.Marshal([]line[T]{{id, &id}}) }, func(data []byte) (T, error) {
			return fromLine[T](data, func(data []byte, rows *[]line[T]) error { return csvutil.Unmarshal(data, rows) })
		})},
		{"encoding/csv", store(func(id T) (string, error) {
			s, err := text(id)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			w := csv.NewWriter(&b)
			err = errors.Join(w.Write([]string{s}), flushed(w))
			return b.String(), err
		}, func(data string) (id T, err error) {
			row, err := csv.NewReader(strings.NewReader(data)).Read()
			if err != nil {
				return id, err
			}
			err = P(&id).UnmarshalText([]byte(row[0]))
			return id, err
		})},
		{"encoding/xml", store(func(id T) ([]byte, error) { return xml.Marshal(element[T](recordOf(id))) }, func(data []byte) (T, error) {
			var e element[T]
			err := xml.Unmarshal(data, &e)
			return same(record[T](e)), err
		})},
		{"encoding/gob", wholeKeyed[T](encodeGob, decodeGob)},
		{"vmihailenco/msgpack", whole[T](msgpack.Marshal, msgpack.Unmarshal)},
		{"fxamacker/cbor", whole[T](cbor.Marshal, cbor.Unmarshal)},
	}
}

func flushed(w *csv.Writer) error {
	w.Flush()
	return w.Error()
}

func fromLine[T cell.ID](data []byte, read func([]byte, *[]line[T]) error) (id T, err error) {
	var rows []line[T]
	if err := read(data, &rows); err != nil || len(rows) != 1 {
		return id, err
	}
	return same(record[T]{rows[0].ID, rows[0].Only, []T{rows[0].ID, rows[0].ID}}), nil
}
