package object

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/shape"
)

// The texts of the last second make no difference: the members of a time are those of AppendTime.
func TestTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	k := NewKind("kind", true, nil, nil)
	units := []time.Duration{1, 100, time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second}
	for _, second := range []int64{-62167219201, -62167219200, -1, 0, 1, 9, 10, 1795699952, 1795699953, 253402300799, 253402300800, 281474976710} {
		for range 1000 {
			at := time.Unix(second, 0).Add(time.Duration(random.Int64N(int64(time.Second))).Truncate(units[random.IntN(len(units))])).UTC()
			if got, want := string(k.appendTime(nil, at)), string(AppendTime(nil, at)); got != want {
				t.Fatalf("%v: %s, want %s", at, got, want)
			}
		}
	}
}

// Objects of several kinds, of the same integer and of others, are those of a new Writer.
func TestWriter(t *testing.T) {
	kinds := []*Kind{
		NewKind("one", true, shape.Fields(shape.Field{Name: "timestamp", Bits: 44}, shape.Field{Name: "sequence", Bits: 20}), nil),
		NewKind("two", true, shape.Fields(shape.Field{Name: "wide", Bits: 60}, shape.Field{Name: "none"}, shape.Field{Name: "narrow", Bits: 4}), nil),
		NewKind("text", false, nil, []Part{{"first", 0, 1}, {"second", 1, 2}}),
	}
	var w Writer
	for _, binary := range []string{"\x00\x00\x00\x00\x00\x00\x00\x00", "\x01\x23\x45\x67\x89\xab\xcd\xef", "\xff\xff\xff\xff\xff\xff\xff\xff"} {
		for _, k := range kinds {
			id := ID{Text: []byte("ab"), Binary: []byte(binary)}
			if got, want := string(w.Append(nil, k, &id)), string(new(Writer).Append(nil, k, &id)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	want := `{"format":"two","id":"ab","int":"81985529216486895","hex":"0123456789abcdef","fields":{"wide":"5124095576030430","none":0,"narrow":15}}`
	if got := string(w.Append(nil, kinds[1], &ID{Text: []byte("ab"), Binary: []byte("\x01\x23\x45\x67\x89\xab\xcd\xef")})); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
