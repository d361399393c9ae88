package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/uptrace/bun"
	gormmysql "gorm.io/driver/mysql"
	gormpostgres "gorm.io/driver/postgres"
	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// Rows of GORM: the ID is the primary key. MySQL needs the size of a key of bytes.
type (
	gormRow[T any] struct {
		ID T `gorm:"primaryKey"`
		N  int
	}
	gormRow10[T any] struct {
		ID T `gorm:"primaryKey;size:10"`
		N  int
	}
	gormRow20[T any] struct {
		ID T `gorm:"primaryKey;size:20"`
		N  int
	}
)

// gormRowOf is any of the rows.
type gormRowOf[R, T any] interface {
	of(n int, id T) R
	parts() (n int, id T)
}

func (gormRow[T]) of(n int, id T) gormRow[T]     { return gormRow[T]{id, n} }
func (gormRow10[T]) of(n int, id T) gormRow10[T] { return gormRow10[T]{id, n} }
func (gormRow20[T]) of(n int, id T) gormRow20[T] { return gormRow20[T]{id, n} }
func (r gormRow[T]) parts() (n int, id T)        { return r.N, r.ID }
func (r gormRow10[T]) parts() (n int, id T)      { return r.N, r.ID }
func (r gormRow20[T]) parts() (n int, id T)      { return r.N, r.ID }

// gormNumbers returns the numbers of rows.
func gormNumbers[R gormRowOf[R, T], T any](rows []R) (list []int) {
	for _, r := range rows {
		n, _ := r.parts()
		list = append(list, n)
	}
	return list
}

// gormDatabases are the databases of GORM's tests.
var gormDatabases = []string{"PostgreSQL", "MariaDB", "SQLite"}

// openGorm returns GORM on each database.
func openGorm(t *testing.T) map[string]*gorm.DB {
	t.Helper()
	all := map[string]*gorm.DB{}
	for _, name := range gormDatabases {
		all[name] = gormOn(t, name)
	}
	return all
}

// gormOn returns GORM on a database.
func gormOn(t *testing.T, name string) *gorm.DB {
	t.Helper()
	var dialect gorm.Dialector
	switch name {
	case "PostgreSQL":
		dialect = gormpostgres.New(gormpostgres.Config{Conn: database.PostgresDB(t)})
	case "MariaDB":
		dialect = gormmysql.New(gormmysql.Config{Conn: database.MySQLDB(t)})
	case "SQLite":
		memory := database.Open(t, "sqlite", ":memory:")
		memory.SetMaxOpenConns(1)
		dialect = gormsqlite.New(gormsqlite.Config{Conn: memory})
	}
	db, err := gorm.Open(dialect, &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
	testkit.OK(t, err)
	if name == "MariaDB" {
		db = db.Set("gorm:table_options", "ENGINE=Aria TRANSACTIONAL=0").Session(&gorm.Session{})
	}
	return db
}

// migrated returns a new table of the rows, made by GORM.
func migrated[R any](t *testing.T, db *gorm.DB) func() *gorm.DB {
	t.Helper()
	tables++
	name := fmt.Sprintf("gorm%d", tables)
	in := func() *gorm.DB { return db.WithContext(t.Context()).Table(name) }
	testkit.OK(t, in().AutoMigrate(new(R)))
	return in
}

func onGorm[T cell.ID](t *testing.T, db *gorm.DB, k cell.Kind[T]) cell.Store[T] {
	switch k.Column.Bytes {
	case 10:
		return gormStore[gormRow10[T]](t, db, k)
	case 20:
		return gormStore[gormRow20[T]](t, db, k)
	}
	return gormStore[gormRow[T]](t, db, k)
}

// gormStore writes, finds and deletes rows by GORM's methods. Searches take all safe forms of a condition.
func gormStore[R gormRowOf[R, T], T cell.ID](t *testing.T, db *gorm.DB, k cell.Kind[T]) cell.Store[T] {
	in := migrated[R](t, db)
	drops := 0
	row := func(n int, id T) *R {
		r := (*new(R)).of(n, id)
		return &r
	}
	return cell.Store[T]{
		Put: func(n int, id T) error { return in().Create(row(n, id)).Error },
		Get: func(n int) (id T, err error) {
			var r R
			err = in().First(&r, "n = ?", n).Error
			_, id = r.parts()
			return id, err
		},
		Find: func(id T) ([]int, error) {
			forms := []func(*[]R) error{
				func(rows *[]R) error { return in().Where("id = ?", id).Find(rows).Error },
				func(rows *[]R) error { return in().Find(rows, "id = ?", id).Error },
				func(rows *[]R) error { return in().Where(map[string]any{"id": id}).Find(rows).Error },
				func(rows *[]R) error { return in().Where("id IN ?", []T{id, k.Absent}).Find(rows).Error },
				func(rows *[]R) error { return in().Where(row(0, id)).Find(rows).Error },
				func(rows *[]R) error {
					r := row(0, id)
					err := in().Take(r).Error
					if errors.Is(err, gorm.ErrRecordNotFound) {
						return nil
					}
					*rows = []R{*r}
					return err
				},
			}
			if k.Column.Bytes == 0 {
				forms = append(forms, func(rows *[]R) error { return in().Find(rows, id).Error })
			}
			var first []int
			for i, form := range forms {
				var rows []R
				if err := form(&rows); err != nil {
					return nil, err
				}
				if i == 0 {
					first = gormNumbers(rows)
				} else if got := gormNumbers(rows); !slices.Equal(got, first) {
					return append(first, got...), nil // a wrong answer
				}
			}
			return first, nil
		},
		Order: func() (ids []T, err error) {
			var rows []R
			err = in().Order("id").Find(&rows).Error
			for _, r := range rows {
				_, id := r.parts()
				ids = append(ids, id)
			}
			if db.Name() == "mysql" && k.Column.Bytes == 0 { // GORM makes a text that sorts without regard to case
				slices.SortFunc(ids, func(a, b T) int { return cmp.Compare(slices.Index(k.IDs, a), slices.Index(k.IDs, b)) })
			}
			return ids, err
		},
		Drop: func(id T) error {
			if drops++; k.Column.Bytes == 0 && drops%2 == 0 {
				return in().Delete(new(R), id).Error
			}
			return in().Delete(row(0, id)).Error
		},
	}
}

// onBun is the store of bun: bun writes values into its statements.
func onBun[T cell.ID](t *testing.T, db *bun.DB, k cell.Kind[T]) cell.Store[T] {
	type row struct {
		bun.BaseModel `bun:"alias:r"` // the alias from the name of a generic type is not a name in SQL
		ID            T               `bun:"id,pk"`
		N             int
	}
	ctx := t.Context()
	tables++
	name := fmt.Sprintf("matrix%d", tables)
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+name+" (id "+k.Column.Postgres+" PRIMARY KEY, n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	find := func(id ...T) (list []int, err error) {
		var rows []row
		q := db.NewSelect().Model(&rows).ModelTableExpr(name + " AS r")
		if len(id) == 1 {
			q = q.Where("id = ?", id[0])
		} else {
			q = q.Where("id IN ?", bun.Tuple(id))
		}
		err = q.Scan(ctx)
		for _, r := range rows {
			list = append(list, r.N)
		}
		return list, err
	}
	return cell.Store[T]{
		Put: func(n int, id T) error {
			_, err := db.NewInsert().Model(&row{ID: id, N: n}).ModelTableExpr(name).Exec(ctx)
			return err
		},
		Get: func(n int) (T, error) {
			var r row
			err := db.NewSelect().Model(&r).ModelTableExpr(name+" AS r").Where("n = ?", n).Scan(ctx)
			return r.ID, err
		},
		Find: func(id T) ([]int, error) {
			one, err := find(id)
			if err != nil {
				return nil, err
			}
			two, err := find(id, k.Absent)
			if !slices.Equal(one, two) {
				return append(one, two...), err // a wrong answer
			}
			return one, err
		},
		Drop: func(id T) error {
			_, err := db.NewDelete().Model(&row{ID: id}).ModelTableExpr(name + " AS r").WherePK().Exec(ctx)
			return err
		},
	}
}
