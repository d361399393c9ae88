package lease

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/grant"
)

// Versions of records. A record with another version is refused.
const (
	workerVersion    = 2 // keeps members that it does not know
	poolVersion      = 1
	recoveredVersion = 2 // of a pool's record with a Floor, which older programs must not ignore
	windowVersion    = 3 // of a pool's record with a Window, which older programs would leave out
	placeVersion     = 4 // of a pool's record with a Place, which older programs would leave out
)

// checkLayout returns an error unless a pool can have the layout.
func checkLayout(l grant.Layout) error {
	switch {
	case l.Format == "":
		return fmt.Errorf("%w: a layout without a format", ErrConfig)
	case l.Unit < time.Microsecond || l.Unit%time.Microsecond != 0:
		return fmt.Errorf("%w: unit %v is not whole microseconds", ErrConfig, l.Unit)
	case l.Workers < 1:
		return fmt.Errorf("%w: a pool of %d workers", ErrConfig, l.Workers)
	}
	return nil
}

// tickStart and tickEnd round Unix microseconds down and up to whole ticks of the IDs. An interval
// never ends within a tick: two leases would share the tick.
func tickStart(l grant.Layout, us int64) int64 {
	unit := l.Unit.Microseconds()
	past := (us - l.Epoch.UnixMicro()) % unit
	if past < 0 {
		past += unit
	}
	return us - past
}

func tickEnd(l grant.Layout, us int64) int64 { return tickStart(l, us+l.Unit.Microseconds()-1) }

// layoutHash names the layout in each worker's record.
func layoutHash(l grant.Layout) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %v %d", l.Format, l.Epoch.UnixMicro(), l.Unit.Microseconds(), l.Widths, l.Workers))
	return hex.EncodeToString(sum[:8])
}

// checkSame returns a *MismatchError with the first difference between a pool's layout and the
// layout wanted.
func checkSame(pool string, has, want grant.Layout) error {
	mismatch := func(field string, have, want any) error {
		return &MismatchError{Pool: pool, Field: field, Have: fmt.Sprint(have), Want: fmt.Sprint(want)}
	}
	switch {
	case has.Format != want.Format:
		return mismatch("format", has.Format, want.Format)
	case !has.Epoch.Equal(want.Epoch):
		return mismatch("epoch", timeText(has.Epoch), timeText(want.Epoch))
	case has.Unit != want.Unit:
		return mismatch("unit", has.Unit, want.Unit)
	case !slices.Equal(has.Widths, want.Widths):
		return mismatch("widths", has.Widths, want.Widths)
	case has.Workers != want.Workers:
		return mismatch("workers", has.Workers, want.Workers)
	}
	return nil
}

// poolRecord is the record of a pool in the store. A pool's record is created once. From then on
// only Made and Window grow, Place is filled in, and a recovery raises Generation and Floor.
type poolRecord struct {
	Version    int      `json:"v"`
	UUID       string   `json:"uuid"`
	Format     string   `json:"format"`
	Epoch      int64    `json:"epoch_us"`
	Unit       int64    `json:"unit_us"`
	Widths     []int    `json:"widths"`
	Workers    int      `json:"workers"`
	Generation int64    `json:"generation"`
	Created    int64    `json:"created_us"`
	First      int      `json:"first,omitempty"` // the worker whose record is made first; random, so that pools that do not know of each other differ
	Made       [][2]int `json:"made"`            // the workers that have records, as half-open ranges in order

	// All timestamps of all workers before Floor count as used, whatever their records say. New
	// records begin at Floor. It is 0 if the pool was never recovered.
	Floor int64 `json:"floor_us,omitempty"`

	// The longest window of any lease, if it is longer than DefaultWindow. It only grows.
	Window int64 `json:"window_us,omitempty"`

	// The driver.Entry.Place of the record: a copy of the store has the record too. It is empty if the store tells
	// no copies, and until it is known (see [Pool.bind]).
	Place string `json:"place,omitempty"`

	at string // the place in which the record was read
}

// newPoolRecord returns the record of a pool without workers. Created is in Unix microseconds.
func newPoolRecord(uuid string, layout grant.Layout, created int64) *poolRecord {
	return &poolRecord{Version: poolVersion, UUID: uuid, Format: layout.Format, Epoch: layout.Epoch.UnixMicro(),
		Unit: layout.Unit.Microseconds(), Widths: layout.Widths, Workers: layout.Workers,
		Generation: 1, Created: created, Made: [][2]int{}}
}

func (r *poolRecord) layout() grant.Layout {
	return grant.Layout{Format: r.Format, Epoch: time.UnixMicro(r.Epoch).UTC(), Unit: time.Duration(r.Unit) * time.Microsecond,
		Widths: r.Widths, Workers: r.Workers}
}

func (r *poolRecord) term() term { return term{r.Generation, r.Floor} }

// version returns the version of the record's form.
func (r *poolRecord) version() int {
	switch {
	case r.Place != "":
		return placeVersion
	case r.Window > 0:
		return windowVersion
	case r.Floor > 0:
		return recoveredVersion
	}
	return poolVersion
}

// sane reports whether this program could have written the record.
func (r *poolRecord) sane() bool {
	after := 0
	for _, m := range r.Made {
		if m[0] < after || m[1] <= m[0] {
			return false
		}
		after = m[1]
	}
	return after <= r.Workers && r.First >= 0 && r.First < r.Workers && len(r.UUID) == 36 && r.Generation > 0 && checkLayout(r.layout()) == nil &&
		r.Floor >= 0 && r.Window >= 0 && r.Version == r.version()
}

// made reports whether the worker has a record.
func (r *poolRecord) made(worker int) bool {
	return slices.ContainsFunc(r.Made, func(m [2]int) bool { return m[0] <= worker && worker < m[1] })
}

// count returns how many workers have records.
func (r *poolRecord) count() (n int) {
	for _, m := range r.Made {
		n += m[1] - m[0]
	}
	return n
}

// lacking returns at most so many workers without records, from First on and then from 0.
func (r *poolRecord) lacking(most int) (workers []int) {
	for i := 0; i < r.Workers && len(workers) < most; i++ {
		if worker := (r.First + i) % r.Workers; !r.made(worker) {
			workers = append(workers, worker)
		}
	}
	return workers
}

// withMade returns the record with one more worker made.
func (r poolRecord) withMade(worker int) poolRecord {
	made := append(slices.Clone(r.Made), [2]int{worker, worker + 1})
	slices.SortFunc(made, func(a, b [2]int) int { return a[0] - b[0] })
	merged := made[:1]
	for _, m := range made[1:] {
		if last := &merged[len(merged)-1]; m[0] <= last[1] {
			last[1] = max(last[1], m[1])
		} else {
			merged = append(merged, m)
		}
	}
	r.Made = merged
	return r
}

// record is the record of a worker in the store. All of it changes together.
//
// Times are Unix microseconds: the smallest unit of any format, with a range of 292 000 years.
type record struct {
	Version    int    `json:"v"`
	Pool       string `json:"pool"` // the pool's UUID
	Layout     string `json:"layout"`
	Generation int64  `json:"generation"`
	Worker     int    `json:"worker"`

	// The worker's timestamps before Until were allocated; [From, Until) is the interval of the last
	// holder. Until only grows, except when a holder gives back unused timestamps, after the
	// generator was sealed or has withdrawn the timestamps.
	From  int64 `json:"from_us"`
	Until int64 `json:"until_us"`

	Incarnation string `json:"incarnation,omitempty"` // the holder's random name; empty if no lease holds the worker
	Attempt     string `json:"attempt,omitempty"`     // the request that wrote the record
	Holder      string `json:"holder,omitempty"`      // the holder's description of itself, for operators
	Window      int64  `json:"window_us,omitempty"`   // how far ahead of its clock the holder allocates times

	Holders []holding `json:"holders,omitempty"` // the last holders, the newest first
	Back    int64     `json:"back_us,omitempty"` // when the holder gave the worker back, by the holder's clock; 0 in the record of a holder

	// others are the members that this program does not know, as text of JSON, each after a comma. A
	// later version with the same form may have written them. All changes of the record keep them.
	others string
}

// members returns the fields of the members of a worker's record, the required members first. A missing
// number must not pass for 0.
func (r *record) members() (fields []member, required int) {
	return []member{
		{"v", &r.Version}, {"pool", &r.Pool}, {"layout", &r.Layout}, {"generation", &r.Generation}, {"worker", &r.Worker},
		{"from_us", &r.From}, {"until_us", &r.Until},
		{"incarnation", &r.Incarnation}, {"attempt", &r.Attempt}, {"holder", &r.Holder}, {"window_us", &r.Window},
		{"holders", &r.Holders}, {"back_us", &r.Back},
	}, 7
}

type member struct {
	name  string
	value any
}

// read reads the members by their exact names: package json also takes UNTIL_US for until_us.
func (r *record) read(all map[string]json.RawMessage) error {
	fields, required := r.members()
	for i, m := range fields {
		value, ok := all[m.name]
		if !ok && i < required {
			return fmt.Errorf("%w: there is no member %s", ErrDamaged, m.name)
		}
		if ok {
			if err := json.Unmarshal(value, m.value); err != nil {
				return fmt.Errorf("%w: member %s: %w", ErrDamaged, m.name, err)
			}
			delete(all, m.name)
		}
	}
	var others []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		others = append(append(append(append(others, ','), encodeJSON(name)...), ':'), encodeJSON(all[name])...)
	}
	r.others = string(others)
	return nil
}

// encode returns a record of either kind.
func encode(r any) []byte {
	b, others := encodeJSON(r), ""
	switch r := r.(type) {
	case record:
		others = r.others
	case *record:
		others = r.others
	}
	return append(append(b[:len(b)-1], others...), "}\n"...)
}

func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // records have no fields that cannot be encoded
	}
	return b
}

// decode reads a record of either kind.
func decode(value []byte, r any) error {
	worker, ok := r.(*record)
	if ok {
		// A record that this program would write so has all members, and no others.
		var usual record
		if json.Unmarshal(value, &usual) == nil && usual.Version == workerVersion && bytes.Equal(encode(usual), value) {
			*worker = usual
			return nil
		}
	}
	var form struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(value, &form); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	oldest, newest := workerVersion, workerVersion
	if !ok {
		oldest, newest = poolVersion, placeVersion
	}
	if form.Version < oldest || form.Version > newest {
		return fmt.Errorf("%w: %d, not %d", ErrVersion, form.Version, newest)
	}
	if ok {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(value, &all); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return worker.read(all)
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// Keys of the store.

func poolKey(name string) string    { return name + "/pool" }
func workersKey(name string) string { return name + "/workers/" }
func workerKey(name string, worker int) string {
	return fmt.Sprintf("%s%05d", workersKey(name), worker)
}

// poolOf returns the name of the pool of a key.
func poolOf(key string) (name string, ok bool) { return strings.CutSuffix(key, "/pool") }

// workerOf returns the worker of a key.
func workerOf(name, key string) (worker int, ok bool) {
	digits, ok := strings.CutPrefix(key, workersKey(name))
	worker, err := strconv.Atoi(digits)
	return worker, ok && err == nil && key == workerKey(name, worker)
}
