package matrix

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/dev/matrix/decoders"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
)

var update = flag.Bool("update", false, "write docs/matrix.md")

const document = "../../docs/matrix.md"

// A note explains the errors of cells: the reason, and the way that works. In names of ways and types, an
// empty string stands for all.
type note struct {
	mark, way, kind string
	contains        string // in the error
	text            string
}

var notes = []note{
	{"array", "pgx, arrays, mode", "", "cannot find encode plan",
		"In these modes pgx does not ask PostgreSQL for the types of parameters, and knows no type for a slice of IDs. Call " +
			"[`pgxid.Register`](pgx.md) once for each connection, or register the slice alone, as in the next rows: `conn.TypeMap().RegisterDefaultPgType([]nanoflake.ID(nil), \"_int8\")`; `_varchar`, " +
			"`_bytea` or `_uuid` for the other columns."},
	{"scanner", "database/sql over pgx, arrays", "", "cannot find registered type",
		"`database/sql` has no arrays. A slice works as a parameter. To scan a slice, register its pointer with a `pgtype.Map` and scan into " +
			"`m.SQLScanner(&ids)`, as in the next row: `m.RegisterDefaultPgType((*[]nanoflake.ID)(nil), \"_int8\")`."},
	{"null", "NULL into the type itself", "", "NULL is no ID",
		"NULL is no ID, and the error says so. Read a column that may be NULL into a pointer or a `sql.Null`, as in the next rows. `sno.ID` alone reads NULL " +
			"as the zero ID, as its published API says."},
	{"bun", "bun on PostgreSQL", "", "syntax error",
		"bun writes the error of the zero ID into the statement, after `?!`, and PostgreSQL answers with a syntax error. Nothing is stored, but the error " +
			"does not say why: check `id.IsZero()` before the statement."},
}

// noteOf returns the note for the error of a cell.
func noteOf(t *testing.T, w *way, kind string) *note {
	o := w.cells[kind]
	for i, n := range notes {
		if strings.HasPrefix(w.name, n.way) && strings.HasPrefix(kind, n.kind) && strings.Contains(o.Why, n.contains) {
			return &notes[i]
		}
	}
	t.Errorf("%s, %s: the document has no note for this error: %s", w.name, kind, o.Why)
	return nil
}

func TestMatrix(t *testing.T) {
	services.Full(t)
	var b bytes.Buffer
	b.WriteString(preface)
	writeMatrix(t, &b, runAll(t))
	writeTraps(t, &b)
	writeWrong(t, &b, wrongTable(t))
	writeVersions(t, &b)
	if t.Failed() {
		return
	}
	if *update {
		testkit.OK(t, os.WriteFile(document, b.Bytes(), 0o644))
		return
	}
	have := testkit.Must(os.ReadFile(document))
	got, want := strings.Split(b.String(), "\n"), strings.Split(string(have), "\n")
	for i, line := range got {
		if i >= len(want) || line != want[i] {
			t.Fatalf("docs/matrix.md differs from this run in line %d: go test -C dev ./matrix -update writes the document\n%s", i+1, line)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("docs/matrix.md has %d lines, and this run %d: go test -C dev ./matrix -update writes the document", len(want), len(got))
	}
}

const preface = `# What works with what

A test runs each type of IDs through each way to store IDs, and writes this page. Each cell is a run on the real
library, and on the real server if the way has one:

<!-- not run: writes into the clone; without -update, the test compares the page -->
` + "```console" + `
$ go test -C dev ./matrix -update
` + "```" + `

[The matrix](#the-matrix) · [Traps](#traps) · [Columns of another type](#columns-of-another-type) · [Versions](#versions)

## The matrix

✓ means: IDs are read back as they were written; a search for an ID finds exactly its row, and a search for an ID that is
not there finds no row; the store sorts IDs as ` + "`Compare`" + ` does, where a store sorts; the column has the value that
the type's documentation names. The zero ID is refused with a typed error, or is kept as null or zeros in texts and
messages, and by ` + "`sno.ID`" + ` in databases. "error" means: an error, and never another ID or another row. The note has the reason, and the way that works.
"–" means: the way has no form for the type.

The IDs of each type are the smallest, the largest, random IDs, IDs whose texts have only digits, IDs whose decimal form is the text of
another ID, and for IDs of bytes: quotes, backslashes, zero bytes, spaces, and bytes that are not UTF-8.
`

func writeMatrix(t *testing.T, b *bytes.Buffer, m *table) {
	var used []*note
	counted := map[cell.State]int{}
	defer func() { t.Logf("cells of the matrix: %v", counted) }()
	group := ""
	for _, w := range m.ways {
		if w.group != group {
			group = w.group
			fmt.Fprintf(b, "\n### %s\n\n", group)
			heading(b, "way", m.kinds)
		}
		fmt.Fprintf(b, "| %s |", w.name)
		for _, kind := range m.kinds {
			o, ok := w.cells[kind]
			if ok {
				counted[o.State]++
			}
			switch {
			case !ok:
				b.WriteString(" – |")
			case o.State == cell.Works && o.Why == "":
				b.WriteString(" ✓ |")
			case o.State == cell.Other:
				t.Errorf("%s, %s: %v", w.name, kind, o)
			default:
				if n := noteOf(t, w, kind); n != nil {
					if !slices.Contains(used, n) {
						used = append(used, n)
					}
					shown := "error"
					if o.State == cell.Works {
						shown = "✓"
					}
					fmt.Fprintf(b, " %s[^%s] |", shown, n.mark)
				}
			}
		}
		b.WriteString("\n")
	}
	for i := range notes {
		if n := &notes[i]; slices.Contains(used, n) {
			fmt.Fprintf(b, "\n[^%s]: %s\n", n.mark, n.text)
		} else {
			t.Errorf("no cell needs the note %q", n.mark)
		}
	}
}

// heading writes the first lines of a table with a column for each type.
func heading(b *bytes.Buffer, first string, kinds []string) {
	fmt.Fprintf(b, "| %s |", first)
	for _, kind := range kinds {
		fmt.Fprintf(b, " %s |", kind)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(kinds)) + "\n")
}

func writeTraps(t *testing.T, b *bytes.Buffer) {
	b.WriteString("\n## Traps\n\nLibraries, and not IDs, decide these cases. The test shows each of them.\n\n")
	for _, trap := range traps {
		if !t.Run("trap/"+trap.title, trap.show) {
			t.Errorf("the trap %q is not as the document says", trap.title)
		}
		fmt.Fprintf(b, "- **%s** %s\n", trap.title, trap.text)
	}
	for _, trap := range decoders.Traps {
		if err := trap.Show(); err != nil {
			t.Errorf("the trap %q is not as the document says: %v", trap.Title, err)
		}
		fmt.Fprintf(b, "- **%s** %s\n", trap.Title, trap.Text)
	}
}

func writeWrong(t *testing.T, b *bytes.Buffer, m *table) {
	counted := map[cell.State]int{}
	defer func() { t.Logf("cells of columns of another type: %v", counted) }()
	b.WriteString(`
## Columns of another type

The same types, in columns for which they are not made, by plain ` + "`database/sql`" + ` and by pgx in all modes. All ways share
the table: a way reads and searches what the others wrote. No cell reads another ID.

| outcome | means |
|---|---|
| ✓ | all ways write, read and find the same ID |
| no write | an error, when an ID is written |
| no read | an ID is written, and reading is an error |
| some | errors for some IDs or ways, and the same ID for the others |
| **rows** | as ✓ or as some, but a search misses rows or finds more rows, without an error |
| no read, **rows** | reading is an error, and a search misses rows or finds more rows, without an error |

Rows are missed where the ways write different values for an ID (text or bytes, with pgx in a mode that does not ask for the
type), where the column pads (` + "`BINARY(40)`" + `), and where a floating-point column rounds. Use the column of the type, of the
exact length.
`)
	group := ""
	for _, w := range m.ways {
		if w.group != group {
			group = w.group
			b.WriteString("\n")
			heading(b, group, m.kinds)
		}
		fmt.Fprintf(b, "| `%s` |", strings.ReplaceAll(w.name, "|", `\|`))
		for _, kind := range m.kinds {
			shown, ok := map[cell.State]string{
				cell.Works: "✓", noWrite: "no write", noRead: "no read", some: "some", rowsRead: "**rows**", rowsUnread: "no read, **rows**",
			}[w.cells[kind].State]
			if !ok {
				t.Errorf("%s, %s, %s: %v", w.group, w.name, kind, w.cells[kind])
			}
			counted[w.cells[kind].State]++
			fmt.Fprintf(b, " %s |", shown)
		}
		b.WriteString("\n")
	}
}

// libraries are the modules whose versions the document names.
var libraries = []string{
	"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql", "modernc.org/sqlite", "gorm.io/gorm", "gorm.io/driver/postgres",
	"gorm.io/driver/mysql", "gorm.io/driver/sqlite", "github.com/uptrace/bun", "entgo.io/ent",
	"github.com/redis/go-redis/v9", "go.mongodb.org/mongo-driver/v2",
	"github.com/FerretDB/FerretDB", "github.com/99designs/gqlgen", "connectrpc.com/connect", "google.golang.org/protobuf",
	"github.com/go-playground/form/v4", "github.com/gorilla/schema", "github.com/google/go-querystring", "github.com/oapi-codegen/runtime",
	"github.com/go-viper/mapstructure/v2", "github.com/spf13/viper", "github.com/knadh/koanf/v2", "go.yaml.in/yaml/v3", "github.com/goccy/go-yaml",
	"sigs.k8s.io/yaml", "github.com/pelletier/go-toml/v2", "github.com/BurntSushi/toml", "github.com/caarlos0/env/v11",
	"github.com/kelseyhightower/envconfig", "github.com/spf13/pflag", "github.com/gocarina/gocsv", "github.com/jszwec/csvutil",
	"github.com/vmihailenco/msgpack/v5", "github.com/fxamacker/cbor/v2",
}

func writeVersions(t *testing.T, b *bytes.Buffer) {
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-m", "-f", "| {{.Path}} | {{.Version}} |"}, libraries...)...)
	list.Stderr = os.Stderr
	out, err := list.Output() // a test binary does not know the versions of its modules
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	b.WriteString("\n## Versions\n\nThe run is on PostgreSQL, MariaDB and Redis as Debian 12 has them, and on:\n\n| module | version |\n|---|---|\n")
	b.Write(out)
}
