package clock

import (
	"math"
	"time"
)

// Epoch returns e in Unix milliseconds, or def if e is the zero time.
func Epoch(e time.Time, def int64) int64 {
	if e.IsZero() {
		return def
	}
	return Millis(e)
}

// Timestamp returns the milliseconds from the epoch to t, limited to 0 to last. The epoch is in
// Unix milliseconds. ok is false if t is outside of the range. Range scans use the limited
// timestamp.
func Timestamp(t time.Time, epoch, last int64) (ts int64, ok bool) {
	ms := Millis(t)
	switch {
	case ms < epoch:
		return 0, false
	case uint64(ms)-uint64(epoch) > uint64(last): // the difference may not fit an int64
		return last, false
	}
	return ms - epoch, true
}

// Time returns the time of a timestamp, in UTC.
func Time(timestamp, epoch int64) time.Time {
	if timestamp > 0 && epoch > math.MaxInt64-timestamp {
		epoch = math.MaxInt64 - timestamp
	}
	return time.UnixMilli(epoch + timestamp).UTC()
}
