package decoders

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	burntsushi "github.com/BurntSushi/toml"
	"github.com/caarlos0/env/v11"
	"github.com/go-playground/form/v4"
	"github.com/go-viper/mapstructure/v2"
	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-querystring/query"
	"github.com/gorilla/schema"
	"github.com/kelseyhightower/envconfig"
	"github.com/oapi-codegen/runtime"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/viper"
	kubernetes "sigs.k8s.io/yaml"

	shop "github.com/firn-id/firn/dev/examples/databases/configuration"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/typed"
)

// A Trap is a case: a library reads or writes another ID without an error. Show returns an error if the
// library reads or writes the same ID.
type Trap struct {
	Title, Text string
	Show        func() error
}

// Traps are the cases that the ways avoid.
var Traps = []Trap{
	{"go-playground/form goes by kind.", "Without a function for the type, the decoder reads a text of digits into a `nanoflake.ID`, and into a " +
		"`typed.ID` of it, as the integer of another ID, without an error. [Register](databases/http.md#forms-and-queries) each type.", showForm},
	{"mapstructure, viper and koanf go by kind.", "Without a hook, viper reads the text `0540000000004` as an octal number, and a text of other digits as a decimal number. " +
		"`mapstructure.TextUnmarshallerHookFunc`, which koanf has from the start, reads texts, but lets numbers of a file through to the integer. " +
		"Use [the hook](databases/configuration.md#viper-mapstructure-koanf) of the page, which refuses numbers.", showViper},
	{"Unquoted texts in YAML and TOML.", "A text such as `1000000000000` or `0x123456789ab` is a number if the text is not in quotes. pelletier/go-toml reads the integer of another ID. " +
		"goccy/go-yaml and BurntSushi/toml read the decimal form of the hexadecimal number as a text, and so does sigs.k8s.io/yaml for a key. " +
		"viper and koanf make texts of numbers that are keys, before the hook. Write IDs in quotes, keys too. yaml.v3 reads the text itself.", showUnquoted},
	{"IDs as keys in TOML and in the environment.", "pelletier/go-toml and caarlos0/env go by the kind of a key: a key of digits is the integer of another ID, in quotes too, and in what " +
		"go-toml has written. BurntSushi/toml refuses the map. Use a `map[string]V`, and `Parse` each key.", showKeys},
	{"oapi-codegen binds parameters of queries by kind.", "A parameter of a query, and each element of a list, of the type `nanoflake.ID` (by `x-go-type`) is a decimal integer: a text of " +
		"13 digits is another ID. A parameter of a path is read as a text, if it is no list. Leave out `x-go-type` in queries, " +
		"and `Parse` the string.", showOAPI},
	{"Encoders of forms and queries go by kind.", "The encoders of go-playground/form and gorilla/schema write a `nanoflake.ID` as its integer, whose 13 digits can be the text of another ID. " +
		"google/go-querystring writes a `sno.ID` and a `scru160.ID` byte by byte, and a `typed.ID` in brackets. " +
		"Write fields of type `string`, or `url.Values{\"id\": {id.String()}}`.", showEncoders},
	{"kelseyhightower/envconfig and pointers.", "envconfig calls `UnmarshalText` on a nil `*ID`, and panics. Use an ID, and `IsZero`.", showEnvconfig},
}

// digits is an ID whose text is the decimal form of another ID's integer.
var digits = nanoflake.MustParse("1000000000000")

// other is the ID with the integer 1000000000000.
var other, _ = nanoflake.FromInt64(1000000000000)

// hexadecimal is the text of an ID, and also a number in hexadecimal. The text of the ID decimal is the number
// in decimal.
const hexadecimal = "0x123456789ab"

var decimal = nanoflake.MustParse("1250999896491")

type someKind struct{}

type someID = typed.ID[nanoflake.ID, someKind]

// expect returns an error if a library reads another value than want.
func expect[T comparable](what string, err error, got, want T) error {
	if err != nil || got != want {
		return fmt.Errorf("%s reads %v, %w, and not %v", what, got, err, want)
	}
	return nil
}

func showForm() error {
	var plain record[nanoflake.ID]
	err := form.NewDecoder().Decode(&plain, values(digits.String()))
	var kind record[someID]
	kindErr := form.NewDecoder().Decode(&kind, values(digits.String()))
	return errors.Join(expect("form", err, same(plain), other), expect("form, typed.ID", kindErr, kind.ID.Plain(), other))
}

// viperOf reads a file by viper.
func viperOf[T comparable](file string, options ...viper.DecoderConfigOption) (k keyed[T], err error) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(strings.NewReader(file)); err != nil {
		return k, err
	}
	return k, v.Unmarshal(&k, options...)
}

func showViper() error {
	octal, err := nanoflake.FromInt64(0o540000000004)
	if err != nil {
		return err
	}
	text, textErr := viperOf[nanoflake.ID](`id: "0540000000004"`)
	more, moreErr := viperOf[nanoflake.ID](`id: "1000000000000"`)
	number, numberErr := viperOf[nanoflake.ID]("id: 1000000000000", viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
	array, arrayErr := viperOf[sno.ID]("id: 2345678923456789", viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
	if arrayErr != nil || array.ID == sno.MustParse("2345678923456789") || array.ID.IsZero() {
		arrayErr = fmt.Errorf("viper reads a number into a sno.ID as %v, %w", array.ID, arrayErr)
	}
	return errors.Join(expect("viper", textErr, text.ID, octal), expect("viper", moreErr, more.ID, other),
		expect("viper with the hook of mapstructure", numberErr, number.ID, other), arrayErr)
}

func showUnquoted() error {
	var a, b, c struct{ ID nanoflake.ID }
	var d struct{ Keys map[nanoflake.ID]int }
	aErr := toml.Unmarshal([]byte("ID = 1000000000000"), &a)
	bErr := burntsushi.Unmarshal([]byte("ID = "+hexadecimal), &b)
	cErr := goccy.Unmarshal([]byte("id: "+hexadecimal), &c)
	dErr := kubernetes.Unmarshal([]byte("keys: {"+hexadecimal+": 1}"), &d)
	key, keyErr := viperOf[scru160.ID]("keys: {12345678901234567890123456789012: 1}", viper.DecodeHook(shop.TextHook))
	return errors.Join(expect("go-toml", aErr, a.ID, other), expect("BurntSushi/toml", bErr, b.ID, decimal), expect("goccy/go-yaml", cErr, c.ID, decimal),
		expect("sigs.k8s.io/yaml", dErr, d.Keys[decimal], 1), expect("viper, a key", keyErr, key.Keys[scru160.MustParse("12345678901234567000000000000000")], 1))
}

func showKeys() error {
	type document struct{ Keys map[nanoflake.ID]int }
	written, err := toml.Marshal(document{map[nanoflake.ID]int{digits: 1}})
	if err != nil {
		return err
	}
	var a, b, c document
	aErr := toml.Unmarshal(written, &a)
	bErr := toml.Unmarshal([]byte(`Keys = {"1000000000000" = 1}`), &b)
	if burntsushi.Unmarshal([]byte(`Keys = {"1000000000000" = 1}`), &c) == nil {
		return fmt.Errorf("BurntSushi/toml reads keys: %v", c)
	}
	var e struct {
		Keys map[nanoflake.ID]int `env:"KEYS"`
	}
	eErr := env.ParseWithOptions(&e, env.Options{Environment: map[string]string{"KEYS": "1000000000000:1"}})
	return errors.Join(expect("go-toml", aErr, a.Keys[other], 1), expect("go-toml, quoted", bErr, b.Keys[other], 1), expect("env", eErr, e.Keys[other], 1))
}

func showOAPI() error {
	var one nanoflake.ID
	oneErr := runtime.BindRawQueryParameter("form", true, true, "after", "after="+digits.String(), &one)
	var list []nanoflake.ID
	listErr := runtime.BindStyledParameterWithOptions("simple", "after", digits.String(), &list, runtime.BindStyledParameterOptions{ParamLocation: runtime.ParamLocationPath})
	if len(list) != 1 {
		return fmt.Errorf("a list has %d elements, %w", len(list), listErr)
	}
	var kind someID
	kindErr := runtime.BindRawQueryParameter("form", true, false, "after", "after="+digits.String(), &kind)
	return errors.Join(expect("oapi-codegen", oneErr, one, other), expect("oapi-codegen, a list", listErr, list[0], other), expect("oapi-codegen, typed.ID", kindErr, kind.Plain(), digits))
}

func showEncoders() error {
	id := nanoflake.ID(1234567890123)
	type plain struct{ ID nanoflake.ID }
	a := url.Values{}
	aErr := schema.NewEncoder().Encode(plain{id}, a)
	b, bErr := form.NewEncoder().Encode(plain{id})
	c, cErr := query.Values(struct {
		ID    sno.ID
		Other scru160.ID
		Kind  someID
	}{ID: sno.ID{1}, Kind: typed.As[someKind](id)})
	return errors.Join(expect("schema", aErr, a.Get("ID"), "1234567890123"), expect("form", bErr, b.Get("ID"), "1234567890123"),
		expect("go-querystring", cErr, c.Get("ID"), "1"), expect("go-querystring, a list", cErr, len(c["Other"]), scru160.Size),
		expect("go-querystring, typed.ID", cErr, c.Get("Kind"), "["+id.String()+"]"))
}

func showEnvconfig() (err error) {
	defer func() {
		if recover() == nil {
			err = errors.New("envconfig reads a pointer")
		}
	}()
	var r struct{ ID *nanoflake.ID }
	return errors.Join(os.Setenv("FIRN_MATRIX_ID", digits.String()), envconfig.Process("firn_matrix", &r))
}
