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
	"gorm.io/gorm/logger"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
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
			if err != nil {
				t.Fatal(err)
			}
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { pool.Close() })
			if err := db.AutoMigrate(&Order{}, &Shipment{}, &Event{}); err != nil {
				t.Fatal(err)
			}
			f(t, db.WithContext(t.Context()), r)
		})
	}
}

func orders(t *testing.T) []Order {
	ids := sample.IDs(t)
	all := make([]Order, len(ids))
	for i, id := range ids {
		all[i] = Order{ID: id, Item: "globe " + id.String()}
	}
	all[3].ParentID = &ids[0]
	all[4].Payment = sql.Null[nanoflake.ID]{V: ids[1], Valid: true}
	return all
}

func TestOrders(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		gen, all := sample.Generator(t), orders(t)
		for i := range all {
			if err := Insert(db, &all[i]); err != nil {
				t.Fatal(err)
			}
		}
		for i, o := range all {
			if i == 3 {
				o.Parent = &all[0]
			}
			if got, err := Find(db, o.ID); err != nil || !reflect.DeepEqual(got, o) {
				t.Errorf("found %v, %v, want %v", got, err, o)
			}
		}
		if _, err := Find(db, nanoflake.Max); !errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("an ID without an order: %v", err)
		}
		if got, err := Made(db, gen, sample.Time(2), sample.Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
			t.Errorf("made %v, %v, want %v", got, err, all[2:5])
		}
		if got, err := FindAll(db, []nanoflake.ID{all[5].ID, all[6].ID, nanoflake.Max}); err != nil || !reflect.DeepEqual(got, all[5:7]) {
			t.Errorf("found %v, %v, want %v", got, err, all[5:7])
		}
		var o Order // the short form works for IDs that are integers
		if err := db.First(&o, all[5].ID).Error; err != nil || !reflect.DeepEqual(o, all[5]) {
			t.Errorf("found %v, %v, want %v", o, err, all[5])
		}
	})
}

// A forgotten ID is an error, and GORM numbers no row.
func TestNoID(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		for name, err := range map[string]error{
			"Create":         Insert(db, &Order{Item: "forgotten"}),
			"Create of many": db.Create([]Order{{ID: 1, Item: "first"}, {Item: "forgotten"}}).Error,
			"Save":           db.Save(&Order{Item: "forgotten"}).Error,
			"parent":         Insert(db, &Order{ID: 1, ParentID: new(nanoflake.ID)}),
			"Null":           Insert(db, &Order{ID: 1, Payment: sql.Null[nanoflake.ID]{Valid: true}}),
			"Event":          db.Create(&Event{}).Error,
		} {
			if !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := Find(db, 0); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("a search for no ID: %v", err)
		}
		for _, table := range []any{&Order{}, &Event{}} {
			var rows int64
			if err := db.Model(table).Count(&rows).Error; err != nil || rows != 0 {
				t.Errorf("%T: %d rows, %v", table, rows, err)
			}
		}
		if err := db.Table("orders").Create(map[string]any{"item": "forgotten"}).Error; err == nil {
			t.Error("the database numbers the rows by itself")
		}
	})
}

// AutoMigrate makes plain columns, without a sequence, and finds nothing to change the second time.
func TestAutoMigrate(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, r *recorder) {
		if len(r.changes()) == 0 {
			t.Fatal("the recorder misses the statements of AutoMigrate")
		}
		want := map[string]map[string]string{
			"postgres": {"id": "bigint", "parent_id": "bigint", "payment": "bigint"},
			"mysql":    {"id": "bigint", "parent_id": "bigint", "payment": "bigint"},
			"sqlite":   {"id": "bigint", "parent_id": "bigint", "payment": "bigint"},
		}[db.Name()]
		types, err := db.Migrator().ColumnTypes(&Order{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range types {
			kind, known := want[c.Name()]
			if !known {
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
			if err != nil || !strings.EqualFold(got, kind) || extra != "" {
				t.Errorf("column %s is %s %q, %v, want %s", c.Name(), got, extra, err, kind)
			}
		}
		if len(want) > 0 {
			t.Errorf("no columns %v", want)
		}
		r.statements = nil
		if err := db.AutoMigrate(&Order{}, &Shipment{}, &Event{}); err != nil {
			t.Fatal(err)
		}
		if found := r.changes(); len(found) > 0 || len(r.statements) == 0 {
			t.Errorf("AutoMigrate again: %q of %d statements", found, len(r.statements))
		}
	})
}

// Without GormDataType, GORM numbers the rows: the checks above see such a column.
func TestAutoNumber(t *testing.T) {
	type number int64
	type Numbered struct{ ID number }
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		if err := db.AutoMigrate(&Numbered{}); err != nil {
			t.Fatal(err)
		}
		if err := db.Create(&Numbered{}).Error; err != nil {
			t.Fatal(err)
		}
		var n Numbered
		if err := db.First(&n).Error; err != nil || n.ID != 1 {
			t.Errorf("the row has the number %v, %v, want 1", n.ID, err)
		}
		var extra string
		switch db.Name() {
		case "postgres":
			if err := db.Raw(`SELECT column_default FROM information_schema.columns
				WHERE table_schema = current_schema() AND table_name = 'numbereds'`).Row().Scan(&extra); err != nil || !strings.HasPrefix(extra, "nextval") {
				t.Errorf("the default is %q, %v", extra, err)
			}
		case "mysql":
			if err := db.Raw(`SELECT extra FROM information_schema.columns
				WHERE table_schema = database() AND table_name = 'numbereds'`).Row().Scan(&extra); err != nil || extra != "auto_increment" {
				t.Errorf("the column is %q, %v", extra, err)
			}
		}
	})
}

func TestShipments(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		Shipments = sample.Generator(t)
		made := []Shipment{{OrderID: sample.IDs(t)[0]}, {OrderID: sample.IDs(t)[1]}}
		before := time.Now()
		if err := db.Create(&made).Error; err != nil {
			t.Fatal(err)
		}
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
	each(t, func(t *testing.T, db *gorm.DB, r *recorder) {
		for i := range 4 {
			id, err := scru160.FromTime(sample.Time(i))
			if err != nil {
				t.Fatal(err)
			}
			want := Event{ID: id.Binary(), Text: id, Sno: sno.NewWithTime(byte(i), sample.Time(i))}
			if err := db.Create(&want).Error; err != nil {
				t.Fatal(err)
			}
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
			// The trap: bytes that are the only condition are taken apart.
			r.statements = nil
			found := db.First(new(Event), want.ID).Error == nil
			if len(r.statements) == 0 || !strings.Contains(r.statements[0], " IN (") {
				t.Errorf("First by bytes alone: %q", r.statements)
			}
			if found && db.Name() != "mysql" { // MySQL finds any row if one of the bytes is 0
				t.Error("First by bytes alone finds a row")
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

// A struct without an ID is no condition: GORM returns the first row of the table.
func TestFirstWithoutID(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		all := orders(t)
		for i := range all[:2] {
			if err := Insert(db, &all[i]); err != nil {
				t.Fatal(err)
			}
		}
		var forgotten Order
		if err := db.First(&forgotten).Error; err != nil || forgotten.ID != all[0].ID {
			t.Errorf("found %v, %v", forgotten, err)
		}
		if err := db.Delete(&Order{}).Error; !errors.Is(err, gorm.ErrMissingWhereClause) {
			t.Errorf("deleted: %v", err)
		}
	})
}

// A column of another type is an error and never another ID.
func TestWrongColumn(t *testing.T) {
	each(t, func(t *testing.T, db *gorm.DB, _ *recorder) {
		for _, column := range []string{`'0549x5l2itvr4'`, `'673740726894358528'`, `1.5`} {
			var got struct{ ID nanoflake.ID }
			if err := db.Raw(`SELECT ` + column + ` AS id`).Scan(&got).Error; err == nil {
				t.Errorf("%s reads as %v", column, got)
			}
		}
	})
}

// MySQL compares a column of bytes with a number as numbers: the bytes of an ID with a byte 0 find
// any row.
func TestFirstByBytes(t *testing.T) {
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: database.MySQLDB(t)}), &gorm.Config{Logger: new(recorder)})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Event{}); err != nil {
		t.Fatal(err)
	}
	var ids [2]scru160.ID
	for i := range ids {
		ids[i], err = scru160.FromTime(sample.Time(i))
		if err != nil {
			t.Fatal(err)
		}
		ids[i][19] = 0
	}
	if err := db.Create(&Event{ID: ids[0].Binary(), Text: ids[0], Sno: sno.NewWithTime(1, sample.Time(0))}).Error; err != nil {
		t.Fatal(err)
	}
	var wrong Event
	if err := db.First(&wrong, ids[1].Binary()).Error; err != nil || wrong.ID.ID() != ids[0] {
		t.Errorf("found %v, %v", wrong, err)
	}
	if statement := db.Session(&gorm.Session{DryRun: true}).Delete(&Event{}, ids[1].Binary()).Statement.SQL.String(); !strings.Contains(statement, " IN (") {
		t.Errorf("Delete by bytes alone: %s", statement)
	}
	if got, err := FindEvent(db, ids[1]); !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("an ID without an event: %v, %v", got, err)
	}
}

// Without the tag size, MySQL gets a column that cannot be a key.
func TestSize(t *testing.T) {
	type Unsized struct {
		ID scru160.Binary `gorm:"primaryKey"`
	}
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: database.MySQLDB(t)}), &gorm.Config{Logger: new(recorder)})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Unsized{}); err == nil {
		t.Error("MySQL takes a key without a size")
	}
}
