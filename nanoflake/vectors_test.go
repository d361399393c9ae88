package nanoflake_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

func TestVectors(t *testing.T) {
	type vector struct {
		Value       string `json:"value"`
		Base36      string `json:"base36"` // as other implementations write it, without padding
		EpochMilli  int64  `json:"epoch_ms"`
		UnixMilli   int64  `json:"unix_ms"`
		Timestamp   int64  `json:"timestamp"`
		GeneratorID int    `json:"generator_id"`
		Sequence    int    `json:"sequence"`
	}
	for _, v := range testkit.Vectors[vector](t, "nanoflake") {
		value := testkit.Big(t, v.Value)
		text := "0000000000000"[len(v.Base36):] + v.Base36
		id := suite.Forms(t, value, text, testkit.Nanoflake.Hex.Encode(value), v.Value)
		testkit.Call(nanoflake.ParseBase36(v.Base36)).Gives(t, id)
		for n := range len(text) { // a text that was cut off
			suite.Check(t, "text", text[:n])
			suite.Check(t, "text", text[n+1:])
		}

		fields := []*big.Int{big.NewInt(v.Timestamp), big.NewInt(int64(v.GeneratorID)), big.NewInt(int64(v.Sequence))}
		if testkit.Join(fields, 41, 10, 12).Cmp(value) != 0 {
			t.Errorf("%s: the model puts %v together otherwise", v.Value, fields)
		}
		if id.Timestamp() != v.Timestamp || id.GeneratorID() != v.GeneratorID || id.Sequence() != v.Sequence || id.Int64() != value.Int64() {
			t.Errorf("%s: fields %d %d %d", v.Value, id.Timestamp(), id.GeneratorID(), id.Sequence())
		}
		epoch, at := time.UnixMilli(v.EpochMilli), time.UnixMilli(v.UnixMilli).UTC()
		if got := id.Time(epoch); got != at {
			t.Errorf("%s: time %v, want %v", v.Value, got, at)
		}
		for _, late := range []time.Duration{0, 1, time.Millisecond - 1} {
			if got, err := nanoflake.FromTime(at.Add(late), epoch, v.GeneratorID, v.Sequence); id == 0 {
				testkit.IsConfigError(t, err, "nanoflake", "sequence", "0 is not 1 or more")
			} else if err != nil || got != id {
				t.Errorf("FromTime = %v, %v; want %v", got, err, id)
			}
		}
		first, last := testkit.Must(nanoflake.First(at, epoch)), testkit.Must(nanoflake.Last(at, epoch))
		if id < first && id != 0 || id > last ||
			first.Time(epoch) != at || last.Time(epoch) != at || last-first&^1 != 1<<22-1 {
			t.Errorf("%v is not within First %v and Last %v", id, first, last)
		}
	}
}
