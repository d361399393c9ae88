package ulidflake_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

var list = testkit.List[ulidflake.ID]{
	Shortest:  13,
	AppendAll: ulidflake.AppendAll,
	ParseAll:  ulidflake.ParseAll,
	Append:    ulidflake.ID.AppendText,
	Parse:     ulidflake.Parse,
	Some:      func(r *rand.Rand) ulidflake.ID { return ulidflake.ID(r.Int64() >> r.IntN(63)) },
	NoID:      []ulidflake.ID{-1, -1 << 63},
	More:      []string{"00cmxb6tak4sa"},
}

var listScalable = testkit.List[ulidflake.ScalableID]{
	Shortest:  13,
	AppendAll: ulidflake.AppendAllScalable,
	ParseAll:  ulidflake.ParseAllScalable,
	Append:    ulidflake.ScalableID.AppendText,
	Parse:     ulidflake.ParseScalable,
	Some:      func(r *rand.Rand) ulidflake.ScalableID { return ulidflake.ScalableID(r.Int64() >> r.IntN(63)) },
	NoID:      []ulidflake.ScalableID{-1, -1 << 63},
	More:      []string{"00cmxb6tak4sa"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }

func TestListsScalable(t *testing.T)    { listScalable.Lists(t); listScalable.Hostile(t) }
func FuzzParseAllScalable(f *testing.F) { listScalable.Fuzz(f) }
