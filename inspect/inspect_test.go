package inspect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/snowflakesi"
)

func lookup(t *testing.T, name string) inspect.Format {
	t.Helper()
	f, ok := inspect.Lookup(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	return f
}

// known are the names of all formats.
var known = []string{"nanoflake", "ulidflake", "ulidflake-scalable", "snowflakesi", "scru160", "sno"}

func TestFormats(t *testing.T) {
	var names []string
	for _, f := range inspect.Formats() {
		names = append(names, f.Name())
		testkit.Same(t, lookup(t, f.Name()), f)
		forms := f.Forms()
		if len(forms) < 2 || forms[0] != inspect.Text || !slices.Contains(forms, inspect.Hex) {
			t.Errorf("%s has the forms %v", f.Name(), forms)
		}
		forms[0] = 99
		if f.Forms()[0] == 99 {
			t.Errorf("Forms gives access to the registry")
		}
	}
	if !slices.Equal(names, known) {
		t.Errorf("formats are %v, want %v", names, known)
	}
	if _, ok := inspect.Lookup("Nanoflake"); ok {
		t.Error("names are read in any case")
	}
	for form, name := range map[inspect.Form]string{inspect.Text: "text", inspect.Int: "int", inspect.Hex: "hex", inspect.Base36: "base36", 7: "Form(7)"} {
		got, err := inspect.ParseForm(name)
		if form.String() != name || (err == nil) != (form <= inspect.Base36) || err == nil && got != form {
			t.Errorf("%d is %s, and that is %d, %v", form, form, got, err)
		}
	}
}

// A time without a form in RFC 3339 is null.
func TestTimeInJSON(t *testing.T) {
	for _, v := range []struct{ format, id, epoch, time, ms string }{
		{"scru160", "VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV", "", "null", "281474976710655"},
		{"scru160", "e677d21fdc000000000000000000000000000000", "", "null", "253402300800000"},
		{"scru160", "e677d21fdbff0000000000000000000000000000", "", `"9999-12-31T23:59:59.999Z"`, "253402300799999"},
		{"scru160", "00000000000000000000000000000000", "", `"1970-01-01T00:00:00Z"`, "0"},
		{"nanoflake", "0000000000000", "-62167219200000", `"0000-01-01T00:00:00Z"`, "-62167219200000"},
		{"nanoflake", "0000000000000", "-62167219200001", "null", "-62167219200001"},
		{"nanoflake", "0000000000000", "9223372036854775807", "null", "9223372036854775807"},
	} {
		var set inspect.Settings
		if v.epoch != "" {
			ms := testkit.Must(strconv.ParseInt(v.epoch, 10, 64))
			set.Epoch = time.UnixMilli(ms)
		}
		info, err := lookup(t, v.format).Inspect(v.id, inspect.Text, set)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := json.Marshal(info)
		if want := `"time":` + v.time + `,"unix_ms":` + v.ms + `,`; err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s is %s, %v; want %s", v.id, got, err, want)
		}
		var back struct{ Time *time.Time }
		if err := json.Unmarshal(got, &back); err != nil || (back.Time == nil) != (v.time == "null") {
			t.Errorf("%s reads as %v, %v", got, back.Time, err)
		}
	}
}

// One ID of each format, in each form.
var inspected = []struct {
	format string
	forms  map[inspect.Form]string
	json   string
}{
	{
		"sno",
		map[inspect.Form]string{inspect.Text: "cufsekaqqudbobiw", inspect.Hex: "571BA64918C7169B261E"},
		`{"format":"sno","id":"cufsekaqqudbobiw","hex":"571ba64918c7169b261e","time":"2033-09-17T07:47:54.544Z",` +
			`"unix_ms":2010556074544,"fields":{"timestamp":187063018636,"tick_tock":0,"meta":199,"partition":5787,"sequence":9758}}`,
	},
	{
		"nanoflake",
		map[inspect.Form]string{inspect.Text: "07en9rb30swmf", inspect.Int: "974901554009075751", inspect.Hex: "0d878bcc51aff027", inspect.Base36: "7en9rb30swmf"},
		`{"format":"nanoflake","id":"07en9rb30swmf","int":"974901554009075751","hex":"0d878bcc51aff027","time":"2028-05-14T05:10:43.27Z",` +
			`"unix_ms":1841893843270,"fields":{"timestamp":232434643270,"generator_id":767,"sequence":39}}`,
	},
	{
		"ulidflake",
		map[inspect.Form]string{inspect.Text: "00cmxb6tak4sa", inspect.Int: "14246757444195114", inspect.Hex: "00329d59b4a9932a"},
		`{"format":"ulidflake","id":"00CMXB6TAK4SA","int":"14246757444195114","hex":"00329d59b4a9932a","time":"2024-06-06T06:06:06.666Z",` +
			`"unix_ms":1717653966666,"fields":{"timestamp":13586766666,"randomness":627498}}`,
	},
	{
		"ulidflake-scalable",
		map[inspect.Form]string{inspect.Text: "00CMXB6TAK4SA", inspect.Int: "14246757444195114", inspect.Hex: "00329D59B4A9932A"},
		`{"format":"ulidflake-scalable","id":"00CMXB6TAK4SA","int":"14246757444195114","hex":"00329d59b4a9932a","time":"2024-06-06T06:06:06.666Z",` +
			`"unix_ms":1717653966666,"fields":{"timestamp":13586766666,"randomness":19609,"scalability":10}}`,
	},
	{
		"snowflakesi",
		map[inspect.Form]string{inspect.Text: "4985", inspect.Int: "4985", inspect.Hex: "0000000000001379"},
		`{"format":"snowflakesi","id":"4985","int":"4985","hex":"0000000000001379","time":"2021-01-01T00:00:00Z",` +
			`"unix_ms":1609459200000,"fields":{"timestamp":0,"machine_id":19,"sequence":121}}`,
	},
	{
		"scru160",
		map[inspect.Form]string{inspect.Text: "05ttup1hncpna1qhtdhrtcu3v32pd7c6", inspect.Hex: "017bdf6431bb33750751eb63beb3c3f8c5969d86"},
		`{"format":"scru160","id":"05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6","hex":"017bdf6431bb33750751eb63beb3c3f8c5969d86","time":"2021-09-13T13:41:30.683Z",` +
			`"unix_ms":1631540490683,"fields":{"timestamp":1631540490683,"counter":13173,"random16":1873,"random80":"1111596092680025142631814"}}`,
	},
}

func TestInspect(t *testing.T) {
	for _, v := range inspected {
		f := lookup(t, v.format)
		bits := 0
		for form, input := range v.forms {
			info, err := f.Inspect(input, form, inspect.Settings{})
			if err != nil {
				t.Errorf("%s as %s: %v", input, form, err)
				continue
			}
			got, err := json.Marshal(info)
			if err != nil || string(got) != v.json {
				t.Errorf("%s as %s is\n%s, %v; want\n%s", input, form, got, err, v.json)
			}
			if info.Format != f || info.Time.Location() != time.UTC {
				t.Errorf("%s: of %v, at %v", input, info.Format.Name(), info.Time)
			}
			bits = 0
			for _, field := range info.Fields {
				bits += field.Bits
			}
			found := false
			for _, d := range inspect.Candidates(input, inspect.Settings{}, time.Now(), form) {
				found = found || d.Format == f
			}
			if !found {
				t.Errorf("%s as %s is not detected as %s", input, form, v.format)
			}
		}
		if want := map[string]int{"snowflakesi": 53, "scru160": 160, "sno": 80}[v.format]; bits != want && !(want == 0 && bits == 63) {
			t.Errorf("%s has %d bits", v.format, bits)
		}
	}
}

// Settings have what an ID does not carry.
func TestSettings(t *testing.T) {
	epoch := time.UnixMilli(1135117406658)
	info, err := lookup(t, "snowflakesi").Inspect("9007199254740134", inspect.Int,
		inspect.Settings{Epoch: epoch, ClockBits: 40, MachineBits: 12})
	want := []inspect.Field{{Name: "timestamp", Bits: 40, Value: "1099511627775"}, {Name: "machine_id", Bits: 12, Value: "3667"}, {Name: "sequence", Bits: 1, Value: "0"}}
	if err != nil || info.Time.UnixMilli() != 2234629034433 || !reflect.DeepEqual(info.Fields, want) {
		t.Errorf("%+v, %v", info, err)
	}
	info, err = lookup(t, "nanoflake").Inspect("7en9rb30swmf", inspect.Base36, inspect.Settings{Epoch: time.UnixMilli(0)})
	if err != nil || info.Time.UnixMilli() != 232434643270 {
		t.Errorf("%+v, %v", info, err)
	}
	info, err = lookup(t, "snowflakesi").Inspect("1", inspect.Text, inspect.Settings{MachineBits: snowflakesi.NoMachineBits})
	if err != nil || info.Fields[1] != (inspect.Field{Name: "machine_id", Bits: 0, Value: "0"}) {
		t.Errorf("%+v, %v", info, err)
	}
}

// Inspect reads the counter and random16 of a SCRU160 generator, for all widths.
func TestSettingsOfSCRU160(t *testing.T) {
	at := time.UnixMicro(1764000000123456)
	for _, counter := range []scru160.Counter{scru160.CounterMilliseconds, scru160.CounterMicroseconds} {
		for extra := range 17 {
			for node := range 17 - extra {
				c := scru160.Config{Counter: counter, Start: scru160.StartBits(0), ExtraCounterBits: extra, NodeBits: node,
					NodeID: 1<<node - 1, Clock: func() time.Time { return at }}
				g := testkit.Must(scru160.NewGenerator(c))
				set := inspect.Settings{Microseconds: counter == scru160.CounterMicroseconds, CounterBits: extra, NodeBits: node}
				for n := range 3 {
					id := testkit.Must(g.TryNext())
					for form, s := range map[inspect.Form]string{inspect.Text: id.String(), inspect.Hex: id.Hex()} {
						info, err := lookup(t, "scru160").Inspect(s, form, set)
						if err != nil {
							t.Fatal(err)
						}
						if got := valuesOf(info); got != wantedValues(c, id, n) {
							t.Errorf("%d, %d, %d: %s, want %s", counter, extra, node, got, wantedValues(c, id, n))
						}
					}
				}
			}
		}
	}
}

// valuesOf lists the fields of an ID, their widths, and the sum of the widths.
func valuesOf(info inspect.Info) string {
	s, bits := info.Time.Format(time.RFC3339Nano), 0
	for _, f := range info.Fields {
		s += fmt.Sprintf(" %s:%d=%s", f.Name, f.Bits, f.Value)
		bits += f.Bits
	}
	return fmt.Sprint(s, " ", bits)
}

// wantedValues returns the valuesOf the n-th ID in TestSettingsOfSCRU160, whose counter starts at 0.
func wantedValues(c scru160.Config, id scru160.ID, n int) string {
	value := new(big.Int).SetBytes(id.Bytes())
	low := func(bits uint) string {
		return new(big.Int).And(value, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1))).String()
	}
	rest := 16 - c.ExtraCounterBits - c.NodeBits
	s := "2025-11-24T16:00:00.123Z timestamp:48=1764000000123"
	bits := 16
	if c.Counter == scru160.CounterMicroseconds {
		s = "2025-11-24T16:00:00.123456Z timestamp:48=1764000000123 microsecond:10=456"
		bits = 6
	}
	s += fmt.Sprintf(" counter:%d=%d", bits+c.ExtraCounterBits, n)
	if c.NodeBits > 0 {
		s += fmt.Sprintf(" node_id:%d=%d", c.NodeBits, c.NodeID)
	}
	random16 := new(big.Int).Rsh(value, 80)
	random16.And(random16, big.NewInt(1<<rest-1))
	return s + fmt.Sprintf(" random16:%d=%v random80:80=%s 160", rest, random16, low(80))
}

// Impossible settings, and IDs that are impossible with the settings, are errors.
func TestBadSettingsOfSCRU160(t *testing.T) {
	f := lookup(t, "scru160")
	text := scru160.Max().String()
	for _, set := range []inspect.Settings{{CounterBits: -1}, {CounterBits: 17}, {NodeBits: -1}, {NodeBits: 17}, {CounterBits: 9, NodeBits: 8}} {
		if _, err := f.Inspect(text, inspect.Text, set); !errors.Is(err, iderr.ErrConfig) {
			t.Errorf("%+v: %v", set, err)
		}
	}
	for counter, want := range map[int]error{0: nil, 999: nil, 1000: iderr.ErrRange, 1023: iderr.ErrRange} {
		id := scru160.MustParse("05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6")
		id[6], id[7] = byte(counter>>2), byte(counter<<6)
		if info, err := f.Read(id.String(), inspect.Settings{Microseconds: true}); !errors.Is(err, want) {
			t.Errorf("%d microseconds: %v, %v", counter, info, err)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, v := range []struct {
		input string
		form  inspect.Form
		want  string
	}{
		{"7en9rb30swmf", inspect.Base36, "nanoflake"},
		{"07en9rb30swmf", inspect.Base36, "nanoflake"},
		{"7en9rb30swmf", inspect.Text, ""},
		{"007en9rb30swmf", inspect.Text, ""},
		{"007en9rb30swmf", inspect.Base36, ""},
		{"00CMXB6TAK4SA", inspect.Text, "nanoflake ulidflake ulidflake-scalable"},
		{"7ZZZZZZZZZZZZ", inspect.Text, "ulidflake ulidflake-scalable"},
		{"4985", inspect.Text, "snowflakesi"},
		{"4985", inspect.Base36, "nanoflake"},
		{"4985", inspect.Int, "nanoflake ulidflake ulidflake-scalable snowflakesi"},
		{"9007199254740992", inspect.Int, "nanoflake ulidflake ulidflake-scalable"},
		{"9223372036854775808", inspect.Int, ""},
		{"0000000000001379", inspect.Hex, "nanoflake ulidflake ulidflake-scalable snowflakesi"},
		{"017bdf6431bb33750751eb63beb3c3f8c5969d86", inspect.Text, "scru160"},
		{"017bdf6431bb33750751eb63beb3c3f8c5969d86", inspect.Hex, "scru160"},
		{"cufsekaqqudbobiw", inspect.Text, "sno"},
		{"2222222222222222", inspect.Text, "snowflakesi sno"},
		{"571ba64918c7169b261e", inspect.Hex, "sno"},
		{"", inspect.Text, ""},
		{"-1", inspect.Int, ""},
		{"é", inspect.Text, ""},
	} {
		var names []string
		for _, info := range inspect.Candidates(v.input, inspect.Settings{}, time.Now(), v.form) {
			names = append(names, info.Format.Name())
		}
		want := strings.Fields(v.want)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%q as %s is %q, want %q", v.input, v.form, names, want)
		}
	}
}

// Candidates reads every form, text first, and ranks by the time.
func TestCandidates(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, v := range []struct{ input, want string }{
		{"779618300421218304", "nanoflake 2026 ulidflake 2047 ulidflake-scalable 2047"},
		{"07en9rb30swmf", "nanoflake 2028 ulidflake 2032 ulidflake-scalable 2032"},
		{"00CMXB6TAK4SA", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"14246757444195114", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"00329D59B4A9932A", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"0x329d59b4a9932a", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"0X00329D59B4A9932A", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"1527083958403961", "snowflakesi 2026 ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"1427083958403961", "snowflakesi 2026 ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"0x1379", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021 snowflakesi 2021"},
		{"571ba64918c7169b261e", "sno 2033"},
		{"0x571ba64918c7169b261e", "sno 2033"},
		{"0x71ba64918c7169b261e", ""},
		{"2222222222222222", "snowflakesi 2029 ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021 sno 2010"},
		{"0512345678901234", "nanoflake 2023 snowflakesi 2022 ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"38393a3b-3c3d-3e3f-6162-636465666768", ""},
		{"32333435-3637-3839-6162-636465666768", "sno 2010"},
		{"32333435363738396162636465666768", "scru160 2824 sno 2010"},
		{"8000000000000", "snowflakesi 2021"}, // beyond 7ZZZZZZZZZZZZ, and beyond Nanoflake's last text
		{"9999999999999", "snowflakesi 2021"},
		{"8zzzzzzzzzzzz", ""},
		{"1y2p0ij32e8e8", ""},
		{"9007199254740992", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"},
		{"017bdf6431bb33750751eb63beb3c3f8c5969d86", "scru160 2021"},
		{"0x", ""},
		{"x1379", ""},
		{"0x1379g", ""},
		{"9223372036854775808", ""},
		{" 4985", ""},
		{"", ""},
	} {
		var got []string
		for _, info := range inspect.Candidates(v.input, inspect.Settings{}, now) {
			got = append(got, info.Format.Name(), strconv.Itoa(info.Time.Year()))
			same, err := info.Format.Read(v.input, inspect.Settings{})
			if err != nil || !reflect.DeepEqual(same, info) && info.Hex != v.input { // Read tries decimal first
				t.Errorf("%q of %s: %v, %v", v.input, info.Format.Name(), same, err)
			}
		}
		if got := strings.Join(got, " "); got != v.want {
			t.Errorf("%q is %q, want %q", v.input, got, v.want)
		}
	}
}

// The error of Read is that of the text, unless s is a number that is out of range.
func TestReadErrors(t *testing.T) {
	for input, want := range map[string]error{
		"9223372036854775808": iderr.ErrRange, "7en9rb30swmf": iderr.ErrLength, "07en9-b30swmf": iderr.ErrCharacter, "0xff_": iderr.ErrLength, "": iderr.ErrLength,
	} {
		_, err := lookup(t, "nanoflake").Read(input, inspect.Settings{})
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", input, err, want)
		}
	}
	if _, err := (inspect.Format{}).Read("1", inspect.Settings{}); err == nil {
		t.Error("the zero Format reads an ID")
	}
}

// A digit string with the length and the alphabet of the text is a text or no ID: the decimal reading
// would be another ID.
func TestTextOrNothing(t *testing.T) {
	for format, inputs := range map[string][]string{
		"nanoflake":          {"9999999999999", "2000000000000", "8000000000000"},
		"ulidflake":          {"8000000000000", "8000000000001", "9999999999999"},
		"ulidflake-scalable": {"8000000000000", "9000000000000", "9999999999999"},
	} {
		f := lookup(t, format)
		for _, input := range inputs {
			info, err := f.Read(input, inspect.Settings{})
			if !errors.Is(err, iderr.ErrRange) || info.ID != "" {
				t.Errorf("%s of %s is %s, %v", input, format, info.ID, err)
			}
			if info, err = f.Inspect(input, inspect.Int, inspect.Settings{}); err != nil || info.Int != input {
				t.Errorf("%s of %s as int is %s, %v", input, format, info.Int, err)
			}
			for _, info := range inspect.Candidates(input, inspect.Settings{}, time.Now()) {
				if info.Format == f {
					t.Errorf("%s may be a %s: %s", input, format, info.ID)
				}
			}
		}
	}
}

// If a format reads a random string as a text, the ID has this text.
func TestTextIsKept(t *testing.T) {
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	shapes := map[string]int{"nanoflake": 13, "ulidflake": 13, "ulidflake-scalable": 13, "snowflakesi": 16, "scru160": 32, "sno": 16}
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range inspect.Formats() {
		read := 0
		for n := range 20_000 {
			alphabet := digits
			if n%2 == 1 {
				alphabet += letters[:random.IntN(len(letters)+1)]
			}
			b := make([]byte, shapes[f.Name()])
			for i := range b {
				b[i] = alphabet[random.IntN(len(alphabet))]
			}
			s := string(b)
			info, err := f.Read(s, inspect.Settings{})
			if err != nil {
				continue
			}
			text := s
			if f.Name() == "snowflakesi" { // its texts have no padding
				text = strings.TrimLeft(s, "0")
			}
			if !strings.EqualFold(info.ID, text) && !strings.EqualFold(info.Hex, s) {
				t.Fatalf("%s: %q reads as %s", f.Name(), s, info.ID)
			}
			read++
		}
		if read == 0 {
			t.Errorf("%s reads none of the strings", f.Name())
		}
	}
}

func TestInspectErrors(t *testing.T) {
	_, err := lookup(t, "ulidflake").Inspect("00CMXB6TAK4SI", inspect.Text, inspect.Settings{})
	e, ok := errors.AsType[*iderr.ParseError](err)
	if !ok || e.Offset != 12 || e.Format != "ulidflake" {
		t.Errorf("%v", err)
	}
	for _, form := range []inspect.Form{inspect.Int, inspect.Base36, 4, 255} {
		if _, err := lookup(t, "scru160").Inspect("1", form, inspect.Settings{}); err == nil {
			t.Errorf("scru160 has the form %s", form)
		}
	}
}

// The zero Format is not a format, and returns an error instead of panicking.
func TestZeroFormat(t *testing.T) {
	var f inspect.Format
	if f.Name() != "" || f.Worker() != "" || f.Forms() != nil {
		t.Errorf("the zero Format is %q, %q, %v", f.Name(), f.Worker(), f.Forms())
	}
	if info, err := f.Inspect("0", inspect.Text, inspect.Settings{}); err == nil {
		t.Errorf("the zero Format reads %v", info)
	}
	if _, err := json.Marshal(inspect.Info{}); err != nil {
		t.Error(err)
	}
}
