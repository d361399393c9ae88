package scru160_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

func TestVectors(t *testing.T) {
	type vector struct {
		Base32Hex string `json:"base32hex"`
		Hex       string `json:"hex"`
		Timestamp int64  `json:"timestamp"`
		Counter   int    `json:"counter"`
		Random16  int    `json:"random16"`
		Random80  string `json:"random80"`
	}
	for _, v := range testkit.Vectors[vector](t, "scru160") {
		random80 := testkit.Big(t, v.Random80)
		fields := []*big.Int{big.NewInt(v.Timestamp), big.NewInt(int64(v.Counter)), big.NewInt(int64(v.Random16)), random80}
		id := suite.Forms(t, testkit.Join(fields, 48, 16, 16, 80), v.Base32Hex, v.Hex, "")
		testkit.Call(scru160.Parse(v.Hex)).Gives(t, id)

		got80 := id.Random80()
		if id.Timestamp() != v.Timestamp || id.Counter() != v.Counter || id.Random16() != v.Random16 ||
			new(big.Int).SetBytes(got80[:]).Cmp(random80) != 0 {
			t.Errorf("%v: fields %d %d %d %x", id, id.Timestamp(), id.Counter(), id.Random16(), got80)
		}
		at := time.UnixMilli(v.Timestamp).UTC()
		testkit.Same(t, id.Time(), at)
		first, last := scru160.First(at), scru160.Last(at)
		if id.Compare(first) < 0 && !id.IsZero() || id.Compare(last) > 0 || first.Time() != at || last.Time() != at {
			t.Errorf("%v is not within First %v and Last %v", id, first, last)
		}
		made, err := scru160.FromTime(at.Add(time.Millisecond - 1))
		switch reserved := v.Timestamp == 0 || v.Timestamp == 1<<48-1; {
		case reserved != (err != nil):
			t.Errorf("FromTime(%v) = %v, %v", at, made, err)
		case err == nil && (made.Compare(first) < 0 || made.Compare(last) > 0):
			t.Errorf("FromTime(%v) = %v", at, made)
		}
	}
}

func TestBytes(t *testing.T) {
	id := scru160.Max()
	id.Bytes()[3] = 0
	testkit.Same(t, id, scru160.Max())
}

func TestNodeIDOfRandom16(t *testing.T) {
	id := scru160.ID{8: 0b1011_0110, 9: 0b0101_1010}
	for _, v := range []struct{ counter, node, want int }{
		{0, 0, 0}, {0, 1, 1}, {0, 16, 0b1011_0110_0101_1010}, {4, 4, 0b0110}, {5, 6, 0b110_010}, {16, 0, 0}, {15, 1, 0}, {12, 4, 0b1010},
		{-1, 4, 0}, {4, -1, 0}, {17, 0, 0}, {0, 17, 0}, {9, 8, 0}, {1<<31 - 1, 1, 0}, {int(^uint(0) >> 1), 1, 0}, {1, int(^uint(0) >> 1), 0},
	} {
		testkit.Same(t, id.NodeID(v.counter, v.node), v.want)
	}
}
