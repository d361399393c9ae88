package nanoflake_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

var list = testkit.List[nanoflake.ID]{
	Shortest:  13,
	AppendAll: nanoflake.AppendAll,
	ParseAll:  nanoflake.ParseAll,
	Append:    nanoflake.ID.AppendText,
	Parse:     nanoflake.Parse,
	Some:      func(r *rand.Rand) nanoflake.ID { return nanoflake.ID(r.Int64() >> r.IntN(63)) },
	NoID:      []nanoflake.ID{-1, -1 << 63},
	More:      []string{"0", "7en9rb30swmf", "007en9rb30swmf", "zzzzzzzzzzzzz", "07EN9RB30SWMF"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }
