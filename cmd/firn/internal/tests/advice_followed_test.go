package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/internal/testing/sources"
)

// advisesCommand is the scripts' command "advises TEXT...": the last program has written the texts, in this order, to
// stderr or to stdout. What varies is between two texts. Line breaks count as spaces, since notes are wrapped. The next
// program of the script follows the advice, and must succeed: TestAdviceIsFollowed looks at the script.
func advisesCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: advises TEXT...")
	}
	for _, name := range []string{"stderr", "stdout"} {
		rest, found := oneLine(ts.ReadFile(name)), true
		for _, text := range args {
			if found {
				_, rest, found = strings.Cut(rest, oneLine(text))
			}
		}
		if found {
			return
		}
	}
	ts.Fatalf("neither stderr nor stdout has %q", args)
}

// oneLine returns a text in which one space stands for each run of spaces and line breaks.
func oneLine(text string) string { return regexp.MustCompile(`\s+`).ReplaceAllString(text, " ") }

// followCommand is the scripts' command "follow COMMAND [WORD...]". The last program has printed a command that begins
// with COMMAND. A shell runs this command as printed, with the words at the end.
func followCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: follow COMMAND [WORD...]")
	}
	begins := regexp.MustCompile(`(?:^|[^a-z])(` + regexp.QuoteMeta(args[0]) + `(?:'[^']*'|\\.|[^'"\\();?\n])*)`)
	var lines []string
	for _, name := range []string{"stderr", "stdout"} {
		for _, found := range begins.FindAllStringSubmatch(ts.ReadFile(name), -1) {
			if line := strings.TrimRight(found[1], " .:,\r"); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 2 && strings.HasSuffix(lines[1], " --help") { // the last line of an error of usage
		lines = lines[:1]
	}
	if len(lines) != 1 {
		ts.Fatalf("the last program has not printed one command that begins with %q, but %q", args[0], lines)
	}
	line := strings.Join(append(lines, args[1:]...), " ")
	ts.Check(ts.Exec("sh", "-c", "exec "+line))
}

// A said is an advice in the sources.
type said struct {
	where token.Position
	text  string
}

// library finds functions of the library in advice. Commands print what does the same instead.
var library = regexp.MustCompile(`\(lease\.[^()]*\)`)

// pattern returns a pattern for texts with the advice. Each verb may be anything.
func (s said) pattern() *regexp.Regexp {
	return sources.Pattern(library.ReplaceAllString(strings.TrimSpace(s.text), "%v"))
}

// advice finds a clause that tells what to do: the clause begins with a verb, names a flag, or is a command.
var advice = regexp.MustCompile(strings.Join([]string{
	`(?:^|[:;,.?(] ?| \(|%v|\b(?:and|or|then|right,) )(?:only )?(?:` + inEitherCase(
		"add", "ask", "check", "choose", "create", "did you mean", "end", "examine", "export", "give", "leave out", "lease", "look", "lower",
		"make", "mend", "merge", "move", "name", "partition a", "partition by", "plan", "put", "raise", "rename", "rescue", "restore",
		"run", "see", "set", "sort", "stop", "take", "to see", "try", "type", "use", "wait for", "wait until", "want", "write",
	) + `)(?:[ ,:.]|$)`,
	`[:;,] [^:;]*--[a-z]`, `\(--[a-z]`, `^--[a-z-]+ (?:is needed|needs)`, `: (?:goes|needs) `, `cannot be used with`, `: it can be used`,
	`^firn pool [a-z]`, `: firn [a-z ]+ makes `, `: firn %s`, `: ALTER `,
}, "|"))

// inEitherCase returns a pattern for words, with a small or a capital letter.
func inEitherCase(words ...string) string {
	for i, w := range words {
		words[i] = "[" + w[:1] + strings.ToUpper(w[:1]) + "]" + w[1:]
	}
	return strings.Join(words, "|")
}

// adviceIn calls f with each literal of a folder and below that is advice in an error, a warning or a note. Help and
// scripts have line breaks, and errors have none.
func adviceIn(t *testing.T, dir string, f func(said)) {
	sources.Files(t, dir, nil, func(files *token.FileSet, file *ast.File) {
		// What tests and the documents are made by, and SQL.
		path := filepath.ToSlash(files.Position(file.Pos()).Filename)
		for _, other := range []string{"/tests/", "/torture/", "/manpages/", "/pgscript/", "/sqlscripts/mysql.go", "/sqlscripts/postgres.go"} {
			if strings.Contains(path, other) {
				return
			}
		}
		var walk func(ast.Node) bool
		walk = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec, *ast.Field, *ast.CaseClause, *ast.CallExpr, *ast.KeyValueExpr, *ast.AssignStmt:
				for _, part := range saidParts(n) {
					ast.Inspect(part, walk)
				}
				return false
			case ast.Expr:
				text, others, ok := sources.Join(n)
				if !ok {
					return true
				}
				short := strings.TrimSpace(library.ReplaceAllString(text, ""))
				if advice.MatchString(short) && strings.Contains(short, " ") && !strings.Contains(short, "\n") {
					f(said{files.Position(n.Pos()), text})
				}
				for _, other := range others {
					ast.Inspect(other, walk)
				}
				return false
			}
			return true
		}
		ast.Inspect(file, walk)
	})
}

// saidParts returns the parts of a node whose literals may be errors. Others are help, flags, and what texts are
// compared with.
func saidParts(n ast.Node) (parts []ast.Node) {
	helps := func(e ast.Expr) bool {
		name := ""
		switch e := e.(type) {
		case *ast.Ident:
			name = e.Name
		case *ast.SelectorExpr:
			name = e.Sel.Name
		}
		return slices.Contains([]string{"Use", "Short", "Long", "Example"}, name)
	}
	switch n := n.(type) {
	case *ast.CaseClause: // without the cases
		for _, s := range n.Body {
			parts = append(parts, s)
		}
	case *ast.KeyValueExpr:
		if !helps(n.Key) {
			parts = append(parts, n.Value)
		}
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || !helps(n.Lhs[0]) {
			for _, e := range n.Rhs {
				parts = append(parts, e)
			}
		}
	case *ast.CallExpr:
		parts = append(parts, n.Fun)
		args := n.Args
		if call, ok := n.Fun.(*ast.SelectorExpr); ok {
			pkg, _ := call.X.(*ast.Ident)
			name := call.Sel.Name
			switch {
			case strings.HasSuffix(name, "Var") || strings.HasSuffix(name, "VarP") || strings.HasPrefix(name, "Add") && strings.Contains(name, "To"):
				args = nil // of a flag
			case pkg != nil && pkg.Name == "regexp":
				args = nil
			case pkg != nil && pkg.Name == "strings" && name == "NewReplacer":
				args = nil
				for i := 1; i < len(n.Args); i += 2 {
					args = append(args, n.Args[i])
				}
			case pkg != nil && pkg.Name == "strings" && strings.HasPrefix(name, "Replace"):
				args = n.Args[2:]
			case pkg != nil && pkg.Name == "strings" && name != "Join" && name != "Repeat":
				args = n.Args[:1]
			}
		}
		for _, e := range args {
			parts = append(parts, e)
		}
	}
	return parts
}

// adviceOfTests is advice that a Go test follows. The file of the test has the words.
var adviceOfTests = []struct{ text, test, words string }{
	{"firn pool rescue --all", "TestPrintedCommandsNameTheStore", "firn pool rescue"},
	{"%s: export %s=file:///var/lib/firn", "TestPlaces", "=file:///var/lib/firn"},
	{"name a store that machines share (--store ADDRESS), or name", "TestServeInContainer", "name a store that machines share (--store ADDRESS), or name"},
	{"%v: %v --state /var/lib/firn", "TestServeInContainer", " --state /var/lib/firn"},
	{"no directory can be made there: name the store's directory, the same for all processes whose IDs have to differ", "TestMayMake", "no directory can be made there: name the store's directory"},
	{"fewer files than connections, so the server takes fewer connections: raise the limit of files (ulimit -n, LimitNOFILE=), or lower limits.connections", "TestServeFiles", "or lower limits.connections"},
	{"set trust-clock = true under [lease] in the file of --config", "TestServeTrustClock", "set trust-clock = true under [lease] in the file of --config"},
	{"choose another path%v", "TestServeSockets", "choose another path"},
	{"the directory does not exist: make the directory, or %v", "TestServeSockets", "the directory does not exist: make the directory, or "},
	{"another program listens there: end that program, or %v", "TestServeSockets", "another program listens there: end that program, or "},
	{"another program listens there: end that program, or choose another address%v", "TestServeSockets", "or choose another address"},
	{"the table firn.nanoflake_grant is not unlogged, so a crash can repeat IDs: ALTER TABLE firn.nanoflake_grant SET UNLOGGED", "TestLogged", "ALTER TABLE firn.nanoflake_grant SET UNLOGGED"},
	{"the machine does not have the address: choose another address%v", "TestServeSockets", "the machine does not have the address: choose another address"},
}

// adviceOfNobody is advice that no test follows, with the reason.
var adviceOfNobody = []struct{ text, reason string }{
	{"Choose it", "the title of a list in firn explain"},
	{"%s: see below", "leads to a line of the same output"},
	{"%v: see below", "leads to a line of the same output"},
	{"%v of %v%v no time: see the errors above", "leads to lines of the same output"},
	{"… lines left out: %d (see --worker)", "a picture on a terminal; pool_show.txtar has the flag"},
	{"waiting for a free worker, for up to %v (--wait 0 fails at once)", "the flag makes the command fail, in advice_held.txtar"},
	{" Partition by a hash of the ID instead.", "is for the tables of the user"},
	{"pool %s: its format, epoch and widths are of no format here: ask the program that makes the IDs", "needs another program"},
	{"the timestamps of its IDs ran out at %s: make IDs of another format: with a later epoch, IDs would repeat", "no pool is as old"},
	{"the timestamps of its IDs run out at %s: plan for IDs of another format: with a later epoch, IDs would repeat", "no pool is as old"},
	{"pool %s: nobody gets a worker before %s, since the pool was rescued: try again then", "takes time; generators wait for the time in TestFollowAdvice"},
	{"pool %s: no worker is free: nobody has one, but their times are used up to %s at least (%s): the clock was ahead, or is behind: set it, or wait until then", "takes time, or another clock"},
	{"the clock went back by %v: check the time service of the machine", "needs a machine with such a clock"},
	{"%d of %d tests failed: make no IDs on this machine (%s/%s), and report the lines above", "needs a machine with a fault"},
	{"the user may not listen there: choose a port from 1024 on%v", "many systems let all users listen there; TestServeSockets chooses other addresses"},
	{"systemd has passed sockets that firn serve does not use: %s: name their addresses by --listen, --resp or --unix", "needs systemd; the units of the documents name the addresses"},
	{"firn pool doctor", "needs a server, NATS or Redis, that has forgotten changes"},
	{"--database: want an address as in postgres://user@host:5432/database", "needs a server; the tests of sqlgen have addresses in this form"},
	{"no database given: add --database ADDRESS, as in --database postgres://user@host:5432/database", "needs a server; the tests of sqlgen have the flag"},
	{"warning: %vsee that IDs of the two never meet", "is about tables and programs of the user"},
	{"%w: run the SQL of firn sql generator there", "needs a server; the tests of sqlgen run the SQL"},
	{"%s: %w, %s: give --epoch %s", "needs a server; the tests of sqlgen have equal epochs"},
	{"the server is Amazon Aurora, which keeps unlogged tables after a crash, so a crash can repeat IDs: make the IDs in Go, or use PostgreSQL itself", "needs Amazon Aurora"},
}

// TestAdviceIsFollowed: each advice of the command line is followed by a script, by a Go test, or, with a reason, by
// nobody.
func TestAdviceIsFollowed(t *testing.T) {
	t.Parallel()
	followed := followedAdvice(t)
	tests := testSources(t)
	for _, row := range adviceOfTests {
		if row.words == "" || !strings.Contains(tests[row.test], row.words) || !strings.Contains(row.text, row.words) {
			t.Errorf("%s does not follow %q, or there is no such test", row.test, row.text)
		}
	}
	wanted := make(map[string][]said)
	adviceIn(t, "../..", func(s said) { wanted[s.text] = append(wanted[s.text], s) })
	if len(wanted) < 100 {
		t.Errorf("there are %d pieces of advice: they were not found", len(wanted))
	}
	elsewhere := make(map[string]bool)
	rows := func(text string) {
		if wanted[text] == nil || elsewhere[text] {
			t.Errorf("no text is %q any more, or it stands twice", text)
		}
		elsewhere[text] = true
	}
	for _, row := range adviceOfTests {
		rows(row.text)
	}
	for _, row := range adviceOfNobody {
		if row.reason == "" {
			t.Errorf("no reason for %q", row.text)
		}
		rows(row.text)
	}
	for text, all := range wanted {
		pattern := all[0].pattern()
		var longer []*regexp.Regexp // of advice with this text in it, whose scripts are not of this advice
		for other, places := range wanted {
			if other != text && pattern.MatchString(other) {
				longer = append(longer, places[0].pattern())
			}
		}
		times := 0
		for _, line := range followed {
			if pattern.MatchString(line) && !slices.ContainsFunc(longer, func(p *regexp.Regexp) bool { return p.MatchString(line) }) {
				times++
			}
		}
		switch {
		case elsewhere[text] && times >= len(all):
			t.Errorf("scripts follow %q: the table need not have it", text)
		case !elsewhere[text] && times < len(all):
			t.Errorf("%v: stands %d times, and scripts follow it %d times by the command advises: %q", all[0].where, len(all), times, text)
		}
	}
}

// Commands of scripts between advises and the program that follows the advice, and that program's.
var (
	preparing = []string{"stdin", "env", "mkdir", "cp", "mv", "chmod", "cd", "lease end"}
	following = []string{"exec", "exits", "follow"}
)

// followedAdvice returns the texts of each advises in the scripts, with a NUL between two. The next program has to be
// run wherever advises is, and to succeed.
func followedAdvice(t *testing.T) (texts []string) {
	t.Helper()
	scripts, err := filepath.Glob("testdata/*.txtar")
	check(t, err)
	for _, path := range scripts {
		content, err := os.ReadFile(path)
		check(t, err)
		var open []string // that no program follows yet
		var only string   // the condition of the last advises
		for i, line := range strings.Split(string(content), "\n") {
			if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
				break
			}
			words := scriptWords(line)
			condition := ""
			if len(words) > 1 && strings.HasPrefix(words[0], "[") {
				condition, words = words[0], words[1:]
			}
			at := path + ":" + strconv.Itoa(i+1)
			switch {
			case len(words) == 0 || len(open) == 0 && words[0] != "advises":
			case words[0] == "advises":
				open, only = append(open, strings.Join(words[1:], "\x00")), condition
			case slices.Contains(preparing, words[0]), slices.Contains(preparing, strings.Join(words, " ")):
			case slices.Contains(following, words[0]) && (words[0] != "exits" || len(words) > 1 && words[1] == "0") && (condition == "" || condition == only):
				for _, text := range open {
					if flag, want := flagOf(text); flag != "" && words[0] != "follow" && slices.Contains(words, flag) != want {
						t.Errorf("%s: the advice says otherwise of %s: %q", at, flag, text)
					}
				}
				texts, open = append(texts, open...), nil
			default:
				t.Errorf("%s: this does not follow %q: %s", at, open, line)
				open = nil
			}
		}
		if len(open) > 0 {
			t.Errorf("%s ends before %q is followed", path, open)
		}
	}
	return texts
}

// scriptWords returns the words of a script's line. Words with blanks are in single quotes, a quote is two.
func scriptWords(line string) (words []string) {
	var word strings.Builder
	begun, quoted := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' && quoted && strings.HasPrefix(line[i+1:], "'"):
			word.WriteByte(c)
			i++
		case c == '\'':
			begun, quoted = true, !quoted
		case quoted || c != ' ' && c != '\t' && c != '#':
			begun = true
			word.WriteByte(c)
		default:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
			if c == '#' {
				return words
			}
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// flagOf returns the flag that an advice without a choice says to add, or to leave out.
func flagOf(text string) (flag string, add bool) {
	if strings.Contains(text, " or ") {
		return "", false
	}
	if found := regexp.MustCompile(`\b(add|give|needs|leave out) (--[a-z-]+)`).FindStringSubmatch(text); found != nil {
		return found[2], found[1] != "leave out"
	}
	return "", false
}

// testSources returns the file of each test of the command line.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	tests := make(map[string]string)
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, content, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = string(content)
			}
		}
		return nil
	})
	check(t, err)
	return tests
}
