package ulidflake_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

func TestVectors(t *testing.T) {
	type vector struct {
		String     string `json:"string"`
		Int        string `json:"int"`
		Timestamp  int64  `json:"timestamp"`
		UnixMilli  int64  `json:"unix_ms"`
		Randomness int    `json:"randomness"`
		Scalable   struct {
			Randomness  int `json:"randomness"`
			Scalability int `json:"scalability"`
		} `json:"scalable"`
	}
	for _, v := range testkit.Vectors[vector](t, "ulidflake") {
		value := testkit.Big(t, v.Int)
		id := suite.Forms(t, value, v.String, testkit.UlidFlake.Hex.Encode(value), v.Int)
		sid := scalable.Forms(t, value, v.String, testkit.UlidFlake.Hex.Encode(value), v.Int)

		joined := testkit.Join([]*big.Int{big.NewInt(v.Timestamp), big.NewInt(int64(v.Randomness))}, 43, 20)
		scaled := testkit.Join([]*big.Int{big.NewInt(v.Timestamp), big.NewInt(int64(v.Scalable.Randomness)), big.NewInt(int64(v.Scalable.Scalability))}, 43, 15, 5)
		if joined.Cmp(value) != 0 || scaled.Cmp(value) != 0 {
			t.Errorf("%s: the model puts %v and %v together", v.String, joined, scaled)
		}
		if id.Timestamp() != v.Timestamp || id.Randomness() != v.Randomness || id.Int64() != value.Int64() {
			t.Errorf("%s: fields %d %d", id, id.Timestamp(), id.Randomness())
		}
		if sid.Timestamp() != v.Timestamp || sid.Randomness() != v.Scalable.Randomness || sid.Scalability() != v.Scalable.Scalability || sid.Int64() != value.Int64() {
			t.Errorf("%s: fields %d %d %d", sid, sid.Timestamp(), sid.Randomness(), sid.Scalability())
		}
		at := time.UnixMilli(v.UnixMilli).UTC()
		for _, epoch := range []time.Time{{}, ulidflake.DefaultEpoch()} {
			if id.Time(epoch) != at || sid.Time(epoch) != at {
				t.Errorf("%s: time %v, %v, want %v", v.String, id.Time(epoch), sid.Time(epoch), at)
			}
			first, last := testkit.Must(ulidflake.First(at, epoch)), testkit.Must(ulidflake.Last(at, epoch))
			if id < first && id != 0 || id > last || first.Time(epoch) != at || last.Time(epoch) != at || last-first&^1 != 1<<20-1 {
				t.Errorf("%v is not within First %v and Last %v", id, first, last)
			}
			testkit.Call(ulidflake.FirstScalable(at, epoch)).Gives(t, ulidflake.ScalableID(first))
			testkit.Call(ulidflake.LastScalable(at, epoch)).Gives(t, ulidflake.ScalableID(last))
			made, err := ulidflake.FromTime(at.Add(time.Millisecond-1), epoch)
			if err != nil || made < first || made > last {
				t.Errorf("FromTime = %v, %v", made, err)
			}
			scaled, err := ulidflake.ScalableFromTime(at, epoch, v.Scalable.Scalability)
			if err != nil || int64(scaled) < int64(first) || int64(scaled) > int64(last) || scaled.Scalability() != v.Scalable.Scalability {
				t.Errorf("ScalableFromTime = %v, %v", scaled, err)
			}
		}
	}
}
