package sno

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/form/wrong"
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

// ID is the binary representation of a sno: its bytes in the order of time. IDs compare with ==.
// All values are valid.
type ID [SizeBinary]byte

// zero is the ID that stands for "no ID".
var zero ID

// Zero returns the zero ID, which stands for "no ID".
func Zero() ID { return zero }

// FromTime returns the ID of a time and of the other fields, with the tick-tock bit clear, to
// back-fill rows that are older than their IDs. The caller makes the IDs unique. A time out of the
// range of timestamps is a *[TimeError]. The zero ID, which stands for "no ID", is a
// *[ConfigError]: the ID of the epoch with 0 in all other fields.
func FromTime(t time.Time, meta byte, p Partition, sequence uint16) (ID, error) {
	u, ok := unitOf(t)
	if !ok {
		return zero, &iderr.TimeError{Format: format, Time: t, First: timeOf(0), Last: timeOf(MaxTimestamp)}
	}
	id := pack(u<<1, meta, p, sequence)
	if id.IsZero() {
		return zero, wrong.ZeroID(format, "metabyte 0 of partition 0")
	}
	return id, nil
}

// pack returns the ID of its fields. stamp is the timestamp above the tick-tock bit.
func pack(stamp uint64, meta byte, p Partition, sequence uint16) (id ID) {
	binary.BigEndian.PutUint64(id[:], stamp<<24|uint64(meta)<<16|uint64(p[0])<<8|uint64(p[1]))
	binary.BigEndian.PutUint16(id[8:], sequence)
	return id
}

// First returns the smallest ID of the time unit of t, and never the zero ID. A scan from First(a)
// to Last(b), both included, finds all IDs from a to b. A time out of the range of timestamps
// counts as the nearest time in range.
func First(t time.Time) ID {
	u, _ := unitOf(t)
	if u == 0 {
		return pack(0, 0, Partition{}, 1) // the value with sequence 0 is not an ID
	}
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

// TickTock returns the tick-tock bit. A generator toggles the bit when the clock goes back.
func (id ID) TickTock() int { return int(id.stamp() & 1) }

// Meta returns the metabyte of the ID.
func (id ID) Meta() byte { return id[5] }

// Partition returns the partition of the ID.
func (id ID) Partition() Partition { return Partition{id[6], id[7]} }

// Sequence returns the sequence of the ID.
func (id ID) Sequence() uint16 { return binary.BigEndian.Uint16(id[8:]) }

// IsZero reports whether the ID is the zero ID.
func (id ID) IsZero() bool { return id == zero }

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than that.
func (id ID) Compare(that ID) int { return bytes.Compare(id[:], that[:]) }

// Bytes returns a copy of the ID as a byte slice.
func (id ID) Bytes() []byte { return id[:] }

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

// unitOf returns the time unit of t, or the nearest time unit and false if t is out of range.
func unitOf(t time.Time) (u uint64, ok bool) {
	ms, ok := clock.Timestamp(t, epochMilli, MaxTimestamp*unitMilli+unitMilli-1)
	return uint64(ms) / unitMilli, ok
}

func timeOf(u uint64) time.Time { return time.UnixMilli(epochMilli + int64(u)*unitMilli).UTC() }
