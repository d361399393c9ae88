package scru160

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/entropy"
)

const (
	// Size is the length of an ID in bytes.
	Size = 20

	// MaxTimestamp is the largest timestamp, in Unix milliseconds. It and 0 are
	// reserved: they can be read, but are never generated.
	MaxTimestamp = 1<<48 - 1
)

// An ID is a SCRU160 ID: its 20 bytes in the order of the specification, which is the
// order of time. IDs compare with ==, and are valid whatever their bytes.
//
// Specification: "Binary Layout and Byte Order".
type ID [Size]byte

// Max returns the largest ID, all of whose bits are set.
func Max() ID {
	return ID(bytes.Repeat([]byte{0xff}, Size))
}

// FromTime makes an ID of the millisecond of t, with a counter that starts as a
// generator's does and random bits from crypto/rand. It is for back-filling rows that
// are older than their IDs, outside the promise of order of a generator. It returns a
// *[TimeError] for a time whose timestamp is reserved or does not fit.
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

// pack puts an ID together: 48 bits of timestamp, 32 of counter and random16, and the 80 of
// random80.
func pack(timestamp uint64, middle uint32, hi uint16, lo uint64) (id ID) {
	id.put(uint32(timestamp>>16), timestamp<<48|uint64(middle)<<16|uint64(hi), lo)
	return id
}

// put puts an ID together where it is wanted, of bytes 0 to 3, which all IDs of a tick share,
// 4 to 11, and 12 to 19. (A copy of what was just written field by field waits for that to reach
// memory.)
func (id *ID) put(first uint32, middle, last uint64) {
	binary.BigEndian.PutUint32(id[:], first)
	binary.BigEndian.PutUint64(id[4:], middle)
	binary.BigEndian.PutUint64(id[12:], last)
}

// First returns the smallest ID of the millisecond of t, and Last the largest: a scan
// from First(a) to Last(b), both included, finds all IDs of a to b. A time that the
// timestamp cannot hold counts as the nearest one that it can.
func First(t time.Time) ID {
	ts, _ := clock.Timestamp(t, 0, MaxTimestamp)
	return pack(uint64(ts), 0, 0, 0)
}

// Last returns the largest ID of the millisecond of t; see [First].
func Last(t time.Time) ID {
	id := Max()
	first := First(t)
	copy(id[:6], first[:6])
	return id
}

// Bytes returns the 20 bytes, in memory of their own.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the Unix milliseconds of the ID's creation.
func (id ID) Timestamp() int64 { return int64(binary.BigEndian.Uint64(id[:]) >> 16) }

// Counter returns the counter: how it is used is up to the generator.
func (id ID) Counter() int { return int(binary.BigEndian.Uint16(id[6:])) }

// Random16 returns the random16 field, which a generator may share out to more
// counter bits, node ID and random bits, from high to low.
func (id ID) Random16() int { return int(binary.BigEndian.Uint16(id[8:])) }

// Random80 returns the random80 field, the most significant byte first.
func (id ID) Random80() [10]byte { return [10]byte(id[10:]) }

// NodeID returns the node ID of an ID whose generator gave so many bits of random16
// to the counter and to the node ID; see [Config]. It is 0 for widths that no
// generator has.
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

// IsZero tells whether id is the zero ID, which stands for none.
func (id ID) IsZero() bool { return id == ID{} }

// LogValue implements [slog.LogValuer] by the text.
func (id ID) LogValue() slog.Value { return slog.StringValue(id.String()) }
