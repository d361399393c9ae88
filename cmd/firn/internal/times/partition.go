package times

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// A unit is a length of partitions in the calendar of UTC.
type unit struct {
	name  string
	start func(time.Time) time.Time // of the partition that has a time
	next  func(start time.Time) time.Time
	label func(start time.Time) string
}

var units = []unit{
	{"day", day, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, func(t time.Time) string { return t.Format("2006_01_02") }},
	{"week", week, func(t time.Time) time.Time { return t.AddDate(0, 0, 7) }, weekLabel},
	{"month", func(t time.Time) time.Time { return day(t).AddDate(0, 0, 1-t.Day()) }, func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }, func(t time.Time) string { return t.Format("2006_01") }},
	{"year", func(t time.Time) time.Time { return day(t).AddDate(0, 0, 1-t.YearDay()) }, func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }, func(t time.Time) string { return t.Format("2006") }},
}

// day returns the start of a time's day.
func day(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }

// week returns the Monday of a time's week.
func week(t time.Time) time.Time { return day(t).AddDate(0, 0, -int(t.Weekday()+6)%7) }

func weekLabel(monday time.Time) string {
	year, week := monday.ISOWeek()
	return fmt.Sprintf("%04d_w%02d", year, week)
}

func unitNames() (names []string) {
	for _, u := range units {
		names = append(names, u.name)
	}
	return names
}

// A partition is the IDs of a month, or of another unit.
type partition struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	SQL  string    `json:"sql"`
}

// partitions calls f for each partition that has a part of the interval.
func (i interval) partitions(u unit, k kind, table string, f func(partition) error) error {
	for start := u.start(i.from); start.Before(i.to); start = u.next(start) {
		p := partition{Name: table + "_" + u.label(start), From: start, To: u.next(start)}
		from, err := i.bound(k, p.From)
		if err != nil {
			return err
		}
		to, err := i.bound(k, p.To)
		if err != nil {
			return err
		}
		pg := databases[0]
		p.SQL = fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%s) TO (%s);", pg.ident(p.Name), pg.ident(table), from, to)
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// bound returns the bound of a partition that begins at a time, and of the partition before. A partition from
// the format's first tick on has the smallest values, too, and a partition to the last tick the largest.
func (i interval) bound(k kind, at time.Time) (string, error) {
	if !at.After(i.shape.Start()) {
		return "MINVALUE", nil
	}
	tick, ok := i.shape.Timestamp(at)
	if !ok {
		return "MAXVALUE", nil
	}
	id, err := i.encode(i.shape.First(i.Descriptor().Size, tick))
	return databases[0].literal(k, id), err
}

// writePartitions writes the DDL of the partitions.
func (i interval) writePartitions(s *cli.Streams, u unit, k kind, table, column string, asJSON bool) error {
	if k == ofTexts && !i.sorts() {
		return cli.Usagef("--kind text: the texts of %s do not sort as its IDs do: partition a column of integers", i.Name())
	}
	const longest = 63 // bytes of a name in PostgreSQL, which cuts off the rest
	if n := len(table[strings.LastIndexByte(table, '.')+1:]) + len("_2006_01_02"); n > longest {
		return cli.BadFlag("table", table, fmt.Sprintf("is too long: the names of its partitions have %d bytes, and names have at most %d", n, longest))
	}
	if !asJSON {
		i.writeParent(s.Out, k, table, column)
	}
	return i.partitions(u, k, table, func(p partition) error {
		if asJSON {
			return cli.WriteJSON(s.Out, p)
		}
		_, err := io.WriteString(s.Out, p.SQL+"\n")
		return err
	})
}

// writeParent writes how the partitioned table is made, as a comment.
func (i interval) writeParent(w io.Writer, k kind, table, column string) {
	pg := databases[0]
	types := map[kind]string{ofIntegers: "bigint", ofTexts: "text" + pg.collate, ofBytes: "bytea", ofUUIDs: "uuid"}
	for line := range strings.Lines(fmt.Sprintf(`Partitions by the time of %s, from the IDs of %s on.
The table is made by:
  CREATE TABLE %s (%s %s PRIMARY KEY, …)
  PARTITION BY RANGE (%[4]s);
`, i.Name(), cli.TimeText(i.from), pg.ident(table), pg.ident(column), types[k])) {
		fmt.Fprint(w, "-- "+line)
	}
}
