package snowflakesi_test

import (
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

func TestVectors(t *testing.T) {
	type vector struct {
		Value        int64 `json:"value"`
		EpochMilli   int64 `json:"epoch_ms"`
		ClockBits    int   `json:"clock_bits"`
		MachineBits  int   `json:"machine_bits"`
		SequenceBits int   `json:"sequence_bits"`
		UnixMilli    int64 `json:"unix_ms"`
		MachineID    int   `json:"machine_id"`
		Sequence     int   `json:"sequence"`
	}
	for _, v := range testkit.Vectors[vector](t, "snowflakesi") {
		value, text := big.NewInt(v.Value), strconv.FormatInt(v.Value, 10)
		id := suite.Forms(t, value, text, testkit.SnowflakeSI.Hex.Encode(value), text)

		l := ofWidths(v.ClockBits, v.MachineBits)
		if c, m, s := l.Widths(); c != v.ClockBits || m != v.MachineBits || s != v.SequenceBits || l.Check() != nil {
			t.Errorf("%v has the widths %d %d %d, and %v", l, c, m, s, l.Check())
		}
		timestamp := v.UnixMilli - v.EpochMilli
		fields := []*big.Int{big.NewInt(timestamp), big.NewInt(int64(v.MachineID)), big.NewInt(int64(v.Sequence))}
		if testkit.Join(fields, v.ClockBits, v.MachineBits, v.SequenceBits).Cmp(value) != 0 {
			t.Errorf("%d: the model puts %v together otherwise", v.Value, fields)
		}
		if id.Timestamp(l) != timestamp || id.MachineID(l) != v.MachineID || id.Sequence(l) != v.Sequence || id.Int64() != v.Value {
			t.Errorf("%v: fields %d %d %d", id, id.Timestamp(l), id.MachineID(l), id.Sequence(l))
		}
		epoch, at := time.UnixMilli(v.EpochMilli), time.UnixMilli(v.UnixMilli).UTC()
		testkit.Same(t, id.Time(l, epoch), at)
		testkit.Call(snowflakesi.FromTime(l, at.Add(time.Millisecond-1), epoch, v.MachineID, v.Sequence)).Gives(t, id)
		first, last := testkit.Must(snowflakesi.First(l, at, epoch)), testkit.Must(snowflakesi.Last(l, at, epoch))
		if id < first && id != 0 || id > last || first.Time(l, epoch) != at || last.Time(l, epoch) != at || last-first&^1 != 1<<(53-v.ClockBits)-1 {
			t.Errorf("%v is not within First %v and Last %v", id, first, last)
		}
		if l == snowflakesi.DefaultLayout() && (id.Time(snowflakesi.Layout{}, epoch) != at || id.MachineID(snowflakesi.Layout{}) != v.MachineID) {
			t.Errorf("%v: the zero Layout is not the default", id)
		}
	}
}
