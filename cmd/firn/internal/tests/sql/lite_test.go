package sql

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// liteUpDown is TestUpDown for generated columns.
func liteUpDown(t *testing.T, d database) {
	d = d.session()
	run := func(text string) error {
		_, err := d.ExecContext(context.Background(), text)
		return err
	}
	const table, column = "the `\"order's\"", "an id"
	for _, s := range setups() {
		id := "INTEGER"
		if !s.integer() {
			id = "BLOB"
		}
		testkit.OK(t, run("DROP TABLE IF EXISTS `the ``\"order's\"`; CREATE TABLE `the ``\"order's\"` (`an id` "+id+" PRIMARY KEY) STRICT"))
		before := d.objects(t)
		b := s.binaries(t, 1)
		value := b[len(b)-1]
		info := s.inspect(t, value)
		testkit.OK(t, run("INSERT INTO `the ``\"order's\"` VALUES ("+map[bool]string{true: info.Int, false: "x'" + info.Hex + "'"}[s.integer()]+")"))
		words := []string{s.Name(), "--table", table, "--column", column}
		up, down := script(t, append([]string{"sqlite"}, words...)...), script(t, append([]string{"sqlite", "--down"}, words...)...)
		testkit.OK(t, run(up))
		made := d.objects(t)
		if err := run(up); err == nil || !slices.Equal(d.objects(t), made) {
			t.Errorf("a second run: %v", err)
		}
		at, _ := d.time(info.Time).(string)
		got := d.strings(t, "SELECT `an id_time` || ' ' || `an id_text` || ' ' || `an id_unix_ms` || ' ' || `an id_"+info.Fields[1].Name+"` FROM `the ``\"order's\"` INDEXED BY `the ``\"order's\"_an id_time` WHERE `an id_time` = ?", at)
		if want := fmt.Sprint(at, " ", info.ID, " ", info.Time.UnixMilli(), " ", info.Fields[1].Value); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s, not %s", s.Name(), got, want)
		}
		if err := run(down); err != nil {
			t.Error(err)
		}
		if after := d.objects(t); !slices.Equal(after, before) {
			t.Errorf("left: %s, not %s", after, before)
		}
	}
}

// TestLiteTimes: the times of IDs compare with the times that SQLite's functions return, on one day too.
func TestLiteTimes(t *testing.T) {
	d := lite.fresh(t)
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	now := time.Now().Truncate(time.Second)
	for _, s := range setups() {
		id := "INTEGER"
		if !s.integer() {
			id = "BLOB"
		}
		d.run(t, "DROP TABLE IF EXISTS orders; CREATE TABLE orders (id "+id+" PRIMARY KEY, name TEXT) STRICT")
		text := script(t, "sqlite", s.Name(), "--table", "orders")
		d.run(t, text)
		for name, at := range map[string]time.Time{
			"ten": noon.Add(-2 * time.Hour), "noon": noon.Add(500 * time.Millisecond), "two": noon.Add(2 * time.Hour), "past": now.Add(-2 * time.Hour), "recent": now.Add(-30 * time.Minute),
		} {
			testkit.OK(t, testkit.Err(d.ExecContext(t.Context(), "INSERT INTO orders VALUES ("+liteExpression(t, text, "first", "?1")+", ?2)", at.UnixMilli(), name)))
		}
		for condition, want := range map[string][]string{
			"id_time >= datetime('now', '-1 hour')":                                                       {"recent"},
			"id_time < datetime('now', '-1 hour') AND id_time > datetime('now', '-1 day')":                {"past"},
			"id_time >= datetime('2026-07-01 12:00:00') AND name IN ('ten', 'noon', 'two')":               {"noon", "two"},
			"id_time < datetime('2026-07-01 12:00:00') AND name IN ('ten', 'noon', 'two')":                {"ten"},
			"id_time BETWEEN datetime('2026-07-01 13:00:00', '-1 hour') AND datetime('2026-07-01 13:00')": {"noon"},
			"id_time = datetime('2026-07-01 12:00:00.500', 'subsec')":                                     {"noon"},
			"id_time = strftime('%Y-%m-%d %H:%M:%f', '2026-07-01 12:00:00.500')":                          {"noon"},
			"id_time < datetime('2026-07-01 12:00:00.500', 'subsec') AND name IN ('ten', 'noon', 'two')":  {"ten"},
			"id_time <= datetime('2026-07-01 12:00:00.500', 'subsec') AND name IN ('ten', 'noon', 'two')": {"noon", "ten"},
			"id_time > strftime('%Y-%m-%d %H:%M:%f', '2026-07-01 12:00:00.496') AND name = 'noon'":        {"noon"},
			"id_time LIKE date('2026-07-01') || '%'":                                                      {"noon", "ten", "two"},
			"unixepoch(id_time) = unixepoch('2026-07-01 12:00:00')":                                       {"noon"},
			"datetime(id_time, 'subsec') <> id_time":                                                      nil,
		} {
			if got := d.strings(t, "SELECT name FROM orders WHERE "+condition+" ORDER BY name"); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %s, not %s", s.Name(), condition, got, want)
			}
		}
	}
}

// TestLiteReals: the bounds of an instant are the same for a real, as drivers of JavaScript bind numbers. A text
// is not an instant.
func TestLiteReals(t *testing.T) {
	d := lite.fresh(t)
	for _, s := range setups() {
		text := script(t, "sqlite", s.Name())
		for _, function := range []string{"first", "last"} {
			query := "SELECT hex(" + liteExpression(t, text, function, "?1") + ")"
			for _, at := range []int64{-1 << 62, -1, 0, 1, 1751371200000, 1785585600123, 1<<53 - 1, 1 << 62} {
				var want, got string
				if err := d.QueryRowContext(t.Context(), query, at).Scan(&want); err != nil || want == "" {
					t.Fatal(err, want)
				}
				if err := d.QueryRowContext(t.Context(), query, float64(at)).Scan(&got); err != nil || got != want {
					t.Errorf("%s: %s of the real %d: %s, %v, not %s", s.Name(), function, at, got, err, want)
				}
			}
			var none string
			if err := d.QueryRowContext(t.Context(), query, "2026-07-01").Scan(&none); err != nil || none != "" {
				t.Errorf("%s: %s of a text: %s, %v", s.Name(), function, none, err)
			}
		}
	}
}
