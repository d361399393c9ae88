package sql

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A setup is a format with settings, and the flags for the settings.
type setup struct {
	inspect.Format
	set   inspect.Settings
	flags []string
}

func (s setup) size() int {
	switch s.Name() {
	case "scru160":
		return scru160.Size
	case "sno":
		return sno.SizeBinary
	}
	return 8
}

func (s setup) integer() bool { return s.size() == 8 }

// bits returns the bits of an ID.
func (s setup) bits() int {
	switch {
	case s.Name() == "snowflakesi":
		return 53
	case s.integer():
		return 63
	}
	return 8 * s.size()
}

// value returns the binary form as the databases store the ID.
func (s setup) value(b []byte) any {
	if s.integer() {
		return int64(binary.BigEndian.Uint64(b))
	}
	return b
}

// inspect returns what the library says about an ID.
func (s setup) inspect(t testing.TB, b []byte) inspect.Info {
	t.Helper()
	info, err := s.Inspect(hex.EncodeToString(b), inspect.Hex, s.set)
	testkit.OK(t, err)
	return info
}

// setups returns all formats with their default settings.
func setups() (all []setup) {
	for _, f := range inspect.Formats() {
		all = append(all, setup{Format: f})
	}
	return all
}

// parse reads a text as the library does, and returns the ID as the databases store it.
func (s setup) parse(text string) (any, error) {
	info, err := s.Inspect(text, inspect.Text, s.set)
	if err != nil {
		return nil, err
	}
	return s.value(must(hex.DecodeString(info.Hex))), nil
}

// bounds returns the library's First and Last, as the databases store them. The functions of the
// databases return the zero ID in place of the smallest ID: other programs may have stored it.
func (s setup) bounds(t testing.TB, at time.Time) (first, last any) {
	t.Helper()
	first, last = s.libraryBounds(at)
	switch v := first.(type) {
	case int64:
		if v == 1 {
			first = int64(0)
		}
	case []byte:
		if smallest := append(make([]byte, len(v)-1), 1); bytes.Equal(v, smallest) {
			first = make([]byte, len(v))
		}
	}
	return first, last
}

func (s setup) libraryBounds(at time.Time) (first, last any) {
	e := s.set.Epoch
	switch s.Name() {
	case "nanoflake":
		return int64(must(nanoflake.First(at, e))), int64(must(nanoflake.Last(at, e)))
	case "ulidflake":
		return int64(must(ulidflake.First(at, e))), int64(must(ulidflake.Last(at, e)))
	case "ulidflake-scalable":
		return int64(must(ulidflake.FirstScalable(at, e))), int64(must(ulidflake.LastScalable(at, e)))
	case "snowflakesi":
		layout := snowflakesi.Layout{ClockBits: s.set.ClockBits, MachineBits: s.set.MachineBits}
		return int64(must(snowflakesi.First(layout, at, e))), int64(must(snowflakesi.Last(layout, at, e)))
	case "scru160":
		return scru160.First(at).Bytes(), scru160.Last(at).Bytes()
	}
	return sno.First(at).Bytes(), sno.Last(at).Bytes()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// binaries returns the binary forms of n random IDs, of IDs with single fields at their ends, and of
// the vectors of the format's package.
func (s setup) binaries(t testing.TB, n int) (all [][]byte) {
	r := rand.New(rand.NewPCG(1, uint64(len(s.Name()))))
	size, bits := s.size(), s.bits()
	masked := func(b []byte) []byte {
		if over := 8*size - bits; over > 0 {
			binary.BigEndian.PutUint64(b, binary.BigEndian.Uint64(b)&(1<<bits-1))
		}
		return b
	}
	ones := func() []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = 0xff
		}
		return masked(b)
	}
	all = append(all, make([]byte, size), ones())
	for bit := range bits { // one bit set, one bit clear, and all bits below
		place := func(b []byte) (*byte, byte) { return &b[size-1-bit/8], 1 << (bit % 8) }
		one, hole, below := make([]byte, size), ones(), make([]byte, size)
		p, m := place(one)
		*p |= m
		p, m = place(hole)
		*p &^= m
		for i := range bit {
			below[size-1-i/8] |= 1 << (i % 8)
		}
		all = append(all, one, hole, below)
	}
	all = append(all, s.vectors(t)...)
	for range n {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		all = append(all, masked(b))
	}
	return all
}

// folder returns the test data of the format's package.
func (s setup) folder() string {
	name, _, _ := strings.Cut(s.Name(), "-")
	return filepath.Join("..", "..", "..", "..", "..", "internal", "vectors", name)
}

// read reads a file of test data.
func read[T any](t testing.TB, file string) (all []T) {
	t.Helper()
	text, err := os.ReadFile(file)
	testkit.OK(t, err)
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		t.Fatalf("%s: %d values, %v", file, len(all), err)
	}
	return all
}

func (s setup) vectors(t testing.TB) (all [][]byte) {
	for _, v := range read[map[string]json.RawMessage](t, filepath.Join(s.folder(), "vectors.json")) {
		if text, ok := v["hex"]; ok && !s.integer() {
			all = append(all, must(hex.DecodeString(strings.Trim(string(text), `"`))))
			continue
		}
		text := v["value"]
		if text == nil {
			text = v["int"]
		}
		all = append(all, binary.BigEndian.AppendUint64(nil, must(strconv.ParseUint(strings.Trim(string(text), `"`), 10, 63))))
	}
	return all
}

// variant returns a text that Parse reads as the same ID.
func (s setup) variant(i int, info inspect.Info) string {
	mixed := func(text string) string {
		b := []byte(text)
		for j := range b {
			if (i>>(j%7)+j)&1 == 0 {
				b[j] = strings.ToLower(text)[j]
			} else {
				b[j] = strings.ToUpper(text)[j]
			}
		}
		return string(b)
	}
	switch {
	case s.Name() == "sno":
		return info.ID
	case s.Name() == "scru160" && i%3 == 0:
		return mixed(info.Hex)
	case s.Name() == "snowflakesi":
		return strings.Repeat("0", i%(17-len(info.ID))) + info.ID
	}
	return mixed(info.ID)
}

// uuidOf returns the text of the UUID of a sno.
func uuidOf(info inspect.Info) string { return sno.MustParse(info.ID).UUID().String() }

// badTexts returns texts near the texts of IDs; most are not IDs.
func (s setup) badTexts(t testing.TB, n int) (all []string) {
	r := rand.New(rand.NewPCG(2, uint64(len(s.Name()))))
	ids := s.binaries(t, 100)
	letters := []rune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ -_+.,'\"\\%:/@[`{\t\né\u00a0\u212aıſ٣𝟘٠\U0001F600")
	for i := range n {
		text := []rune(s.variant(i, s.inspect(t, ids[r.IntN(len(ids))])))
		for range 1 + r.IntN(2) {
			at := r.IntN(len(text) + 1)
			switch c := letters[r.IntN(len(letters))]; r.IntN(5) {
			case 0, 1:
				if at < len(text) {
					text[at] = c
				}
			case 2:
				text = append(text[:at:at], append([]rune{c}, text[at:]...)...)
			case 3:
				text = append(text[:at:at], text[min(at+1, len(text)):]...)
			case 4:
				if len(text) > 0 {
					text[0] = c
				}
			}
		}
		all = append(all, string(text))
	}
	return append(all, "", " ", strings.Repeat("0", 200), "-1", "NaN", "1e5", "9007199254740991", "9007199254740992", "1y2p0ij32e8e7", "1Y2P0IJ32E8E8", "7ZZZZZZZZZZZZ", "8000000000000",
		"ZZZZZZZZZZZZZ", "zzzzzzzzzzzzz", "9223372036854775808", "9999999999999999")
}

// instants returns random times, the ends of the timestamps and of databases, and times around them.
func (s setup) instants(t testing.TB, n int) (all []time.Time) {
	r := rand.New(rand.NewPCG(3, uint64(len(s.Name()))))
	zero := s.inspect(t, make([]byte, s.size())).Time
	last := s.inspect(t, s.binaries(t, 0)[1]).Time
	for _, at := range []time.Time{zero, last, time.Unix(0, 0), time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		for _, d := range []time.Duration{0, 1, 999, 1000, 500_000, 999_000, 1_000_000, 3_999_000, 4_000_000, time.Second, time.Hour} {
			all = append(all, at.Add(d), at.Add(-d))
		}
	}
	from, to := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	for range n {
		all = append(all, time.UnixMicro(from+r.Int64N(to-from)))
	}
	var held []time.Time
	for _, at := range all {
		if y := at.UTC().Year(); y >= 1000 && y <= 9999 { // what all databases hold
			held = append(held, at.UTC().Truncate(time.Microsecond))
		}
	}
	return held
}

func (s setup) String() string { return fmt.Sprint(append([]string{s.Name()}, s.flags...)) }
