package matrix

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/structpb"
	"gorm.io/gorm"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
)

// A trap is a case in which a library surprises its callers.
type trap struct {
	title, text string
	show        func(t *testing.T)
}

var traps = []trap{
	{"GORM takes bytes apart.", "A `sno.ID` or a `scru160.Binary`, its pointer, or a `typed.ID` of the two, that is the whole condition, as in `First(&row, id)`, `Find(&rows, id)`, " +
		"`Where(id)`, `Not(id)`, `Or(id)` and `Delete(&row, id)`, becomes `IN (62,13,…)`: GORM asks for the value of the condition, and takes a slice of bytes for a list of keys. " +
		"PostgreSQL returns an error. SQLite finds no row, and with `Not` finds or deletes all rows. MariaDB takes the start of the stored bytes for a number, which is 0 for most IDs: for an ID " +
		"with a zero byte, `First` and `Find` **find other rows**, and `Delete` **deletes other rows, up to all of them, without an error**, in strict mode too. Write `\"id = ?\", id`, as in " +
		"`First(&row, \"id = ?\", id)`, `\"id IN ?\", ids`, or `Delete(&Row{ID: id})`, or use `sno.Text`, `sno.UUID` or `scru160.ID`. A slice `[]sno.ID{id}` is right in all forms.", gormBytes},
	{"GORM takes a slice of structs for models.", "No type of Firn is a struct, and a slice of IDs is right in all forms. A struct of your own that embeds an ID, `type OrderID struct{ nanoflake.ID }`, is a model " +
		"for GORM, and the condition is its fields: `Find(&rows, []OrderID{a, b})` finds no row, and `Delete(&row, []OrderID{a, b})` deletes no row, without an error. If the field and the column differ in type, " +
		"`Not([]OrderID{a, b}).Delete(&row)` **deletes all rows** of MariaDB and SQLite. Use `typed.ID`, or write `\"id IN ?\", ids`.", gormStruct},
	{"GORM calls a nil pointer.", "A nil `*nanoflake.ID` that is the whole condition, as in `First(&row, order.ParentID)`, panics: GORM calls the method of every nil pointer there, also of a `*sql.NullInt64`. " +
		"`Where(\"id = ?\", order.ParentID)` compares with NULL, and finds no row.", gormNil},
	{"GORM leaves zero fields out of conditions.", "`Where(&Row{ID: id})` and `Take(&Row{ID: id})` with the zero ID have no condition, and find any row. `Delete(&[]Row{{ID: id}, {}})` " +
		"skips the row without an ID, and deletes the other row, without an error. Other forms are an error, and change no row: `Create`, `Save` and `Update` of a row or of rows, `Delete` of a row, " +
		"`First(&row, id)`, `Find(&rows, []ID{a, id})`, `Not([]ID{a, id})`, `Where(\"id = ?\", id)`, `Where(\"id IN ?\", []ID{a, id})`, `Where(\"id\", id)` and `Where(map[string]any{\"id\": id})`. Write " +
		"`Where(\"id = ?\", id)`, and `\"id IN ?\", ids`.", gormZero},
	{"A type of your own with only the underlying type loses the methods.", "`type OrderID nanoflake.ID` has no methods: JSON gets a number, and no check is left. Use " +
		"`typed.ID`. A struct that embeds the ID, `type OrderID struct{ nanoflake.ID }`, has the methods, but [is a model for GORM](#traps).", ownType},
	{"gqlgen sees only the methods that a type declares.", "A type of your own that embeds an ID has promoted methods. For a scalar of this type, gqlgen makes code with compile errors. Bind the scalar " +
		"to the type of Firn, or declare `MarshalGQL` and `UnmarshalGQL` on your own type, and call those of the ID.", embeddedGQL},
	{"The JSON option `string`.", "Leave the option out: 64-bit IDs are JSON strings without it. With the option, the first version of `encoding/json` drops the quotes before it asks the " +
		"ID. Numbers that an `int64` field with the option wrote are read as the integer, but 13 digits are an error: they may be a text or an integer. `snowflakesi.ID` is a " +
		"number, and cannot read what it wrote with the option.", jsonString},
	{"`fmt.Sscan` scans the underlying type.", "`fmt.Sscan(\"12\", &id)` reads an integer without checks, because the types have no method for `fmt.Scanner`. Call `Parse`.", sscan},
	{"`structpb.NewStruct` refuses IDs.", "`structpb.NewStruct` and `structpb.NewValue` know no types but Go's own, and return an error. Pass `id.String()`.", structpbValue},
	{"Spaces at the end of a `CHAR` column.", "MariaDB cuts spaces off. A `sno.ID` in a `CHAR(10)` column loses bytes, and ten spaces are read as the zero ID, since `sno.ID` reads the " +
		"empty text so by its published API. Use `BINARY(10)`, or `sno.Text` for a column of text.", charSpaces},
	{"Drivers that return integers as text.", "go-sql-driver/mysql returns integers as numbers, with and without `interpolateParams`, and so do pgx and modernc.org/sqlite. With a driver that returns the digits as " +
		"text or bytes, `Scan` of an integer type is an error, except for `snowflakesi.ID`: 13 digits may be the text of another ID. Scan into an `int64`, and call `FromInt64`.", integerAsText},
	{"Text of digits in the wrong column.", "A text of 13 digits, such as `1234567890123`, goes into a `BIGINT` column, where it is the integer of another ID. The type `Text` does not read it back, " +
		"but the type `ID` would read the other ID. Use the column of the type.", digitsInBigint},
	{"pgx pads and cuts bytes for a `UUID` column.", "Without `pgxid`, pgx writes a `sno.ID` with six zero bytes behind, and the first 16 bytes of a `scru160.Binary`, without an error: " +
		"as a value, a pointer, a `sql.Null`, in a slice and by `CopyFrom`. Reading is an error. Pass `s.UUID()`, and give the column " +
		"[a `CHECK`](databases/postgresql.md#columns-of-bytes-text-and-uuid), or call [`pgxid.Register`](pgx.md).", bytesInUUID},
}

// gormBytes shows what each database does with the bytes of an ID as a list of keys.
func gormBytes(t *testing.T) {
	stored := []sno.ID{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {62, 'a'}, {200, 0, 1}}
	asked := sno.ID{62, 13, 149, 0, 1, 2, 3, 4, 5, 6} // not stored
	onEachGorm(t, func(t *testing.T, name string, db *gorm.DB) {
		if name == "MariaDB" { // its usual engine, which is strict in changes
			db = db.Set("gorm:table_options", "ENGINE=InnoDB").Session(&gorm.Session{})
		}
		in := migrated[gormRow10[sno.ID]](t, db)
		for n, id := range stored {
			testkit.OK(t, in().Create(&gormRow10[sno.ID]{id, n}).Error)
		}
		var row gormRow10[sno.ID]
		statement := in().Session(&gorm.Session{DryRun: true}).First(&row, asked).Statement
		if query := statement.SQL.String(); !strings.Contains(query, "IN (") {
			t.Errorf("%s: GORM no longer takes bytes apart: %s", name, query)
		}
		first := in().First(&row, asked).Error
		var rows []gormRow10[sno.ID]
		find := in().Find(&rows, asked).Error
		gone := in().Delete(&gormRow10[sno.ID]{}, asked)
		switch name {
		case "PostgreSQL":
			if first == nil || find == nil || gone.Error == nil {
				t.Errorf("%s: %v, %v, %v", name, first, find, gone.Error)
			}
		case "SQLite":
			if !errors.Is(first, gorm.ErrRecordNotFound) || find != nil || len(rows) > 0 || gone.Error != nil || gone.RowsAffected > 0 {
				t.Errorf("%s: %v, %v, %v, %v, %d", name, first, find, rows, gone.Error, gone.RowsAffected)
			}
		case "MariaDB":
			if first != nil || find != nil || len(rows) != len(stored) || gone.Error != nil || gone.RowsAffected != int64(len(stored)) {
				t.Errorf("%s: %v, %v, %v, %v, %d", name, first, find, rows, gone.Error, gone.RowsAffected)
			}
		}
		// The safe forms.
		var safe []gormRow10[sno.ID]
		if err := in().First(&row, "id = ?", asked).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("%s: First with a condition: %v", name, err)
		}
		if err := in().Where("id = ?", asked).Find(&safe).Error; err != nil || len(safe) > 0 {
			t.Errorf("%s: Where: %v, %v", name, safe, err)
		}
		if r := in().Delete(&gormRow10[sno.ID]{ID: asked}); r.Error != nil || r.RowsAffected != 0 {
			t.Errorf("%s: Delete of a row: %d, %v", name, r.RowsAffected, r.Error)
		}
	})
}

// gormZero shows what GORM does with the zero ID in conditions.
func gormZero(t *testing.T) {
	onEachGorm(t, func(t *testing.T, name string, db *gorm.DB) {
		in := migrated[gormRow[nanoflake.ID]](t, db)
		for n := range 3 {
			testkit.OK(t, in().Create(&gormRow[nanoflake.ID]{nanoflake.ID(n + 1), n}).Error)
		}
		type row = gormRow[nanoflake.ID]
		var zero nanoflake.ID
		var one row
		refused := map[string]func() *gorm.DB{
			"Create":                 func() *gorm.DB { return in().Create(&row{ID: zero}) },
			"Save":                   func() *gorm.DB { return in().Save(&row{ID: zero, N: 7}) },
			"Update":                 func() *gorm.DB { return in().Model(&row{ID: zero}).Update("n", 7) },
			"First(&row, id)":        func() *gorm.DB { return in().First(&one, zero) },
			"Find(&rows, id)":        func() *gorm.DB { return in().Find(&[]row{}, zero) },
			"Where(id = ?)":          func() *gorm.DB { return in().Where("id = ?", zero).Find(&[]row{}) },
			"Where(id = ?).Update":   func() *gorm.DB { return in().Where("id = ?", zero).Update("n", 7) },
			"Where(id = ?).Delete":   func() *gorm.DB { return in().Where("id = ?", zero).Delete(&row{}) },
			"Where(&Row{ID}).Delete": func() *gorm.DB { return in().Where(&row{ID: zero}).Delete(&row{}) },
			"Delete(&row, id)":       func() *gorm.DB { return in().Delete(&row{}, zero) },
			"Delete(&Row{ID})":       func() *gorm.DB { return in().Delete(&row{ID: zero}) },
			"Create of rows":         func() *gorm.DB { return in().Create(&[]row{{ID: 9}, {}}) },
			"Save of rows":           func() *gorm.DB { return in().Save(&[]row{{ID: 9}, {}}) },
			"Update of rows":         func() *gorm.DB { return in().Model(&[]row{{ID: 1}, {}}).Update("n", 7) },
			"Find(&rows, ids)":       func() *gorm.DB { return in().Find(&[]row{}, []nanoflake.ID{1, zero}) },
			"Where(map)":             func() *gorm.DB { return in().Where(map[string]any{"id": zero}).Find(&[]row{}) },
			"Where(id IN ?)":         func() *gorm.DB { return in().Where("id IN ?", []nanoflake.ID{1, zero}).Find(&[]row{}) },
			"Delete(&row, ids)":      func() *gorm.DB { return in().Delete(&row{}, []nanoflake.ID{1, zero}) },
			"Not(ids).Delete":        func() *gorm.DB { return in().Not([]nanoflake.ID{1, zero}).Delete(&row{}) },
		}
		for form, call := range refused {
			if r := call(); r.Error == nil || r.RowsAffected > 0 {
				t.Errorf("%s: %s: %d rows, %v", name, form, r.RowsAffected, r.Error)
			}
		}
		if r := in().Where(&row{ID: zero}).Find(&[]row{}); r.Error != nil || r.RowsAffected != 3 {
			t.Errorf("%s: Where(&Row{ID}): %d rows, %v", name, r.RowsAffected, r.Error)
		}
		if r := in().Take(&row{ID: zero}); r.Error != nil || r.RowsAffected != 1 {
			t.Errorf("%s: Take(&Row{ID}): %d rows, %v", name, r.RowsAffected, r.Error)
		}
		// A slice of rows: the row with an ID alone.
		if r := in().Delete(&[]row{{ID: 1}, {}}); r.Error != nil || r.RowsAffected != 1 {
			t.Errorf("%s: Delete of rows: %d rows, %v", name, r.RowsAffected, r.Error)
		}
	})
}

// embeddedID is a type of a program.
type embeddedID struct{ nanoflake.ID }

// embeddedText is a type of a program for a column of text.
type embeddedText struct{ nanoflake.ID }

func (t embeddedText) Value() (driver.Value, error) { return t.ID.Text().Value() }

func (t *embeddedText) Scan(src any) error {
	text := t.ID.Text()
	err := text.Scan(src)
	t.ID = text.ID()
	return err
}

func (embeddedText) GormDataType() string { return "varchar(13)" }

// gormStruct shows that GORM takes a slice of structs for models, and that no type of Firn is a
// struct: see TestGormConditions.
func gormStruct(t *testing.T) {
	onEachGorm(t, func(t *testing.T, name string, db *gorm.DB) {
		type row = gormRow[embeddedID]
		in := migrated[row](t, db)
		testkit.OK(t, in().Create(&[]row{{embeddedID{1}, 1}, {embeddedID{2}, 2}, {embeddedID{3}, 3}}).Error)
		ids := []embeddedID{{1}, {2}}
		if r := in().Find(&[]row{}, ids); r.Error != nil || r.RowsAffected != 0 {
			t.Errorf("%s: Find: %d rows, %v", name, r.RowsAffected, r.Error)
		}
		if r := in().Find(&[]row{}, "id IN ?", ids); r.Error != nil || r.RowsAffected != 2 {
			t.Errorf("%s: Find by words: %d rows, %v", name, r.RowsAffected, r.Error)
		}
		if r := in().Delete(&row{}, ids); r.Error != nil || r.RowsAffected != 0 {
			t.Errorf("%s: Delete: %d rows, %v", name, r.RowsAffected, r.Error)
		}

		// The condition is the integer, and the column is a text.
		type textRow = gormRow[embeddedText]
		texts := migrated[textRow](t, db)
		first := nanoflake.MustParse("0549x5l2itvr4")
		if err := texts().Create(&[]textRow{{embeddedText{first}, 1}, {embeddedText{first + 1}, 2}, {embeddedText{first + 2}, 3}}).Error; err != nil {
			t.Fatal(err)
		}
		gone := texts().Not([]embeddedText{{first}, {first + 1}}).Delete(&textRow{})
		switch {
		case name == "PostgreSQL" && gone.Error == nil: // PostgreSQL compares no text with an integer
			t.Errorf("%s: Not.Delete: %d rows", name, gone.RowsAffected)
		case name != "PostgreSQL" && (gone.Error != nil || gone.RowsAffected != 3):
			t.Errorf("%s: Not.Delete: %d rows, %v", name, gone.RowsAffected, gone.Error)
		}
	})
}

func gormNil(t *testing.T) {
	onEachGorm(t, func(t *testing.T, name string, db *gorm.DB) {
		type row = gormRow[nanoflake.ID]
		in := migrated[row](t, db)
		panics := func(id any) (panicked bool) {
			defer func() { panicked = recover() != nil }()
			in().First(&row{}, id)
			return false
		}
		if !panics((*nanoflake.ID)(nil)) || !panics((*sql.NullInt64)(nil)) {
			t.Errorf("%s: GORM no longer calls a nil pointer", name)
		}
		if r := in().Where("id = ?", (*nanoflake.ID)(nil)).Find(&[]row{}); r.Error != nil || r.RowsAffected != 0 {
			t.Errorf("%s: Where: %d rows, %v", name, r.RowsAffected, r.Error)
		}
	})
}

// onEachGorm runs a test with GORM on each database.
func onEachGorm(t *testing.T, test func(t *testing.T, name string, db *gorm.DB)) {
	for _, name := range gormDatabases {
		t.Run(name, func(t *testing.T) { test(t, name, gormOn(t, name)) })
	}
}

// TestGormTraps shows the traps of GORM without the rest of the matrix.
func TestGormTraps(t *testing.T) {
	for _, trap := range traps {
		if strings.HasPrefix(trap.title, "GORM ") {
			t.Run(trap.title, trap.show)
		}
	}
}

func ownType(t *testing.T) {
	type OrderID nanoflake.ID
	type EmbeddedID struct{ nanoflake.ID }
	id := nanoflake.MustParse("0mx0btb10b280")
	if data, err := json.Marshal(OrderID(id)); err != nil || string(data) != id.Decimal() {
		t.Errorf("%s, %v", data, err)
	}
	var back EmbeddedID
	data, err := json.Marshal(EmbeddedID{id})
	if err != nil || string(data) != `"0mx0btb10b280"` || json.Unmarshal(data, &back) != nil || back.ID != id {
		t.Errorf("%s, %v, %v", data, err, back)
	}
}

// embeddedGQL shows that each type declares the methods for gqlgen. gqlgen does not see promoted methods.
func embeddedGQL(t *testing.T) {
	names := map[string][]string{
		"nanoflake": {"ID", "Text"}, "ulidflake": {"ID", "Text", "ScalableID", "ScalableText"}, "snowflakesi": {"ID"},
		"scru160": {"ID", "Binary"}, "sno": {"ID", "Text", "UUID"},
	}
	const root = "github.com/firn-id/firn/"
	args := []string{"list", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for name := range names {
		args = append(args, root+name)
	}
	out := testkit.Must(exec.CommandContext(t.Context(), "go", args...).Output())
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	declares := func(named *types.Named, method string) bool {
		for m := range named.Methods() {
			if m.Name() == method {
				return true
			}
		}
		return false
	}
	for name, list := range names {
		p := testkit.Must(from.Import(root + name))
		for _, typ := range list {
			named := p.Scope().Lookup(typ).Type().(*types.Named)
			if !declares(named, "MarshalGQL") || !declares(named, "UnmarshalGQL") {
				t.Errorf("gqlgen does not see the methods of %s.%s", name, typ)
			}
			own := types.NewNamed(types.NewTypeName(token.NoPos, p, "OrderID", nil),
				types.NewStruct([]*types.Var{types.NewField(token.NoPos, p, typ, named, true)}, nil), nil)
			if declares(own, "MarshalGQL") || types.NewMethodSet(own).Lookup(p, "MarshalGQL") == nil {
				t.Error("a type that embeds an ID declares the method, or does not have it")
			}
		}
	}
}

func jsonString(t *testing.T) {
	type option struct {
		ID nanoflake.ID `json:",string"`
	}
	want := option{nanoflake.MustParse("0mx0btb10b280")}
	data, err := json.Marshal(want)
	var got option
	if err != nil || json.Unmarshal(data, &got) != nil || got != want {
		t.Errorf("%s, %v, %v", data, err, got)
	}
	old := fmt.Sprintf(`{"ID":"%d"}`, want.ID.Int64())
	got = option{}
	if err := json.Unmarshal([]byte(old), &got); err != nil || got != want {
		t.Errorf("%s is read as %v, %v", old, got, err)
	}
	if err := json.Unmarshal([]byte(`{"ID":"1234567890123"}`), &got); err == nil || got != want {
		t.Errorf("13 digits are read as %v", got)
	}
	var number struct {
		ID snowflakesi.ID `json:",string"`
	}
	number.ID = 1234567890123
	if data, err = json.Marshal(number); err != nil || json.Unmarshal(data, &number) == nil || number.ID != 1234567890123 {
		t.Errorf("%s is read as %v, %v", data, number, err)
	}
}

func sscan(t *testing.T) {
	var id nanoflake.ID
	if _, err := fmt.Sscan("1234567890123", &id); err != nil || id != 1234567890123 || id == nanoflake.MustParse("1234567890123") {
		t.Errorf("%v, %v", id, err)
	}
}

func structpbValue(t *testing.T) {
	id := nanoflake.MustParse("0mx0btb10b280")
	if s, err := structpb.NewStruct(map[string]any{"id": id}); err == nil {
		t.Errorf("%v", s)
	}
	if s, err := structpb.NewStruct(map[string]any{"id": id.String()}); err != nil || s.Fields["id"].GetStringValue() != id.String() {
		t.Errorf("%v, %v", s, err)
	}
}

func charSpaces(t *testing.T) {
	s := onSQL(t, openMariaDB(t, false), ofMariaDB("MariaDB"))
	table := s.table(t, "CHAR(10)")
	spaces, some := sno.ID([]byte("          ")), sno.ID([]byte("abcdefg   "))
	for n, id := range []sno.ID{spaces, some} {
		testkit.OK(t, s.exec("INSERT INTO "+table+" VALUES (?, ?)", n, id))
	}
	got := some
	if err := s.one("SELECT id FROM "+table+" WHERE n = 0", nil, &got); err != nil || !got.IsZero() {
		t.Errorf("%v, %v", got, err)
	}
	if err := s.one("SELECT id FROM "+table+" WHERE n = 1", nil, &got); err == nil || !got.IsZero() {
		t.Errorf("%v, %v", got, err)
	}
}

func integerAsText(t *testing.T) {
	var e *iderr.ParseError
	for _, src := range []any{"1234567890123", []byte("1234567890123"), "123", []byte("12345678")} {
		id := nanoflake.ID(7)
		if err := id.Scan(src); !errors.As(err, &e) || id != 7 {
			t.Errorf("%s: %v, %v", src, id, err)
		}
		var number snowflakesi.ID
		if err := number.Scan(src); err != nil || number.String() != fmt.Sprintf("%s", src) {
			t.Errorf("%s: %v, %v", src, number, err)
		}
	}
}

func digitsInBigint(t *testing.T) {
	s := onSQL(t, openPostgres(t), ofPostgres("PostgreSQL"))
	table := s.table(t, "BIGINT")
	text := nanoflake.MustParse("1234567890123").Text()
	testkit.OK(t, s.exec("INSERT INTO "+table+" VALUES (1, $1)", text))
	var back nanoflake.Text
	if err := s.one("SELECT id FROM "+table, nil, &back); err == nil {
		t.Errorf("%v", back)
	}
	var id nanoflake.ID
	if err := s.one("SELECT id FROM "+table, nil, &id); err != nil || id == text.ID() {
		t.Errorf("%v, %v", id, err)
	}
}

func bytesInUUID(t *testing.T) {
	ctx, conn := t.Context(), openPgx(t, pgx.QueryExecModeCacheStatement)
	short := sno.MustParse("cufsekaqqudbobiw")
	long := scru160.MustParse("12345678901234567890123456789012")
	padded := hex.EncodeToString(short.Bytes()) + "000000000000"
	cut := hex.EncodeToString(long.Bytes()[:16])
	for _, c := range []struct {
		query string
		value any
		want  string
	}{
		{"SELECT $1::uuid", short, padded}, {"SELECT $1::uuid", &short, padded}, {"SELECT $1::uuid", sql.Null[sno.ID]{V: short, Valid: true}, padded},
		{"SELECT ($1::uuid[])[1]", []sno.ID{short}, padded}, {"SELECT $1::uuid", long.Binary(), cut},
	} {
		var stored [16]byte
		var id sno.ID
		var uuid sno.UUID
		if err := conn.QueryRow(ctx, c.query, c.value).Scan(&stored); err != nil || hex.EncodeToString(stored[:]) != c.want {
			t.Errorf("%T: %x, %v", c.value, stored, err)
		}
		if conn.QueryRow(ctx, c.query, c.value).Scan(&id) == nil || conn.QueryRow(ctx, c.query, c.value).Scan(&uuid) == nil {
			t.Errorf("%T is read as %v, %v", c.value, id, uuid)
		}
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} { // do not ask
		conn := openPgx(t, mode)
		testkit.OK(t, testkit.Err(conn.Exec(ctx, "CREATE TEMPORARY TABLE uuids (id UUID)")))
		for _, v := range []any{short, long.Binary()} {
			if _, err := conn.Exec(ctx, "INSERT INTO uuids VALUES ($1)", v); err == nil {
				t.Errorf("%v: a UUID column takes a %T", mode, v)
			}
		}
	}
	registered := openPgx(t, pgx.QueryExecModeCacheStatement)
	pgxid.Register(registered.TypeMap())
	for _, v := range []any{short, &short, long.Binary()} {
		var stored [16]byte
		if err := registered.QueryRow(ctx, "SELECT $1::uuid", v).Scan(&stored); !errors.Is(err, iderr.ErrType) {
			t.Errorf("%T with pgxid: %x, %v", v, stored, err)
		}
	}
}
