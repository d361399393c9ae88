package matrix

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/iderr"
)

// label is a kind of things.
type label struct{}

// A condition is the arguments of a call of GORM. The condition names the row of the first ID, or
// the rows of both IDs.
type condition struct {
	form string
	args []any
	both bool
	bare bool // the ID or its pointer is the whole condition
}

// conditions returns all forms of a condition.
func conditions[T any](a, b T) []condition {
	two := []T{a, b}
	return []condition{
		{"id", []any{a}, false, true},
		{"&id", []any{&a}, false, true},
		{"[]ID{id}", []any{[]T{a}}, false, false},
		{"[]ID{a, b}", []any{two}, true, false},
		{"&[]ID{a, b}", []any{&two}, true, false},
		{"[]*ID{&a, &b}", []any{[]*T{&a, &b}}, true, false},
		{"[2]ID{a, b}", []any{[2]T{a, b}}, true, false},
		{`"id = ?", id`, []any{"id = ?", a}, false, false},
		{`"id = ?", &id`, []any{"id = ?", &a}, false, false},
		{`"id IN ?", []ID{a, b}`, []any{"id IN ?", two}, true, false},
		{`"id", id`, []any{"id", a}, false, false},
		{`"id", []ID{a, b}`, []any{"id", two}, true, false},
		{`map{"id": id}`, []any{map[string]any{"id": a}}, false, false},
		{`map{"id": []ID{a, b}}`, []any{map[string]any{"id": two}}, true, false},
	}
}

// A call is a method of GORM with a condition. find returns the rows that the call finds; nil is a
// call that deletes rows.
type call[R any] struct {
	name  string
	not   bool // the condition is turned round
	one   bool // the call finds the first row of all
	find  func(db *gorm.DB, rows *[]R, query any, args ...any) error
	erase func(db *gorm.DB, query any, args ...any) error
}

func calls[R any]() []call[R] {
	first := func(get func(*gorm.DB, any, ...any) *gorm.DB) func(*gorm.DB, *[]R, any, ...any) error {
		return func(db *gorm.DB, rows *[]R, query any, args ...any) error {
			var row R
			err := get(db, &row, append([]any{query}, args...)...).Error
			switch {
			case errors.Is(err, gorm.ErrRecordNotFound):
				return nil
			case err == nil:
				*rows = []R{row}
			}
			return err
		}
	}
	none := func(db *gorm.DB) *gorm.DB { return db.Where("1 = 0") }
	return []call[R]{
		{name: "First", one: true, find: first((*gorm.DB).First)},
		{name: "Take", one: true, find: first((*gorm.DB).Take)},
		{name: "Find", find: func(db *gorm.DB, rows *[]R, query any, args ...any) error {
			return db.Find(rows, append([]any{query}, args...)...).Error
		}},
		{name: "Where", find: func(db *gorm.DB, rows *[]R, query any, args ...any) error {
			return db.Where(query, args...).Find(rows).Error
		}},
		{name: "Not", not: true, find: func(db *gorm.DB, rows *[]R, query any, args ...any) error {
			return db.Not(query, args...).Find(rows).Error
		}},
		{name: "Or", find: func(db *gorm.DB, rows *[]R, query any, args ...any) error {
			return none(db).Or(query, args...).Find(rows).Error
		}},
		{name: "Delete", erase: func(db *gorm.DB, query any, args ...any) error {
			return db.Delete(new(R), append([]any{query}, args...)...).Error
		}},
		{name: "Where.Delete", erase: func(db *gorm.DB, query any, args ...any) error { return db.Where(query, args...).Delete(new(R)).Error }},
		{name: "Not.Delete", not: true, erase: func(db *gorm.DB, query any, args ...any) error { return db.Not(query, args...).Delete(new(R)).Error }},
		{name: "Or.Delete", erase: func(db *gorm.DB, query any, args ...any) error {
			return none(db).Or(query, args...).Delete(new(R)).Error
		}},
	}
}

// TestGormConditions calls GORM with each form of a condition, with IDs of each type. GORM finds and
// deletes the right rows, or there is an error and no row is deleted. The exception is an ID of bytes
// that is the whole condition: see the trap in docs/matrix.md.
func TestGormConditions(t *testing.T) {
	onEachGorm(t, func(t *testing.T, _ string, db *gorm.DB) {
		gormConditions(t, db, cell.Nanoflake())
		gormConditions(t, db, cell.NanoflakeText())
		gormConditions(t, db, cell.Ulidflake())
		gormConditions(t, db, cell.UlidflakeText())
		gormConditions(t, db, cell.Scalable())
		gormConditions(t, db, cell.ScalableText())
		gormConditions(t, db, cell.Snowflake())
		gormConditions(t, db, cell.SCRU160())
		gormConditions(t, db, cell.SCRU160Binary())
		gormConditions(t, db, cell.Sno())
		gormConditions(t, db, cell.SnoText())
		gormConditions(t, db, cell.SnoUUID())
		gormConditions(t, db, cell.Typed[label](cell.Nanoflake()))
		gormConditions(t, db, cell.Typed[label](cell.NanoflakeText()))
		gormConditions(t, db, cell.Typed[label](cell.Scalable()))
		gormConditions(t, db, cell.Typed[label](cell.Snowflake()))
		gormConditions(t, db, cell.Typed[label](cell.SCRU160()))
		gormConditions(t, db, cell.Typed[label](cell.SCRU160Binary()))
		gormConditions(t, db, cell.Typed[label](cell.Sno()))
		gormConditions(t, db, cell.Typed[label](cell.SnoText()))
		gormConditions(t, db, cell.Typed[label](cell.SnoUUID()))
	})
}

func gormConditions[T cell.ID](t *testing.T, db *gorm.DB, k cell.Kind[T]) {
	t.Run(k.Type, func(t *testing.T) {
		switch k.Column.Bytes {
		case 10:
			gormForms[gormRow10[T]](t, db, k)
		case 20:
			gormForms[gormRow20[T]](t, db, k)
		default:
			gormForms[gormRow[T]](t, db, k)
		}
	})
}

func gormForms[R gormRowOf[R, T], T cell.ID](t *testing.T, db *gorm.DB, k cell.Kind[T]) {
	table := gormTable[R, T]{t, migrated[R](t, db), k.IDs[2:6]}
	a, b := table.ids[2], table.ids[0] // in the rows 2 and 0
	table.fill()
	for _, deletes := range []bool{false, true} {
		for _, call := range calls[R]() {
			for _, c := range conditions(a, b) {
				if deletes == (call.erase != nil) {
					table.check(c, call, c.bare && k.Column.Bytes > 0)
				}
			}
		}
	}
	table.fill()
	var plucked, scanned []T
	if err := table.in().Order("n").Pluck("id", &plucked).Error; err != nil || !slices.Equal(plucked, table.ids) {
		t.Errorf("Pluck: %v, %v, want %v", plucked, err, table.ids)
	}
	if err := table.in().Select("id").Order("n").Scan(&scanned).Error; err != nil || !slices.Equal(scanned, table.ids) {
		t.Errorf("Scan: %v, %v, want %v", scanned, err, table.ids)
	}
	var forgotten T
	if _, err := forgotten.Value(); err != nil { // a sno.ID stores its zero
		for form, r := range map[string]*gorm.DB{
			"Not":   table.in().Not("id", forgotten).Delete(new(R)),
			"map":   table.in().Not(map[string]any{"id": &forgotten}).Delete(new(R)),
			"null":  table.in().Not("id", sql.Null[T]{V: forgotten, Valid: true}).Delete(new(R)),
			"Where": table.in().Where("id", forgotten).Delete(new(R)),
			"alone": table.in().Not(forgotten).Delete(new(R)),
		} {
			if !errors.Is(r.Error, iderr.ErrNoID) || r.RowsAffected > 0 {
				t.Errorf("%s of a forgotten ID: %d rows, %v", form, r.RowsAffected, r.Error)
			}
		}
	}
	if !strings.HasPrefix(k.Column.Postgres, "VARCHAR") {
		return
	}
	for _, id := range k.IDs { // texts of digits are among the texts
		var r R
		err := table.in().Where("1 = 0").Where(map[string]any{"id": id.String()}).FirstOrInit(&r).Error
		if _, got := r.parts(); err == nil && got != id {
			t.Errorf("FirstOrInit by the text %s: %v", id, got)
		}
	}
}

// A gormTable has a row for each of four IDs.
type gormTable[R gormRowOf[R, T], T cell.ID] struct {
	t   *testing.T
	in  func() *gorm.DB
	ids []T
}

// fill makes all rows again.
func (g gormTable[R, T]) fill() {
	g.t.Helper()
	var rows []R
	for n, id := range g.ids {
		rows = append(rows, (*new(R)).of(n, id))
	}
	if err := errors.Join(g.in().Where("1 = 1").Delete(new(R)).Error, g.in().Create(&rows).Error); err != nil {
		g.t.Fatal(err)
	}
}

// without returns the numbers of the rows that are not among rows.
func (g gormTable[R, T]) without(rows []int) []int {
	return slices.DeleteFunc([]int{0, 1, 2, 3}, func(n int) bool { return slices.Contains(rows, n) })
}

// check makes a call with a condition, and checks which rows the call finds or deletes. GORM takes the
// condition apart if taken is true.
func (g gormTable[R, T]) check(c condition, call call[R], taken bool) {
	g.t.Helper()
	want := []int{2}
	if c.both {
		want = []int{0, 2}
	}
	if call.not {
		want = g.without(want)
	}
	var rows []R
	var got []int
	var err error
	if call.find != nil {
		err = call.find(g.in(), &rows, c.args[0], c.args[1:]...)
		got = slices.Sorted(slices.Values(gormNumbers(rows)))
		if call.one {
			want = want[:1]
		}
	} else {
		g.fill()
		err = call.erase(g.in(), c.args[0], c.args[1:]...)
		if err := g.in().Find(&rows).Error; err != nil {
			g.t.Fatal(err)
		}
		got = g.without(gormNumbers(rows))
	}
	form := fmt.Sprintf("%s(%s)", call.name, c.form)
	switch {
	case taken:
		if err == nil && slices.Equal(got, want) {
			g.t.Errorf("%s: the right rows: docs/matrix.md says that GORM takes bytes apart", form)
		}
	case err != nil && len(got) > 0:
		g.t.Errorf("%s: an error, and rows %v: %v", form, got, err)
	case err == nil && !slices.Equal(got, want):
		g.t.Errorf("%s: rows %v, want %v", form, got, want)
	case err != nil:
		g.t.Logf("%s: %v", form, err)
	}
}
