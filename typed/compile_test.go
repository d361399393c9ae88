package typed_test

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// shop is a program with two kinds. The test adds statements.
const shop = `package shop

import (
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/typed"
)

type Order struct {
	ID    OrderID
	Items []Item
}

type Item struct {
	ID    typed.ID[nanoflake.ID, Item]
	Order *Order
}

type OrderID = typed.ID[nanoflake.ID, Order]
type UserID = typed.ID[nanoflake.ID, User]

type User struct{ ID UserID }

func ship(OrderID) {}

func use(order OrderID, user UserID, plain nanoflake.ID) {
	STATEMENT
}
`

// The compiler tells kinds apart, wherever one ID can take the place of another ID.
func TestKindsDoNotMix(t *testing.T) {
	fileSet := token.NewFileSet()
	imports := importer.ForCompiler(fileSet, "gc", exports(t))
	check := func(statement string) error {
		file, err := parser.ParseFile(fileSet, "shop.go", strings.Replace(shop, "STATEMENT", statement, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		config := types.Config{Importer: imports}
		_, err = config.Check("shop", fileSet, []*ast.File{file}, nil)
		return err
	}
	for _, good := range []string{
		"ship(order)",
		"ship(typed.As[Order](plain))",
		"ship(typed.As[Order](user.Plain())) // as explicit as can be",
		"_ = order == OrderID{}",
		"_ = order.Compare(order)",
		"_ = order.Plain().GeneratorID()",
		`var id OrderID; id, _ = typed.Parse[OrderID]("order"); _ = id`,
		`var id OrderID; id, _ = typed.Of[Order](nanoflake.Parse("")); _ = id`,
		"_ = map[OrderID]Order{order: {ID: order}}",
		"_ = nanoflake.ID(order.Plain())",
		"var id typed.ID[nanoflake.Text, Order] = typed.As[Order](plain.Text()); _ = id",
	} {
		if err := check(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"ship(user)":                             "cannot use user",
		"ship(plain)":                            "cannot use plain",
		"ship(7)":                                "cannot use 7",
		"ship(OrderID(user))":                    "cannot convert user",
		"ship(OrderID(plain))":                   "cannot convert plain",
		"ship(OrderID{plain})":                   "cannot use plain",
		"ship(typed.As[User](plain))":            "cannot use typed.As",
		"ship(OrderID(typed.As[User](plain)))":   "cannot convert",
		"ship(OrderID([1][1]nanoflake.ID{}))":    "cannot convert",
		"_ = order == user":                      "mismatched types",
		"_ = order.Compare(user)":                "cannot use user",
		"_ = order == plain":                     "mismatched types",
		"order = user":                           "cannot use user",
		"_ = []OrderID{order, user}":             "cannot use user",
		"_ = map[OrderID]Order{user: {}}":        "cannot use user",
		"_ = Order{ID: user}":                    "cannot use user",
		`ship(typed.MustParse[UserID]("order"))`: "cannot use typed.MustParse",
		`id, _ := typed.Of[User](nanoflake.Parse("")); ship(id)`: "cannot use id",
		`typed.Parse[nanoflake.ID]("")`:                          "missing method parse",
		"_ = typed.ID[string, Order]{}":                          "string does not satisfy",
		"_ = typed.ID[int64, Order]{}":                           "int64 does not satisfy",
	} {
		if err := check(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", bad, err, want)
		}
	}
}

// exports returns the compiled packages that a program with two kinds imports.
func exports(t *testing.T) func(path string) (io.ReadCloser, error) {
	list := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Export", "github.com/firn-id/firn/typed", "github.com/firn-id/firn/nanoflake")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	files := make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var pkg struct{ ImportPath, Export string }
		if err := d.Decode(&pkg); err != nil {
			t.Fatal(err)
		}
		files[pkg.ImportPath] = pkg.Export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}
