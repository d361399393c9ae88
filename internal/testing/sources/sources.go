// Package sources reads the texts of Go programs, for tests about what programs say.
package sources

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A Text is a literal of a program, or a sum of literals. The Text of a sum has %v for each other part.
type Text struct {
	Where string // as path:line
	Text  string
}

// Files calls f with each Go file in a folder and below, without tests, the folder testdata, and folders with one of the
// names.
func Files(t testing.TB, dir string, without []string, f func(files *token.FileSet, file *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || slices.Contains(without, e.Name())):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Texts returns the texts of the files that [Files] finds.
func Texts(t testing.TB, dir string, without ...string) []Text {
	t.Helper()
	var all []Text
	Files(t, dir, without, func(files *token.FileSet, file *ast.File) {
		var look func(n ast.Node) bool
		look = func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, others, ok := Join(e)
			if !ok {
				return true
			}
			at := files.Position(n.Pos())
			all = append(all, Text{at.Filename + ":" + strconv.Itoa(at.Line), text})
			for _, other := range others {
				ast.Inspect(other, look)
			}
			return false
		}
		ast.Inspect(file, look)
	})
	return all
}

// Join returns the text of a literal, and of a sum with a literal, as a [Text] has it. others are the other parts of the sum.
func Join(e ast.Expr) (text string, others []ast.Expr, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, nil, err == nil
		}
	case *ast.ParenExpr:
		return Join(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			break
		}
		for _, part := range []ast.Expr{e.X, e.Y} {
			t, o, is := Join(part)
			if !is {
				t, o = "%v", []ast.Expr{part}
			}
			text, others, ok = text+t, append(others, o...), ok || is
		}
		return text, others, ok
	}
	return "", nil, false
}

var verb = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?(\d+|\*)?(\.(\d+|\*))?(\[\d+\])?[a-zA-Z]|%%`)

// Pattern returns a pattern for what a text prints. A verb %d prints an integer, %q prints quotes, and another verb anything.
func Pattern(text string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s)")
	at := 0
	for _, v := range verb.FindAllStringIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[at:v[0]]))
		at = v[1]
		switch text[at-1] {
		case '%':
			b.WriteString("%")
		case 'd':
			b.WriteString(`[-+]?\d+`)
		case 'q':
			b.WriteString("[\"'`].*[\"'`]")
		default:
			b.WriteString(".*")
		}
	}
	b.WriteString(regexp.QuoteMeta(text[at:]))
	return regexp.MustCompile(b.String())
}

// Fixed returns how many bytes a text has beside its verbs. Of the texts that may have printed something, the text with
// the most bytes is the most likely.
func Fixed(text string) int { return len(verb.ReplaceAllString(text, "")) }

// Segment returns the part of a text around a place, up to the verbs beside the part.
func Segment(text string, at int) (from, to int) {
	to = len(text)
	for _, v := range verb.FindAllStringIndex(text, -1) {
		if v[1] <= at {
			from = v[1]
		} else if v[0] >= at {
			return from, v[0]
		}
	}
	return from, to
}
