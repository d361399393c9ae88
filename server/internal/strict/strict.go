// Package strict reads files of TOML, and refuses everything that it does not know: an unknown name, a name in other
// letters, and a value of another type are errors with the line.
//
// A file is a struct whose fields have a tag toml: a [Value], a struct, or a map from names to structs.
package strict

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/firn-id/firn/internal/ages"
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

// A File is a file that Decode has read.
type File struct {
	Name string
	meta toml.MetaData
	top  map[string]toml.Primitive
}

// maxSize is the size of the largest file, in bytes. No file of people is as long.
const maxSize = 4 << 20

// Read reads a file that is not too long. check, if not nil, looks at the open file.
func Read(path string, check func(fs os.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &Error{File: path, Text: "is a directory: name a file"}
	}
	if check != nil {
		if err := check(info); err != nil {
			return nil, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = &Error{File: path, Text: fmt.Sprintf("has more than %d bytes: name another file", maxSize)}
	}
	return data, err
}

// Decode decodes a file into a pointer to a struct. All errors are an *Error.
func Decode(name string, data []byte, to any) (*File, error) {
	f := &File{Name: name}
	var err error
	if f.meta, err = toml.Decode(string(data), &f.top); err != nil {
		return nil, f.explain(err)
	}
	for _, key := range f.meta.Keys() {
		if err := f.known(key, reflect.TypeOf(to).Elem()); err != nil {
			return nil, err
		}
	}
	if _, err := toml.Decode(string(data), to); err != nil {
		e := f.explain(err)
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			e.Key = parse.LastKey // the error of a Value
		}
		return nil, e
	}
	return f, nil
}

// explain turns an error of the library into an Error.
func (f *File) explain(err error) *Error {
	e := &Error{File: f.Name, Text: err.Error(), Err: err}
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		e.Line, e.Text = parse.Position.Line, parse.Message
	}
	return e
}

// known returns an error unless the type of the file has the key.
func (f *File) known(key toml.Key, t reflect.Type) error {
	for i, part := range key {
		switch {
		case isTable(t) && t.Kind() == reflect.Map:
			t = t.Elem()
		case isTable(t):
			field, ok := fieldOf(t, part)
			if !ok {
				text := "unknown setting"
				if near := Nearest(part, names(t)); near != "" {
					text += ": did you mean " + near + "?"
				} else {
					text += ": the settings are " + strings.Join(names(t), ", ")
				}
				return f.Errorf(key[:i+1].String(), "%s", text)
			}
			t = field
		default:
			return f.Errorf(key[:i].String(), "is a table: want a value, as in %s = …", key[i-1])
		}
	}
	if isTable(t) {
		if is := f.meta.Type(key...); is != "" && is != "Hash" {
			return f.Errorf(key.String(), "is no table: want the heading [%s]", key)
		}
	}
	return nil
}

// isTable reports whether a type is for a table.
func isTable(t reflect.Type) bool {
	return !reflect.PointerTo(t).Implements(reflect.TypeFor[toml.Unmarshaler]())
}

func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("toml") == name {
			return f.Type, true
		}
	}
	return nil, false
}

// names returns the names of a table, in the order of the struct.
func names(t reflect.Type) (all []string) {
	for f := range t.Fields() {
		if name := f.Tag.Get("toml"); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// Errorf returns an Error at the line of a key.
func (f *File) Errorf(key, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{File: f.Name, Line: f.Line(key), Key: key, Text: err.Error(), Err: errors.Unwrap(err)}
}

// Line returns the line of a key, or of the table that would have the key; 0 if the file has neither. The line of a
// table without a heading is the line of the first key in the table.
func (f *File) Line(key string) int {
	all := f.meta.Keys()
	for key != "" {
		is := func(k toml.Key) bool { return k.String() == key || strings.HasPrefix(k.String(), key+".") }
		if i := slices.IndexFunc(all, is); i >= 0 {
			return f.lineOf(all[i])
		}
		key = key[:max(strings.LastIndexByte(key, '.'), 0)]
	}
	return 0
}

// lineOf returns the line of a key that the file has. The library gives the position of a value only in an error, so
// lineOf decodes the value into a type that always returns an error.
func (f *File) lineOf(key toml.Key) int {
	tables := f.top
	for _, part := range key[:len(key)-1] {
		var below map[string]toml.Primitive
		if f.meta.PrimitiveDecode(tables[part], &below) != nil {
			return 0
		}
		tables = below
	}
	err := f.meta.PrimitiveDecode(tables[key[len(key)-1]], new(nothing))
	parse, _ := errors.AsType[toml.ParseError](err)
	return parse.Position.Line
}

type nothing struct{}

func (*nothing) UnmarshalTOML(any) error { return errors.New("") }

// A Value is the value of a setting.
type Value[T bool | int | string | []string | time.Duration | time.Time] struct {
	V     T
	Given bool // the file has the setting
}

// UnmarshalTOML implements the library's interface.
func (v *Value[T]) UnmarshalTOML(data any) error {
	v.Given = true
	want := ""
	switch to := any(&v.V).(type) {
	case *bool:
		var ok bool
		if *to, ok = data.(bool); !ok {
			want = "true or false"
		}
	case *int:
		n, ok := data.(int64)
		if *to = int(n); !ok || int64(*to) != n {
			want = "a whole number"
		}
	case *string:
		var ok bool
		if *to, ok = data.(string); !ok {
			want = `a text in quotes, as in "text"`
		}
	case *[]string:
		list, ok := data.([]any)
		*to = make([]string, len(list))
		for i := range list {
			if (*to)[i], ok = list[i].(string); !ok {
				break
			}
		}
		if _, is := data.([]any); !is || len(list) > 0 && !ok {
			want = `a list of texts, as in ["text", "text"]`
		}
	case *time.Duration:
		s, ok := data.(string)
		d, err := time.ParseDuration(s)
		if *to = d; !ok || err != nil {
			want = `a duration in quotes, as in "2s" or "500ms"`
		}
	case *time.Time:
		if ms, is := data.(int64); is {
			at, err := ages.Unix(ms)
			*to = at
			return err
		}
		var ok bool
		if *to, ok = timeOf(data); !ok {
			want = "a time with a zone, a date, or Unix milliseconds, as in 2024-01-01T00:00:00Z, 2024-01-01 or 1704067200000"
		}
	}
	if want != "" {
		return errors.New("is " + kindOf(data) + ": want " + want)
	}
	return nil
}

// timeOf returns the time of a value. A date is the beginning of the day in UTC.
func timeOf(data any) (time.Time, bool) {
	switch v := data.(type) {
	case time.Time:
		switch v.Location().String() { // as the library marks values without a zone
		case "date-local":
			return time.Date(v.Year(), v.Month(), v.Day(), 0, 0, 0, 0, time.UTC), true
		case "datetime-local", "time-local":
			return time.Time{}, false
		}
		return v.UTC(), true
	}
	return time.Time{}, false
}

// kindOf names the type of a value.
func kindOf(data any) string {
	switch v := data.(type) {
	case bool:
		return "true or false"
	case int64:
		return "a number"
	case float64:
		return "a number with a fraction"
	case string:
		return "a text"
	case time.Time:
		if strings.HasSuffix(v.Location().String(), "time-local") {
			return "a time without a zone"
		}
		return "a time"
	case []any:
		return "a list"
	case map[string]any, []map[string]any:
		return "a table"
	}
	return "of another type"
}

// Nearest returns the word of a list that a few edits turn a misspelt word into, or "". Hyphens, underscores and the
// case of letters do not count.
func Nearest(word string, list []string) string {
	plain := func(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)) }
	const most = 2 // edits
	nearest, best := "", most+1
	for _, candidate := range list {
		edits := distance(plain(word), plain(candidate))
		if len(word) >= 3 && strings.HasPrefix(candidate, plain(word)) {
			edits = min(edits, 1)
		}
		if edits < best && edits <= len(candidate)/2 {
			nearest, best = candidate, edits
		}
	}
	return nearest
}

// distance returns the least number of bytes to add, to remove and to replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0] // of the row before, to the left
		row[0] = i + 1
		for j := range len(b) {
			edits := above
			if a[i] != b[j] {
				edits = 1 + min(above, row[j], row[j+1])
			}
			above, row[j+1] = row[j+1], edits
		}
	}
	return row[len(b)]
}
