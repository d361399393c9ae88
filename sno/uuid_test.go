package sno_test

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// uuidReaders are all ways to read the text of a UUID. On an error they leave the UUID unchanged.
var uuidReaders = map[string]func(u *sno.UUID, text string) error{
	"UnmarshalText":  func(u *sno.UUID, text string) error { return u.UnmarshalText([]byte(text)) },
	"Scan of string": func(u *sno.UUID, text string) error { return u.Scan(text) },
	"UnmarshalParam": func(u *sno.UUID, text string) error { return u.UnmarshalParam(text) },
	"UnmarshalGQL":   func(u *sno.UUID, text string) error { return u.UnmarshalGQL(text) },
	"UnmarshalJSON": func(u *sno.UUID, text string) error {
		var back string
		data, err := json.Marshal(text)
		if err != nil || json.Unmarshal(data, &back) != nil || back != text {
			return u.UnmarshalText([]byte(text)) // JSON cannot carry this text
		}
		return u.UnmarshalJSON(data)
	},
	"ScanRedis": func(u *sno.UUID, text string) error {
		if len(text) == 16 { // the binary form
			return u.Scan(text)
		}
		return u.ScanRedis(text)
	},
	"Scan of bytes": func(u *sno.UUID, text string) error {
		if len(text) == 16 { // not a text
			return u.Scan(text)
		}
		return u.Scan([]byte(text))
	},
}

func TestUUID(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ids := append(fill(1000, func(int) sno.ID { return randomID(r) }), sno.Zero(), sno.MustParse("xxxxxxxxxxxxxxxx"))
	type other [16]byte // of another package
	for _, id := range ids {
		u := id.UUID()
		testkit.Same(t, string(u[:]), id.String())
		for _, raw := range [][16]byte{u, other(u), sno.UUID(other(u))} {
			testkit.Call(sno.FromUUID(raw)).Gives(t, id)
		}
		text := fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
		marshalled, err := u.MarshalText()
		if u.String() != text || string(marshalled) != text || err != nil {
			t.Fatalf("%s is written as %s, %s, %v", text, u, marshalled, err)
		}
		if v, err := u.Value(); id.IsZero() {
			if _, _, bad := u.MarshalBSONValue(); !errors.Is(err, iderr.ErrNoID) || !errors.Is(bad, iderr.ErrNoID) || !u.IsZero() || v == nil {
				t.Errorf("the UUID of the zero ID is stored as %v, %v, and in BSON: %v", v, err, bad)
			}
		} else if err != nil || v != text || !driver.IsValue(v) || u.IsZero() {
			t.Fatalf("Value of %s = %v, %v", text, v, err)
		} else {
			checkUUIDPayloads(t, u, text)
		}
		for name, read := range uuidReaders {
			for _, text := range []string{text, strings.ToUpper(text)} {
				if got := marked.UUID(); read(&got, text) != nil || got != u {
					t.Fatalf("%s: %s is read as %s, %v", name, text, got, read(&got, text))
				}
			}
		}
		for _, value := range []any{u[:], [16]byte(u)} {
			if got := marked.UUID(); got.Scan(value) != nil || got != u {
				t.Fatalf("Scan(%T) of %s = %s, %v", value, text, got, got.Scan(value))
			}
		}
	}
	if got := marked.UUID(); got.Scan([]byte("2222222222222222")) != nil || got != sno.Zero().UUID() {
		t.Errorf("the 16 bytes of the zero ID are %s", got)
	}
	for _, read := range []func(*sno.UUID) error{
		func(u *sno.UUID) error { return u.Scan(nil) },
		func(u *sno.UUID) error { return u.UnmarshalGQL(nil) },
		func(u *sno.UUID) error { return u.UnmarshalBSONValue(0x0a, nil) },
	} {
		if got := marked.UUID(); !errors.Is(read(&got), iderr.ErrNoID) || got != marked.UUID() {
			t.Errorf("NULL is read as %s, %v", got, read(&got))
		}
	}
	if _, _, err := (sno.UUID{}).MarshalBSONValue(); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("the UUID of no ID in BSON: %v", err)
	}
	u := sno.MustParse("cufsekaqqudbobiw").UUID()
	for format, want := range map[string]string{
		"%v": u.String(), "%s": u.String(), "%q": `"` + u.String() + `"`, "%x": "63756673656b6171717564626f626977",
		"%#v": `sno.MustParse("cufsekaqqudbobiw").UUID()`, "%d": "%!d(" + u.String() + ")",
	} {
		testkit.Same(t, fmt.Sprintf(format, u), want)
	}
	testkit.Logs(t, u)
	if id, err := u.ID(); err != nil || id.UUID() != u || u.Compare(sno.Zero().UUID()) != 1 {
		t.Errorf("the ID of %s is %v, %v", u, id, err)
	}
	if !(sno.UUID{}).IsZero() || (sno.UUID{}).GormDataType() != "uuid" {
		t.Error("the UUID of no ID is not zero, or GORM's type is another")
	}
}

// checkUUIDPayloads checks the forms of BSON, GraphQL and Redis.
func checkUUIDPayloads(t *testing.T, u sno.UUID, text string) {
	t.Helper()
	var got sno.UUID
	kind, data, err := u.MarshalBSONValue()
	if want := append([]byte{16, 0, 0, 0, 4}, u[:]...); err != nil || kind != 5 || !bytes.Equal(data, want) || got.UnmarshalBSONValue(kind, data) != nil || got != u {
		t.Fatalf("%s is %d %x in BSON, %v, and read as %s", text, kind, data, err, got)
	}
	got = marked.UUID()
	for _, other := range [][]byte{append([]byte{16, 0, 0, 0, 0}, u[:]...), append([]byte{15, 0, 0, 0, 4}, u[1:]...), {1}} {
		if err := got.UnmarshalBSONValue(5, other); err == nil || got != marked.UUID() {
			t.Fatalf("%x in BSON is read as %s", other, got)
		}
	}
	var answer strings.Builder
	u.MarshalGQL(&answer)
	if answer.String() != `"`+text+`"` {
		t.Fatalf("%s is %s in GraphQL", text, &answer)
	}
	binary, err := u.MarshalBinary()
	if err != nil || got.ScanRedis(string(binary)) != nil || got != u {
		t.Fatalf("%s is %x in Redis, %v, and read as %s", text, binary, err, got)
	}
	got = sno.UUID{}
	if got.UnmarshalBinary(binary) != nil || got != u || got.UnmarshalBinary(binary[1:]) == nil {
		t.Fatalf("%x is read as %s", binary, got)
	}
}

// Texts and the binary form have the UUID of the zero ID for the UUID of no ID, as the other types write the
// zero ID. Databases refuse both.
func TestUUIDOfNoID(t *testing.T) {
	var none sno.UUID
	const text = "32323232-3232-3232-3232-323232323232"
	for _, u := range []sno.UUID{none, sno.Zero().UUID()} {
		if got, err := u.MarshalText(); err != nil || string(got) != text {
			t.Errorf("text %s, %v", got, err)
		}
		binary, err := u.MarshalBinary()
		if err != nil || string(binary) != sno.Zero().String() {
			t.Errorf("binary %x, %v", binary, err)
		}
		if data, err := json.Marshal(map[sno.UUID]sno.UUID{u: u}); err != nil || string(data) != `{"`+text+`":null}` {
			t.Errorf("JSON %s, %v", data, err)
		}
		for name, read := range uuidReaders {
			if got := marked.UUID(); read(&got, text) != nil || !got.IsZero() {
				t.Errorf("%s: %s is read as %s, %v", name, text, got, read(&got, text))
			}
		}
		for _, read := range []func(*sno.UUID) error{
			func(u *sno.UUID) error { return u.UnmarshalBinary(binary) },
			func(u *sno.UUID) error { return u.ScanRedis(string(binary)) },
		} {
			if got := marked.UUID(); read(&got) != nil || !got.IsZero() {
				t.Errorf("%x is read as %s, %v", binary, got, read(&got))
			}
		}
		if v, err := u.Value(); !errors.Is(err, iderr.ErrNoID) || v == nil {
			t.Errorf("SQL gets %v, %v", v, err)
		}
		if _, _, err := u.MarshalBSONValue(); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("MongoDB gets %s, %v", u, err)
		}
	}
	if id, err := none.ID(); err == nil {
		t.Errorf("the ID of no ID is %v", id)
	}
}

func TestUUIDRefuses(t *testing.T) {
	const text = "63756673-656b-6171-7175-64626f626977"
	refused := func(text string, kind error, offset int) {
		t.Helper()
		for name, read := range uuidReaders {
			got := marked.UUID()
			err := read(&got, text)
			var e *sno.ParseError
			if !errors.As(err, &e) || !errors.Is(err, kind) || e.Offset != offset || e.Format != "sno" || got != marked.UUID() {
				t.Errorf("%s: %q is read as %s, %v; want offset %d of %v", name, text, got, err, offset, kind)
			}
		}
	}
	for n := range 50 {
		if n != len(text) {
			refused(strings.Repeat("3", n), iderr.ErrLength, -1)
		}
	}
	refused("{"+text+"}", iderr.ErrLength, -1)
	refused("urn:uuid:"+text, iderr.ErrLength, -1)
	refused(strings.ReplaceAll(text, "-", ""), iderr.ErrLength, -1)
	refused(strings.ReplaceAll(text, "-", "3")[:36], iderr.ErrCharacter, 8)
	for at := range text {
		for c := range 256 {
			bad := text[:at] + string([]byte{byte(c)}) + text[at+1:]
			if digit := strings.IndexByte("0123456789abcdefABCDEF", byte(c)) >= 0; digit != (text[at] != '-') && c != '-' || c == '-' && text[at] != '-' {
				refused(bad, iderr.ErrCharacter, at)
			}
		}
	}
	// A byte that no text of an ID has: the offset is that of the byte.
	for at := range 16 {
		for c := range 256 {
			u := marked.UUID()
			u[at] = byte(c)
			if strings.IndexByte(alphabet, byte(c)) >= 0 {
				continue
			}
			refused(u.String(), iderr.ErrCharacter, at)
			got := marked.UUID()
			_, err := u.Value()
			_, err2 := u.MarshalText()
			_, err3 := sno.FromUUID(u)
			for _, err := range []error{got.Scan(u[:]), got.Scan([16]byte(u)), err, err2, err3} {
				var e *sno.ParseError
				if !errors.As(err, &e) || e.Offset != at || !errors.Is(err, iderr.ErrCharacter) || got != marked.UUID() {
					t.Fatalf("%s: %v", u, err)
				}
			}
		}
	}
	refused("00000000-0000-0000-0000-000000000000", iderr.ErrCharacter, 0)
	refused("0190163d-8694-739b-aea5-966c26f8ad91", iderr.ErrCharacter, 0) // of version 7
	for _, value := range []any{7, int64(7), true, sno.ID{}, &sno.UUID{}, [10]byte{}, []string{text}} {
		got := marked.UUID()
		if err := got.Scan(value); !errors.Is(err, iderr.ErrType) || got != marked.UUID() {
			t.Errorf("Scan(%T) = %s, %v", value, got, err)
		}
	}
}

func TestUUIDInJSON(t *testing.T) {
	id := sno.MustParse("cufsekaqqudbobiw")
	type object struct {
		U    sno.UUID
		Omit sno.UUID `json:",omitzero"`
		Keys map[sno.UUID]int
	}
	const text = `{"U":"63756673-656b-6171-7175-64626f626977","Keys":{"32323232-3232-3232-3232-323232323232":1}}`
	value := object{U: id.UUID(), Keys: map[sno.UUID]int{sno.Zero().UUID(): 1}}
	for _, j := range jsonPackages {
		got, err := j.marshal(value)
		if err != nil || string(got) != text {
			t.Errorf("%s: %s, %v", j.name, got, err)
		}
		var back object
		if err := j.unmarshal([]byte(text), &back); err != nil || back.U != value.U || back.Keys[sno.Zero().UUID()] != 1 {
			t.Errorf("%s: %+v, %v", j.name, back, err)
		}
		for _, none := range []sno.UUID{{}, sno.Zero().UUID()} {
			if got, err := j.marshal(none); err != nil || string(got) != "null" {
				t.Errorf("%s: no ID is %s, %v", j.name, got, err)
			}
		}
		if got, err := j.marshal(sno.UUID{1}); !errors.Is(err, iderr.ErrCharacter) {
			t.Errorf("%s: a UUID of no ID is %s, %v", j.name, got, err)
		}
		if read := id.UUID(); j.unmarshal([]byte("null"), &read) != nil || read != (sno.UUID{}) {
			t.Errorf("%s: null is read as %s", j.name, read)
		}
		for _, bad := range []string{`7`, `{}`, `"cufsekaqqudbobiw"`, `[99,117]`, `"00000000-0000-0000-0000-000000000000"`} {
			if read := id.UUID(); j.unmarshal([]byte(bad), &read) == nil || read != id.UUID() {
				t.Errorf("%s: %s is read as %s", j.name, bad, read)
			}
		}
	}
}

var aUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// FuzzUUID wants the UUID of an ID, or an error and no change.
func FuzzUUID(f *testing.F) {
	f.Add("63756673-656b-6171-7175-64626f626977")
	f.Add("63756673-656B-6171-7175-64626F626977")
	f.Add("00000000-0000-0000-0000-000000000000")
	f.Add("cufsekaqqudbobiw")
	f.Fuzz(func(t *testing.T, text string) {
		valid := aUUID.MatchString(strings.ToLower(text)) && len(text) == 36
		raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		for _, c := range raw {
			valid = valid && strings.IndexByte(alphabet, c) >= 0
		}
		for name, read := range uuidReaders {
			u := marked.UUID()
			switch err2 := read(&u, text); {
			case valid && (err != nil || err2 != nil || !bytes.Equal(u[:], raw)):
				t.Errorf("%s: %q is read as %s, %v", name, text, u, err2)
			case !valid && (err2 == nil || u != marked.UUID()):
				t.Errorf("%s: %q is read as %s, %v", name, text, u, err2)
			}
		}
	})
}
