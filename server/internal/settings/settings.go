// Package settings reads files of settings in TOML, and finds the lines of settings. A file is a struct whose fields have a
// tag toml.
package settings

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hbollon/go-edlib"
	"github.com/pelletier/go-toml/v2"

	"github.com/firn-id/firn/internal/near"
)

// An Error is a fault of a file. Its text has names of settings, and no values: a value may be a secret.
type Error struct {
	File string
	Line int    // from 1 on; 0 if the line is unknown
	Key  string // such as generators.order.workers; "" for a fault of the syntax
	Text string
	Err  error // the cause, or nil
}

func (e *Error) Error() string {
	var place string
	switch {
	case e.File != "" && e.Line > 0:
		place = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	case e.File != "":
		place = e.File + ": "
	}
	if e.Key != "" {
		place += e.Key + ": "
	}
	return place + e.Text
}

func (e *Error) Unwrap() error { return e.Err }

// A File is a file that Read has read. A nil File is no file: its errors have no place.
type File struct {
	name string
	data []byte
}

// Read reads a file into a pointer to a struct. check, if not nil, looks at the open file first. A name that the struct does
// not have is an *Error, and so are a value of another type, an empty text, and 0 for a field with the tag zero:"default".
func Read(path string, to any, check func(fs.FileInfo) error) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if check != nil {
		info, err := file.Stat()
		if err == nil {
			err = check(info)
		}
		if err != nil {
			return nil, err
		}
	}
	f := &File{name: path}
	if f.data, err = io.ReadAll(file); err != nil {
		return nil, err
	}
	var values map[string]any
	if err := toml.Unmarshal(f.data, &values); err != nil {
		return nil, f.explain(err)
	}
	if err := f.check(values, reflect.StructField{Type: reflect.TypeOf(to).Elem()}, nil); err != nil {
		return nil, err
	}
	if err := toml.Unmarshal(f.data, to); err != nil {
		return nil, f.explain(err)
	}
	return f, nil
}

// explain turns an error of the library into an Error.
func (f *File) explain(err error) *Error {
	e := &Error{File: f.name, Text: strings.TrimPrefix(err.Error(), "toml: ")}
	if decode, ok := errors.AsType[*toml.DecodeError](err); ok {
		e.Line, _ = decode.Position()
	}
	return e
}

// check returns an error for a name that the type does not have, and for a value that does not fit. The strict mode of the
// library would take names in other letters, and leaves the names of inline tables out of its errors.
func (f *File) check(v any, to reflect.StructField, path []string) error {
	if !isTable(to.Type) {
		return f.checkValue(v, to, path)
	}
	table, ok := v.(map[string]any)
	if !ok {
		return f.Errorf(path, "is no table: want the heading [%s]", keyOf(path))
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		below := append(slices.Clip(path), name)
		of, err := f.fieldOf(to.Type, below)
		if err != nil {
			return err
		}
		if err := f.check(table[name], of, below); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf returns the field of the setting at the end of a path. t is the type of its table.
func (f *File) fieldOf(t reflect.Type, path []string) (reflect.StructField, error) {
	if t.Kind() == reflect.Map {
		return reflect.StructField{Type: t.Elem()}, nil
	}
	name := path[len(path)-1]
	var names []string
	for _, field := range reflect.VisibleFields(t) {
		switch known := field.Tag.Get("toml"); known {
		case "": // no setting
		case name:
			return field, nil
		default:
			names = append(names, known)
		}
	}
	return reflect.StructField{}, f.Errorf(path, "unknown setting: %s", Suggest(name, names, "the settings are "))
}

// checkValue is check for a type that is no table.
func (f *File) checkValue(v any, field reflect.StructField, path []string) error {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text, isText := v.(string)
	if isText && text == "" {
		return f.Errorf(path, "is empty: leave out the setting, or give a value")
	}
	fits, zero := t.Kind() == reflect.Interface, v == int64(0)
	switch to := reflect.New(t).Interface().(type) {
	case *bool:
		_, fits = v.(bool)
	case *int:
		_, fits = v.(int64)
	case *string:
		fits = isText
	case *[]string:
		list, isList := v.([]any)
		fits = isList && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
	case encoding.TextUnmarshaler:
		fits = isText && to.UnmarshalText([]byte(text)) == nil
		zero = reflect.ValueOf(to).Elem().IsZero()
	}
	switch {
	case !fits:
		return f.Errorf(path, "is not %s", wants[t])
	case zero && field.Tag.Get("zero") == "default":
		return f.Errorf(path, "is 0: leave out the setting for its default, or give a larger number")
	}
	return nil
}

// wants are the values of the types, in words.
var wants = map[reflect.Type]string{
	reflect.TypeFor[bool]():     "true or false",
	reflect.TypeFor[int]():      "a whole number",
	reflect.TypeFor[string]():   `a text in quotes, as in "text"`,
	reflect.TypeFor[[]string](): `a list of texts, as in ["text", "text"]`,
	reflect.TypeFor[Duration](): `a duration in quotes, as in "2s" or "500ms"`,
}

// A Duration is a setting such as "2s".
type Duration struct{ time.Duration }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// isTable reports whether a type is for a table.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Map || t.Kind() == reflect.Struct && t != reflect.TypeFor[Duration]()
}

// Suggest returns what somebody may have meant by an unknown name, or all names behind a text.
func Suggest(name string, names []string, all string) string {
	if meant := near.Names(name, names, 2, edlib.OSADamerauLevenshteinDistance); len(meant) > 0 {
		return "did you mean " + strings.Join(meant, " or ") + "?"
	}
	return all + strings.Join(names, ", ")
}

// Errorf returns an Error at a setting, or at the table that would have it.
func (f *File) Errorf(path []string, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Key: keyOf(path), Text: err.Error(), Err: errors.Unwrap(err)}
	if f != nil {
		e.File, e.Line = f.name, f.line(path)
	}
	return e
}

// line returns the line of a setting, or of the table that would have it; 0 if the file has neither. The library tells
// positions only in errors, so line decodes the setting into a type that takes no value.
func (f *File) line(path []string) int {
	if slices.ContainsFunc(path, func(name string) bool { return name == "" || strings.Contains(name, ",") }) {
		return 0 // no tag can have the name
	}
	for ; len(path) > 0; path = path[:len(path)-1] {
		t := reflect.TypeFor[func()]()
		for _, name := range slices.Backward(path) {
			tag := reflect.StructTag("toml:" + strconv.Quote(name+","))
			t = reflect.StructOf([]reflect.StructField{{Name: "F", Type: t, Tag: tag}})
		}
		err := toml.Unmarshal(f.data, reflect.New(t).Interface())
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			return line
		}
	}
	return 0
}

// keyOf returns a path as TOML writes it.
func keyOf(path []string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	var key []string
	for _, name := range path {
		if name == "" || strings.Trim(name, bare) != "" {
			name = strconv.Quote(name)
		}
		key = append(key, name)
	}
	return strings.Join(key, ".")
}
