package explore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// Program.Restarts claims that a call starts its loop again after a lost swap, and keeps nothing.
// The claim holds if the method is one endless loop that writes to no variable from outside the
// loop: only the arguments then outlive a round.
func TestCallsStartAgainAfterALostSwap(t *testing.T) {
	loops := startAgain(t, "simwords/word.go")
	for _, method := range []string{"Advance", "Reserve", "Raise", "Pass", "Trim"} {
		if !loops["Word."+method] {
			t.Errorf("%s keeps something from round to round: its searches must not set Restarts", method)
		}
	}
	if loops, found := startAgain(t, "simwords/mutants.go")["Stale.Advance"]; loops || !found {
		t.Error("a method that keeps a value from before its loop is not told from the others")
	}
}

// startAgain reports, for each method of a file, by type and name, whether the method is such a
// loop.
func startAgain(t *testing.T, path string) map[string]bool {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Error: func(error) {}} // imports stay unknown, since only local names count
	_, _ = config.Check("words", files, []*ast.File{file}, info)

	methods := make(map[string]bool)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		name := types.ExprString(f.Recv.List[0].Type)[1:] + "." + f.Name.Name // without the *
		methods[name] = false
		if len(f.Body.List) != 1 {
			continue
		}
		loop, ok := f.Body.List[0].(*ast.ForStmt)
		if !ok || loop.Init != nil || loop.Cond != nil || loop.Post != nil {
			continue
		}
		methods[name] = true
		ast.Inspect(loop, func(n ast.Node) bool {
			var written []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				written = n.Lhs
			case *ast.IncDecStmt:
				written = []ast.Expr{n.X}
			case *ast.UnaryExpr:
				if n.Op == token.AND { // a pointer could write to the variable unseen
					written = []ast.Expr{n.X}
				}
			}
			for _, x := range written {
				variable, ok := x.(*ast.Ident)
				if !ok {
					methods[name] = false
				} else if v := info.Uses[variable]; v != nil && v.Pos() < loop.Pos() {
					methods[name] = false
				}
			}
			return true
		})
	}
	return methods
}
