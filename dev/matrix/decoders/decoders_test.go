package decoders

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/go-playground/form/v4"
	"github.com/gorilla/schema"
	"github.com/spf13/viper"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/typed"
)

// plainKind and prefixKind are kinds of package typed.
type (
	plainKind  struct{}
	prefixKind struct{}
)

func (prefixKind) IDPrefix() string { return "order" }

// A tally counts the cells.
type tally struct{ works, refused int }

// check runs the cells of a type. gorilla/schema refuses the types of package typed.
func check[T cell.ID, P Reader[T]](t *testing.T, n *tally, k cell.Kind[T], kinds bool) {
	t.Helper()
	for _, w := range Ways[T, P]() {
		o := cell.Run(k, w.Store)
		refused := kinds && strings.HasPrefix(w.Name, "gorilla/schema")
		switch {
		case refused && o.State == cell.Error && strings.Contains(o.Why, "invalid path"):
			n.refused++
		case !refused && o.State == cell.Works:
			n.works++
		default:
			t.Errorf("%s, %s: %v", w.Name, k.Type, o)
		}
	}
}

// kindOf returns a kind of IDs of package typed.
func kindOf[K any, T typed.Untyped[T]](k cell.Kind[T]) cell.Kind[typed.ID[T, K]] {
	of := func(id T) typed.ID[T, K] { return typed.As[K](id) }
	kind := cell.Kind[typed.ID[T, K]]{Type: "typed.ID of " + k.Type, Column: k.Column, Absent: of(k.Absent), Zeros: k.Zeros}
	for _, id := range k.IDs {
		kind.IDs = append(kind.IDs, of(id))
	}
	return kind
}

// Each way reads each ID as it was written. docs/matrix.md has the same cells, without those of package typed.
func TestWays(t *testing.T) {
	var n tally
	check(t, &n, cell.Nanoflake(), false)
	check(t, &n, cell.NanoflakeText(), false)
	check(t, &n, cell.Ulidflake(), false)
	check(t, &n, cell.UlidflakeText(), false)
	check(t, &n, cell.Scalable(), false)
	check(t, &n, cell.ScalableText(), false)
	check(t, &n, cell.Snowflake(), false)
	check(t, &n, cell.SCRU160(), false)
	check(t, &n, cell.SCRU160Binary(), false)
	check(t, &n, cell.Sno(), false)
	check(t, &n, cell.SnoText(), false)
	check(t, &n, cell.SnoUUID(), false)
	check(t, &n, kindOf[plainKind](cell.Nanoflake()), true)
	check(t, &n, kindOf[prefixKind](cell.Nanoflake()), true)
	check(t, &n, kindOf[plainKind](cell.NanoflakeText()), true)
	check(t, &n, kindOf[prefixKind](cell.Snowflake()), true)
	check(t, &n, kindOf[plainKind](cell.SCRU160Binary()), true)
	check(t, &n, kindOf[prefixKind](cell.Sno()), true)
	t.Logf("%d cells work, and %d are an error", n.works, n.refused)
}

func TestTraps(t *testing.T) {
	for _, trap := range Traps {
		if err := trap.Show(); err != nil {
			t.Errorf("%s %v", trap.Title, err)
		}
	}
}

// The hook refuses each value that is no text of an ID, and lets the values of other types pass.
func TestHookRefuses(t *testing.T) {
	for _, file := range []string{
		"id: 1000000000000", "id: 0540000000004", "id: 0x123456789ab", "id: 123456789e004", "id: true", "id: [1, 2]", "id: 2026-07-01", `id: "1"`, `id: ""`,
		"only: 1000000000000", "all: [1000000000000]", "all: 1000000000000", "id: {a: 1}",
	} {
		plain, err := viperOf[nanoflake.ID](file, viper.DecodeHook(TextHook))
		refused(t, file, plain, err)
		kind, err := viperOf[typed.ID[nanoflake.ID, plainKind]](file, viper.DecodeHook(TextHook))
		refused(t, file, kind, err)
		text, err := viperOf[nanoflake.Text](file, viper.DecodeHook(TextHook))
		refused(t, file, text, err)
	}
}

func refused[T cell.ID](t *testing.T, file string, k keyed[T], err error) {
	t.Helper()
	if err == nil || !k.ID.IsZero() || k.Only != nil && !(*k.Only).IsZero() || len(k.All) > 0 && !k.All[0].IsZero() {
		t.Errorf("%s is %v, %v", file, k, err)
	}
}

// Registered types refuse texts that are no ID.
func TestRegisteredRefuses(t *testing.T) {
	forms, schemas := form.NewDecoder(), schema.NewDecoder()
	FormText[nanoflake.ID](forms)
	SchemaText[nanoflake.ID](schemas)
	for _, text := range []string{"", "1", "1234567890123456789", "-1", "12345678901_3", "0x12", "1000000000000 "} {
		for _, field := range []string{"ID", "Only", "All"} {
			if text == "" && field == "All" {
				continue // a list without IDs
			}
			for name, decode := range map[string]func(any, map[string][]string) error{
				"form":   func(dst any, v map[string][]string) error { return forms.Decode(dst, v) },
				"schema": schemas.Decode,
			} {
				var r record[nanoflake.ID]
				if err := decode(&r, url.Values{field: {text}}); err == nil || !r.ID.IsZero() || r.Only != nil && !r.Only.IsZero() || len(r.All) > 0 && !r.All[0].IsZero() {
					t.Errorf("%s: %s=%q is %v, %v", name, field, text, r, err)
				}
			}
		}
	}
}

// The pages have the functions with which the ways run.
func TestPagesHaveHooks(t *testing.T) {
	pages := map[string]string{"TextHook": "configuration", "FormText": "http", "SchemaText": "http"}
	source, err := os.ReadFile("hooks.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		page, err := os.ReadFile("../../../docs/databases/" + pages[f.Name.Name] + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if code := string(source[f.Doc.Pos()-1 : f.End()-1]); !strings.Contains(string(page), "\n"+code+"\n") {
			t.Errorf("docs/databases/%s.md does not have this code:\n%s", pages[f.Name.Name], code)
		}
		delete(pages, f.Name.Name)
	}
	if len(pages) > 0 {
		t.Errorf("hooks.go has no function for %v", pages)
	}
}
