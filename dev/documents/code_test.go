package documents

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// Programs of Go are compiled and vetted, in the workspace.
func TestPrograms(t *testing.T) {
	for _, page := range pages(t) {
		for _, b := range page {
			if how, _ := treat(b); how != goProgram {
				continue
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := errors.Join(os.WriteFile(file, []byte(b.text), 0o600), build(file)); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
}

func build(file string) error {
	for _, arguments := range [][]string{{"build", "-o", os.DevNull}, {"vet"}} {
		cmd := exec.Command("go", append(arguments, file)...)
		cmd.Dir = top
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}

// Pieces of Go have the types and the names that they use. A piece may leave variables unused.
func TestPieces(t *testing.T) {
	var pieces []*piece
	for _, page := range pages(t) {
		declared := ""
		if file := prepared(page[0].page, ".go"); file != "" {
			text := testkit.Must(os.ReadFile(file))
			_, declared, _ = strings.Cut(string(text), "\npackage page\n")
		}
		for _, b := range page {
			if how, _ := treat(b); how != goPiece {
				continue
			}
			p, err := newPiece(b, declared)
			if err != nil {
				t.Error(err)
				continue
			}
			pieces = append(pieces, p)
			declared += p.declares
		}
	}
	needed := map[string]bool{}
	for _, p := range pieces {
		for _, i := range p.file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			needed[path] = true
		}
	}
	loaded, err := packages.Load(&packages.Config{Dir: top, Mode: packages.NeedName | packages.NeedTypes}, slices.Sorted(maps.Keys(needed))...)
	testkit.OK(t, err)
	known := importer{}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, err)
		}
		known[p.PkgPath] = p.Types
	}
	for _, p := range pieces {
		if err := p.check(known); err != nil {
			t.Errorf("%s: %v", p.block, err)
		}
	}
}

type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if i[path] == nil {
		return nil, fmt.Errorf("%s is not there", path)
	}
	return i[path], nil
}

// A piece is a block of Go that is no program, as a file.
type piece struct {
	block *block
	set   *token.FileSet
	file  *ast.File

	declares string // for the next pieces of the page
}

// imports matches the imports of a block, which may stand before statements.
var imports = regexp.MustCompile(`(?m)^import (\((?s:.*?)\n\)|.*)\n`)

// newPiece makes a file of a block, after imports and declarations. The block is a list of declarations, or the body of a
// function in a loop.
func newPiece(b *block, declared string) (*piece, error) {
	p := &piece{block: b, set: token.NewFileSet()}
	own := ""
	for _, m := range imports.FindAllString(b.text, -1) {
		for line := range strings.Lines(m) {
			imported := regexp.MustCompile(`".*?"`).FindString(line)
			if imported == "" || !strings.Contains(declared, imported) || strings.Contains(line, "_ ") {
				own += line
			}
		}
	}
	body := imports.ReplaceAllStringFunc(b.text, func(m string) string { return strings.Repeat("\n", strings.Count(m, "\n")) })
	first := fmt.Sprintf("/*line %s:%d:1*/", path.Base(b.page), b.line)
	var err error
	for i, form := range []string{"%s%s", "func _() error {\nfor {\n{\n%s%s}\n}\n}\n"} {
		text := "package page\n" + own + "\n" + declared + "\n" + fmt.Sprintf(form, first, body)
		if p.file, err = parser.ParseFile(p.set, b.page, text, parser.SkipObjectResolution); err == nil {
			if i == 0 {
				p.declares = body
			}
			return p, nil
		}
	}
	return nil, err
}

// check returns the first mistake of types. Unused names are none.
func (p *piece) check(known importer) error {
	var first error
	config := types.Config{Importer: known, Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok && !e.Soft {
			first = cmp.Or(first, err)
		}
	}}
	config.Check("page", p.set, []*ast.File{p.file}, nil)
	return first
}
