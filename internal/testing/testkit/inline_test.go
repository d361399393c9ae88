//go:build amd64 || arm64

package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// An inlining is a function and the functions that the compiler must inline into it.
type inlining struct {
	pkg, caller string
	callees     []string
}

// inlined are the functions that must be inlined in the hot paths. As calls, these functions take
// about as long as the rest of the path: build the benchmark of a generator with
// -gcflags=github.com/firn-id/firn/...=-l to see the difference. Each function is barely small
// enough. With another line or a defer the compiler no longer inlines it, and no other test
// notices.
var inlined = []inlining{
	{"internal/engine/mint", "Mint.Fast", []string{
		"queue.(*Queue).Busy", "clock.Deadline.AheadByCycles", "clock.Deadline.AheadBySystem", "words.(*Word).Step",
	}},
	{"internal/engine/mint", "Mint.fastSwap", []string{"words.(*Word).Last", "words.(*Word).Replace"}},
	{"internal/engine/mint", "Mint.fastSteps", []string{"steps.(*Steps).Look", "words.(*Word).Step", "steps.(*Steps).At"}},
	{"nanoflake", "Generator.at", []string{"mint.(*Mint).Worker", "fence.(*Fence).Worker"}},
	{"ulidflake", "ScalableGenerator.Next", []string{"(*ScalableGenerator).at", "fence.(*Fence).Worker"}},
	{"snowflakesi", "Generator.Next", []string{"(*Generator).at", "fence.(*Fence).Worker"}},
	{"scru160", "Generator.Next", []string{"(*ID).put"}},
	{"scru160", "Generator.fields", []string{"mint.(*Mint).Worker", "fence.(*Fence).Worker"}},
	{"scru160", "Generator.fill", []string{"entropy.(*Bits96).Words", "(*ID).put"}},
	{"sno", "Generator.fast", []string{
		"queue.(*Queue).Busy", "clock.Deadline.AheadByCycles", "clock.Deadline.AheadBySystem", "words.(*Word).Step",
	}},
	{"sno", "Generator.put", []string{"fence.(*Fence).Worker"}},
	{"sno", "New", []string{"global"}},
}

// inlinedText are the functions around the assembly for texts, which take as long as the assembly.
// The compiler must inline these functions into the format's functions, and from there into
// programs.
var inlinedText = []inlining{
	{"sno", "ID.AppendText", []string{"base32.(*Codec).Append80"}},
	{"sno", "ID.MarshalText", []string{"ID.AppendText"}},
	{"sno", "MustParse", []string{"Parse"}},
	{"scru160", "ID.AppendText", []string{"base32.(*Codec).Append160"}},
	{"scru160", "ID.MarshalText", []string{"ID.AppendText"}},
	{"scru160", "MustParse", []string{"Parse"}},
	{"ulidflake", "appendInt", []string{"base32.(*Codec).Append63"}},
}

// TestInlining asks the compiler.
func TestInlining(t *testing.T) {
	inlined := inlined
	if runtime.GOARCH == "amd64" {
		inlined = append(inlined, inlinedText...)
	}
	args := []string{"build", "-gcflags=-m"}
	for _, v := range inlined {
		if pkg := "./" + v.pkg; !slices.Contains(args, pkg) {
			args = append(args, pkg)
		}
	}
	cmd := exec.Command("go", args...) // the go command of the test's toolchain
	cmd.Dir = "../../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}

	type call struct{ pkg, caller, callee string }
	found := make(map[call]bool)
	files := make(map[string]func(line int) string)
	for _, m := range regexp.MustCompile(`(?m)^(?:\./)?(\S+\.go):(\d+):\d+: inlining call to (.*)$`).FindAllStringSubmatch(string(out), -1) {
		if filepath.IsAbs(m[1]) {
			continue // within the standard library
		}
		file := filepath.ToSlash(m[1])
		if files[file] == nil {
			files[file] = callers(t, "../../../"+file)
		}
		line, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		found[call{path.Dir(file), files[file](line), m[3]}] = true
	}
	if len(found) < 50 {
		t.Fatalf("the compiler speaks of %d calls:\n%s", len(found), out)
	}
	for _, v := range inlined {
		for _, callee := range v.callees {
			if !found[call{v.pkg, v.caller, callee}] {
				t.Errorf("%s: %s calls %s, which is not inlined", v.pkg, v.caller, callee)
			}
		}
	}
}

// callers returns a function that maps a line of the file to the name of its function.
func callers(t *testing.T, file string) func(line int) string {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(line int) string {
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && set.Position(f.Pos()).Line <= line && line <= set.Position(f.End()).Line {
				return function(f)
			}
		}
		return ""
	}
}

// function returns the name of a function, or "Type.Method" for a method.
func function(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if id, ok := receiver.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name // of a generic type
}
