package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/servers"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/undo"
)

func TestMain(m *testing.M) { os.Exit(undo.Main(m)) }

// start starts a server that ends with the test.
func start(t *testing.T, name string, cacheKiB int) servers.Server {
	t.Helper()
	turn.Take(t)
	s, err := servers.Start(t.Context(), name, servers.Options{Cache: cacheKiB, NoSync: true})
	if errors.Is(err, servers.ErrMissing) || errors.Is(err, errors.ErrUnsupported) {
		services.Missing(t, "the server takes Linux and the Debian packages postgresql and mariadb-server: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func find(t *testing.T, name string) *keys.Format {
	t.Helper()
	f, err := keys.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// value returns a metric of a phase, and fails the test if the results do not have the metric once.
func value(t *testing.T, results []Result, phase Phase, metric servers.Metric) float64 {
	t.Helper()
	var found []float64
	for _, r := range results {
		if r.Phase == phase && r.Metric == metric {
			found = append(found, r.Value)
		}
	}
	if len(found) != 1 {
		t.Fatalf("phase %s has %d values of %s", phase, len(found), metric)
	}
	return found[0]
}

func small() Plan {
	return Plan{Rounds: 1, Rows: 3000, Chunk: 1000, Inserts: 300, Batch: 50, Connections: 3, Lookups: 200, Pace: keys.Realistic()}
}

// The caches are smaller than an index of random keys, and than the rows of MariaDB.
var caches = map[string]int{servers.PostgreSQL: 512, keys.MariaDB: 6 << 10} // KiB; the second is the least that MariaDB takes

func TestServers(t *testing.T) {
	services.Full(t)
	for _, name := range servers.Names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, name, caches[name])
			for i := range keys.Formats {
				f := &keys.Formats[i]
				short := f.Name == keys.Serial || f.Name == "sno" || f.Name == "uuidv4"
				if (f.Only == "" || f.Only == name) && (short || !testing.Short()) {
					t.Run(f.Name, func(t *testing.T) { testTable(t, name, s, f) })
				}
			}
			t.Run("misses", func(t *testing.T) {
				// On a busy machine a server reads pages for itself, too, and more of them the longer the work takes.
				const tries = 3
				for n := 1; ; n++ {
					misses, why := missesMore(t, name, s)
					if misses {
						break
					}
					if n == tries {
						t.Fatal(why)
					}
					t.Log(why)
				}
			})
			t.Run("twice", func(t *testing.T) { testTwice(t, s) })
			if name == keys.MariaDB {
				t.Run("order", func(t *testing.T) { testOrder(t, s) })
			}
		})
	}
}

// testTable measures a table. The counters must fit the work. Table itself reads back all keys.
func testTable(t *testing.T, server string, s servers.Server, f *keys.Format) {
	p := small()
	results, err := p.Table(t.Context(), s, f)
	if err != nil {
		t.Fatal(err)
	}
	for phase, rows := range map[Phase]int{Bulk: p.Rows, One: p.Inserts, Several: p.Inserts, Random: p.Lookups, Recent: p.Lookups, Size: p.total()} {
		if got := value(t, results, phase, Rows); got != float64(rows) {
			t.Errorf("phase %s has %v rows, want %d", phase, got, rows)
		}
		if phase == Size {
			continue
		}
		if got := value(t, results, phase, Seconds); got <= 0 {
			t.Errorf("phase %s took %v seconds", phase, got)
		}
		// A search goes through one page at least. Rows in their order may share a search.
		reads, requests := value(t, results, phase, servers.IndexReads), value(t, results, phase, servers.IndexRequests)
		if requests < float64(rows)/1000 || (phase == Random || phase == Recent) && requests < float64(rows) {
			t.Errorf("phase %s asked for %v pages", phase, requests)
		}
		if reads < 0 || reads > requests {
			t.Errorf("phase %s: %v reads of %v requests", phase, reads, requests)
		}
		if got := value(t, results, phase, servers.Processor); got < 0 {
			t.Errorf("phase %s took %v seconds of the processor", phase, got)
		}
	}
	for _, phase := range []Phase{Bulk, One, Several} {
		// The log has each row with its text.
		if got, least := value(t, results, phase, servers.LogBytes), value(t, results, phase, Rows)*servers.BodySize; got < least {
			t.Errorf("phase %s wrote %v bytes to the log, less than the texts: %v", phase, got, least)
		}
	}
	if got, least := value(t, results, Size, servers.TableBytes), float64(p.total()*servers.BodySize); got < least {
		t.Errorf("the table has %v bytes, less than the texts: %v", got, least)
	}
	if server == servers.PostgreSQL {
		if got, least := value(t, results, Size, servers.IndexBytes), float64(p.total()*f.Width); got < least {
			t.Errorf("the index has %v bytes, less than the keys: %v", got, least)
		}
	}
}

// missesMore reports whether UUIDs of version 4 read more pages of the index than serial numbers, by a
// factor that chance does not reach.
func missesMore(t *testing.T, server string, s servers.Server) (bool, string) {
	t.Helper()
	p := small()
	p.Rows, p.Inserts = 20_000, 1000 // an index of 800 KiB in PostgreSQL
	if server == keys.MariaDB {
		p.Rows = 50_000 // 9 MiB
	}
	p.Chunk = p.Rows
	var reads []float64
	for _, name := range []string{"uuidv4", keys.Serial} {
		results, err := p.Table(t.Context(), s, find(t, name))
		if err != nil {
			t.Fatal(err)
		}
		reads = append(reads, value(t, results, One, servers.IndexReads))
	}
	return reads[0] > 4*(reads[1]+20), fmt.Sprintf("UUIDv4 reads %v pages, serial %v", reads[0], reads[1])
}

// testOrder checks where rows lie. MariaDB stores UUIDs of version 7 in the order of their bytes, so
// the rows lie in the order of time.
func testOrder(t *testing.T, s servers.Server) {
	for name, ordered := range map[string]bool{"uuidv7": true, "uuidv4": false} {
		f := *find(t, name)
		f.Workers = 1
		set, err := keys.Generate(&f, 500, keys.Realistic())
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.Create(t.Context(), &f)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Load(t.Context(), set, 0, set.Len()); err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		if err := table.Read(t.Context(), func(number int64, _ []byte) error { numbers = append(numbers, number); return nil }); err != nil {
			t.Fatal(err)
		}
		if slices.IsSorted(numbers) != ordered {
			t.Errorf("%s: in the order of time: %v", name, !ordered)
		}
		if err := table.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// testTwice loads a key that is there already, and the load must fail: MariaDB would skip the row in
// silence.
func testTwice(t *testing.T, s servers.Server) {
	f := find(t, "nanoflake")
	set, err := keys.Generate(f, 20, keys.Realistic())
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.Create(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Load(t.Context(), set, 0, 11); err != nil {
		t.Fatal(err)
	}
	if err := table.Load(t.Context(), set, 10, 20); err == nil {
		t.Error("a key was loaded twice")
	}
	if err := table.Drop(t.Context()); err != nil {
		t.Error(err)
	}
}

// A row of a table that only Read knows.
type row struct {
	number int64
	key    []byte
}

type fakeTable struct {
	servers.Table
	rows []row
}

func (f fakeTable) Read(_ context.Context, do func(int64, []byte) error) error {
	for _, r := range f.rows {
		if err := do(r.number, r.key); err != nil {
			return err
		}
	}
	return nil
}

// Check finds each way in which a table can be wrong.
func TestCheck(t *testing.T) {
	set, err := keys.Generate(find(t, "sno"), 4, keys.Realistic())
	if err != nil {
		t.Fatal(err)
	}
	var good []row
	for i := range set.Len() {
		good = append(good, row{int64(i), set.At(i)})
	}
	serial := []row{{0, keys.FromInt64(7)}, {1, keys.FromInt64(8)}, {2, keys.FromInt64(10)}, {3, keys.FromInt64(9)}}
	with := func(rows []row, i int, r row) []row {
		rows = slices.Clone(rows)
		rows[i] = r
		return rows
	}
	for _, c := range []struct {
		name string
		set  keys.Set
		rows []row
		ok   bool
	}{
		{"all rows", set, good, true},
		{"all rows in another order", set, []row{good[2], good[0], good[3], good[1]}, true},
		{"a missing row", set, good[:3], false},
		{"a row twice", set, with(good, 3, good[0]), false},
		{"a row more", set, append(slices.Clone(good), row{4, good[0].key}), false},
		{"a negative number", set, with(good, 3, row{-1, good[3].key}), false},
		{"two keys exchanged", set, with(with(good, 0, row{0, good[1].key}), 1, row{1, good[0].key}), false},
		{"a shortened key", set, with(good, 2, row{2, good[2].key[:9]}), false},
		{"assigned keys", keys.Set{}, serial, true},
		{"an assigned key twice", keys.Set{}, with(serial, 1, row{1, keys.FromInt64(7)}), false},
		{"a missing row with an assigned key", keys.Set{}, serial[1:], false},
	} {
		got, err := Check(t.Context(), fakeTable{rows: c.rows}, c.set, 4)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && got.Len() != 4 {
			t.Errorf("%s: %d keys", c.name, got.Len())
		}
	}
}

func TestPlan(t *testing.T) {
	good := small()
	good.Servers, good.Formats = servers.Names, []*keys.Format{find(t, "sno")}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Plan){
		"rounds": func(p *Plan) { p.Rounds = 0 }, "batch": func(p *Plan) { p.Batch = 0 }, "formats": func(p *Plan) { p.Formats = nil },
		"chunk": func(p *Plan) { p.Chunk = -1 }, "pace": func(p *Plan) { p.Pace.PerSecond = 0 },
	} {
		p := good
		spoil(&p)
		if _, _, err := Run(t.Context(), p, io.Discard); err == nil {
			t.Errorf("%s: the plan was run", name)
		}
	}
}
