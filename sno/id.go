package sno

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/clock"
)

const (
	// SizeBinary is the length of an ID in its binary array representation.
	SizeBinary = 10

	// SizeEncoded is the length of an ID in its canonical base-32 text.
	SizeEncoded = 16

	// Epoch is the time of timestamp 0 in Unix seconds: 2010-01-01T00:00:00Z.
	Epoch = 1262304000

	// TimeUnit is the unit of timestamps in nanoseconds: 4 ms.
	TimeUnit = 4e6

	// MaxTimestamp is the last timestamp, in time units: 2079-09-07T15:47:35.548Z.
	MaxTimestamp = 1<<39 - 1

	// MaxPartition is the largest partition as a number.
	MaxPartition = 1<<16 - 1

	// MaxSequence is the largest sequence number.
	MaxSequence = 1<<16 - 1
)

const (
	epochMilli = Epoch * 1000
	unitMilli  = 4
)

// ID is the binary representation of a sno: its bytes in the order of time. IDs compare
// with ==, and are valid whatever their bytes.
type ID [SizeBinary]byte

// zero is the ID that stands for none.
var zero ID

// Zero returns the zero ID, which stands for no ID.
func Zero() ID { return zero }

// FromTime builds the ID of a time and the other fields, with the tick-tock bit clear. It
// is for back-filling: uniqueness is up to the caller. It returns a *[TimeError] for a
// time that the timestamp cannot hold, and a *[ConfigError] for the one ID that is zero and
// stands for none: that of the epoch, with all other fields 0.
func FromTime(t time.Time, meta byte, p Partition, sequence uint16) (ID, error) {
	u, ok := unitOf(t)
	if !ok {
		return zero, &iderr.TimeError{Format: format, Time: t, First: timeOf(0), Last: timeOf(MaxTimestamp)}
	}
	id := pack(u<<1, meta, p, sequence)
	if id.IsZero() {
		return zero, iderr.ZeroID(format, "metabyte 0 of partition 0")
	}
	return id, nil
}

// pack puts an ID together; stamp is the timestamp above the tick-tock bit.
func pack(stamp uint64, meta byte, p Partition, sequence uint16) (id ID) {
	binary.BigEndian.PutUint64(id[:], stamp<<24|uint64(meta)<<16|uint64(p[0])<<8|uint64(p[1]))
	binary.BigEndian.PutUint16(id[8:], sequence)
	return id
}

// First returns the smallest ID of the time unit of t, and Last the largest: a scan from
// First(a) to Last(b), both included, finds all IDs of a to b. A time that the timestamp
// cannot hold counts as the nearest one that it can.
func First(t time.Time) ID {
	u, _ := unitOf(t)
	return pack(u<<1, 0, Partition{}, 0)
}

// Last returns the largest ID of the time unit of t; see [First].
func Last(t time.Time) ID {
	u, _ := unitOf(t)
	return pack(u<<1|1, 255, Partition{255, 255}, MaxSequence)
}

// stamp returns the timestamp above the tick-tock bit.
func (id ID) stamp() uint64 { return binary.BigEndian.Uint64(id[:]) >> 24 }

// Time returns the time of the ID in UTC, to the unit of 4 ms.
func (id ID) Time() time.Time { return timeOf(id.stamp() >> 1) }

// Timestamp returns the time of the ID in nanoseconds since the Unix epoch.
func (id ID) Timestamp() int64 { return id.Time().UnixNano() }

// TickTock returns the tick-tock bit, which generators toggle when the clock goes back.
func (id ID) TickTock() int { return int(id.stamp() & 1) }

// Meta returns the metabyte of the ID.
func (id ID) Meta() byte { return id[5] }

// Partition returns the partition of the ID.
func (id ID) Partition() Partition { return Partition{id[6], id[7]} }

// Sequence returns the sequence of the ID.
func (id ID) Sequence() uint16 { return binary.BigEndian.Uint16(id[8:]) }

// IsZero tells whether the ID is the zero ID.
func (id ID) IsZero() bool { return id == zero }

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than that.
func (id ID) Compare(that ID) int { return bytes.Compare(id[:], that[:]) }

// Bytes returns the ID as a byte slice, in memory of its own.
func (id ID) Bytes() []byte { return id[:] }

// LogValue implements [slog.LogValuer] by the text.
func (id ID) LogValue() slog.Value { return slog.StringValue(id.String()) }

// Partition represents the fixed identifier of a Generator.
//
// To define partitions as numbers rather than as bytes:
//
//	var p sno.Partition
//	p.PutUint16(65535)
type Partition [2]byte

// AsUint16 returns the Partition as a number.
func (p Partition) AsUint16() uint16 { return binary.BigEndian.Uint16(p[:]) }

// PutUint16 sets Partition to the given number in big-endian order.
func (p *Partition) PutUint16(u uint16) { binary.BigEndian.PutUint16(p[:], u) }

// unitOf returns the time unit of t, kept within the timestamps; ok tells whether it
// already was.
func unitOf(t time.Time) (u uint64, ok bool) {
	ms, ok := clock.Timestamp(t, epochMilli, MaxTimestamp*unitMilli+unitMilli-1)
	return uint64(ms) / unitMilli, ok
}

func timeOf(u uint64) time.Time { return time.UnixMilli(epochMilli + int64(u)*unitMilli).UTC() }
