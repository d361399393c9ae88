package scru160

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/entropy"
)

const (
	// Size is the length of an ID in bytes.
	Size = 20

	// MaxTimestamp is the largest timestamp, in Unix milliseconds. The timestamps 0 and
	// MaxTimestamp are reserved: IDs can be read with them, and no generator makes them.
	MaxTimestamp = 1<<48 - 1
)

// An ID is a SCRU160 ID: 20 bytes in the order of the specification, which is the order of time.
// IDs compare with ==. All values are valid.
//
// Specification: "Binary Layout and Byte Order".
type ID [Size]byte

// Max returns the largest ID: all bits are set.
func Max() ID {
	return ID(bytes.Repeat([]byte{0xff}, Size))
}

// FromTime returns an ID of the millisecond of t, to back-fill rows that are older than their IDs.
// The counter starts as in a generator, and the random bits come from crypto/rand. The IDs of one
// millisecond have no order. A time whose timestamp is reserved or out of range is a *[iderr.TimeError].
func FromTime(t time.Time) (ID, error) {
	ts, ok := clock.Timestamp(t, 0, MaxTimestamp)
	if !ok || ts == 0 || ts == MaxTimestamp {
		return ID{}, &iderr.TimeError{Format: format, Time: t, First: clock.Time(1, 0), Last: clock.Time(MaxTimestamp-1, 0)}
	}
	source := entropy.Source{Direct: true}
	counter := source.Uint64() >> (64 - counterBits + 1)
	hi, lo := source.Uint96()
	return pack(uint64(ts), uint32(counter)<<16|hi>>16, uint16(hi), lo), nil
}

// pack returns the ID of its fields: 48 bits of timestamp, 32 bits of counter and random16, and 80
// bits of random80.
func pack(timestamp uint64, middle uint32, hi uint16, lo uint64) (id ID) {
	id.put(uint32(timestamp>>16), timestamp<<48|uint64(middle)<<16|uint64(hi), lo)
	return id
}

// put writes the bytes 0 to 3, 4 to 11 and 12 to 19 of an ID in place. (A copy of bytes that were
// just written in other sizes has to wait until memory has the bytes.)
func (id *ID) put(first uint32, middle, last uint64) {
	binary.BigEndian.PutUint32(id[:], first)
	binary.BigEndian.PutUint64(id[4:], middle)
	binary.BigEndian.PutUint64(id[12:], last)
}

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time out of the range of
// timestamps counts as the nearest time in range.
func First(t time.Time) ID {
	ts, _ := clock.Timestamp(t, 0, MaxTimestamp)
	if ts == 0 {
		return pack(0, 0, 0, 1) // the value of zeros is not an ID
	}
	return pack(uint64(ts), 0, 0, 0)
}

// Last returns the largest ID of the millisecond of t; see [First].
func Last(t time.Time) ID {
	id := Max()
	first := First(t)
	copy(id[:6], first[:6])
	return id
}

// Bytes returns a copy of the 20 bytes.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the Unix milliseconds of the ID's creation.
func (id ID) Timestamp() int64 { return int64(binary.BigEndian.Uint64(id[:]) >> 16) }

// Counter returns the counter field. The use of the counter depends on the generator; see [Config].
func (id ID) Counter() int { return int(binary.BigEndian.Uint16(id[6:])) }

// Random16 returns the random16 field. From high bits to low bits, a generator can use the field
// for more counter bits, the node ID and random bits.
func (id ID) Random16() int { return int(binary.BigEndian.Uint16(id[8:])) }

// Random80 returns the random80 field, the most significant byte first.
func (id ID) Random80() [10]byte { return [10]byte(id[10:]) }

// NodeID returns the node ID of an ID, given the ExtraCounterBits and NodeBits of its generator;
// see [Config]. It returns 0 for widths that no generator can have.
func (id ID) NodeID(counterBits, nodeBits int) int {
	if counterBits < 0 || counterBits > random16Bits || nodeBits < 0 || nodeBits > random16Bits-counterBits {
		return 0
	}
	return id.Random16() >> (random16Bits - counterBits - nodeBits) & (1<<nodeBits - 1)
}

// Time returns the ID's time in UTC, to the millisecond.
func (id ID) Time() time.Time { return time.UnixMilli(id.Timestamp()).UTC() }

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ID) IsZero() bool { return id == ID{} }
