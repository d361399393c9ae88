package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// process is a Config of a process with a number.
func process(number int) Config { return Config{me: holding{Host: "h", Process: number, Program: "p"}} }

// asks asks who made IDs, and fails the test unless the process with the number did.
func asks(t *testing.T, p *Pool, number int, ids ...nanoflake.ID) {
	t.Helper()
	for _, id := range ids {
		got, err := p.HolderAt(t.Context(), id.GeneratorID(), id.Time(nanoflake.DefaultEpoch()))
		if at := id.Time(nanoflake.DefaultEpoch()); err != nil || got.Process != number || at.Before(got.Since) || !at.Before(got.Until) {
			t.Errorf("%v is by %+v, %v; want process %d", id, got, err, number)
		}
	}
}

func TestHolderAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		began := clock.now()
		nobody := func(at, known time.Time) {
			t.Helper()
			var none *UnrecordedError
			_, err := p.HolderAt(t.Context(), 0, at)
			if !errors.As(err, &none) || !none.Known.Equal(known) || !none.At.Equal(at) || none.Pool != "p" {
				t.Errorf("who held the worker at %v: %v, want nobody, with holders known since %v", at, err, known)
			}
		}
		nobody(began, time.Time{})
		c := process(1)
		c.Holder, c.Worker = "orders", Number(0)
		g1, l1, _ := keep(t, p, clock, c)
		first := testkit.Must(g1.TryNext())
		time.Sleep(time.Hour)
		last := testkit.Must(g1.TryNext())
		asks(t, p, 1, first, last)
		nobody(l1.Until(), began)
		if used, _, err := p.Workers(t.Context()); err != nil || !used[0].Since.Equal(began) || used[0].Holders[0].Process != 1 || used[0].Holder != "orders" {
			t.Errorf("the holder of the worker is %+v, %v", used, err)
		}
		testkit.OK(t, l1.Close())
		end := clock.now().Add(time.Millisecond)
		asks(t, p, 1, first, last)
		nobody(end, began)
		if used, _, err := p.Workers(t.Context()); err != nil || !used[0].Since.IsZero() || !used[0].Holders[0].Until.Equal(end) || !used[0].Back.Equal(clock.now()) || used[0].Holder != "" {
			t.Errorf("the holder of a free worker is %+v, %v", used, err)
		}
		time.Sleep(time.Minute)
		c = process(2)
		c.Worker = Number(0)
		g2, _, _ := keep(t, p, clock, c)
		asks(t, p, 2, testkit.Must(g2.TryNext()))
		asks(t, p, 1, first, last)
		nobody(end.Add(30*time.Second), began)
		nobody(began.Add(-time.Millisecond), began)
		for _, worker := range []int{-1, 2} {
			_, err := p.HolderAt(t.Context(), worker, began)
			testkit.Is(t, err, ErrConfig, "worker %d of 2", worker)
		}
		if _, err := p.HolderAt(t.Context(), 1, began); !errors.Is(err, ErrUnrecorded) {
			t.Errorf("who held a worker that nobody has had: %v", err)
		}
	})
}

// A lease that minted nothing leaves no name.
func TestHolderOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		_, l, _ := keep(t, p, clock, process(1))
		clock.step(-time.Hour)
		testkit.OK(t, l.Close())
		if used, _, err := p.Workers(t.Context()); err != nil || len(used[0].Holders) > 0 {
			t.Errorf("a lease without timestamps has left %+v, %v", used, err)
		}
	})
}

// A version without a history takes the worker in between. Nobody is named for its timestamps, also after
// short leases were folded.
func TestHolderOfOlderVersion(t *testing.T) {
	r := record{}
	use := func(number int, from, until int64) {
		next := r
		next.From, next.Until, next.Incarnation = from, until, fmt.Sprint(number)
		next.note(&r, process(number).me, time.Second)
		back := next
		back.Incarnation = ""
		back.noteEnd(&next)
		r = back
	}
	use(1, 10, 20)
	r.From, r.Until = 20, 30 // by the older version
	use(2, 30, 40)
	use(3, 45, 50)
	use(4, 50, 60)
	for us, want := range map[int64]string{9: "nobody", 10: "1", 19: "1", 20: "nobody", 29: "nobody", 30: "2 leases", 44: "2 leases", 49: "2 leases", 50: "4", 60: "nobody"} {
		got := "nobody"
		if h := r.holderAt(us); h != nil && h.Count > 0 {
			got = fmt.Sprint(h.Count, " leases")
		} else if h != nil {
			got = fmt.Sprint(h.Process)
		}
		if got != want {
			t.Errorf("at %d the worker was held by %s, want %s: %+v", us, got, want, r.Holders)
		}
	}
}

// A program of short leases does not push out the holders before it.
func TestShortLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		var long []nanoflake.ID
		use := func(c Config, d time.Duration) (made nanoflake.ID) {
			g, l, _ := keep(t, p, clock, c)
			time.Sleep(d)
			made = testkit.Must(g.TryNext())
			testkit.OK(t, l.Close())
			return made
		}
		for i := range 4 {
			long = append(long, use(process(i), time.Hour))
		}
		for i := range 100 {
			id := use(process(1000+i), time.Second)
			if h := testkit.Must(p.HolderAt(t.Context(), 0, id.Time(nanoflake.DefaultEpoch()))); h.Process != 1000+i || h.Count != 1 {
				t.Fatalf("the last of the short leases is %+v", h)
			}
		}
		last := use(process(7), time.Hour)
		used, _, err := p.Workers(t.Context())
		if h := used[0].Holders; err != nil || len(h) != 6 || h[1].Count != 100 || h[1].Process != 0 || h[1].String() != "one of 100 short leases of p on h" {
			t.Errorf("after 100 short leases the holders are %v, %v", used, err)
		}
		for i := range 100 { // of other programs, which share nothing
			c := process(2000 + i)
			c.me.Program = fmt.Sprint(i)
			use(c, time.Second)
		}
		for i, id := range long {
			if i > 1 { // eight entries: four of short leases, the last one, the one of 100 leases, and these two
				asks(t, p, i, id)
			}
		}
		asks(t, p, 7, last)
	})
}

// Short leases are folded only within a minute of each other. They are of one program on one host, and the
// names are whole.
func TestFold(t *testing.T) {
	earlier := holding{Host: "h", Process: 1, Program: "p", Name: "n", Since: 0, Until: 10}
	later := holding{Host: "h", Process: 2, Program: "p", Name: "n", Since: 50, Until: 60}
	limit := 100 * time.Microsecond
	both, ok := later.fold(earlier, limit)
	if want := (holding{Host: "h", Program: "p", Name: "n", Count: 2, Until: 60}); !ok || both != want {
		t.Errorf("the fold is %+v, %v", both, ok)
	}
	if both, ok = (holding{Host: "h", Program: "p", Count: 3, Since: 70, Until: 900}).fold(both, limit); !ok || both.Count != 5 || both.Name != "" {
		t.Errorf("the fold of folds is %+v, %v", both, ok)
	}
	for name, change := range map[string]func(*holding){
		"apart":           func(h *holding) { h.Apart = true },
		"another host":    func(h *holding) { h.Host = "i" },
		"another program": func(h *holding) { h.Program = "q" },
		"long":            func(h *holding) { h.Until += 100 },
		"late":            func(h *holding) { h.Since, h.Until = 110, 115 },
	} {
		h := later
		if change(&h); true {
			if both, ok := h.fold(earlier, limit); ok {
				t.Errorf("a lease that is %s is folded into %+v", name, both)
			}
		}
	}
	later.Host, earlier.Host = fit(strings.Repeat("x", 100)+"1", maxHost), fit(strings.Repeat("x", 100)+"2", maxHost)
	if _, ok := later.fold(earlier, limit); ok || later.Host != earlier.Host {
		t.Errorf("hosts with long names are taken for one: %s, %s", later.Host, earlier.Host)
	}
}

func TestFit(t *testing.T) {
	for _, v := range []struct {
		text, want string
	}{
		{"", ""}, {"12345678", "12345678"}, {"123456789", "12345…"}, {"äöüÄ", "äöüÄ"}, {"äöüÄÖ", "äö…"}, {"\x01\x02", "…"}, {"ab\x00", "ab\x00"},
		{"ab\x00c", "ab…"}, {"\xff", "\uFFFD"}, {"\xffabcdefg", "\uFFFDab…"}, {"<>", "…"},
	} {
		if got := fit(v.text, 8); got != v.want {
			t.Errorf("%q is shortened to %q, want %q", v.text, got, v.want)
		}
	}
	if got := thisProcess("x"); got.Process != os.Getpid() || got.Program == "" || got.Name != "x" {
		t.Errorf("this process is %+v", got)
	}
}

// worst returns a record with the longest of everything, and a lease that is about to take its worker.
func worst(name string) (last, next record, me holding) {
	const most = math.MaxInt64
	me = holding{Host: fit(name, maxHost), Process: math.MaxInt, Program: fit(name, maxProgram), Name: fit(name, maxName)}
	last = record{Version: workerVersion, Pool: newUUID(), Layout: layoutHash(testLayout(4)), Generation: most, Worker: 1 << 24,
		From: most, Until: most, Attempt: strings.Repeat("f", 32) + "-9223372036854775807", Window: most}
	next = last
	next.Incarnation, next.Holder = strings.Repeat("f", 32), fit(name, maxHolder)
	return last, next, me
}

// checkBounds fails the test unless the record keeps the bounds.
func checkBounds(t *testing.T, r *record) {
	t.Helper()
	value := encode(r)
	if n := len(encodeJSON(r.Holders)); len(r.Holders) > maxHolders || n > maxHistory {
		t.Errorf("%d entries of %d bytes", len(r.Holders), n)
	}
	if len(value) > maxRecord && len(r.Holders) > 0 {
		t.Errorf("a record of %d bytes with a history: %s", len(value), value)
	}
	var again record
	if err := decode(value, &again); err != nil || !bytes.Equal(encode(again), value) || !utf8.Valid(value) {
		t.Errorf("the record is read as %+v, %v: %s", again, err, value)
	}
}

// A record with names of any kind keeps the bounds, and members of later versions stay at the cost of the
// history.
func TestHistoryBounds(t *testing.T) {
	for _, name := range []string{"web-3", strings.Repeat("x", 300), strings.Repeat("\x01", 300), strings.Repeat("\xff", 300), strings.Repeat("€", 300), strings.Repeat("<", 300), strings.Repeat("\U0001F600", 99)} {
		for _, others := range []int{0, 300, 1000, 1500, 3000} {
			last, next, me := worst(name)
			if last.others = ""; others > 0 {
				last.others = `,"new":"` + strings.Repeat("y", others) + `"`
			}
			kept := 0
			for i := range 20 {
				next.others, next.Until, next.From = last.others, last.Until-int64(i%2), last.Until-2e6
				next.note(&last, me, time.Second)
				checkBounds(t, &next)
				kept = len(next.Holders)
				last = next
				last.Incarnation = fmt.Sprint(i)
			}
			if want := map[int]int{0: 3, 300: 3, 1000: 1}[others]; kept < want {
				t.Errorf("with the name %.10q and %d other bytes: %d entries, want %d at least", name, others, kept, want)
			}
		}
	}
	last, next, _ := worst("orders-7d9f8b6c5d-x2x4z")
	me := holding{Host: "orders-7d9f8b6c5d-x2x4z", Process: 1, Program: "orders"}
	for i := range int64(20) {
		next.From, next.Until = 1_780_000_000_000_000+i*2e6, 1_780_000_000_000_000+i*2e6+1e6
		next.note(&last, me, time.Microsecond)
		last = next
		last.Incarnation = fmt.Sprint(i)
	}
	if len(next.Holders) != maxHolders {
		t.Errorf("with names as of pods: %d entries of %d bytes, want %d", len(next.Holders), len(encodeJSON(next.Holders)), maxHolders)
	}
}

// A time of whole milliseconds can be of any microsecond of the millisecond. If two leases share the
// millisecond, nobody is named.
func TestHolderAtOfMicroseconds(t *testing.T) {
	layout := testLayout(4)
	layout.Unit = time.Microsecond
	store := memlease.New()
	p := testkit.Must(Create(t.Context(), store, "p", layout))
	testkit.Must(p.grow(t.Context(), 0))
	s := testkit.Must(p.get(t.Context(), 0))
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	at := func(us int) int64 { return start.UnixMicro() + int64(us) }
	s.Holders = []holding{{Program: "second", Since: at(5300), Until: at(9000)}, {Program: "first", Since: at(1000), Until: at(5200)}}
	s.From, s.Until, s.Attempt = at(9000), at(9000), "x"
	testkit.Must(store.Put(t.Context(), workerKey("p", 0), encode(&s.record), s.rev))
	for us, want := range map[int]string{0: "", 1000: "first", 4000: "first", 5000: "", 5001: "first", 5250: "", 5300: "second", 6000: "second", 8000: "second", 9000: ""} {
		h, err := p.HolderAt(t.Context(), 0, start.Add(time.Duration(us)*time.Microsecond))
		if h.Program != want || errors.Is(err, ErrUnrecorded) != (want == "") {
			t.Errorf("at %d µs: %+v, %v; want %q", us, h, err, want)
		}
	}
}

// FuzzHistory writes histories of any leases over any history.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`[]`), "", "host", "program", "name", []byte{1, 2, 3, 200, 100, 7, 0, 255})
	f.Add([]byte(`[{"host":"h","since_us":1,"until_us":5},{"since_us":-1,"until_us":9,"leases":7}]`), `,"x":1`, "\x01", "\xff", "€", []byte("any leases"))
	f.Fuzz(func(t *testing.T, before []byte, others, host, program, name string, ops []byte) {
		var last record
		if json.Unmarshal(before, &last.Holders) != nil || len(ops) > 200 {
			return
		}
		if json.Valid([]byte(`{"a":0` + others + `}`)) {
			last.others = others
		}
		for i, op := range ops {
			next := last
			switch op % 4 {
			case 0, 1: // another lease
				me := holding{Host: fit(host, maxHost), Process: i, Program: fit(program, maxProgram), Name: fit(name, maxName)}
				next.Incarnation, next.From = fmt.Sprint(i), last.Until+int64(op)/8
				next.Until = next.From + 1 + int64(op)
				next.note(&last, me, time.Duration(100)*time.Microsecond)
			case 2: // a renewal
				if last.Incarnation == "" {
					continue
				}
				next.From, next.Until = last.Until+int64(op)/64, last.Until+int64(op)
				next.note(&last, holding{}, time.Duration(100)*time.Microsecond)
			case 3: // the end of a lease, which gives the worker back once
				if last.Incarnation == "" {
					continue
				}
				next.Incarnation, next.Until = "", max(last.From, last.Until-int64(op)/4)
				next.noteEnd(&last)
			}
			if op%4 < 3 {
				if n := len(encodeJSON(next.Holders)); len(next.Holders) > maxHolders || n > maxHistory || n > len("null") && len(encode(next)) > maxRecord {
					t.Fatalf("after %v: %+v", ops[:i+1], next)
				}
			}
			if next.Incarnation != "" && len(next.Holders) > 0 && !next.present() {
				t.Fatalf("after %v the first entry is not of the present lease: %+v", ops[:i+1], next)
			}
			last = next
		}
		if !slices.IsSortedFunc(last.Holders, func(a, b holding) int { return int(min(max(b.Until-a.Until, -1), 1)) }) && string(before) == "[]" {
			t.Fatalf("the entries are not in order: %+v", last.Holders)
		}
	})
}
