package shape

import (
	"slices"
	"time"
)

// Put sets the value of a field of up to 56 bits, in place. Bits of v above the field do not count.
func (f Field) Put(binary []byte, v uint64) {
	v &= 1<<f.Bits - 1
	mask := uint64(1<<f.Bits - 1)
	shift := f.Shift
	for i := len(binary) - 1 - shift/8; i >= 0 && mask > 0; i-- {
		low := shift % 8 // only of the first byte
		binary[i] = binary[i]&^byte(mask<<low) | byte(v<<low)
		mask >>= 8 - low
		v >>= 8 - low
		shift = 0
	}
}

// Start returns the time of timestamp 0.
func (s *Shape) Start() time.Time { return time.UnixMilli(s.Epoch).UTC() }

// End returns the time after the last tick. The time may be beyond the year 9999.
func (s *Shape) End() time.Time {
	return time.UnixMilli(s.Epoch + (s.LastTimestamp()+1)*s.Unit.Milliseconds()).UTC()
}

// Timestamp returns the timestamp of the tick of t, limited to 0 to [Shape.LastTimestamp]. ok is false if t is
// outside of the range. t is a time of the years 1 to 9999.
func (s *Shape) Timestamp(t time.Time) (timestamp int64, ok bool) {
	switch {
	case t.Before(s.Start()):
		return 0, false
	case !t.Before(s.End()):
		return s.LastTimestamp(), false
	}
	return (t.UnixMilli() - s.Epoch) / s.Unit.Milliseconds(), true
}

// First returns the smallest ID of a timestamp, in the binary form of size bytes. The ID is never the zero ID,
// which stands for "no ID".
func (s *Shape) First(size int, timestamp int64) []byte {
	id := make([]byte, size)
	s.Fields[0].Put(id, uint64(timestamp))
	if timestamp == 0 {
		id[size-1] = 1
	}
	return id
}

// Last returns the largest ID of a timestamp, in the binary form of size bytes.
func (s *Shape) Last(size int, timestamp int64) []byte {
	id := slices.Repeat([]byte{0xff}, size)
	above := size*8 - s.Bits()
	for i := range above / 8 {
		id[i] = 0
	}
	id[above/8] >>= above % 8
	s.Fields[0].Put(id, uint64(timestamp))
	return id
}
