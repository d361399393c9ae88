package orders

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

// A recorder keeps the statements of GORM.
type recorder struct{ statements []string }

func (r *recorder) LogMode(logger.LogLevel) logger.Interface { return r }
func (r *recorder) Info(context.Context, string, ...any)     {}
func (r *recorder) Warn(context.Context, string, ...any)     {}
func (r *recorder) Error(context.Context, string, ...any)    {}
func (r *recorder) Trace(_ context.Context, _ time.Time, statement func() (string, int64), _ error) {
	text, _ := statement()
	r.statements = append(r.statements, text)
}

// changes returns the statements that change tables.
func (r *recorder) changes() (found []string) {
	for _, s := range r.statements {
		switch word, _, _ := strings.Cut(strings.TrimSpace(s), " "); strings.ToUpper(word) {
		case "CREATE", "ALTER", "DROP":
			found = append(found, s)
		}
	}
	return found
}

func each(t *testing.T, f func(t *testing.T, db *gorm.DB, r *recorder)) {
	for name, open := range map[string]func(t *testing.T) gorm.Dialector{
		"PostgreSQL": func(t *testing.T) gorm.Dialector { return postgres.New(postgres.Config{Conn: database.PostgresDB(t)}) },
		"MariaDB":    func(t *testing.T) gorm.Dialector { return mysql.New(mysql.Config{Conn: database.MySQLDB(t)}) },
		"SQLite":     func(t *testing.T) gorm.Dialector { return sqlite.Open(filepath.Join(t.TempDir(), "orders.db")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := new(recorder)
			db, err := gorm.Open(open(t), &gorm.Config{Logger: r})
			testkit.OK(t, err)
			pool := testkit.Must(db.DB())
			t.Cleanup(func() { pool.Close() })
			testkit.OK(t, db.AutoMigrate(&Order{}, &Shipment{}, &Event{}))
			f(t, db.WithContext(t.Context()), r)
		})
	}
}

func shop(db *gorm.DB) sample.Shop[Order] {
	of := func(o sample.Order) Order {
		order := Order{ID: o.ID, ParentID: o.Parent, Item: o.Item}
		if o.Parent != nil {
			order.Payment = sql.Null[nanoflake.ID]{V: *o.Parent, Valid: true}
		}
		return order
	}
	pool, _ := db.DB()
	return sample.Shop[Order]{
		Of:     of,
		Insert: func(_ context.Context, o Order) error { return Insert(db, &o) },
		Find:   func(_ context.Context, id nanoflake.ID) (Order, error) { return Find(db, id) },
		Made: func(_ context.Context, gen *nanoflake.Generator, from, to time.Time) ([]Order, error) {
			return Made(db, gen, from, to)
		},
		FindAll: func(_ context.Context, ids []nanoflake.ID) ([]Order, error) { return FindAll(db, ids) },
		Missing: gorm.ErrRecordNotFound, Join: func(o, parent *Order) { o.Parent = parent }, DB: pool,
	}
}

func TestOrders(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) { shop(db).TestOrders(t) })
}

// A forgotten ID is an error, and GORM numbers no row.
func TestNoID(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		shop(db).TestNoID(t)
		for name, err := range map[string]error{
			"Create of many": db.Create([]Order{{ID: 1, Item: "first"}, {Item: "forgotten"}}).Error,
			"Save":           db.Save(&Order{Item: "forgotten"}).Error,
			"Null":           Insert(db, &Order{ID: 1, Payment: sql.Null[nanoflake.ID]{Valid: true}}),
			"Event":          db.Create(&Event{}).Error,
		} {
			if !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, table := range []any{&Order{}, &Event{}} {
			var rows int64
			if err := db.Model(table).Count(&rows).Error; err != nil || rows != 0 {
				t.Errorf("%T: %d rows, %v", table, rows, err)
			}
		}
	})
}

// A forgotten ID in a condition of a column is an error, and never IS NULL. The rows stay as they are.
func TestForgottenInCondition(t *testing.T) {
	var id nanoflake.ID // forgotten
	null := sql.Null[nanoflake.ID]{V: id, Valid: true}
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		var rows []Order
		var order Order
		var n int64
		orders := []Order{{ID: 1, Item: "root"}, {ID: 2, Item: "root"}, {ID: 3, ParentID: new(nanoflake.ID(1)), Item: "child"}}
		testkit.OK(t, db.Create(&orders).Error)
		first := func(tx *gorm.DB) *gorm.DB { return tx.First(&order) }
		for name, r := range map[string]*gorm.DB{
			"Where(column).Delete":         db.Where("parent_id", id).Delete(&Order{}),
			"Where(&column).Delete":        db.Where("parent_id", &id).Delete(&Order{}),
			"Where(column, null).Delete":   db.Where("payment", null).Delete(&Order{}),
			"Where(words).Delete":          db.Where("parent_id = ?", id).Delete(&Order{}),
			"Where(IN).Delete":             db.Where("parent_id IN ?", []nanoflake.ID{1, id}).Delete(&Order{}),
			"Where(column, IDs).Delete":    db.Where("parent_id", []nanoflake.ID{id}).Delete(&Order{}),
			"Where(map).Delete":            db.Where(map[string]any{"parent_id": id}).Delete(&Order{}),
			"Where(struct).Delete":         db.Where(&Order{ParentID: &id}).Delete(&Order{}),
			"Where(struct of null).Delete": db.Where(&Order{Payment: null}).Delete(&Order{}),
			"Where(field).Delete":          db.Where(&Order{ParentID: &id, Item: "root"}, "ParentID").Delete(&Order{}),
			"Where(clause.Eq).Delete":      db.Where(clause.Eq{Column: "parent_id", Value: id}).Delete(&Order{}),
			"Where(clause.Neq).Delete":     db.Where(clause.Neq{Column: "id", Value: id}).Delete(&Order{}),
			"Where(Expr).Delete":           db.Where(gorm.Expr("parent_id = ?", id)).Delete(&Order{}),
			"Where(id).Delete":             db.Where(id).Delete(&Order{}),
			"Delete(column)":               db.Delete(&Order{}, "parent_id", id),
			"Delete(map)":                  db.Delete(&Order{}, map[string]any{"parent_id": id}),
			"Not(column).Delete":           db.Not("id", id).Delete(&Order{}),
			"Not(map).Delete":              db.Not(map[string]any{"id": id}).Delete(&Order{}),
			"Not(struct).Delete":           db.Not(&Order{ParentID: &id}).Delete(&Order{}),
			"Not(id).Delete":               db.Not(id).Delete(&Order{}),
			"Or(column).Delete":            db.Where("id", 9).Or("parent_id", id).Delete(&Order{}),
			"Or(map).Delete":               db.Where("id", 9).Or(map[string]any{"parent_id": id}).Delete(&Order{}),
			"group.Delete":                 db.Where(db.Where("parent_id", id).Or("id", 9)).Delete(&Order{}),
			"Update":                       db.Model(&Order{}).Where("parent_id", id).Update("item", "x"),
			"Updates":                      db.Model(&Order{}).Not("id", id).Updates(map[string]any{"item": "x"}),
			"Updates of the column":        db.Model(&Order{}).Where("id", 1).Updates(map[string]any{"parent_id": id, "payment": id}),
			"Updates of a struct":          db.Where("id", 1).Updates(&Order{ParentID: &id}),
			"Save":                         db.Save(&Order{ID: 1, ParentID: &id}),
			"Find":                         db.Where("parent_id", id).Find(&rows),
			"Count":                        db.Model(&Order{}).Where("parent_id", id).Count(&n),
			"Pluck":                        db.Model(&Order{}).Where("parent_id", id).Pluck("item", new([]string)),
			"First":                        first(db.Where("parent_id", id)),
			"subquery":                     db.Where("id IN (?)", db.Model(&Order{}).Select("id").Where("parent_id", id)).Delete(&Order{}),
			"Joins":                        db.Joins("Parent", db.Where(map[string]any{"id": id})).Find(&rows),
			"Preload":                      db.Preload("Parent", "parent_id", id).Find(&rows),
			"FirstOrInit":                  db.Where("parent_id", id).FirstOrInit(&Order{}),
			"FirstOrCreate":                db.Where("id", 9).Attrs(&Order{ID: 9, ParentID: &id}).FirstOrCreate(&Order{}),
			"FirstOrCreate of a map":       db.Where("id", 9).Attrs(map[string]any{"id": 9, "payment": id}).FirstOrCreate(&Order{}),
			"Assign":                       db.Where("id", 1).Assign(map[string]any{"payment": id}).FirstOrCreate(&Order{}),
			"Create of a map":              db.Model(&Order{}).Create(map[string]any{"id": 9, "payment": id}),
			"generic": func() *gorm.DB {
				n, err := gorm.G[Order](db).Where("parent_id", id).Delete(t.Context())
				return &gorm.DB{Error: err, RowsAffected: int64(n)}
			}(),
		} {
			if !errors.Is(r.Error, iderr.ErrNoID) {
				t.Errorf("%s: %d rows, %v", name, r.RowsAffected, r.Error)
			}
		}
		if err := db.Order("id").Find(&rows).Error; err != nil || !reflect.DeepEqual(rows, orders) {
			t.Errorf("the orders are %+v, %v", rows, err)
		}
	})
}

// AutoMigrate makes plain columns, without a sequence, and finds nothing to change the second time.
func TestAutoMigrate(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, r *recorder) {
		if len(r.changes()) == 0 {
			t.Fatal("the recorder misses the statements of AutoMigrate")
		}
		want := map[string]bool{"id": true, "parent_id": true, "payment": true}
		types, err := db.Migrator().ColumnTypes(&Order{})
		testkit.OK(t, err)
		for _, c := range types {
			if !want[c.Name()] {
				continue
			}
			delete(want, c.Name())
			got, extra := c.DatabaseTypeName(), ""
			switch db.Name() {
			case "postgres":
				err = db.Raw(`SELECT data_type, coalesce(column_default, '') || is_identity FROM information_schema.columns
					WHERE table_schema = current_schema() AND table_name = 'orders' AND column_name = ?`, c.Name()).Row().Scan(&got, &extra)
				extra = strings.TrimPrefix(extra, "NO")
			case "mysql":
				err = db.Raw(`SELECT data_type, concat(extra, coalesce(nullif(column_default, 'NULL'), '')) FROM information_schema.columns
					WHERE table_schema = database() AND table_name = 'orders' AND column_name = ?`, c.Name()).Row().Scan(&got, &extra)
			}
			if err != nil || !strings.EqualFold(got, "bigint") || extra != "" {
				t.Errorf("column %s is %s %q, %v", c.Name(), got, extra, err)
			}
		}
		if len(want) > 0 {
			t.Errorf("no columns %v", want)
		}
		r.statements = nil
		testkit.OK(t, db.AutoMigrate(&Order{}, &Shipment{}, &Event{}))
		if found := r.changes(); len(found) > 0 || len(r.statements) == 0 {
			t.Errorf("AutoMigrate again: %q of %d statements", found, len(r.statements))
		}
	})
}

func TestShipments(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		Shipments = sample.Generator(t)
		made := []Shipment{{OrderID: sample.IDs(t)[0]}, {OrderID: sample.IDs(t)[1]}}
		before := time.Now()
		testkit.OK(t, db.Create(&made).Error)
		var got []Shipment
		if err := db.Order("id").Find(&got).Error; err != nil || !reflect.DeepEqual(got, made) {
			t.Errorf("found %v, %v, want %v", got, err, made)
		}
		if id := made[0].ID; id < Shipments.First(before) || id >= made[1].ID || id.GeneratorID() != 7 {
			t.Errorf("the generator did not make %v", made)
		}
		if err := db.Create(&Shipment{}).Error; !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("a shipment without an order: %v", err)
		}
	})
}

func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		for i := range 4 {
			id, s := sample.Event(t, i)
			want := Event{ID: id.Binary(), Text: id, Sno: s}
			testkit.OK(t, db.Create(&want).Error)
			if got, err := FindEvent(db, id); err != nil || got != want {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
			if got, err := FindSno(db, want.Sno); err != nil || got != want {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
			var got Event
			if err := db.Where("text = ?", id).First(&got).Error; err != nil || got != want {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
		}
		if db.Name() == "mysql" {
			for column, want := range map[string]string{"id": "varbinary(20)", "sno": "varbinary(10)", "text": "varchar(32)"} {
				var got string
				if err := db.Raw(`SELECT column_type FROM information_schema.columns
					WHERE table_schema = database() AND table_name = 'events' AND column_name = ?`, column).Row().Scan(&got); err != nil || got != want {
					t.Errorf("column %s is %s, %v, want %s", column, got, err, want)
				}
			}
		}
	})
}

// Without the tag size, MySQL gets a column that cannot be a key.
func TestSize(t *testing.T) {
	type Unsized struct {
		ID scru160.Binary `gorm:"primaryKey"`
	}
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: database.MySQLDB(t)}), &gorm.Config{Logger: new(recorder)})
	testkit.OK(t, err)
	if err := db.AutoMigrate(&Unsized{}); err == nil {
		t.Error("MySQL takes a key without a size")
	}
}
