package snowflakesi_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

var list = testkit.List[snowflakesi.ID]{
	Shortest:  1,
	AppendAll: snowflakesi.AppendAll,
	ParseAll:  snowflakesi.ParseAll,
	Append:    snowflakesi.ID.AppendText,
	Parse:     snowflakesi.Parse,
	Some: func(r *rand.Rand) snowflakesi.ID {
		return snowflakesi.ID(r.Int64N(int64(snowflakesi.Max)) >> r.IntN(53))
	},
	NoID: []snowflakesi.ID{-1, snowflakesi.Max + 1},
	More: []string{"0", "00000007"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }
