package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/typed"
)

// label is a kind of things.
type label struct{}

// typedKind returns the kind with the type typed.ID, whose columns are those of the plain ID.
func typedKind[T interface {
	typed.Untyped[T]
	cell.ID
}](k cell.Kind[T]) cell.Kind[typed.ID[T, label]] {
	as := typed.As[label, T]
	to := cell.Kind[typed.ID[T, label]]{Type: "typed.ID[" + k.Type + "]", Column: k.Column, Absent: as(k.Absent), Zeros: k.Zeros}
	for _, id := range k.IDs {
		to.IDs = append(to.IDs, as(id))
	}
	return to
}

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
		gormConditions(t, db, typedKind(cell.Nanoflake()))
		gormConditions(t, db, typedKind(cell.NanoflakeText()))
		gormConditions(t, db, typedKind(cell.Scalable()))
		gormConditions(t, db, typedKind(cell.Snowflake()))
		gormConditions(t, db, typedKind(cell.SCRU160()))
		gormConditions(t, db, typedKind(cell.SCRU160Binary()))
		gormConditions(t, db, typedKind(cell.Sno()))
		gormConditions(t, db, typedKind(cell.SnoText()))
		gormConditions(t, db, typedKind(cell.SnoUUID()))
	})
}

func gormConditions[T cell.ID](t *testing.T, db *gorm.DB, k cell.Kind[T]) {
	t.Run(k.Type, func(t *testing.T) {
		switch k.Column.Bytes {
		case 10:
			gormForms(t, db, k, func(n int, id T) gormRow10[T] { return gormRow10[T]{id, n} }, func(r gormRow10[T]) (int, T) { return r.N, r.ID })
		case 20:
			gormForms(t, db, k, func(n int, id T) gormRow20[T] { return gormRow20[T]{id, n} }, func(r gormRow20[T]) (int, T) { return r.N, r.ID })
		default:
			gormForms(t, db, k, func(n int, id T) gormRow[T] { return gormRow[T]{id, n} }, func(r gormRow[T]) (int, T) { return r.N, r.ID })
		}
	})
}

func gormForms[R any, T cell.ID](t *testing.T, db *gorm.DB, k cell.Kind[T], row func(int, T) R, fields func(R) (int, T)) {
	in := migrated[R](t, db)
	ids := k.IDs[2:6]
	a, b := ids[2], ids[0] // in the rows 2 and 0
	fill := func() {
		t.Helper()
		if err := in().Where("1 = 1").Delete(new(R)).Error; err != nil {
			t.Fatal(err)
		}
		var rows []R
		for n, id := range ids {
			rows = append(rows, row(n, id))
		}
		if err := in().Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
	}
	numbers := func(rows []R) []int {
		list := []int{}
		for _, r := range rows {
			n, _ := fields(r)
			list = append(list, n)
		}
		slices.Sort(list)
		return list
	}
	left := func() []int {
		t.Helper()
		var rows []R
		if err := in().Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		return numbers(rows)
	}
	check := func(form string, c condition, call call[R]) {
		t.Helper()
		want := []int{2}
		if c.both {
			want = []int{0, 2}
		}
		if call.not {
			want = slices.DeleteFunc([]int{0, 1, 2, 3}, func(n int) bool { return slices.Contains(want, n) })
		}
		var got []int
		var err error
		if call.find != nil {
			var rows []R
			err = call.find(in(), &rows, c.args[0], c.args[1:]...)
			got = numbers(rows)
			if call.one {
				want = want[:1]
			}
		} else {
			fill()
			err = call.erase(in(), c.args[0], c.args[1:]...)
			there := left()
			got = slices.DeleteFunc([]int{0, 1, 2, 3}, func(n int) bool { return slices.Contains(there, n) })
		}
		switch {
		case c.bare && k.Column.Bytes > 0:
			if err == nil && slices.Equal(got, want) {
				t.Errorf("%s: the right rows: docs/matrix.md says that GORM takes bytes apart", form)
			}
		case err != nil && len(got) > 0:
			t.Errorf("%s: an error, and rows %v: %v", form, got, err)
		case err == nil && !slices.Equal(got, want):
			t.Errorf("%s: rows %v, want %v", form, got, want)
		case err != nil:
			t.Logf("%s: %v", form, err)
		}
	}
	fill()
	for _, call := range calls[R]() {
		for _, c := range conditions(a, b) {
			if call.find == nil {
				check(fmt.Sprintf("%s(%s)", call.name, c.form), c, call)
			}
		}
	}
	fill()
	for _, call := range calls[R]() {
		for _, c := range conditions(a, b) {
			if call.find != nil {
				check(fmt.Sprintf("%s(%s)", call.name, c.form), c, call)
			}
		}
	}
	var plucked []T
	if err := in().Order("n").Pluck("id", &plucked).Error; err != nil || !slices.Equal(plucked, ids) {
		t.Errorf("Pluck: %v, %v, want %v", plucked, err, ids)
	}
	var scanned []T
	if err := in().Select("id").Order("n").Scan(&scanned).Error; err != nil || !slices.Equal(scanned, ids) {
		t.Errorf("Scan: %v, %v, want %v", scanned, err, ids)
	}
	if !strings.HasPrefix(k.Column.Postgres, "VARCHAR") {
		return
	}
	for _, id := range k.IDs { // texts of digits are among the texts
		var r R
		err := in().Where("1 = 0").Where(map[string]any{"id": id.String()}).FirstOrInit(&r).Error
		if _, got := fields(r); err == nil && got != id {
			t.Errorf("FirstOrInit by the text %s: %v", id, got)
		}
	}
}
