package sno_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"math/big"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// TestSpecification goes through the published specification sentence by sentence. The text of a
// row has the words of the specification, in their order. The check shows that the package does
// what the words say. Expectations come from literals and from integer arithmetic, not from the
// package. The sentences that no program can check stand at the end of this file.
func TestSpecification(t *testing.T) {
	if task := os.Getenv(specTask); task != "" {
		specChild(t, task)
		return
	}
	for _, row := range slices.Concat(specFeatures, specUsage, specLayout, specTimeAndSequence, specSharding,
		specOverflow, specClock, specMetabyte, specEncoding, specConstants, specGeneratorAPI, specSnapshotAPI,
		specIDAPI, specErrorAPI) {
		t.Run(specName(row.text), row.check)
	}
}

type specRow struct {
	text  string
	check func(t *testing.T)
}

// specName returns the first words of a text, without signs.
func specName(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	return strings.Join(words[:min(len(words), 7)], "-")
}

// specAlphabet has the two ranges of the specification: ASCII 50 to 57, and ASCII 97 to 120.
const specAlphabet = "23456789" + "abcdefghijklmnopqrstuvwx"

// The last time unit: 39 bits of ones.
const specLast = 549_755_813_887

// specTime returns the time at which a unit begins.
func specTime(unit int64) time.Time {
	return time.Unix(1_262_304_000, 0).UTC().Add(time.Duration(unit) * 4 * time.Millisecond)
}

// specID returns the ID of its fields, by integer arithmetic.
func specID(unit, tickTock int64, meta byte, partition, sequence uint16) (id sno.ID) {
	v := big.NewInt(unit)
	for _, field := range []struct {
		bits  uint
		value int64
	}{{1, tickTock}, {8, int64(meta)}, {16, int64(partition)}, {16, int64(sequence)}} {
		v.Lsh(v, field.bits).Add(v, big.NewInt(field.value))
	}
	v.FillBytes(id[:])
	return id
}

func specInt(id sno.ID) *big.Int { return new(big.Int).SetBytes(id[:]) }

// specText returns the text of an ID: its 80 bits in 16 digits of base 32.
func specText(id sno.ID) string {
	v, digit := specInt(id), new(big.Int)
	var text [16]byte
	for i := range text {
		v.DivMod(v, big.NewInt(32), digit)
		text[15-i] = specAlphabet[digit.Int64()]
	}
	return string(text[:])
}

// specSamples returns the zero ID, all ones, each single bit, and random IDs.
func specSamples() []sno.ID {
	ones := sno.ID{255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
	ids := []sno.ID{{}, ones}
	for bit := range 80 {
		var id sno.ID
		id[bit/8] = 128 >> (bit % 8)
		ids = append(ids, id)
	}
	random := rand.New(rand.NewPCG(2010, 2079))
	for range 200 {
		var id sno.ID
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		ids = append(ids, id)
	}
	return ids
}

func specSame[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// specGenerator returns a generator at the beginning of a unit, and its clock.
func specGenerator(t testing.TB, unit int64, s sno.GeneratorSnapshot) (*sno.Generator, *testkit.Clock) {
	t.Helper()
	clock := testkit.At(specTime(unit))
	return newGenerator(t, sno.Config{Snapshot: &s, Clock: clock.Now}), clock
}

// specMakes checks that the next IDs of a generator are the given IDs.
func specMakes(t testing.TB, g *sno.Generator, ids ...sno.ID) {
	t.Helper()
	for i, want := range ids {
		if id, err := g.TryNext(want[5]); err != nil || id != want {
			t.Fatalf("ID %d is %x, %v; want %x", i, id[:], err, want[:])
		}
	}
}

// specDraw returns the next n IDs of a generator, without waiting.
func specDraw(t testing.TB, g *sno.Generator, meta byte, n int) []sno.ID {
	t.Helper()
	ids := make([]sno.ID, n)
	for i := range ids {
		id, err := g.TryNext(meta)
		if err != nil {
			t.Fatalf("ID %d: %v", i, err)
		}
		ids[i] = id
	}
	return ids
}

// specExhausted checks that a generator has no ID left in the time unit.
func specExhausted(t testing.TB, g *sno.Generator) {
	t.Helper()
	id, err := g.TryNext(0)
	if !errors.Is(err, sno.ErrExhausted) || errors.Is(err, sno.ErrClockBackwards) || id != (sno.ID{}) {
		t.Errorf("%x, %v; want %v", id[:], err, sno.ErrExhausted)
	}
}

// specBackwards checks that both settings of the tick-tock bit have used the time of the clock.
func specBackwards(t testing.TB, g *sno.Generator) {
	t.Helper()
	id, err := g.TryNext(0)
	if !errors.Is(err, sno.ErrClockBackwards) || errors.Is(err, sno.ErrExhausted) || id != (sno.ID{}) {
		t.Errorf("%x, %v; want %v", id[:], err, sno.ErrClockBackwards)
	}
}

// specDistinct checks that no ID stands twice in the lists, and that there are n IDs.
func specDistinct(t testing.TB, n int, lists ...[]sno.ID) {
	t.Helper()
	seen := make(map[sno.ID]bool, n)
	for _, ids := range lists {
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("%x stands twice", id[:])
			}
			seen[id] = true
		}
	}
	specSame(t, "the number of distinct IDs", len(seen), n)
}

// specAscends checks that each ID is greater than the ID before, as bytes and as text.
func specAscends(t testing.TB, ids ...sno.ID) {
	t.Helper()
	for i := range ids[1:] {
		a, b := ids[i], ids[i+1]
		if bytes.Compare(a[:], b[:]) >= 0 || a.String() >= b.String() || a.Compare(b) != -1 {
			t.Errorf("%x and %x are not in order", a[:], b[:])
		}
	}
}

// specError checks that an error is of a type, and has a message.
func specError[E error](t testing.TB, err error) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok || err.Error() == "" {
		t.Fatalf("%v is a %T, want a %T", err, err, e)
	}
	return e
}

// specWrongSize checks an InvalidDataSizeError.
func specWrongSize(t testing.TB, err error, size int) {
	t.Helper()
	specSame(t, "the size", specError[*sno.InvalidDataSizeError](t, err).Size, size)
}

// specBubble runs a check in a bubble, at the beginning of the unit 1000.
func specBubble(t *testing.T, check func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(specTime(1000)))
		check(t)
	})
}

// specStall starts calls of New, one after the other, and returns the channel of their IDs.
func specStall(g *sno.Generator, calls int) chan sno.ID {
	ids := make(chan sno.ID, calls)
	for range calls {
		go func() { ids <- g.New(0) }()
		synctest.Wait()
	}
	return ids
}

// specJSON returns the JSON of a value.
func specJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// specTask is the environment variable with the task of a child.
const specTask = "FIRN_SNO_SPECIFICATION"

// specProcess runs a task in another process, and returns the partition of its package-level
// generator.
func specProcess(t *testing.T, task string) string {
	t.Helper()
	self := testkit.Must(os.Executable())
	child := exec.Command(self, "-test.run=^TestSpecification$")
	child.Env = append(os.Environ(), specTask+"="+task)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	partition := regexp.MustCompile(`partition=\d+`).FindString(string(out))
	if partition == "" {
		t.Fatalf("no partition in %s", out)
	}
	return partition
}

func specChild(t *testing.T, task string) {
	p := sno.New(0).Partition()
	fmt.Printf("partition=%d\n", int(p[0])<<8|int(p[1]))
	if task != "pool" {
		return
	}
	taken := map[sno.Partition]bool{p: true}
	for i := range 65_535 {
		g, err := sno.NewGenerator(nil, nil)
		if err != nil {
			t.Fatalf("generator %d: %v", i, err)
		}
		if taken[g.Partition()] {
			t.Fatalf("generator %d has the partition %v of another generator", i, g.Partition())
		}
		taken[g.Partition()] = true
	}
	g, err := sno.NewGenerator(nil, nil)
	specError[*sno.PartitionPoolExhaustedError](t, err)
	if g != nil {
		t.Error("a generator beside the error")
	}
	if _, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: p}, nil); err != nil {
		t.Errorf("with a partition of its own: %v", err)
	}
}

var specFeatures = []specRow{
	{"10 bytes in its binary representation, canonically encoded as 16 characters.", func(t *testing.T) {
		for _, id := range specSamples() {
			binary, err := id.MarshalBinary()
			if err != nil || len(binary) != 10 || len(id.String()) != 16 {
				t.Errorf("%x, %v and %q", binary, err, id.String())
			}
		}
	}},
	{"URL-safe and non-ambiguous encoding", func(t *testing.T) {
		for _, id := range specSamples() {
			if s := id.String(); url.PathEscape(s) != s || url.QueryEscape(s) != s {
				t.Errorf("%q is not safe in a URL", s)
			}
		}
		// 1 and 0, which resemble l, i and o, are in no text.
		for _, c := range "01yzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
			_, err := sno.FromEncodedString("222222222222222" + string(c))
			specError[*sno.ParseError](t, err)
		}
	}},
	{"at the binary length of UUIDs - snos can be stored as UUIDs", func(t *testing.T) {
		for _, id := range specSamples() {
			u := [16]byte(id.UUID())
			back, err := sno.FromUUID(u)
			if string(u[:]) != specText(id) || err != nil || back != id {
				t.Errorf("%x has the UUID %x, which is %x, %v", id[:], u[:], back[:], err)
			}
		}
		specSame(t, "a UUID", specID(1, 0, 0, 0, 0).UUID().String(), "32323232-3232-3234-3232-323232323232")
	}},
	{"K-sortable in either representation.", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		var ids []sno.ID
		for _, unit := range []int64{0, 1, 2, 255, 256, 65_535, 65_536, 1 << 31, 1 << 38, specLast - 1, specLast} {
			id, err := sno.FromTime(specTime(unit), byte(random.Uint32()), sno.Partition{byte(random.Uint32()), 7}, 1+uint16(random.Uint32N(65535)))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		specAscends(t, ids...)
	}},
	{"Embedded timestamp with a 4msec resolution, bounded within the years 2010 - 2079.", func(t *testing.T) {
		ones := sno.ID{255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
		specSame(t, "the first year", sno.ID{}.Time().Year(), 2010)
		specSame(t, "the last year", ones.Time().Year(), 2079)
		specSame(t, "the step", specID(8, 0, 0, 0, 0).Time().Sub(specID(7, 0, 0, 0, 0).Time()), 4*time.Millisecond)
		for _, year := range []int{2009, 2080} {
			_, err := sno.FromTime(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC), 1, sno.Partition{}, 0)
			if !errors.Is(err, sno.ErrTimeRange) {
				t.Errorf("%d: %v", year, err)
			}
		}
	}},
	{"Handles clock drifts gracefully, without waiting.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specMakes(t, g, specID(1000, 0, 0, 0, 0))
		clock.Step(-time.Second)
		specMakes(t, g, specID(750, 1, 0, 0, 0)) // TryNext does not wait
	}},
	{"Embedded byte for arbitrary data.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for meta := range 256 {
			specMakes(t, g, specID(1000, 0, byte(meta), 0, uint16(meta)))
		}
	}},
	{"Optional and flexible configuration and coordination.", func(t *testing.T) {
		g := testkit.Must(sno.NewGeneratorWith(sno.Config{Clock: testkit.At(specTime(1000)).Now}))
		specDistinct(t, 100, specDraw(t, g, 0, 100))
	}},
	{"Fast, wait-free, safe for concurrent use.", func(t *testing.T) {
		// Ruling: lock-free is enough in place of wait-free, and callers at the same time get no
		// duplicates.
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		const goroutines, each = 8, 8192
		var ids [goroutines][]sno.ID
		var all sync.WaitGroup
		for i := range goroutines {
			all.Go(func() {
				for range each {
					id, err := g.TryNext(byte(i))
					if err != nil {
						t.Error(err)
						return
					}
					id[5] = 0 // the metabyte does not make the IDs distinct
					ids[i] = append(ids[i], id)
				}
			})
		}
		all.Wait()
		specDistinct(t, goroutines*each, ids[:]...)
		specExhausted(t, g)
	}},
	{"has no external dependencies and minimal dependencies on std.", func(t *testing.T) {
		const module = "github.com/firn-id/firn/"
		todo, seen := []string{"sno"}, map[string]bool{}
		for len(todo) > 0 {
			dir := todo[0]
			todo = todo[1:]
			if seen[dir] {
				continue
			}
			seen[dir] = true
			files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files in %s, %v", dir, err)
			}
			for _, name := range files {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				file := testkit.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly))
				for _, spec := range file.Imports {
					path, _ := strconv.Unquote(spec.Path.Value)
					host, _, _ := strings.Cut(path, "/")
					if own, ok := strings.CutPrefix(path, module); ok {
						todo = append(todo, own)
					} else if strings.Contains(host, ".") {
						t.Errorf("%s imports %s", name, path)
					}
				}
			}
		}
		if len(seen) < 5 {
			t.Errorf("only %d packages were read", len(seen))
		}
	}},
	{"16,384,000 IDs per second.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specSame(t, "the pool of a second", g.Cap()*int(time.Second/sno.TimeUnit), 16_384_000)
	}},
	{"65,536 guaranteed unique IDs per 4msec per partition", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		ids := specDraw(t, g, 3, 65_536)
		specDistinct(t, 65_536, ids)
		for _, id := range ids {
			if id.Timestamp() != specTime(1000).UnixNano() {
				t.Fatalf("an ID of %v", id.Time())
			}
		}
		clock.Step(4*time.Millisecond - 1)
		specExhausted(t, g)
	}},
	{"(65,536 combinations)", func(t *testing.T) {
		seen := map[sno.Partition]bool{}
		for n := range 65_536 {
			var p sno.Partition
			p.PutUint16(uint16(n))
			seen[p] = true
		}
		specSame(t, "the number of partitions", len(seen), 65_536)
		specSame(t, "the last partition and 1", sno.MaxPartition+1, 65_536)
	}},
	{"per metabyte (256 combinations)", func(t *testing.T) {
		var ids []sno.ID
		for meta := range 256 {
			id, err := sno.FromTime(specTime(5), byte(meta), sno.Partition{1, 2}, 3)
			if err != nil || id != specID(5, 0, byte(meta), 258, 3) {
				t.Fatalf("%x, %v", id[:], err)
			}
			ids = append(ids, id)
		}
		specDistinct(t, 256, ids)
	}},
	{"per tick-tock (1 bit adjustment for clock drifts).", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		tick := specDraw(t, g, 0, 65_536)
		clock.Set(specTime(999))
		specMakes(t, g, specID(999, 1, 0, 0, 0))
		clock.Set(specTime(1000))
		specDistinct(t, 2*65_536, tick, specDraw(t, g, 0, 65_536))
		specExhausted(t, g)
	}},
	{"549,755,813,888,000 is the global pool per second when all components are taken into account.", func(t *testing.T) {
		pool := new(big.Int).Sub(specInt(sno.Last(specTime(1000))), specInt(sno.First(specTime(1000))))
		pool.Add(pool, big.NewInt(1)).Mul(pool, big.NewInt(int64(time.Second/sno.TimeUnit)))
		specSame(t, "the pool", pool.String(), "549755813888000")
	}},
	{"snos embed a counter and have no entropy.", func(t *testing.T) {
		one, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}})
		other, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}})
		for i := range uint16(100) {
			specMakes(t, one, specID(1000, 0, 9, 258, i))
			specMakes(t, other, specID(1000, 0, 9, 258, i))
		}
	}},
	{"It's 10 bytes, not 8.", func(t *testing.T) {
		var id sno.ID
		specSame(t, "the length", len(id), 10)
	}},
}

var specUsage = []specRow{
	{"sno comes with a package-level generator on top of letting you configure your own generators.", func(t *testing.T) {
		own, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}})
		a, b := sno.New(9), sno.New(9)
		if a == b || a.Meta() != 9 || a.IsZero() {
			t.Errorf("%x and %x", a[:], b[:])
		}
		specMakes(t, own, specID(1000, 0, 9, 258, 0))
	}},
	{"id := sno.New(0)", func(t *testing.T) {
		id := sno.New(0)
		specSame(t, "the metabyte", id[5], 0)
	}},
	{"Where 0 is the", func(t *testing.T) {
		for meta := range 256 {
			specSame(t, "the metabyte", sno.New(byte(meta))[5], byte(meta))
		}
	}},
	{"The global generator is immutable and private. It's therefore also not possible to restore it using a Snapshot.", func(t *testing.T) {
		// TestAPI compares the file with the package.
		api, err := os.ReadFile("testdata/api.golden")
		if err != nil || !bytes.Contains(api, []byte("\nfunc New(meta byte) ID\n")) {
			t.Fatalf("%v: %s", err, api)
		}
		for line := range strings.Lines(string(api)) {
			if strings.HasPrefix(line, "var ") && strings.Contains(line, "Generator") || strings.HasPrefix(line, "func Snapshot") ||
				strings.HasPrefix(line, "func") && !strings.HasPrefix(line, "func NewGenerator") && strings.HasSuffix(line, " *Generator\n") {
				t.Errorf("the package-level generator is within reach: %s", line)
			}
		}
	}},
	{"Its Partition is based on time and changes across restarts.", func(t *testing.T) {
		// Ruling: a partition drawn at random is as good as a partition drawn from the time. Three
		// processes have the same partition with a probability of 1 in 2^32.
		seen := map[string]bool{}
		for range 3 {
			seen[specProcess(t, "partition")] = true
		}
		if len(seen) < 2 {
			t.Errorf("all processes have the partitions %v", seen)
		}
		specSame(t, "the partition of the next ID", sno.New(0).Partition(), sno.New(1).Partition())
	}},
	{"A Partition is 2 bytes. What they mean and how you define them is up to you.", func(t *testing.T) {
		specSame(t, "the length", len(sno.Partition{}), 2)
		for _, p := range []sno.Partition{{0, 0}, {0, 1}, {1, 0}, {'A', 10}, {127, 128}, {255, 255}} {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: p})
			specMakes(t, g, specID(1000, 0, 0, uint16(p[0])<<8|uint16(p[1]), 0))
		}
	}},
	{"Partition: sno.Partition{'A', 10}", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{'A', 10}})
		id := specDraw(t, g, 0, 1)[0]
		specSame(t, "the partition", [2]byte(id[6:8]), [2]byte{65, 10})
	}},
	{"Multiple generators can share a partition by dividing the sequence pool between them", func(t *testing.T) {
		low, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 99})
		high, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 100, SequenceMax: 199})
		specDistinct(t, 200, specDraw(t, low, 0, 100), specDraw(t, high, 0, 100))
	}},
	{"Snapshots happen to serve both as configuration and a means of saving and restoring generator data.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}, SequenceMin: 10, SequenceMax: 20})
		specMakes(t, g, specID(1000, 0, 0, 258, 10), specID(1000, 0, 0, 258, 11))
		s := g.Snapshot()
		restored := newGenerator(t, sno.Config{Snapshot: &s, Clock: clock.Now})
		specMakes(t, restored, specID(1000, 0, 0, 258, 12))
		specSame(t, "SequenceMax", restored.SequenceMax(), 20)
	}},
	{"simply pass nil to NewGenerator(), to get a Generator with sane defaults and a unique (in-process) Partition.", func(t *testing.T) {
		seen := map[sno.Partition]bool{sno.New(0).Partition(): true}
		for range 20 {
			g := testkit.Must(sno.NewGenerator(nil, nil))
			if seen[g.Partition()] {
				t.Errorf("two generators have the partition %v", g.Partition())
			}
			seen[g.Partition()] = true
			if g.SequenceMin() != 0 || g.SequenceMax() != 65535 {
				t.Errorf("the bounds are %d and %d", g.SequenceMin(), g.SequenceMax())
			}
		}
	}},
	{"s := generator.Snapshot()", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 5, SequenceMax: 50})
		for i := range uint16(10) {
			specMakes(t, g, specID(1000, 0, 0, 0, 5+i))
			specSame(t, "Sequence", g.Snapshot().Sequence, uint32(5+i))
		}
	}},
	{"This exposes most of a Generator's internal bookkeeping data.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{3, 4}, SequenceMin: 5, SequenceMax: 50})
		specDraw(t, g, 0, 3)
		clock.Set(specTime(900))
		specDraw(t, g, 0, 2)
		clock.Set(specTime(901))
		specSame(t, "the snapshot", g.Snapshot(), sno.GeneratorSnapshot{Partition: sno.Partition{3, 4},
			SequenceMin: 5, SequenceMax: 50, Sequence: 6, Now: 901, WallHi: 900, WallSafe: 1000, Drifts: 1})
	}},
	{"This will keep you safe both if a large clock drift happens during the restart", func(t *testing.T) {
		g, clock := specGenerator(t, 900_000, sno.GeneratorSnapshot{SequenceMax: 3})
		before := specDraw(t, g, 0, 3)
		s := g.Snapshot()
		clock.Step(-time.Hour + 4*time.Millisecond) // an hour is 900000 units
		restored := newGenerator(t, sno.Config{Snapshot: &s, Clock: clock.Now})
		specMakes(t, restored, specID(1, 1, 0, 0, 0))
		clock.Set(specTime(900_000))
		specDistinct(t, 7, before, specDraw(t, restored, 0, 4))
	}},
	{"-- or before, and you just happen to come back online again \"in the past\"", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 3)
		clock.Set(specTime(900))
		specMakes(t, g, specID(900, 1, 0, 0, 0))
		s := g.Snapshot()
		clock.Set(specTime(850)) // both settings of the bit are used here
		restored := newGenerator(t, sno.Config{Snapshot: &s, Clock: clock.Now})
		specBackwards(t, restored)
		clock.Set(specTime(900))
		specMakes(t, restored, specID(900, 1, 0, 0, 1))
	}},
	{"A snapshot is a sample in time - it will very quickly get stale.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 1)
		s := g.Snapshot()
		specDraw(t, g, 0, 1)
		specSame(t, "Sequence", s.Sequence, 0)
		specSame(t, "Sequence of the next snapshot", g.Snapshot().Sequence, 1)
	}},
}

var specLayout = []specRow{
	{"A sno is simply 80-bits comprised of two 40-bit blocks: the timestamp and the payload.", func(t *testing.T) {
		const unit, meta, partition, sequence = 0x12_3456_789a, 0xbc, 0xdef0, 0x1234
		timestamp, payload := big.NewInt(unit<<1), big.NewInt(meta<<32|partition<<16|sequence)
		id := testkit.Must(sno.FromTime(specTime(unit), meta, sno.Partition{0xde, 0xf0}, sequence))
		specSame(t, "the ID", specInt(id).Text(16), timestamp.Lsh(timestamp, 40).Add(timestamp, payload).Text(16))
		specSame(t, "the number of bits", 8*len(id), 80)
	}},
	{"The bytes are stored in big-endian order in all representations to retain their sortable property.", func(t *testing.T) {
		id, err := sno.FromTime(specTime(0x0102030404/2), 5, sno.Partition{6, 7}, 0x0809)
		if want := (sno.ID{1, 2, 3, 4, 4, 5, 6, 7, 8, 9}); err != nil || id != want {
			t.Errorf("%x, %v", id[:], err)
		}
		for _, id := range specSamples() {
			specSame(t, "the text", id.String(), specText(id))
			specSame(t, "the hexadecimal form", id.Hex(), hex.EncodeToString(id[:]))
		}
	}},
	{"Both blocks can be inspected and mutated independently in either representation.", func(t *testing.T) {
		a, b := specID(1000, 1, 2, 3, 4), specID(specLast, 0, 254, 65000, 65001)
		mixed := a
		copy(mixed[5:], b[5:]) // 5 bytes are a block
		if mixed.Timestamp() != a.Timestamp() || mixed.TickTock() != 1 || mixed.Meta() != 254 || mixed.Sequence() != 65001 {
			t.Errorf("%x", mixed[:])
		}
		// 8 characters are a block.
		id, err := sno.FromEncodedString(a.String()[:8] + b.String()[8:])
		if err != nil || id != mixed {
			t.Errorf("%x, %v; want %x", id[:], err, mixed[:])
		}
	}},
	{"Bits of the components in the binary representation don't spill over into other bytes", func(t *testing.T) {
		for i := range 10 {
			id := specID(0, 0, 0, 0, 0)
			id[i] = 255
			specSame(t, "a metabyte", id.Meta() != 0, i == 5)
			specSame(t, "a partition", id.Partition() != (sno.Partition{}), i == 6 || i == 7)
			specSame(t, "a sequence", id.Sequence() != 0, i >= 8)
			specSame(t, "a time", id.Timestamp() != 1_262_304_000_000_000_000, i < 5)
		}
	}},
	{"*The tick-tock bit in the timestamp is the only exception", func(t *testing.T) {
		for bit := range 8 {
			id := sno.ID{4: 1 << bit}
			specSame(t, "the tick-tock bit", id.TickTock() == 1, bit == 0)
			specSame(t, "the time", id.Timestamp(), specTime(1<<bit>>1).UnixNano())
		}
	}},
}

var specTimeAndSequence = []specRow{
	{"39 bits with the epoch milliseconds at a 4msec resolution (floored, unsigned)", func(t *testing.T) {
		for _, unit := range []int64{1, 1000, 1 << 38, specLast} { // 1 << 38 is the sign of a signed number
			for _, late := range []time.Duration{0, 1, time.Millisecond, 4*time.Millisecond - 1} {
				id, err := sno.FromTime(specTime(unit).Add(late), 0, sno.Partition{}, 0)
				if err != nil || id != specID(unit, 0, 0, 0, 0) {
					t.Errorf("%v after the unit %d: %x, %v", late, unit, id[:], err)
				}
				specSame(t, "the time", id.Time(), specTime(unit))
			}
		}
	}},
	{"and one bit, the LSB of the entire block - for the tick-tock toggle.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specMakes(t, g, sno.ID{0, 0, 0, 7, 0xd0})
		clock.Set(specTime(999))
		specMakes(t, g, sno.ID{0, 0, 0, 7, 0xcf}) // 2 * 999 + 1
	}},
	{"The epoch is custom and constant.", func(t *testing.T) {
		const epoch = sno.Epoch
		specSame(t, "the epoch", epoch, 1_262_304_000)
		specSame(t, "the time of the timestamp 0", sno.ID{}.Time().Unix(), 1_262_304_000)
	}},
	{"It is bounded within 2010-01-01 00:00:00 UTC and 2079-09-07 15:47:35.548 UTC.", func(t *testing.T) {
		const layout = "2006-01-02 15:04:05.000 MST"
		specSame(t, "the first time", sno.ID{}.Time().Format(layout), "2010-01-01 00:00:00.000 UTC")
		specSame(t, "the last time", specID(specLast, 1, 0, 0, 0).Time().Format(layout), "2079-09-07 15:47:35.548 UTC")

		g, clock := specGenerator(t, specLast, sno.GeneratorSnapshot{})
		clock.Set(time.Date(2079, 9, 7, 15, 47, 35, 551_999_999, time.UTC))
		specMakes(t, g, specID(specLast, 0, 0, 0, 0))
		for _, out := range []time.Time{
			time.Date(2009, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(2079, 9, 7, 15, 47, 35, 552_000_000, time.UTC),
		} {
			clock.Set(out)
			testkit.Call(g.TryNext(0)).Fails(t, sno.ErrTimeRange)
			// Ruling: a generator refuses a timestamp that does not fit, at construction too.
			if g, err := sno.NewGeneratorWith(sno.Config{Clock: clock.Now}); !errors.Is(err, sno.ErrTimeRange) || g != nil {
				t.Errorf("%v: %v", out, err)
			}
		}
		specSame(t, "the end", g.ExpiresAt(), time.Date(2079, 9, 7, 15, 47, 35, 552_000_000, time.UTC))
	}},
	{"The lower bound is 1262304000 seconds relative to Unix.", func(t *testing.T) {
		specSame(t, "the lower bound", sno.ID{}.Timestamp(), 1_262_304_000_000_000_000)
	}},
	{"At 4msec, this is 250 steps.", func(t *testing.T) {
		steps := map[int64]bool{}
		for ms := range 1000 {
			id, err := sno.FromTime(specTime(250).Add(time.Duration(ms)*time.Millisecond), 0, sno.Partition{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			steps[id.Timestamp()] = true
		}
		specSame(t, "the number of steps", len(steps), 250)
	}},
	{"snos embed a sequence (2 bytes) that is relative to time.", func(t *testing.T) {
		specSame(t, "the sequence", sno.ID{8: 0x12, 9: 0x34}.Sequence(), 0x1234)
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specMakes(t, g, specID(1000, 0, 0, 0, 0), specID(1000, 0, 0, 0, 1))
		clock.Set(specTime(1001))
		specMakes(t, g, specID(1001, 0, 0, 0, 0))
	}},
	{"It does not overflow and resets on each new time unit (4msec).", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specSame(t, "the last sequence", specDraw(t, g, 0, 65_536)[65_535], specID(1000, 0, 0, 0, 65_535))
		specExhausted(t, g)
		clock.Step(4*time.Millisecond - 1)
		specExhausted(t, g)
		clock.Step(1)
		specMakes(t, g, specID(1001, 0, 0, 0, 0))
	}},
	{"A higher sequence within a given timeframe does not necessarily indicate order of creation.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		earlier := specDraw(t, g, 0, 6)[5]
		clock.Set(specTime(999))
		specDraw(t, g, 0, 1)
		clock.Set(specTime(1000))
		later := specDraw(t, g, 0, 1)[0]
		if earlier.Timestamp() != later.Timestamp() || earlier.Sequence() != 5 || later.Sequence() != 0 {
			t.Errorf("%x and %x", earlier[:], later[:])
		}
	}},
	{"will result in monotonic increments and will represent order of creation.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 100, SequenceMax: 200})
		var ids []sno.ID
		for i := range 300 {
			if i%30 == 29 {
				clock.Step(4 * time.Millisecond)
			}
			ids = append(ids, specDraw(t, g, 7, 1)...)
		}
		specAscends(t, ids...)
		specSame(t, "the increment", ids[10].Sequence()-ids[9].Sequence(), 1)
	}},
	{"the order will still be monotonic but sorted either 2msec after or before IDs previously already written at that time", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		tick := specDraw(t, g, 0, 3)
		clock.Set(specTime(999))
		specDraw(t, g, 0, 1)
		clock.Set(specTime(1000))
		tock := specDraw(t, g, 0, 3)
		specAscends(t, slices.Concat(tick, tock)...) // 2 ms after

		s := sno.GeneratorSnapshot{Drifts: 1, WallHi: 1000, Now: 1000}
		back, clock := specGenerator(t, 999, s)
		specMakes(t, back, specID(999, 0, 0, 0, 0))
		clock.Set(specTime(1000))
		specAscends(t, slices.Concat(specDraw(t, back, 0, 3), tock)...) // 2 ms before
	}},
}

var specSharding = []specRow{
	{"The sequence pool has a range of [0..65535] (inclusive).", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for i, id := range specDraw(t, g, 0, 65_536) {
			testkit.Same(t, id.Sequence(), uint16(i))
		}
	}},
	{"multiple writers (generators) in the same partition.", func(t *testing.T) {
		var lists [4][]sno.ID
		for i := range uint16(4) {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{9, 9}, SequenceMin: i << 14, SequenceMax: i<<14 | 16383})
			lists[i] = specDraw(t, g, 0, 16_384)
			specExhausted(t, g)
		}
		specDistinct(t, 65_536, lists[:]...)
	}},
	{"This is done by dividing the pool between all writers, via user-specified bounds.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 1234, SequenceMax: 2345})
		if g.SequenceMin() != 1234 || g.SequenceMax() != 2345 || g.Cap() != 1112 {
			t.Errorf("%d IDs from %d to %d", g.Cap(), g.SequenceMin(), g.SequenceMax())
		}
	}},
	{"A generator will reset to its lower bound on each new time unit", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
		for _, unit := range []int64{1000, 1001, 1003, 500_000} {
			clock.Set(specTime(unit))
			specMakes(t, g, specID(unit, 0, 0, 0, 10), specID(unit, 0, 0, 0, 11))
		}
	}},
	{"and will never overflow its upper bound.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
		specSame(t, "the last ID", specDraw(t, g, 0, 10)[9], specID(1000, 0, 0, 0, 19))
		for range 100 {
			specExhausted(t, g)
		}
	}},
	{"Collisions are therefore guaranteed impossible unless misconfigured and they overlap with another currently online generator.", func(t *testing.T) {
		low, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
		overlapping, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 9, SequenceMax: 18})
		apart, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 19, SequenceMax: 28})
		ids := specDraw(t, low, 0, 10)
		specSame(t, "the ID of both generators", specDraw(t, overlapping, 0, 1)[0], ids[9])
		specDistinct(t, 20, ids, specDraw(t, apart, 0, 10))
	}},
	{"SequenceMax: 32767 // 32768 - 1", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: PeoplePartition, SequenceMin: 0, SequenceMax: 32767})
		specSame(t, "the last ID", specDraw(t, g, 0, 32_768)[32_767], specID(1000, 0, 0, 'P'<<8, 32_767))
		specExhausted(t, g)
	}},
	{"SequenceMax: 65535 // 65536 - 1", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: PeoplePartition, SequenceMin: 32768, SequenceMax: 65535})
		ids := specDraw(t, g, 0, 32_768)
		specSame(t, "the first ID", ids[0], specID(1000, 0, 0, 'P'<<8, 32_768))
		specSame(t, "the last ID", ids[32_767], specID(1000, 0, 0, 'P'<<8, 65_535))
		specExhausted(t, g)
	}},
	{"we have simply divided our total pool of 65,536 into 2 even and non-overlapping sectors.", func(t *testing.T) {
		low, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 32767})
		high, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 32768})
		specSame(t, "the first sector", low.Cap(), 32_768)
		specSame(t, "the second sector", high.Cap(), 32_768)
		specSame(t, "the gap", high.SequenceMin()-low.SequenceMax(), 1)
	}},
	{"In the first snapshot SequenceMin could be omitted - and SequenceMax in the second, as those are the defaults used when they are not defined.", func(t *testing.T) {
		low, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 32767})
		high, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 32768})
		specSame(t, "SequenceMin", low.SequenceMin(), 0)
		specSame(t, "SequenceMax", high.SequenceMax(), 65535)
	}},
	{"You will get an error when trying to set limits above the capacity of generators", func(t *testing.T) {
		// In Go, the type of the field is the limit; a configuration in JSON gets the error.
		var s sno.GeneratorSnapshot
		for _, name := range []string{"sequenceMin", "sequenceMax"} {
			if err := json.Unmarshal([]byte(`{"`+name+`":65536}`), &s); err == nil {
				t.Errorf("%s of 65536 gives no error", name)
			}
			if err := json.Unmarshal([]byte(`{"`+name+`":65535}`), &s); err != nil {
				t.Errorf("%s of 65535: %v", name, err)
			}
		}
	}},
	{"it cannot warn you about overlaps", func(t *testing.T) {
		for range 2 {
			if _, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: sno.Partition{4, 4}, SequenceMax: 99}, nil); err != nil {
				t.Error(err)
			}
		}
	}},
	{"The pools can be defined arbitrarily", func(t *testing.T) {
		var lists [][]sno.ID
		for _, bounds := range [][2]uint16{{0, 9}, {10, 13}, {14, 1000}, {1001, 1099}} {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: bounds[0], SequenceMax: bounds[1]})
			lists = append(lists, specDraw(t, g, 0, int(bounds[1]-bounds[0])+1))
			specExhausted(t, g)
		}
		specDistinct(t, 1100, lists...)
	}},
	{"it happens in a different timeframe in the future, i.e. no sooner than after 4msec have passed", func(t *testing.T) {
		former, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
		latter, _ := specGenerator(t, 1001, sno.GeneratorSnapshot{SequenceMax: 9})
		specDistinct(t, 20, specDraw(t, former, 0, 10), specDraw(t, latter, 0, 10))
	}},
	{"if you can guarantee the new Generator won't regress into a time the previous Generator was running in.", func(t *testing.T) {
		former, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
		regressed, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
		specSame(t, "the ID of both generators", specDraw(t, former, 0, 1)[0], specDraw(t, regressed, 0, 1)[0])
	}},
	{"If you create the new Generator using a Snapshot of the former as it went offline, you do not need to worry about those conditions and can resume writing to the same range immediately", func(t *testing.T) {
		former, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
		ids := specDraw(t, former, 0, 4)
		for _, unit := range []int64{1000, 999, 998} { // in the timeframe, and regressed
			latter, _ := specGenerator(t, unit, former.Snapshot())
			specDistinct(t, 10, ids, specDraw(t, latter, 0, 6))
		}
	}},
	{"This gave us 2048 identifiable origins by using just one byte of the partition.", func(t *testing.T) {
		type origin struct{ partition, shard byte }
		origins := map[origin]bool{}
		for low := range 256 {
			for shard := range uint16(8) {
				g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{77, byte(low)},
					SequenceMin: shard * 8192, SequenceMax: shard*8192 + 8191})
				id := specDraw(t, g, 0, 1)[0]
				origins[origin{id[7], byte(id.Sequence() / 8192)}] = true
			}
		}
		specSame(t, "the number of origins", len(origins), 2048)
	}},
	{"them being placed higher in the sort order.", func(t *testing.T) {
		specAscends(t, specID(1, 0, 0, 1, 65_535), specID(1, 0, 0, 2, 0))
		low, _ := specGenerator(t, 1, sno.GeneratorSnapshot{Partition: sno.Partition{0, 1}, SequenceMin: 60_000})
		high, _ := specGenerator(t, 1, sno.GeneratorSnapshot{Partition: sno.Partition{1, 0}})
		specAscends(t, specDraw(t, low, 0, 1)[0], specDraw(t, high, 0, 1)[0])
	}},
	{"the origin of an ID can be determined by inspecting the sequence alone", func(t *testing.T) {
		for shard := range uint16(16) {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: shard << 12, SequenceMax: shard<<12 | 4095})
			for _, id := range specDraw(t, g, 0, 4096) {
				if id.Sequence()>>12 != shard {
					t.Fatalf("the shard %d made %x", shard, id[:])
				}
			}
		}
	}},
	{"// Overwrites the upper byte of the fixed partition.", func(t *testing.T) {
		id := specID(1000, 0, 1, 0x0509, 7)
		id[6] = 3
		specSame(t, "the partition", id.Partition(), sno.Partition{3, 9})
		specSame(t, "the ID", id, specID(1000, 0, 1, 0x0309, 7))
	}},
	{"we didn't define it but gave a non-nil snapshot, so it is {0, 0}.", func(t *testing.T) {
		g, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMax: 32767}, nil)
		if err != nil || g.Partition() != (sno.Partition{0, 0}) {
			t.Errorf("%v, %v", g.Partition(), err)
		}
	}},
}

var specOverflow = []specRow{
	{"limiting the sequence pool also limits max throughput of each generator.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 7})
		made := 0
		for range 250 { // a second
			for range 20 {
				if _, err := g.TryNext(0); err == nil {
					made++
				}
			}
			clock.Step(4 * time.Millisecond)
		}
		specSame(t, "the number of IDs of a second", made, 250*8)
	}},
	{"The sequence never overflows and the generator is designed with a single-return New() method that does not return errors nor invalid IDs.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMin: 6, SequenceMax: 9}})
			for i := range int64(40) {
				specSame(t, "the ID", g.New(3), specID(1000+i/4, 0, 3, 0, uint16(6+i%4)))
			}
		})
		// Ruling: New never returns the zero ID. With a lease New waits while a grant may come, and
		// panics with the error of the lease once no grant can come.
		specBubble(t, func(t *testing.T) {
			closed := errors.New("closed")
			g := newGenerator(t, sno.Config{Leased: true})
			got := make(chan error, 1)
			go func() {
				_, err := panicOf(func() sno.ID { return g.New(0) })
				got <- err
			}()
			time.Sleep(time.Second)
			specSame(t, "the number of calls that have returned", len(got), 0)
			g.ForLease().Seal(closed)
			if err := <-got; !errors.Is(err, closed) {
				t.Errorf("New panics with %v", err)
			}
		})
	}},
	{"the capacity could shrink to 4 per 4msec (smallest allowed).", func(t *testing.T) {
		// Ruling: the smallest sequence pool is 4, as the text says.
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 6, SequenceMax: 9})
		specSame(t, "the capacity", g.Cap(), 4)
		specDraw(t, g, 0, 4)
		specExhausted(t, g)
		_, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 6, SequenceMax: 8}, nil)
		specError[*sno.InvalidSequenceBoundsError](t, err)
	}},
	{"the generator will stall and pray for a reduction in throughput sometime in the near future.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
			specDraw(t, g, 0, 4)
			ids := specStall(g, 1)
			time.Sleep(4*time.Millisecond - 1)
			synctest.Wait()
			specSame(t, "the number of IDs before the next unit", len(ids), 0)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			specSame(t, "the number of IDs in the next unit", len(ids), 1)
			specSame(t, "the ID", <-ids, specID(1001, 0, 0, 0, 0))
		})
	}},
	{"requesting more IDs than it can safely give you immediately is not an error", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
			for i := range int64(20) {
				id, err := g.Next(context.Background(), 0)
				if err != nil || id != specID(1000+i/4, 0, 0, 0, uint16(i%4)) {
					t.Fatalf("ID %d: %x, %v", i, id[:], err)
				}
			}
		})
	}},
	{"simply give sno a channel along with its configuration snapshot.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 10)
			g := testkit.Must(sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMax: 3}, c))
			for range 4 {
				g.New(0)
			}
			specSame(t, "the number of notifications before the overflow", len(c), 0)
			g.New(0)
			specSame(t, "the number of notifications", len(c), 1)
		})
	}},
	{"When a thread requests an ID and gets stalled, once per time unit, you will get a SequenceOverflowNotification on that channel.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			ids := specStall(g, 4+4*5)
			for unit := range 5 { // in each, calls stall
				specSame(t, "the number of notifications", len(c), unit+1)
				time.Sleep(4 * time.Millisecond)
				synctest.Wait()
			}
			time.Sleep(time.Second)
			specSame(t, "the number of notifications", len(c), 5)
			specSame(t, "the number of IDs", len(ids), 24)
		})
	}},
	{"// Time of tick.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			time.Sleep(1500 * time.Microsecond)
			specStall(g, 12)
			time.Sleep(time.Second)
			for _, after := range []time.Duration{1500 * time.Microsecond, 4 * time.Millisecond} {
				specSame(t, "Now", (<-c).Now.UTC(), specTime(1000).Add(after))
			}
		})
	}},
	{"// Number of currently overflowing generation calls.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			specStall(g, 4+10)
			time.Sleep(time.Second)
			for _, count := range []uint32{1, 10 - 4, 10 - 8} {
				specSame(t, "Count", (<-c).Count, count)
			}
		})
	}},
	{"// For how many ticks in total we've already been dealing with the *current* overflow.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			for range 2 { // the next overflow begins to count again
				specStall(g, 4+10)
				time.Sleep(time.Second)
				for _, ticks := range []uint32{1, 5, 9} {
					specSame(t, "Ticks", (<-c).Ticks, ticks)
				}
			}
		})
	}},
	{"A tick is roughly 1ms.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			specStall(g, 4*20)
			time.Sleep(time.Second)
			first := <-c
			for range 18 {
				n := <-c
				specSame(t, "the number of ticks", time.Duration(n.Ticks-first.Ticks), n.Now.Sub(first.Now)/time.Millisecond)
			}
		})
	}},
}

var specClock = []specRow{
	{"sno adjusts itself to the new time - instead of waiting (blocking), it tick-tocks.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			var clock offsetClock
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: clock.now})
			specSame(t, "the ID", g.New(0), specID(1000, 0, 0, 0, 0))
			before := time.Now()
			clock.offset.Store(-int64(time.Second))
			specSame(t, "the ID", g.New(0), specID(750, 1, 0, 0, 0))
			specSame(t, "the wait", time.Since(before), 0)
		})
	}},
	{"without requiring slew mode nor having to worry about even large drifts.", func(t *testing.T) {
		clock := testkit.At(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: clock.Now})
		specDraw(t, g, 0, 1)
		clock.Set(time.Date(2012, 3, 4, 5, 6, 7, 0, time.UTC))
		id := specDraw(t, g, 0, 1)[0]
		specSame(t, "the time", id.Time(), clock.Now())
		specSame(t, "the tick-tock bit", id[4]&1, 1)
	}},
	{"each generator keeps track of the highest wall clock time it got from the OS*, each time it generates a new timestamp.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for _, unit := range []int64{1000, 1001, 1005, 20_000} {
			clock.Set(specTime(unit))
			specDraw(t, g, 0, 1)
			specSame(t, "WallHi", g.Snapshot().WallHi, unit)
		}
		clock.Set(specTime(30_000)) // without a new timestamp
		specSame(t, "WallHi", g.Snapshot().WallHi, 20_000)
	}},
	{"we toggle a bit - stored from here on out in each sno generated until the next regression. Rinse, repeat - tick, tock.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for _, step := range []struct{ unit, tickTock int64 }{
			{1000, 0}, {1010, 0}, {900, 1}, {901, 1}, {1500, 1}, {9000, 1}, {8000, 0}, {9500, 0}, {9400, 1}, {9999, 1},
		} {
			clock.Set(specTime(step.unit))
			specMakes(t, g, specID(step.unit, step.tickTock, 0, 0, 0), specID(step.unit, step.tickTock, 0, 0, 1))
		}
	}},
	{"(*IDs created with a user-defined time are exempt from this mechanism as their time is arbitrary.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specMakes(t, g, specID(1000, 0, 0, 0, 0))
		specSame(t, "the ID", g.NewWithTime(0, specTime(5000)), specID(5000, 0, 0, 0, 0))
		specMakes(t, g, specID(1000, 0, 0, 0, 1)) // not a regression
		specSame(t, "the ID", g.NewWithTime(0, specTime(10)), specID(10, 0, 0, 0, 1))
		specSame(t, "Drifts", g.Snapshot().Drifts, 0)
		clock.Set(specTime(900))
		specMakes(t, g, specID(900, 1, 0, 0, 0))
		specSame(t, "the ID", g.NewWithTime(0, specTime(10)), specID(10, 0, 0, 0, 2))
	}},
	{"In practice this means that we switch back and forth between two alternating timelines.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for i := range int64(20) {
			clock.Set(specTime(1000 + 10*i))
			specMakes(t, g, specID(1000+10*i, i%2, 0, 0, 0))
			clock.Set(specTime(1015 + 10*i)) // the next round begins 5 units before
			specMakes(t, g, specID(1015+10*i, i%2, 0, 0, 0))
		}
	}},
	{"When we tick or tock, we simply jump between two pools with the same capacity.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
		tick := specDraw(t, g, 0, 10)
		specExhausted(t, g)
		clock.Set(specTime(999))
		specDraw(t, g, 0, 10)
		specExhausted(t, g)
		clock.Set(specTime(1000))
		specDistinct(t, 20, tick, specDraw(t, g, 0, 10))
		specExhausted(t, g)
	}},
	{"The simplistic approach of tick-tocking entirely eliminates that collision chance", func(t *testing.T) {
		// The example of the text: an ID an hour, and a clock that drifts back that whole hour.
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		first := specDraw(t, g, 0, 1)
		clock.Step(time.Hour)
		second := specDraw(t, g, 0, 1)
		clock.Step(-time.Hour)
		third := specDraw(t, g, 0, 1)
		specDistinct(t, 3, first, second, third)
		specSame(t, "the time", third[0].Time(), first[0].Time())
	}},
	{"sno therefore keeps generating without waiting, using the time as reported by the system - in the \"past\" so to speak, but with the tick-tock bit toggled.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 1)
		clock.Set(specTime(500).Add(3 * time.Millisecond))
		id := specDraw(t, g, 0, 1)[0]
		specSame(t, "the time", id.Time(), specTime(500))
		specSame(t, "the ID", id, specID(500, 1, 0, 0, 0))
	}},
	{"If another regression happens, into that timeframe or even further back, only then do we tell all contenders to wait.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			var clock offsetClock
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: clock.now})
			time.Sleep(3 * time.Second)
			specSame(t, "the ID", g.New(0), specID(1750, 0, 0, 0, 0))
			clock.offset.Store(-int64(time.Second))
			specSame(t, "the ID", g.New(0), specID(1500, 1, 0, 0, 0))
			clock.offset.Store(-int64(3 * time.Second)) // 2 s before the ID on the line in use
			specBackwards(t, g)
			ids := specStall(g, 3)
			time.Sleep(2*time.Second - 1)
			synctest.Wait()
			specSame(t, "the number of IDs in the used time", len(ids), 0)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			specSame(t, "the number of IDs after the used time", len(ids), 3)
			specDistinct(t, 4, []sno.ID{<-ids, <-ids, <-ids, specID(1500, 1, 0, 0, 0)})
			specMakes(t, g, specID(1500, 1, 0, 0, 4))
		})
	}},
	{"We get a wait-free fast path most of the time - and safety if things go southways.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
		random := rand.New(rand.NewPCG(3, 4))
		var ids []sno.ID
		for i := range int64(3000) {
			clock.Set(specTime(1000 + i/10 + random.Int64N(30)))
			if id, err := g.TryNext(0); err == nil {
				ids = append(ids, id)
			} else if !errors.Is(err, sno.ErrClockBackwards) && !errors.Is(err, sno.ErrExhausted) {
				t.Fatal(err)
			}
		}
		if len(ids) < 30 {
			t.Errorf("only %d IDs", len(ids))
		}
		specDistinct(t, len(ids), ids)
	}},
	{"Tick-tocking obviously affects the sort order as it changes the timestamp", func(t *testing.T) {
		tick, tock := specID(1000, 0, 255, 65_535, 65_535), specID(1000, 1, 0, 0, 0)
		ids := []sno.ID{tock, tick}
		sno.Sort(ids)
		specSame(t, "the first ID", ids[0], tick)
	}},
	{"Even though the toggle is not part of the milliseconds, you can think of it as if it were.", func(t *testing.T) {
		for _, id := range specSamples() {
			toggled := id
			toggled[4] ^= 1
			specSame(t, "the time", toggled.Timestamp(), id.Timestamp())
			specSame(t, "the tick-tock bit", toggled.TickTock(), 1-id.TickTock())
		}
	}},
	{"Toggling is then like moving two milliseconds back and forth", func(t *testing.T) {
		// A timestamp with its bit counts steps of 2 ms.
		steps := func(id sno.ID) int64 { return new(big.Int).Rsh(specInt(id), 40).Int64() }
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		tick := specDraw(t, g, 0, 1)[0]
		clock.Set(specTime(999))
		tock := specDraw(t, g, 0, 1)[0]
		specSame(t, "the milliseconds of the ID", 2*steps(tick), 4000)
		specSame(t, "the milliseconds of the ID with the bit", 2*steps(tock), 3996+2)
	}},
	{"since our milliseconds are floored to increments of 4msec, we never hit the range of a previous timeframe.", func(t *testing.T) {
		specAscends(t, specID(999, 1, 255, 65_535, 65_535), specID(1000, 0, 0, 0, 0))
		specSame(t, "the last ID of a unit", sno.Last(specTime(999)), specID(999, 1, 255, 65_535, 65_535))
		specSame(t, "the first ID of a unit", sno.First(specTime(1000)), specID(1000, 0, 0, 0, 0))
	}},
	{"Alternating timelines are as such sorted as if they were 2msec apart from each other", func(t *testing.T) {
		specAscends(t, specID(999, 1, 9, 9, 9), specID(1000, 0, 9, 9, 9), specID(1000, 1, 9, 9, 9), specID(1001, 0, 9, 9, 9))
	}},
	{"they are timestamped at exactly the same millisecond.", func(t *testing.T) {
		specSame(t, "the time of the tick", specID(1000, 0, 9, 9, 9).Time(), specTime(1000))
		specSame(t, "the time of the tock", specID(1000, 1, 9, 9, 9).Time(), specTime(1000))
	}},
	{"They won't sort in an interleaved fashion, but will be right next to the other timeline.", func(t *testing.T) {
		var ids []sno.ID
		for i := range uint16(100) {
			ids = append(ids, specID(1000, int64(i%2), byte(i), i, i))
		}
		sno.Sort(ids)
		for i, id := range ids {
			specSame(t, "the tick-tock bit", id[4]&1 == 1, i >= 50)
		}
	}},
}

var specMetabyte = []specRow{
	{"0 is a valid metabyte", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specMakes(t, g, specID(1000, 0, 0, 0, 0))
		id, err := sno.FromEncodedString(specText(specID(1000, 0, 0, 0, 0)))
		if err != nil || id.Meta() != 0 || id.IsZero() {
			t.Errorf("%x, %v", id[:], err)
		}
	}},
	{"sno is agnostic as to what that byte represents and it is optional.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for i, meta := range []byte{0, 255, 1, 128, 0, 7} { // the metabyte has no effect on the other fields
			specMakes(t, g, specID(1000, 0, meta, 0, uint16(i)))
		}
	}},
	{"None of the properties of snos get violated if you simply pass a 0.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		ids := specDraw(t, g, 0, 500)
		clock.Step(4 * time.Millisecond)
		ids = append(ids, specDraw(t, g, 0, 500)...)
		specAscends(t, ids...)
	}},
	{"Untyped integers can pass as uint8 (i.e. byte) in Go, so the following would work", func(t *testing.T) {
		const (
			personType = iota
			companyType
		)
		specSame(t, "the metabyte of a person", sno.New(personType)[5], 0)
		specSame(t, "the metabyte of a company", sno.New(companyType)[5], 1)
	}},
	{"sno.New(PersonType),", func(t *testing.T) {
		person := Person{ID: sno.New(CompanyType), Name: "someone"}
		specSame(t, "the JSON", specJSON(t, person), `{"ID":"`+specText(person.ID)+`","Name":"someone"}`)
	}},
	{"The metabyte follows the timestamp. This clusters IDs by the timestamp and then by the metabyte", func(t *testing.T) {
		specAscends(t, specID(1, 0, 9, 9, 9), specID(1, 1, 8, 9, 9), specID(2, 0, 7, 9, 9), specID(2, 0, 8, 9, 9))
		specSame(t, "the metabyte", sno.ID{5: 77}.Meta(), 77)
	}},
	{"before the fixed partition.", func(t *testing.T) {
		specAscends(t, specID(1, 0, 8, 65_535, 9), specID(1, 0, 9, 0, 9))
	}},
	{"grouping all People generated across the entirety of your system in the given timeframe in a sortable manner.", func(t *testing.T) {
		var ids []sno.ID
		for machine := range byte(10) {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{0, machine}})
			for range 5 {
				for _, meta := range []byte{2, 1, 0} {
					ids = append(ids, specDraw(t, g, meta, 1)...)
				}
			}
		}
		sno.Sort(ids)
		for i, id := range ids {
			specSame(t, "the metabyte", id[5], byte(i/50))
		}
	}},
	{"Placement at the beginning of the second block allows the metabyte to potentially both extend the timestamp block or provide additional semantics to the payload block.", func(t *testing.T) {
		for _, id := range specSamples() {
			payload := new(big.Int).And(specInt(id), big.NewInt(1<<40-1)).Int64()
			specSame(t, "the metabyte", int64(id.Meta()), payload>>32)
		}
	}},
	{"Even if you always leave it empty, sort order nor", func(t *testing.T) {
		specAscends(t, specID(1, 0, 0, 65_535, 65_535), specID(1, 1, 0, 0, 0), specID(2, 0, 0, 0, 0))
	}},
	{"How about storing a (immutable) bitmask along with the ID?", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		for bit := range 8 {
			id, err := sno.FromEncodedString(specDraw(t, g, 1<<bit, 1)[0].String())
			if err != nil || id.Meta() != 1<<bit {
				t.Errorf("the flag %d is %b, %v", bit, id.Meta(), err)
			}
		}
	}},
	{"Take the ID of the last version created, increment its metabyte", func(t *testing.T) {
		version := specID(1000, 1, 0, 513, 7)
		for n := range 255 {
			next := version
			next[5]++
			specSame(t, "the next version", next, specID(1000, 1, byte(n+1), 513, 7))
			specAscends(t, version, next)
			version = next
		}
	}},
	{"All other components remained the same, but we ended up with a new ID pointing to the most recent version.", func(t *testing.T) {
		version := specID(1000, 1, 4, 513, 7)
		version[5]++
		if version.Time() != specTime(1000) || version.TickTock() != 1 || version.Partition() != (sno.Partition{2, 1}) || version.Sequence() != 7 {
			t.Errorf("%x", version[:])
		}
	}},
	{"sno.New(0), done. Failed? sno.New(1), done.", func(t *testing.T) {
		succeeded, failed := sno.New(0), sno.New(1)
		if succeeded[5] != 0 || failed[5] != 1 || succeeded == failed {
			t.Errorf("%x and %x", succeeded[:], failed[:])
		}
	}},
	{"The 8-th and 9-th (0-indexed) characters of the ID contain the encoded bits of the metabyte.", func(t *testing.T) {
		text := specID(1000, 0, 0, 513, 7).String()
		for meta := range 256 {
			s := specID(1000, 0, byte(meta), 513, 7).String()
			high, low := strings.IndexByte(specAlphabet, s[8]), strings.IndexByte(specAlphabet, s[9])
			specSame(t, "the metabyte", high<<3|low>>2, meta)
			if s[:8] != text[:8] || s[10:] != text[10:] {
				t.Errorf("%s differs from %s outside the characters 8 and 9", s, text)
			}
		}
	}},
	{"Decode that (use one of the utilities provided by the library)", func(t *testing.T) {
		const text = "aaaaaaaa55aaaaaa" // 5 is 00011: the metabyte is 00011000
		meta, err := sno.EncodedMeta(text)
		if err != nil || meta != 24 {
			t.Errorf("%d, %v", meta, err)
		}
		id, err := sno.FromEncodedString(text)
		if err != nil || id.Meta() != 24 {
			t.Errorf("%d, %v", id.Meta(), err)
		}
	}},
	{"Use a fixed byte as the metabyte -- you have extended the fixed partition to 3 bytes.", func(t *testing.T) {
		var lists [3][]sno.ID
		for i := range lists {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{5, 6}})
			lists[i] = specDraw(t, g, byte(i), 100)
			specSame(t, "the 3 bytes", [3]byte(lists[i][99][5:8]), [3]byte{byte(i), 5, 6})
		}
		specDistinct(t, 300, lists[:]...)
	}},
}

var specEncoding = []specRow{
	{"The encoding is a custom base32 variant stemming from base32hex.", func(t *testing.T) {
		variant := base32.NewEncoding(specAlphabet).WithPadding(base32.NoPadding)
		const hexAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
		for _, id := range specSamples() {
			specSame(t, "the text", id.String(), variant.EncodeToString(id[:]))
			fromHex := strings.Map(func(r rune) rune {
				return rune(specAlphabet[strings.IndexRune(hexAlphabet, r)])
			}, base32.HexEncoding.EncodeToString(id[:]))
			specSame(t, "the text", id.String(), fromHex)
		}
	}},
	{"A canonically encoded sno is a regexp of [2-9a-x]{16}.", func(t *testing.T) {
		// Ruling: decoding validates the alphabet. A foreign character is a typed error with its place.
		pattern := regexp.MustCompile(`^[2-9a-x]{16}$`)
		for _, id := range specSamples() {
			if !pattern.MatchString(id.String()) {
				t.Errorf("%x is written as %q", id[:], id.String())
			}
		}
		for place := range 16 {
			for c := range 256 {
				text := []byte("bcdefg23456789hx")
				text[place] = byte(c)
				id, err := sno.FromEncodedBytes(text)
				if pattern.Match(text) {
					if err != nil || specText(id) != string(text) {
						t.Errorf("%q is read as %x, %v", text, id[:], err)
					}
					continue
				}
				if e := specError[*sno.ParseError](t, err); e.Offset != place || !errors.Is(err, iderr.ErrCharacter) || id != (sno.ID{}) {
					t.Errorf("%q: %x, offset %d, %v", text, id[:], e.Offset, err)
				}
			}
		}
	}},
	{"The following alphabet is used:", func(t *testing.T) {
		for value := range 32 {
			id := specID(0, 0, 0, 0, uint16(value))
			specSame(t, "the last character", id.String()[15], "23456789abcdefghijklmnopqrstuvwx"[value])
		}
	}},
	{"This is 2 contiguous ASCII ranges: 50..57 (digits) and 97..120 (strictly lowercase letters).", func(t *testing.T) {
		var accepted []byte
		for c := range 256 {
			text := bytes.Repeat([]byte{byte(c)}, 16)
			if _, err := sno.FromEncodedBytes(text); err == nil {
				accepted = append(accepted, byte(c))
			}
		}
		var ranges []byte
		for c := byte(50); c <= 57; c++ {
			ranges = append(ranges, c)
		}
		for c := byte(97); c <= 120; c++ {
			ranges = append(ranges, c)
		}
		specSame(t, "the alphabet", string(accepted), string(ranges))
		_, err := sno.FromEncodedString("ABCDEFGHIJKLMNOP")
		specError[*sno.ParseError](t, err)
	}},
	{"sno 10 16 yes no yes 8.8", func(t *testing.T) {
		one, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		other, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		a, b := specDraw(t, one, 77, 2), specDraw(t, other, 77, 1)
		specSame(t, "Binary", len(a[0]), 10)
		specSame(t, "Encoded", len(a[0].String()), 16)
		specAscends(t, a...)                      // sortable: yes
		specSame(t, "the same state", a[0], b[0]) // random: no
		specSame(t, "metadata", a[0].Meta(), 77)  // metadata: yes
	}},
}

var specConstants = []specRow{
	{"SizeBinary = 10", func(t *testing.T) { specSame(t, "SizeBinary", sno.SizeBinary, 10) }},
	{"SizeEncoded = 16", func(t *testing.T) { specSame(t, "SizeEncoded", sno.SizeEncoded, 16) }},
	{"Epoch = 1262304000", func(t *testing.T) { specSame(t, "Epoch", sno.Epoch, 1_262_304_000) }},
	{"TimeUnit = 4e6", func(t *testing.T) {
		specSame(t, "TimeUnit", sno.TimeUnit, 4_000_000)
		specSame(t, "TimeUnit as a duration", time.Duration(sno.TimeUnit), 4*time.Millisecond)
	}},
	{"MaxTimestamp is the max number of time units that can be embedded in an ID's timestamp.", func(t *testing.T) {
		id, err := sno.FromTime(time.Unix(0, 1_262_304_000_000_000_000+sno.MaxTimestamp*4_000_000), 0, sno.Partition{}, 0)
		if err != nil || id != (sno.ID{255, 255, 255, 255, 254}) {
			t.Errorf("the last timestamp: %x, %v", id[:], err)
		}
		_, err = sno.FromTime(time.Unix(0, 1_262_304_000_000_000_000+(sno.MaxTimestamp+1)*4_000_000), 0, sno.Partition{}, 0)
		specError[*sno.TimeError](t, err)
	}},
	{"Corresponds to 2079-09-07 15:47:35.548 UTC in our custom epoch.", func(t *testing.T) {
		end := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Add(sno.MaxTimestamp * 4 * time.Millisecond)
		specSame(t, "the last time", end, time.Date(2079, 9, 7, 15, 47, 35, 548_000_000, time.UTC))
	}},
	{"MaxTimestamp = 1<<39 - 1", func(t *testing.T) { specSame(t, "MaxTimestamp", int64(sno.MaxTimestamp), 549_755_813_887) }},
	{"It equals max uint16 (65535) and is the equivalent of Partition{255, 255}.", func(t *testing.T) {
		specSame(t, "the number", sno.Partition{255, 255}.AsUint16(), sno.MaxPartition)
	}},
	{"MaxPartition = 1<<16 - 1", func(t *testing.T) { specSame(t, "MaxPartition", sno.MaxPartition, 65_535) }},
	{"this is the upper cap and equals max uint16 (65535).", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 65_532})
		specSame(t, "the last sequence", specDraw(t, g, 0, 4)[3].Sequence(), 65_535)
		specExhausted(t, g)
	}},
	{"MaxSequence = 1<<16 - 1", func(t *testing.T) { specSame(t, "MaxSequence", sno.MaxSequence, 65_535) }},
}

var specGeneratorAPI = []specRow{
	{"Sort performs an in-place lexicographic sort of a slice of sno IDs.", func(t *testing.T) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{0, 1, 2, 31, 33, 282, 5000} {
			var ids []sno.ID
			for samples := specSamples(); len(ids) < n; {
				ids = append(ids, samples[random.IntN(len(samples))])
				ids[len(ids)-1][random.IntN(10)] ^= byte(random.Uint32())
			}
			want := slices.Clone(ids)
			slices.SortFunc(want, func(a, b sno.ID) int { return specInt(a).Cmp(specInt(b)) })
			sno.Sort(ids)
			if !slices.Equal(ids, want) {
				t.Errorf("%d IDs are not in order", n)
			}
		}
	}},
	{"Generator is responsible for generating new IDs scoped to a given fixed Partition and managing their sequence.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{200, 100}})
		for i := range 50 {
			specMakes(t, g, specID(1000+int64(i/10), 0, byte(i), 200<<8|100, uint16(i%10)))
			if i%10 == 9 {
				clock.Step(4 * time.Millisecond)
			}
		}
	}},
	{"the zero value of a Generator is an unusable state.", func(t *testing.T) {
		var g sno.Generator
		testkit.Call(g.TryNext(0)).Fails(t, iderr.ErrNotReady)
		testkit.Call(panicOf(func() sno.ID { return g.New(0) })).Fails(t, iderr.ErrNotReady)
		testkit.Call(panicOf(func() sno.ID { return g.NewWithTime(0, specTime(1)) })).Fails(t, iderr.ErrNotReady)
	}},
	{"func NewGenerator(snapshot *GeneratorSnapshot, c chan<- *SequenceOverflowNotification) (*Generator, error)", func(t *testing.T) {
		call := (func(*sno.GeneratorSnapshot, chan<- *sno.SequenceOverflowNotification) (*sno.Generator, error))(sno.NewGenerator)
		g, err := call(&sno.GeneratorSnapshot{SequenceMin: 7, SequenceMax: 17}, make(chan *sno.SequenceOverflowNotification))
		if err != nil {
			t.Fatal(err)
		}
		specSame(t, "Cap", g.Cap(), 11)
	}},
	{"NewGenerator returns a new generator based on the optional Snapshot.", func(t *testing.T) {
		g, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}, SequenceMin: 3, SequenceMax: 9}, nil)
		if err != nil || g.Partition() != (sno.Partition{1, 2}) || g.SequenceMin() != 3 || g.SequenceMax() != 9 {
			t.Errorf("with a snapshot: %v from %d to %d, %v", g.Partition(), g.SequenceMin(), g.SequenceMax(), err)
		}
		g, err = sno.NewGenerator(nil, nil)
		if err != nil || g.Cap() != 65_536 {
			t.Errorf("without a snapshot: %d IDs, %v", g.Cap(), err)
		}
	}},
	{"Cap returns the total capacity of the Generator.", func(t *testing.T) {
		for _, c := range []struct {
			min, max uint16
			want     int
		}{{0, 0, 65_536}, {0, 65_535, 65_536}, {0, 3, 4}, {10, 19, 10}, {65_532, 65_535, 4}, {1, 65_535, 65_535}} {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: c.min, SequenceMax: c.max})
			specSame(t, "Cap", g.Cap(), c.want)
			specDraw(t, g, 0, c.want)
			specExhausted(t, g)
			specSame(t, "Cap of an exhausted generator", g.Cap(), c.want)
		}
	}},
	{"spare := generator.Cap() - generator.Len()", func(t *testing.T) {
		generator, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 5, SequenceMax: 24})
		for range 5 {
			spare := generator.Cap() - generator.Len()
			specDraw(t, generator, 0, spare-1)
			specSame(t, "the spare capacity", generator.Cap()-generator.Len(), 1)
			specDraw(t, generator, 0, 1)
			specExhausted(t, generator)
			clock.Step(4 * time.Millisecond)
		}
	}},
	{"The result will always be non-negative.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
			for i := range 12 {
				specStall(g, 1)
				specSame(t, "the spare capacity", g.Cap()-g.Len(), max(3-i, 0))
			}
			time.Sleep(time.Second)
		})
	}},
	{"Len returns the number of IDs generated in the current timeframe.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 5, SequenceMax: 24})
		specSame(t, "Len before the first ID", g.Len(), 0)
		for i := range 20 {
			specDraw(t, g, 0, 1)
			specSame(t, "Len", g.Len(), i+1)
		}
		specExhausted(t, g)
		specSame(t, "Len at the end", g.Len(), 20)
		clock.Step(4 * time.Millisecond)
		specSame(t, "Len in the next timeframe", g.Len(), 0)
	}},
	{"New generates a new ID using the current system time for its timestamp.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) { // in a bubble, the system's clock stands
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}})
			for unit := int64(1000); unit < 1010; unit++ {
				specSame(t, "the ID", g.New(9), specID(unit, 0, 9, 0, 0))
				time.Sleep(4 * time.Millisecond)
			}
		})
	}},
	{"NewWithTime generates a new ID using the given time for the timestamp.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}})
		for i, unit := range []int64{7, specLast, 1, 1 << 38} {
			id := g.NewWithTime(9, specTime(unit).Add(4*time.Millisecond-1))
			specSame(t, "the ID", id, specID(unit, 0, 9, 258, uint16(i)))
		}
	}},
	{"IDs generated with user-specified timestamps are exempt from the tick-tock mechanism", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 1)
		clock.Set(specTime(900))
		specDraw(t, g, 0, 1)
		before := g.Snapshot()
		for _, unit := range []int64{2000, 900, 100} {
			specSame(t, "the tick-tock bit", g.NewWithTime(0, specTime(unit))[4]&1, 0)
		}
		specSame(t, "the snapshot", g.Snapshot(), before)
	}},
	{"use a sequence separate from New() - one that is independent from time, as time provided to this method can be arbitrary.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 50)
		for i := range uint16(20) {
			specSame(t, "the sequence", g.NewWithTime(0, specTime(int64(i%3)+5)).Sequence(), i)
			clock.Step(4 * time.Millisecond)
			specSame(t, "the sequence of New", specDraw(t, g, 0, 1)[0].Sequence(), 0)
		}
	}},
	{"The sequence increases strictly monotonically up to hitting the generator's SequenceMax, after which it rolls over silently back to SequenceMin.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 15})
		for i := range uint16(30) {
			specSame(t, "the ID", g.NewWithTime(0, specTime(8)), specID(8, 0, 0, 0, 10+i%6))
		}
	}},
	{"That means bounds are respected, but unlike New(), NewWithTime() will not block the caller when the (separate) sequence rolls over", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13}})
			for i := range uint16(20) {
				specSame(t, "the sequence", g.NewWithTime(0, time.Now()).Sequence(), 10+i%4)
			}
			specSame(t, "the time", time.Now().UTC(), specTime(1000))
			specDraw(t, g, 0, 4)
			g.New(0) // blocks
			specSame(t, "the time", time.Now().UTC(), specTime(1001))
		})
	}},
	{"Managing potential collisions due to the arbitrary time is left to the user.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13})
		first := g.NewWithTime(0, specTime(8))
		for range 3 {
			g.NewWithTime(0, specTime(8))
		}
		specSame(t, "the ID", g.NewWithTime(0, specTime(8)), first)
	}},
	{"Partition returns the fixed identifier of the Generator.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{250, 3}})
		for range 3 {
			specSame(t, "Partition", g.Partition(), sno.Partition{250, 3})
			specDraw(t, g, 0, 10)
			clock.Step(time.Second)
		}
	}},
	{"Sequence returns the current sequence the Generator is at.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
		for i := range uint32(10) {
			specDraw(t, g, 0, 1)
			specSame(t, "Sequence", g.Sequence(), 10+i)
		}
	}},
	{"the generated ID will necessarily get this sequence, as other things may happen before.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 5)
		specSame(t, "Sequence", g.Sequence(), 4)
		specDraw(t, g, 0, 1) // another caller
		specSame(t, "the sequence of the ID", specDraw(t, g, 0, 1)[0].Sequence(), 6)
	}},
	{"If the next call to New() would result in a reset of the sequence, SequenceMin is returned instead of the current internal sequence.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
		specSame(t, "Sequence before the first ID", g.Sequence(), 10)
		for range 3 {
			specDraw(t, g, 0, 8)
			specSame(t, "Sequence", g.Sequence(), 17)
			clock.Step(4 * time.Millisecond)
			specSame(t, "Sequence in the next unit", g.Sequence(), 10)
		}
		specDraw(t, g, 0, 8)
		clock.Step(-12 * time.Millisecond)
		specSame(t, "Sequence after a regression", g.Sequence(), 10)
	}},
	{"If the generator is currently overflowing, the sequence returned will be higher than the generator's SequenceMax", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13}})
			specDraw(t, g, 0, 4)
			specSame(t, "Sequence of an exhausted unit", g.Sequence(), 13)
			for calls := range uint32(3) {
				specStall(g, 1)
				specSame(t, "Sequence", g.Sequence(), 13+calls+1)
			}
			time.Sleep(time.Second)
			specSame(t, "Sequence after the overflow", g.Sequence(), 10)
		})
	}},
	{"overflow := int(uint32(generator.SequenceMax()) - generator.Sequence())", func(t *testing.T) {
		// Ruling: the difference of the example wraps.
		specBubble(t, func(t *testing.T) {
			generator := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
			specStall(generator, 4+5)
			overflow := int(uint32(generator.SequenceMax()) - generator.Sequence())
			specSame(t, "the overflow", int32(overflow), -5)
			time.Sleep(time.Second)
		})
	}},
	{"SequenceMax returns the upper bound of the sequence pool of this generator.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13})
		specSame(t, "SequenceMax", g.SequenceMax(), 13)
		specSame(t, "the last sequence", specDraw(t, g, 0, 4)[3].Sequence(), 13)
	}},
	{"SequenceMin returns the lower bound of the sequence pool of this generator.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13})
		specSame(t, "SequenceMin", g.SequenceMin(), 10)
		specSame(t, "the first sequence", specDraw(t, g, 0, 1)[0].Sequence(), 10)
	}},
	{"Snapshot returns a copy of the Generator's current bookkeeping data.", func(t *testing.T) {
		g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}})
		specDraw(t, g, 0, 3)
		s := g.Snapshot()
		s.Partition[0], s.Sequence, s.SequenceMax, s.WallHi = 9, 60_000, 3, 5000
		specMakes(t, g, specID(1000, 0, 0, 258, 3))
		specSame(t, "the snapshot", g.Snapshot(), sno.GeneratorSnapshot{Partition: sno.Partition{1, 2},
			SequenceMax: 65_535, Sequence: 3, Now: 1000, WallHi: 1000})
	}},
}

var specSnapshotAPI = []specRow{
	{"A zero value ({0, 0}) is valid and will be used.", func(t *testing.T) {
		for range 2 { // not a partition of the process, which is another one each time
			g, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: sno.Partition{0, 0}}, nil)
			if err != nil || g.Partition() != (sno.Partition{}) {
				t.Errorf("%v, %v", g.Partition(), err)
			}
		}
	}},
	{"// Sequence pool bounds (inclusive). Can be given in either order - lower value will become lower bound.", func(t *testing.T) {
		for _, s := range []sno.GeneratorSnapshot{{SequenceMin: 10, SequenceMax: 14}, {SequenceMin: 14, SequenceMax: 10}} {
			g, _ := specGenerator(t, 1000, s)
			for i := range uint16(5) {
				specMakes(t, g, specID(1000, 0, 0, 0, 10+i))
			}
			specExhausted(t, g)
		}
	}},
	{"// When SequenceMax is 0 and SequenceMin != 65535, SequenceMax will be set to 65535.", func(t *testing.T) {
		for _, c := range []struct{ given, min uint16 }{{0, 0}, {10, 10}, {65_532, 65_532}, {65_535, 0}} {
			g, _ := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: c.given})
			specSame(t, "SequenceMin", g.SequenceMin(), c.min)
			specSame(t, "SequenceMax", g.SequenceMax(), 65_535)
		}
	}},
	{"json:\"sequenceMax\"", func(t *testing.T) {
		s := sno.GeneratorSnapshot{Partition: sno.Partition{65, 10}, SequenceMin: 11, SequenceMax: 22, Sequence: 33, Now: 44, WallHi: 55, WallSafe: 66, Drifts: 77}
		const text = `{"partition":[65,10],"sequenceMin":11,"sequenceMax":22,"sequence":33,"now":44,"wallHi":55,"wallSafe":66,"drifts":77}`
		specSame(t, "the JSON", specJSON(t, s), text)
		var back sno.GeneratorSnapshot
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != s {
			t.Errorf("%+v, %v", back, err)
		}
	}},
	{"// Current sequence number. When 0, it will be set to SequenceMin.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
		specSame(t, "Sequence", g.Snapshot().Sequence, 10)
		specDraw(t, g, 0, 3)
		s := g.Snapshot()
		specSame(t, "Sequence after 3 IDs", s.Sequence, 12)
		s.Sequence = 0
		restored := newGenerator(t, sno.Config{Snapshot: &s, Clock: clock.Now})
		specMakes(t, restored, specID(1000, 0, 0, 0, 11)) // SequenceMin is the sequence of the last ID
	}},
	{"May overflow SequenceMax,", func(t *testing.T) {
		// Ruling: a current sequence above the bounds is not an error. The unit has no free sequence.
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19, Sequence: 25, Now: 1000, WallHi: 1000})
		specExhausted(t, g)
		clock.Set(specTime(1001))
		specMakes(t, g, specID(1001, 0, 0, 0, 10))
	}},
	{"// but not underflow SequenceMin.", func(t *testing.T) {
		for sequence := uint32(1); sequence < 10; sequence++ {
			_, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19, Sequence: sequence}, nil)
			e := specError[*sno.InvalidSequenceBoundsError](t, err)
			if e.Cur != sequence || e.Min != 10 || e.Max != 19 {
				t.Errorf("%+v", e)
			}
		}
		_, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19, Sequence: 10}, nil)
		if err != nil {
			t.Error(err)
		}
	}},
	{"Wall time the snapshot was taken at in sno time units and in our epoch.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 1)
		for _, unit := range []int64{1000, 1007, 1 << 38, specLast} {
			clock.Set(specTime(unit).Add(3 * time.Millisecond))
			specSame(t, "Now", g.Snapshot().Now, unit)
		}
	}},
	{"json:\"wallHi\"", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specSame(t, "WallHi before the first ID", g.Snapshot().WallHi, 0)
		specDraw(t, g, 0, 1)
		clock.Set(specTime(1007))
		specSame(t, "WallHi", g.Snapshot().WallHi, 1000)
	}},
	{"json:\"wallSafe\"", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 1)
		specSame(t, "WallSafe", g.Snapshot().WallSafe, 0)
		clock.Set(specTime(900))
		specDraw(t, g, 0, 1)
		specSame(t, "WallSafe after a regression", g.Snapshot().WallSafe, 1000)
	}},
	{"// Count of wall clock regressions the generator tick-tocked at.", func(t *testing.T) {
		g, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{})
		specDraw(t, g, 0, 1)
		for i := range int64(5) {
			clock.Set(specTime(1005 + 10*i))
			specDraw(t, g, 0, 1)
			clock.Set(specTime(1003 + 10*i))
			specDraw(t, g, 0, 1)
			specSame(t, "Drifts", g.Snapshot().Drifts, uint32(i+1))
		}
		clock.Set(specTime(900)) // where the generator waits
		specBackwards(t, g)
		specSame(t, "Drifts", g.Snapshot().Drifts, 5)
	}},
	{"to ensure newly generated IDs don't overwrite IDs generated before going offline.", func(t *testing.T) {
		for _, unit := range []int64{800, 900, 901, 999, 1000, 1001, 1100} {
			former, clock := specGenerator(t, 1000, sno.GeneratorSnapshot{SequenceMax: 9})
			ids := specDraw(t, former, 0, 6)
			clock.Set(specTime(900))
			ids = append(ids, specDraw(t, former, 0, 7)...)
			var s sno.GeneratorSnapshot
			if err := json.Unmarshal([]byte(specJSON(t, former.Snapshot())), &s); err != nil {
				t.Fatal(err)
			}
			latter, clock := specGenerator(t, unit, s)
			for range 1000 {
				if id, err := latter.TryNext(0); err == nil {
					ids = append(ids, id)
				}
				clock.Step(time.Millisecond)
			}
			if len(ids) < 100 {
				t.Errorf("from the unit %d, only %d IDs", unit, len(ids))
			}
			specDistinct(t, len(ids), ids)
		}
	}},
}

var specIDAPI = []specRow{
	{"type ID [SizeBinary]byte", func(t *testing.T) {
		array := [10]byte(sno.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
		specSame(t, "the last byte", array[9], 10)
	}},
	{"It is comprised of 10 bytes in 2 blocks of 40 bits, with its components stored in big-endian order.", func(t *testing.T) {
		id := sno.ID{0, 0, 0, 0x0b, 0xb9, 0xaa, 0x12, 0x34, 0x56, 0x78}
		if id.Time() != specTime(0x0bb9>>1) || id.TickTock() != 1 || id.Meta() != 0xaa || id.Partition().AsUint16() != 0x1234 || id.Sequence() != 0x5678 {
			t.Errorf("%v, %d, %x, %x, %x", id.Time(), id.TickTock(), id.Meta(), id.Partition(), id.Sequence())
		}
	}},
	{"39 bits - unsigned milliseconds since epoch with a 4msec resolution", func(t *testing.T) {
		for bit := range 39 {
			var id sno.ID
			id[bit/8] = 128 >> (bit % 8)
			specSame(t, "the milliseconds", id.Timestamp()/1_000_000-1_262_304_000_000, 4<<(38-bit))
			specSame(t, "the rest", id.TickTock()+int(id.Meta())+int(id.Partition().AsUint16())+int(id.Sequence()), 0)
		}
	}},
	{"1 bit - the tick-tock toggle", func(t *testing.T) {
		for bit := range 80 {
			var id sno.ID
			id[bit/8] = 128 >> (bit % 8)
			specSame(t, "the tick-tock bit", id.TickTock() == 1, bit == 39)
		}
	}},
	{"8 bits - metabyte", func(t *testing.T) {
		for bit := range 80 {
			var id sno.ID
			id[bit/8] = 128 >> (bit % 8)
			want := byte(0)
			if 40 <= bit && bit < 48 {
				want = 1 << (47 - bit)
			}
			specSame(t, "the metabyte", id.Meta(), want)
		}
	}},
	{"16 bits - partition", func(t *testing.T) {
		for bit := range 80 {
			var id sno.ID
			id[bit/8] = 128 >> (bit % 8)
			want := uint16(0)
			if 48 <= bit && bit < 64 {
				want = 1 << (63 - bit)
			}
			specSame(t, "the partition", id.Partition().AsUint16(), want)
		}
	}},
	{"16 bits - sequence", func(t *testing.T) {
		for bit := range 80 {
			var id sno.ID
			id[bit/8] = 128 >> (bit % 8)
			want := uint16(0)
			if 64 <= bit {
				want = 1 << (79 - bit)
			}
			specSame(t, "the sequence", id.Sequence(), want)
		}
	}},
	{"FromBinaryBytes takes a byte slice and copies its contents into an ID, returning the bytes as an ID.", func(t *testing.T) {
		for _, want := range specSamples() {
			src := slices.Clone(want[:])
			id, err := sno.FromBinaryBytes(src)
			clear(src)
			if err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"The slice must have a length of 10. Returns a InvalidDataSizeError if it does not.", func(t *testing.T) {
		for size := range 40 {
			if size != 10 {
				_, err := sno.FromBinaryBytes(make([]byte, size))
				specWrongSize(t, err, size)
			}
		}
	}},
	{"FromEncodedBytes decodes a canonically base32-encoded byte slice representation of an ID into its binary representation and returns it.", func(t *testing.T) {
		for _, want := range specSamples() {
			id, err := sno.FromEncodedBytes([]byte(specText(want)))
			if err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"The slice must have a length of 16. Returns a InvalidDataSizeError if it does not.", func(t *testing.T) {
		for size := range 40 {
			if size != 16 {
				_, err := sno.FromEncodedBytes(bytes.Repeat([]byte{'a'}, size))
				specWrongSize(t, err, size)
			}
		}
	}},
	{"FromEncodedString decodes a canonically base32-encoded string representation of an ID into its binary representation and returns it.", func(t *testing.T) {
		for _, want := range specSamples() {
			id, err := sno.FromEncodedString(specText(want))
			if err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"The string must have a length of 16. Returns a InvalidDataSizeError if it does not.", func(t *testing.T) {
		for size := range 40 {
			if size != 16 {
				_, err := sno.FromEncodedString(strings.Repeat("a", size))
				specWrongSize(t, err, size)
			}
		}
	}},
	{"New uses the package-level generator to generate a new ID using the current system time for its timestamp.", func(t *testing.T) {
		a, b := sno.New(0), sno.New(0)
		specSame(t, "the partition", a.Partition(), b.Partition())
		if !a.Time().After(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)) || a == b {
			t.Errorf("%x of %v and %x", a[:], a.Time(), b[:])
		}
	}},
	{"NewWithTime uses the package-level generator to generate a new ID using the given time for the timestamp.", func(t *testing.T) {
		id := sno.NewWithTime(9, specTime(5000).Add(time.Millisecond))
		p := sno.New(0).Partition()
		specSame(t, "the ID", id, specID(5000, 0, 9, uint16(p[0])<<8|uint16(p[1]), id.Sequence()))
		specSame(t, "the next ID", sno.NewWithTime(9, specTime(5000)).Sequence(), id.Sequence()+1)
	}},
	{"Zero returns the zero value of an ID, which is 10 zero bytes and equivalent to:", func(t *testing.T) {
		specSame(t, "Zero", sno.Zero(), sno.ID{})
		specSame(t, "Zero", sno.Zero(), sno.ID{0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	}},
	{"Bytes returns the ID as a byte slice.", func(t *testing.T) {
		id := sno.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		b := id.Bytes()
		if !bytes.Equal(b, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
			t.Errorf("%x", b)
		}
		b[0] = 99
		specSame(t, "the first byte of the ID", id[0], 1)
	}},
	{"Compare returns an integer comparing this and that ID lexicographically.", func(t *testing.T) {
		samples := specSamples()
		for i, this := range samples {
			that := samples[(i*37+5)%len(samples)]
			specSame(t, "Compare", this.Compare(that), specInt(this).Cmp(specInt(that)))
		}
	}},
	{"0 - if this and that are equal,", func(t *testing.T) {
		for _, this := range specSamples() {
			specSame(t, "Compare", this.Compare(this), 0)
		}
	}},
	{"-1 - if this is smaller than that,", func(t *testing.T) {
		for i := range 10 {
			this, that := sno.ID{}, sno.ID{}
			this[i], that[i] = 127, 128 // unsigned
			specSame(t, "Compare", this.Compare(that), -1)
		}
	}},
	{"1 - if this is greater than that.", func(t *testing.T) {
		for i := range 9 {
			this, that := sno.ID{}, sno.ID{}
			this[i], that[i+1] = 1, 255
			specSame(t, "Compare", this.Compare(that), 1)
		}
	}},
	{"if thisID == thatID {...}", func(t *testing.T) {
		for _, thisID := range specSamples() {
			thatID, otherID := thisID, thisID
			otherID[9]++
			if thisID != thatID || thisID == otherID {
				t.Errorf("%x, %x and %x", thisID[:], thatID[:], otherID[:])
			}
		}
	}},
	{"IsZero checks whether the ID is a zero value.", func(t *testing.T) {
		for i, id := range specSamples() {
			specSame(t, "IsZero", id.IsZero(), i == 0)
		}
	}},
	{"MarshalBinary implements encoding.BinaryMarshaler by returning the ID as a byte slice.", func(t *testing.T) {
		for _, id := range specSamples() {
			var m encoding.BinaryMarshaler = id
			if b, err := m.MarshalBinary(); err != nil || string(b) != string(id[:]) {
				t.Errorf("%x, %v; want %x", b, err, id[:])
			}
		}
	}},
	{"MarshalJSON implements encoding.json.Marshaler by returning the base32-encoded and quoted representation of the ID as a byte slice.", func(t *testing.T) {
		for _, id := range specSamples()[1:] {
			var m json.Marshaler = id
			if b, err := m.MarshalJSON(); err != nil || string(b) != `"`+specText(id)+`"` {
				t.Errorf("%s, %v", b, err)
			}
			specSame(t, "the JSON", specJSON(t, id), `"`+specText(id)+`"`)
		}
	}},
	{"If the ID is a zero value, MarshalJSON will return a byte slice containing 'null' (unquoted) instead.", func(t *testing.T) {
		if b, err := (sno.ID{}).MarshalJSON(); err != nil || string(b) != "null" {
			t.Errorf("%s, %v", b, err)
		}
	}},
	{"so the 'omitempty' tag has the same caveats as, for example, time.Time.", func(t *testing.T) {
		specSame(t, "the JSON", specJSON(t, struct {
			ID sno.ID `json:"id,omitempty"`
		}{}), `{"id":null}`)
	}},
	{"MarshalText implements encoding.TextMarshaler by returning the base32-encoded representation of the ID as a byte slice.", func(t *testing.T) {
		for _, id := range specSamples() {
			var m encoding.TextMarshaler = id
			if b, err := m.MarshalText(); err != nil || string(b) != specText(id) {
				t.Errorf("%s, %v", b, err)
			}
		}
	}},
	{"Meta returns the metabyte of the ID.", func(t *testing.T) {
		for _, id := range specSamples() {
			specSame(t, "Meta", id.Meta(), id[5])
		}
	}},
	{"Partition returns the partition of the ID.", func(t *testing.T) {
		for _, id := range specSamples() {
			specSame(t, "Partition", id.Partition(), sno.Partition{id[6], id[7]})
		}
	}},
	{"Scan implements the sql.Scanner interface by attempting to convert the given value into an ID.", func(t *testing.T) {
		for _, want := range specSamples() {
			var id sno.ID
			var scanner sql.Scanner = &id
			if err := scanner.Scan(specText(want)); err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"with a length of SizeBinary (10), its contents will be copied into ID.", func(t *testing.T) {
		for _, want := range specSamples() {
			var id sno.ID
			src := slices.Clone(want[:])
			err := id.Scan(src)
			clear(src)
			if err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"with a length of 0, ID will be set to a zero ID.", func(t *testing.T) {
		for _, empty := range [][]byte{{}, nil} {
			id := sno.ID{1, 2, 3}
			if err := id.Scan(empty); err != nil || id != (sno.ID{}) {
				t.Errorf("%x, %v", id[:], err)
			}
		}
	}},
	{"with a length of SizeEncoded (16), its contents will be decoded into ID.", func(t *testing.T) {
		id := sno.ID{1, 2, 3}
		if err := id.Scan("23456789abcdefgh"); err != nil || specText(id) != "23456789abcdefgh" {
			t.Errorf("%x, %v", id[:], err)
		}
	}},
	{"with a length of 0, ID will be set to a zero ID.", func(t *testing.T) {
		id := sno.ID{1, 2, 3}
		if err := id.Scan(""); err != nil || id != (sno.ID{}) {
			t.Errorf("%x, %v", id[:], err)
		}
	}},
	{"with any other length, sets ID to a zero ID and returns InvalidDataSizeError.", func(t *testing.T) {
		for size := 1; size < 40; size++ {
			if size == 10 {
				continue
			}
			id := sno.ID{1, 2, 3}
			specWrongSize(t, id.Scan(bytes.Repeat([]byte("a"), size)), size)
			specSame(t, "the ID", id, sno.ID{})
		}
	}},
	{"with any other length, sets ID to a zero ID and returns InvalidDataSizeError.", func(t *testing.T) {
		for size := 1; size < 40; size++ {
			if size == 16 {
				continue
			}
			id := sno.ID{1, 2, 3}
			specWrongSize(t, id.Scan(strings.Repeat("a", size)), size)
			specSame(t, "the ID", id, sno.ID{})
		}
	}},
	{"When given nil, ID will be set to a zero ID.", func(t *testing.T) {
		id := sno.ID{1, 2, 3}
		if err := id.Scan(nil); err != nil || id != (sno.ID{}) {
			t.Errorf("%x, %v", id[:], err)
		}
	}},
	{"When given any other type, returns a InvalidTypeError.", func(t *testing.T) {
		for _, value := range []any{int64(5), 5.0, true, specTime(5), 'a', [10]byte{1}} { // the last is not a slice
			var id sno.ID
			specError[*sno.InvalidTypeError](t, id.Scan(value))
		}
	}},
	{"Sequence returns the sequence of the ID.", func(t *testing.T) {
		for _, id := range specSamples() {
			specSame(t, "Sequence", id.Sequence(), uint16(id[8])<<8|uint16(id[9]))
		}
	}},
	{"String implements fmt.Stringer by returning the base32-encoded representation of the ID as a string.", func(t *testing.T) {
		for _, id := range specSamples() {
			var s fmt.Stringer = id
			specSame(t, "String", s.String(), specText(id))
			specSame(t, "the text of fmt", fmt.Sprint(id), specText(id))
		}
	}},
	{"Time returns the timestamp of the ID as a time.Time struct.", func(t *testing.T) {
		for _, id := range specSamples() {
			specSame(t, "Time", id.Time(), specTime(new(big.Int).Rsh(specInt(id), 41).Int64()))
		}
	}},
	{"Timestamp returns the timestamp of the ID as nanoseconds relative to the Unix epoch.", func(t *testing.T) {
		for _, id := range specSamples() {
			unit := new(big.Int).Rsh(specInt(id), 41).Int64()
			specSame(t, "Timestamp", id.Timestamp(), 1_262_304_000_000_000_000+4_000_000*unit)
		}
	}},
	{"UnmarshalBinary implements encoding.BinaryUnmarshaler by copying src into the receiver.", func(t *testing.T) {
		for _, want := range specSamples() {
			var id sno.ID
			var u encoding.BinaryUnmarshaler = &id
			src := slices.Clone(want[:])
			err := u.UnmarshalBinary(src)
			clear(src)
			if err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"UnmarshalJSON implements encoding.json.Unmarshaler by decoding a base32-encoded and quoted representation of an ID from src into the receiver.", func(t *testing.T) {
		for _, want := range specSamples() {
			var id, field sno.ID
			var u json.Unmarshaler = &id
			src := []byte(`"` + specText(want) + `"`)
			if err := u.UnmarshalJSON(src); err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
			if err := json.Unmarshal(src, &field); err != nil || field != want {
				t.Errorf("%x, %v; want %x", field[:], err, want[:])
			}
		}
	}},
	{"If the byte slice is an unquoted 'null', the receiving ID will instead be set to a zero ID.", func(t *testing.T) {
		id := sno.ID{1, 2, 3}
		if err := id.UnmarshalJSON([]byte("null")); err != nil || id != (sno.ID{}) {
			t.Errorf("%x, %v", id[:], err)
		}
		specWrongSize(t, id.UnmarshalJSON([]byte(`"null"`)), 4)
	}},
	{"UnmarshalText implements encoding.TextUnmarshaler by decoding a base32-encoded representation of the ID from src into the receiver.", func(t *testing.T) {
		for _, want := range specSamples() {
			var id sno.ID
			var u encoding.TextUnmarshaler = &id
			if err := u.UnmarshalText([]byte(specText(want))); err != nil || id != want {
				t.Errorf("%x, %v; want %x", id[:], err, want[:])
			}
		}
	}},
	{"Value implements the sql.driver.Valuer interface by returning the ID as a byte slice.", func(t *testing.T) {
		for _, id := range specSamples() {
			var valuer driver.Valuer = id
			v, err := valuer.Value()
			if b, ok := v.([]byte); !ok || err != nil || string(b) != string(id[:]) {
				t.Errorf("%v, %v; want %x", v, err, id[:])
			}
		}
	}},
	{"return sno.ID(id).String(), nil", func(t *testing.T) {
		id := specID(1000, 1, 2, 3, 4)
		v, err := stringedID(id).Value()
		if err != nil || v != specText(id) {
			t.Errorf("%v, %v", v, err)
		}
	}},
}

var specErrorAPI = []specRow{
	{"InvalidDataSizeError gets returned when attempting to unmarshal or decode an ID from data that is not nil and not of a size of: SizeBinary, SizeEncoded nor 0.", func(t *testing.T) {
		for size := 1; size < 40; size++ {
			if size == 10 || size == 16 {
				continue
			}
			data, text := make([]byte, size), strings.Repeat("a", size)
			id := sno.ID{1, 2, 3}
			specWrongSize(t, id.UnmarshalBinary(data), size)
			specWrongSize(t, id.UnmarshalText([]byte(text)), size)
			specWrongSize(t, id.UnmarshalJSON([]byte(`"`+text+`"`)), size)
			specWrongSize(t, second(sno.FromBinaryBytes(data)), size)
			specWrongSize(t, second(sno.FromEncodedBytes([]byte(text))), size)
			specWrongSize(t, second(sno.FromEncodedString(text)), size)
			specSame(t, "the ID beside an error", id, sno.ID{1, 2, 3})
		}
		var id sno.ID
		if err := errors.Join(id.Scan(nil), id.Scan([]byte{})); err != nil {
			t.Error(err)
		}
	}},
	{"func (*InvalidDataSizeError) Error", func(t *testing.T) {
		err := error(&sno.InvalidDataSizeError{Size: 77})
		if !strings.Contains(err.Error(), "77") || !errors.Is(err, iderr.ErrLength) {
			t.Error(err)
		}
	}},
	{"InvalidSequenceBoundsError gets returned when a Generator gets seeded with sequence boundaries which are invalid, e.g. the pool is too small or the current sequence overflows the bounds.", func(t *testing.T) {
		// Ruling: a current sequence above the bounds is not an error.
		for _, c := range []struct {
			given sno.GeneratorSnapshot
			want  sno.InvalidSequenceBoundsError
		}{
			{sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 12}, sno.InvalidSequenceBoundsError{Min: 10, Max: 12}},
			{sno.GeneratorSnapshot{SequenceMin: 12, SequenceMax: 10}, sno.InvalidSequenceBoundsError{Min: 10, Max: 12}},
			{sno.GeneratorSnapshot{SequenceMax: 2}, sno.InvalidSequenceBoundsError{Max: 2}},
			{sno.GeneratorSnapshot{SequenceMin: 65_533}, sno.InvalidSequenceBoundsError{Min: 65_533, Max: 65_535}},
			{sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13, Sequence: 9}, sno.InvalidSequenceBoundsError{Cur: 9, Min: 10, Max: 13}},
		} {
			g, err := sno.NewGenerator(&c.given, nil)
			got := *specError[*sno.InvalidSequenceBoundsError](t, err)
			if got.Msg == "" || g != nil || !errors.Is(err, iderr.ErrConfig) {
				t.Errorf("%v, %v", g, err)
			}
			got.Msg = ""
			specSame(t, "the error", got, c.want)
		}
		if _, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 13, Sequence: 14}, nil); err != nil {
			t.Error(err)
		}
	}},
	{"func (*InvalidSequenceBoundsError) Error", func(t *testing.T) {
		err := error(&sno.InvalidSequenceBoundsError{Cur: 11, Min: 22, Max: 33, Msg: "message"})
		for _, part := range []string{"11", "22", "33", "message"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %s", err, part)
			}
		}
	}},
	{"InvalidTypeError gets returned when attempting to scan a value that is neither...", func(t *testing.T) {
		id := specID(1000, 0, 1, 2, 3)
		for _, value := range []any{specText(id), id[:], nil} {
			if err := new(sno.ID).Scan(value); err != nil {
				t.Errorf("%v: %v", value, err)
			}
		}
		err := new(sno.ID).Scan(int64(77))
		specSame(t, "Value", specError[*sno.InvalidTypeError](t, err).Value, any(int64(77)))
	}},
	{"func (*InvalidTypeError) Error", func(t *testing.T) {
		err := error(&sno.InvalidTypeError{Value: int64(77)})
		if !strings.Contains(err.Error(), "int64") || !errors.Is(err, iderr.ErrType) {
			t.Error(err)
		}
	}},
	{"type Partition [2]byte", func(t *testing.T) {
		array := [2]byte(sno.Partition{1, 2})
		specSame(t, "the last byte", array[1], 2)
	}},
	{"var p sno.Partition", func(t *testing.T) {
		var p sno.Partition
		p.PutUint16(65_535)
		specSame(t, "the partition", p, sno.Partition{255, 255})
	}},
	{"AsUint16 returns the Partition as a uint16.", func(t *testing.T) {
		for n := range 65_536 {
			if got := (sno.Partition{byte(n >> 8), byte(n)}).AsUint16(); int(got) != n {
				t.Fatalf("%d, want %d", got, n)
			}
		}
	}},
	{"PutUint16 sets Partition to the given uint16 in big-endian order.", func(t *testing.T) {
		for n := range 65_536 {
			p := sno.Partition{9, 9}
			p.PutUint16(uint16(n))
			if p != (sno.Partition{byte(n >> 8), byte(n)}) {
				t.Fatalf("%v, want %d", p, n)
			}
		}
	}},
	{"PartitionPoolExhaustedError gets returned when attempting to create more than MaxPartition (65535) Generators using the default configuration (eg. without snapshots).", func(t *testing.T) {
		specProcess(t, "pool") // of its own: the partitions of this process are for other tests
	}},
	{"func (*PartitionPoolExhaustedError) Error", func(t *testing.T) {
		err := error(&sno.PartitionPoolExhaustedError{})
		if !strings.Contains(err.Error(), "65535") {
			t.Error(err)
		}
	}},
	{"// Total count of ticks while dealing with the *current* overflow.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			specStall(g, 4*10)
			time.Sleep(time.Second)
			for unit := range uint32(9) {
				specSame(t, "Ticks", (<-c).Ticks, 1+4*unit)
			}
			specSame(t, "the number of further notifications", len(c), 0)
		})
	}},
	{"SequenceOverflowNotification contains information pertaining to the current state of a Generator while it is overflowing.", func(t *testing.T) {
		specBubble(t, func(t *testing.T) {
			c := make(chan *sno.SequenceOverflowNotification, 100)
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c})
			for range 1000 { // below the capacity
				specStall(g, 4)
				time.Sleep(4 * time.Millisecond)
			}
			specSame(t, "the number of notifications", len(c), 0)
			specStall(g, 4+1)
			n := *<-c
			n.Now = n.Now.UTC()
			specSame(t, "the notification", n, sno.SequenceOverflowNotification{Now: specTime(2000), Count: 1, Ticks: 1})
			time.Sleep(time.Second)
		})
	}},
}

// No program can check these statements of the specification, in their order:
//
//   - "It aims to be friendly to both machines and humans, compact, versatile and fast": an aim.
//   - "Simple data layout - straightforward to inspect or encode/decode": a judgement. The rows of
//     the layout check the layout.
//   - "Clocks in at about 500 LoC": about the documented package.
//   - "True randomness ... not suitable in a context where unpredictability of IDs is a must":
//     advice.
//   - "keeping internal counts ... unguessable and appear obfuscated": a judgement.
//   - "Time precision. While good enough for many use cases, not quite there for others": a
//     judgement.
//   - "This is suboptimal as far as memory alignment is considered": a judgement.
//   - "As soon as you run more than 1 generator, you should start coordinating": advice.
//   - "This applies to all specs of the Snowflake variant": about other formats.
//   - "In an ideal world ... you'd persist that snapshot across restarts": advice.
//   - "Only take snapshots ... when generators are already offline": advice.
//   - "If you really have to break out of the epoch ... the metabyte is your friend": advice.
//   - "Higher precision is not necessarily a good thing", "Everything has tradeoffs": motivation.
//   - "you binary search for just one index", "1000 potential starting offsets": about databases.
//   - "It is not advertised as monotonic because its monotonicity is dependent on usage":
//     motivation.
//   - "With multiple writers in the same partition, increment order is undefined": every order is
//     right.
//   - "This can be useful when multiple containers ... write as a cluster": advice.
//   - "cannot resize on its own either": the absence of a function.
//   - "no orchestrator is fast enough": about other programs.
//   - "the need to coordinate the exchange of Snapshots": advice.
//   - "If your clusters are always fixed size - reserving ranges is straightforward": advice.
//   - "the likelihood you'll ever need this is slim to none": a judgement.
//   - "this approach can also be used to attach more semantic meaning to partitions": advice.
//   - "Realistically the default generator will never overflow": about users.
//   - "it may require correcting on your end", "Keep track of the counter": advice.
//   - "The order of generation when stalling occurs is undefined": every order is right. Firn
//     serves calls in turn.
//   - "A livelock is therefore possible", "This behaviour may change", "it's not a priority": about
//     the documented package.
//   - "all specs that rely on clock times ... are prone to clock drifts": about other formats.
//   - "ensure your deployments use properly synchronized system clocks", "NTP", "leap seconds":
//     advice.
//   - "containers tend to get paused meaning their clocks are paused with them": about other
//     programs.
//   - "The means to bring your own time are provided to make porting old IDs simpler": motivation.
//   - "Why not simply use that bit to store a higher resolution time fraction": motivation.
//   - "regressions happen at most once into a specific period": an assumption. The rows check the
//     case of a second regression.
//   - "every edge case that can happen - will happen": motivation.
//   - "How others do it": about other libraries.
//   - "we are now closer to the correct time from the perspective of a wider system": motivation.
//   - "being able to make that distinction is considered a plus by the author": a judgement.
//   - "The metabyte is unique to sno across the specs the author researched": about other formats.
//   - "if you can't find use for it ... a different ID spec/library": advice.
//   - "Many databases ... are extremely efficient when all you need is the keys": about databases.
//   - "Information that describes something has the nice property": motivation.
//   - "don't embed confidential information": advice.
//   - "you could think of the metabyte as identifying a table": advice.
//   - "sort/insert performance won't be hampered": a measurement. A row checks the sort order.
//   - "1 byte is enough to contain one of all possible standard HTTP status codes": a code of the
//     user.
//   - "many databases will just store them close to each other": about databases.
//   - "There are many approaches to tackle this", "Wrap a generator with a custom one": advice.
//   - "On amd64 encoding/decoding is vectorized and extremely fast": a measurement.
//   - The lines of the table of alternatives for other formats, and the nanoseconds: measurements.
//   - "sno is both based on and inspired by xid", "Further reading": history.
//   - "A Generator must not be copied after first use": an order to users. go vet finds copies.
//   - "This utility is primarily meant to enable porting of old IDs": motivation.
//   - "IDs generated using this method are subject to several caveats": a reference.
//   - "See ... for tracking purposes as changes are being discussed": a link.
//   - "consult the docs on the genPartition() internal function": about the documented package.
