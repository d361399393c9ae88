package foreign

import (
	"encoding/binary"
	"math"
	"time"

	twitter "github.com/bwmarrin/snowflake"
	discord "github.com/disgoorg/snowflake/v2"
	"github.com/sony/sonyflake"

	"github.com/firn-id/firn/internal/form/digits"
)

var sonyflakeEpoch = time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC)

// A decimalKind is a kind of decimals.
type decimalKind struct {
	Kind
	unit time.Duration // of the timestamp
	time func(v uint64) time.Time
}

var decimalKinds = [...]decimalKind{
	{
		Kind{Name: "sonyflake", Epoch: sonyflakeEpoch, Fields: fields("timestamp sequence machine_id", 39, 8, 16)}, 10 * time.Millisecond,
		func(v uint64) time.Time { return sonyflakeEpoch.Add(sonyflake.ElapsedTime(v)) },
	},
	{
		Kind{Name: "twitter", Epoch: time.UnixMilli(1288834974657).UTC(), Fields: fields("timestamp datacenter_id worker_id sequence", 41, 5, 5, 12)}, time.Millisecond,
		func(v uint64) time.Time { return time.UnixMilli(twitter.ID(v).Time()).UTC() },
	},
	{
		Kind{Name: "discord", Epoch: time.UnixMilli(discord.Epoch).UTC(), Fields: fields("timestamp worker_id process_id increment", 42, 5, 5, 12)}, time.Millisecond,
		func(v uint64) time.Time { return discord.ID(v).Time().UTC() },
	},
	{
		Kind{Name: "instagram", Epoch: time.UnixMilli(1314220021721).UTC(), Fields: fields("timestamp shard_id sequence", 41, 13, 10)}, time.Millisecond,
		func(v uint64) time.Time { return time.UnixMilli(1314220021721 + int64(v>>23)).UTC() },
	},
}

// young is the age of the first IDs that are recognised, since their kind's epoch. Nearly all small numbers have
// a time near the epoch.
const young = 30 * 24 * time.Hour

// addDecimals reads a decimal of 63 bits, as databases hold it.
func (r *Reader) addDecimals(s string) {
	v, _, ok := digits.Decimal(s)
	if !ok || s == "" || s[0] == '0' || v > math.MaxInt64 {
		return
	}
	binary.BigEndian.PutUint64(r.decimal[:], v)
	for i := range decimalKinds {
		k := &decimalKinds[i]
		if v>>k.Fields[0].Shift >= uint64(young/k.unit) {
			r.ids = append(r.ids, ID{Kind: &k.Kind, Text: s, Binary: r.decimal[:], Timed: true, Time: k.time(v)})
		}
	}
}
