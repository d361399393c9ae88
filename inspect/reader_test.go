package inspect_test

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// settings are choices of settings that all formats can be read with.
var settings = []inspect.Settings{{}, {Epoch: time.UnixMilli(1577836800000), ClockBits: 41, MachineBits: 3, CounterBits: 4, NodeBits: 8, Microseconds: true}}

// FuzzReader compares Reader with the functions of Format, which read an ID by the format's own functions.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "0", "07en9rb30swmf", "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "9007199254740991", "9007199254740992", "0x1379", "0X017bdf6431bb33750751eb63beb3c3f8c5969d86",
		"017bdf6431bb33750751eb63beb3c3f8c5969d86", "9223372036854775807", "9223372036854775808", "7fffffffffffffff", "ffffffffffffffff", "0x", "8000000000000", "0512345678901234",
		"32333435-3637-3839-6162-636465666768", "32333435363738396162636465666768", "\x00", "é", "2222222222222222", "0x3333333333333333", "00CMXB6TAK4SI"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, set := range settings {
			for _, format := range inspect.Formats() {
				checkReader(t, testkit.Must(format.NewReader(set)), set, s)
			}
		}
	})
}

// readByForms is what Format.Read promises, one form after the other.
func readByForms(f inspect.Format, s string, set inspect.Settings) (inspect.Info, error) {
	text, digits := s, s
	if len(s) > 2 && strings.EqualFold(s[:2], "0x") {
		digits = s[2:]
		if n := len(digits); n < 16 && slices.Contains(f.Forms(), inspect.Int) {
			digits = strings.Repeat("0", 16-n) + digits
		}
	}
	if len(s) == 32 {
		text = s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
	}
	var first error
	for _, try := range []struct {
		form inspect.Form
		text string
	}{{inspect.Text, s}, {inspect.Int, s}, {inspect.Hex, digits}, {inspect.UUID, text}} {
		info, err := f.Inspect(try.text, try.form, set)
		if err == nil || try.form == inspect.Text && errors.Is(err, iderr.ErrRange) {
			return info, err
		}
		if first == nil || errors.Is(err, iderr.ErrRange) && !errors.Is(first, iderr.ErrRange) {
			first = err
		}
	}
	return inspect.Info{}, first
}

// checkReader reads an ID by a Reader and by its format.
func checkReader(t *testing.T, r *inspect.Reader, set inspect.Settings, s string) {
	t.Helper()
	f := r.Format()
	want, bad := readByForms(f, s, set)
	got, err := r.AppendRead([]byte("before"), []byte(s))
	id, ok := strings.CutPrefix(string(got), "before")
	if !ok || (err == nil) != (bad == nil) || err != nil && (err.Error() != bad.Error() || id != "") {
		t.Fatalf("%s: %q is %q, %v; want %v", f.Name(), s, got, err, bad)
	}
	all := r.AppendReadings(nil, []byte(s))
	if err != nil {
		if len(all) > 0 {
			t.Fatalf("%s: %q is no ID, and can be %x", f.Name(), s, all)
		}
		return
	}
	if hex.EncodeToString([]byte(id)) != want.Hex || !strings.HasPrefix(string(all), id) {
		t.Fatalf("%s: %q is %x, and can be %x; want %s", f.Name(), s, id, all, want.Hex)
	}
	object, err := r.AppendJSON([]byte("before"), []byte(id))
	if wanted := testkit.Must(want.MarshalJSON()); err != nil || string(object) != "before"+string(wanted) {
		t.Fatalf("%s: %q is\n%s, %v; want\n%s", f.Name(), s, object, err, wanted)
	}
	for size := len(id); len(all) > 0; all = all[size:] {
		info, err := r.Info(all[:size])
		if err != nil {
			t.Fatal(err)
		}
		text := testkit.Must(r.AppendText(nil, all[:size]))
		var forms []string
		for _, form := range f.Forms() {
			if same, err := f.Inspect(s, form, set); err == nil {
				forms = append(forms, same.ID)
			}
		}
		behind0x := len(s) > 2 && strings.EqualFold(s[:2], "0x")
		if string(text) != info.ID || !r.Time(all[:size]).Equal(info.Time) || !slices.Contains(forms, info.ID) && !behind0x && len(s) != 32 {
			t.Fatalf("%s: %q can be %s, and is %q in its forms", f.Name(), s, info.ID, forms)
		}
	}
}

// TestReader: random strings of each length and alphabet are read as the formats read them.
func TestReader(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	alphabets := []string{"0123456789", "0123456789abcdef", "0123456789abcdefABCDEF", "0123456789abcdefghijklmnopqrstuvwxyz", "23456789abcdefghijklmnopqrstuvwx", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", "0123456789abcdefx-"}
	for _, f := range inspect.Formats() {
		for _, set := range settings {
			r := testkit.Must(f.NewReader(set))
			for range 20_000 {
				alphabet := alphabets[random.IntN(len(alphabets))]
				b := make([]byte, random.IntN(43))
				for i := range b {
					b[i] = alphabet[random.IntN(len(alphabet))]
				}
				s := string(b)
				if len(s) > 2 && random.IntN(4) == 0 {
					s = "0x" + s[2:]
				}
				checkReader(t, r, set, s)
			}
		}
	}
}

// Reading and writing many IDs allocates nothing.
func TestReaderAllocates(t *testing.T) {
	for _, v := range inspected {
		r := testkit.Must(lookup(t, v.format).NewReader(inspect.Settings{}))
		for form, s := range v.forms {
			if form == inspect.Base36 {
				continue
			}
			text, dst := []byte(s), make([]byte, 0, 1000)
			n := testing.AllocsPerRun(100, func() {
				id, err := r.AppendRead(dst[:0], text)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.AppendJSON(dst[len(id):len(id)], id); err != nil {
					t.Fatal(err)
				}
			})
			if n > 0 {
				t.Errorf("%s as %s: %v allocations", v.format, form, n)
			}
		}
	}
}

// A binary form of another length is an error.
func TestReaderLength(t *testing.T) {
	for _, f := range inspect.Formats() {
		for _, set := range settings {
			r := testkit.Must(f.NewReader(set))
			for n := range 40 {
				if n == f.Descriptor().Size {
					continue
				}
				if info, err := r.Info(make([]byte, n)); err == nil {
					t.Errorf("%d bytes of %s are %v", n, f.Name(), info)
				}
				if object, err := r.AppendJSON(nil, make([]byte, n)); err == nil || len(object) > 0 {
					t.Errorf("%d bytes of %s are %s", n, f.Name(), object)
				}
			}
		}
	}
	if _, err := (inspect.Format{}).NewReader(inspect.Settings{}); err == nil {
		t.Error("the zero Format has a Reader")
	}
}

// The definition of plausible times.
func TestPlausible(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]bool{
		now: true, now.Add(24 * time.Hour): true, now.Add(24*time.Hour + time.Millisecond): false, now.AddDate(-20, 0, 0): true, now.AddDate(-20, 0, 0).Add(-1): false,
	} {
		if inspect.Plausible(at, now) != want {
			t.Errorf("%v is plausible at %v: %v", at, now, !want)
		}
	}
	f := lookup(t, "nanoflake")
	for s, want := range map[string]bool{"2021-01-30T23:59:59Z": false, "2021-01-31T00:00:00Z": true, "2026-06-02T12:00:00Z": true, "2026-06-02T12:00:01Z": false} {
		at := testkit.Must(time.Parse(time.RFC3339, s))
		r := testkit.Must(f.NewReader(inspect.Settings{}))
		id := r.Shape().First(8, at.UnixMilli()-r.Shape().Epoch)
		if r.Plausible(id, now) != want {
			t.Errorf("an ID of %s is plausible: %v", s, !want)
		}
	}
	r := testkit.Must(f.NewReader(inspect.Settings{Epoch: now.Add(-time.Hour)}))
	if !r.Plausible(r.Shape().First(8, 1), now) {
		t.Error("an ID after an epoch of the settings is not plausible")
	}
}
