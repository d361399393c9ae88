package sno_test

import (
	"bytes"
	"database/sql/driver"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/sno"
)

var update = flag.Bool("update", false, "rewrite testdata/api.golden")

// TestAPI fails after a change of the package's exports. For a change on purpose:
// go test ./sno -run API -update
func TestAPI(t *testing.T) {
	const golden = "testdata/api.golden"
	got := exported(t)
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gone, added := difference(want, got), difference(got, want)
	if len(gone)+len(added) > 0 {
		t.Errorf("the exported API has changed.\nGone:\n%s\nAdded:\n%s", strings.Join(gone, "\n"), strings.Join(added, "\n"))
	}
}

// difference returns the lines of a that are not in b.
func difference(a, b []byte) (lines []string) {
	has := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		has[line] = true
	}
	for line := range strings.Lines(string(a)) {
		if !has[line] {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// exported returns the exported declarations of the package, one a line, with the name of
// the type before each field.
func exported(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	fset := token.NewFileSet()
	show := func(node any) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && !ast.IsExported(strings.TrimPrefix(show(d.Recv.List[0].Type), "*")) {
					continue
				}
				d.Body = nil
				lines = append(lines, show(d))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					lines = append(lines, specLines(d.Tok, spec, show)...)
				}
			}
		}
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n") + "\n")
}

func specLines(tok token.Token, spec ast.Spec, show func(any) string) (lines []string) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		if slices.ContainsFunc(spec.Names, func(n *ast.Ident) bool { return n.Name != "_" }) {
			lines = append(lines, tok.String()+" "+show(spec))
		}
	case *ast.TypeSpec:
		fields, isStruct := spec.Type.(*ast.StructType)
		if !isStruct {
			return []string{"type " + show(spec)}
		}
		lines = append(lines, "type "+spec.Name.Name+" struct")
		for _, field := range fields.Fields.List {
			if len(field.Names) == 0 {
				lines = append(lines, "type "+spec.Name.Name+" struct, embedded "+show(field.Type))
			}
			for _, name := range field.Names {
				line := "type " + spec.Name.Name + " struct, field " + name.Name + " " + show(field.Type)
				if field.Tag != nil {
					line += " " + field.Tag.Value
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// All names of the published documentation, with the signatures. A difference is an error of the
// compiler.
var (
	_ func([]sno.ID) = sno.Sort

	_ func(*sno.GeneratorSnapshot, chan<- *sno.SequenceOverflowNotification) (*sno.Generator, error) = sno.NewGenerator

	_ func(*sno.Generator) int                      = (*sno.Generator).Cap
	_ func(*sno.Generator) int                      = (*sno.Generator).Len
	_ func(*sno.Generator, byte) sno.ID             = (*sno.Generator).New
	_ func(*sno.Generator, byte, time.Time) sno.ID  = (*sno.Generator).NewWithTime
	_ func(*sno.Generator) sno.Partition            = (*sno.Generator).Partition
	_ func(*sno.Generator) uint32                   = (*sno.Generator).Sequence
	_ func(*sno.Generator) uint16                   = (*sno.Generator).SequenceMax
	_ func(*sno.Generator) uint16                   = (*sno.Generator).SequenceMin
	_ func(*sno.Generator) sno.GeneratorSnapshot    = (*sno.Generator).Snapshot
	_ func([]byte) (sno.ID, error)                  = sno.FromBinaryBytes
	_ func([]byte) (sno.ID, error)                  = sno.FromEncodedBytes
	_ func(string) (sno.ID, error)                  = sno.FromEncodedString
	_ func(byte) sno.ID                             = sno.New
	_ func(byte, time.Time) sno.ID                  = sno.NewWithTime
	_ func() sno.ID                                 = sno.Zero
	_ func(sno.ID) []byte                           = sno.ID.Bytes
	_ func(sno.ID, sno.ID) int                      = sno.ID.Compare
	_ func(sno.ID) bool                             = sno.ID.IsZero
	_ func(sno.ID) ([]byte, error)                  = sno.ID.MarshalBinary
	_ func(sno.ID) ([]byte, error)                  = sno.ID.MarshalJSON
	_ func(sno.ID) ([]byte, error)                  = sno.ID.MarshalText
	_ func(sno.ID) byte                             = sno.ID.Meta
	_ func(sno.ID) sno.Partition                    = sno.ID.Partition
	_ func(*sno.ID, any) error                      = (*sno.ID).Scan
	_ func(sno.ID) uint16                           = sno.ID.Sequence
	_ func(sno.ID) string                           = sno.ID.String
	_ func(sno.ID) time.Time                        = sno.ID.Time
	_ func(sno.ID) int64                            = sno.ID.Timestamp
	_ func(*sno.ID, []byte) error                   = (*sno.ID).UnmarshalBinary
	_ func(*sno.ID, []byte) error                   = (*sno.ID).UnmarshalJSON
	_ func(*sno.ID, []byte) error                   = (*sno.ID).UnmarshalText
	_ func(sno.ID) (driver.Value, error)            = sno.ID.Value
	_ func(*sno.InvalidDataSizeError) string        = (*sno.InvalidDataSizeError).Error
	_ func(*sno.InvalidSequenceBoundsError) string  = (*sno.InvalidSequenceBoundsError).Error
	_ func(*sno.InvalidTypeError) string            = (*sno.InvalidTypeError).Error
	_ func(*sno.PartitionPoolExhaustedError) string = (*sno.PartitionPoolExhaustedError).Error
	_ func(sno.Partition) uint16                    = sno.Partition.AsUint16
	_ func(*sno.Partition, uint16)                  = (*sno.Partition).PutUint16
	_ [10]byte                                      = sno.ID{}
	_ [2]byte                                       = sno.Partition{}
	_ chan<- *sno.SequenceOverflowNotification      = (chan *sno.SequenceOverflowNotification)(nil)
)

// TestPublishedTypes holds the types to the fields of the published documentation, in
// their order, with their tags.
func TestPublishedTypes(t *testing.T) {
	for _, c := range []struct{ got, want any }{
		{sno.GeneratorSnapshot{}, struct {
			Partition   sno.Partition `json:"partition"`
			SequenceMin uint16        `json:"sequenceMin"`
			SequenceMax uint16        `json:"sequenceMax"`
			Sequence    uint32        `json:"sequence"`
			Now         int64         `json:"now"`
			WallHi      int64         `json:"wallHi"`
			WallSafe    int64         `json:"wallSafe"`
			Drifts      uint32        `json:"drifts"`
		}{}},
		{sno.SequenceOverflowNotification{}, struct {
			Now   time.Time
			Count uint32
			Ticks uint32
		}{}},
		{sno.InvalidDataSizeError{}, struct{ Size int }{}},
		{sno.InvalidTypeError{}, struct{ Value any }{}},
		{sno.InvalidSequenceBoundsError{}, struct {
			Cur uint32
			Min uint16
			Max uint16
			Msg string
		}{}},
		{sno.PartitionPoolExhaustedError{}, struct{}{}},
		{sno.ID{}, [10]byte{}},
		{sno.Partition{}, [2]byte{}},
	} {
		got, want := reflect.TypeOf(c.got), reflect.TypeOf(c.want)
		if got.Kind() != want.Kind() {
			t.Errorf("%v is a %v", got, got.Kind())
			continue
		}
		if got.Kind() != reflect.Struct {
			if !got.ConvertibleTo(want) {
				t.Errorf("%v is no %v", got, want)
			}
			continue
		}
		fields := 0 // that are exported
		for field := range got.Fields() {
			if field.IsExported() {
				fields++
			}
		}
		if fields != want.NumField() {
			t.Errorf("%v has %d fields, want %d", got, fields, want.NumField())
			continue
		}
		for i := range want.NumField() {
			g, w := got.Field(i), want.Field(i)
			if g.Name != w.Name || g.Type != w.Type || g.Tag != w.Tag {
				t.Errorf("%v: field %s %v %q, want %s %v %q", got, g.Name, g.Type, g.Tag, w.Name, w.Type, w.Tag)
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[sno.Generator]()) {
		if f.IsExported() && len(f.Index) == 1 {
			t.Errorf("Generator has the field %s", f.Name)
		}
	}
}
