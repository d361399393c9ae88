package ulidflake

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
)

const (
	formatScalable = "ulidflake-scalable"

	scalableRandomnessBits = 15
	scalabilityBits        = 5

	// MaxScalableRandomness is the largest randomness of a ScalableID.
	MaxScalableRandomness = 1<<scalableRandomnessBits - 1
	// MaxScalability is the largest scalability.
	MaxScalability = 1<<scalabilityBits - 1

	// MaxScalable is the largest ScalableID, 7ZZZZZZZZZZZZ.
	MaxScalable ScalableID = 1<<63 - 1
)

// A ScalableID is a scalable Ulid-Flake: 0 to [MaxScalable]. The texts and binary forms of a
// ScalableID and of an [ID] look alike: a program has to know which of the two a text is.
//
// Specification: "Specification", scalable version.
type ScalableID int64

var formScalable = payload.Int[ScalableID]{Format: formatScalable, Max: int64(MaxScalable), Digits: 19,
	Parse: parseScalableBytes, Append: appendInt[ScalableID]}

var (
	_ fmt.Stringer               = ScalableID(0)
	_ encoding.TextAppender      = ScalableID(0)
	_ encoding.TextMarshaler     = ScalableID(0) // with TextUnmarshaler, what flag.TextVar takes
	_ encoding.TextUnmarshaler   = (*ScalableID)(nil)
	_ encoding.BinaryAppender    = ScalableID(0)
	_ encoding.BinaryMarshaler   = ScalableID(0)
	_ encoding.BinaryUnmarshaler = (*ScalableID)(nil)
	_ json.Marshaler             = ScalableID(0)
	_ json.Unmarshaler           = (*ScalableID)(nil)
)

// ParseScalable is [Parse] for a ScalableID.
func ParseScalable(s string) (ScalableID, error) { return parseScalable(s) }

// MustParseScalable is [ParseScalable] for constants in code. It panics if ParseScalable returns an
// error.
func MustParseScalable(s string) ScalableID {
	id, err := parseScalable(s)
	if err != nil {
		panic(err)
	}
	return id
}

func parseScalable(s string) (ScalableID, error) {
	if v := base32.Crockford.Decode63(s); v >= 0 {
		return ScalableID(v), nil
	}
	return 0, refuse(formatScalable, s)
}

func parseScalableBytes(s []byte) (ScalableID, error) {
	if v := base32.Crockford.Decode63Bytes(s); v >= 0 {
		return ScalableID(v), nil
	}
	return 0, refuse(formatScalable, s)
}

// ParseScalableDecimal is [ParseDecimal] for a ScalableID.
func ParseScalableDecimal(s string) (ScalableID, error) { return payload.Decimal(&formScalable, s) }

// ParseScalableHex is [ParseHex] for a ScalableID.
func ParseScalableHex(s string) (ScalableID, error) { return formScalable.Hex(s) }

// ScalableFromInt64 is [FromInt64] for a ScalableID.
func ScalableFromInt64(v int64) (ScalableID, error) { return formScalable.FromInt64(v) }

// ScalableFromBytes is [FromBytes] for a ScalableID.
func ScalableFromBytes(b []byte) (ScalableID, error) { return formScalable.Binary(b) }

// ScalableFromTime is [FromTime] for a ScalableID of the given scalability. A scalability that is
// out of range is a *[iderr.ConfigError].
func ScalableFromTime(t, epoch time.Time, scalability int) (ScalableID, error) {
	if scalability < 0 || scalability > MaxScalability {
		return 0, badScalability(scalability)
	}
	id, err := fromTime(formatScalable, t, epoch, scalableRandomnessBits, scalability)
	return ScalableID(id), err
}

// FirstScalable returns the smallest ScalableID of the millisecond of t; see [First].
func FirstScalable(t, epoch time.Time) (ScalableID, error) {
	first, _, err := bounds(formatScalable, t, epoch)
	return ScalableID(first), err
}

// LastScalable returns the largest ScalableID of the millisecond of t; see [First].
func LastScalable(t, epoch time.Time) (ScalableID, error) {
	_, last, err := bounds(formatScalable, t, epoch)
	return ScalableID(last), err
}

// Int64 returns the ID as an integer; see [ID.Int64].
func (id ScalableID) Int64() int64 { return int64(id) }

// Timestamp returns the milliseconds from the epoch to the time of the ID.
func (id ScalableID) Timestamp() int64 { return int64(id) >> timestampShift }

// Randomness returns the random part, 0 to 2^15-1.
func (id ScalableID) Randomness() int { return int(id>>scalabilityBits) & MaxScalableRandomness }

// Scalability returns the scalability of the generator, 0 to 31.
func (id ScalableID) Scalability() int { return int(id) & MaxScalability }

// Time returns the time of the ID in UTC, to the millisecond, for the epoch of its generator.
// [ScalableGenerator.Time] knows the epoch.
func (id ScalableID) Time(epoch time.Time) time.Time {
	return clock.Time(id.Timestamp(), clock.Epoch(epoch, DefaultEpochMilli))
}

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ScalableID) Compare(other ScalableID) int { return cmp.Compare(id, other) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ScalableID) IsZero() bool { return id == 0 }

// String returns the canonical text: 13 characters of Crockford's base-32 in upper case. Texts sort
// as the IDs do.
func (id ScalableID) String() string {
	if !formScalable.Valid(id) {
		return formScalable.NoID(id)
	}
	var b [base32.Len63]byte
	return string(appendInt(b[:0], id))
}

// AppendText implements [encoding.TextAppender] by the canonical text. It does not allocate if dst
// has room for 13 bytes.
func (id ScalableID) AppendText(dst []byte) ([]byte, error) {
	if id < 0 {
		return dst, formScalable.Check(id)
	}
	return appendInt(dst, id), nil
}

// MarshalText implements [encoding.TextMarshaler] by the canonical text.
func (id ScalableID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the texts that [ParseScalable]
// reads. An error leaves id unchanged, as in all methods that read an ID.
func (id *ScalableID) UnmarshalText(text []byte) error {
	return payload.Set(id)(parseScalableBytes(text))
}

// Decimal returns the ID as a decimal integer, without padding.
func (id ScalableID) Decimal() string { return formScalable.DecimalString(id) }

// Hex returns the binary form in 16 lower-case hexadecimal digits.
func (id ScalableID) Hex() string { return formScalable.HexString(id) }

// AppendBinary implements [encoding.BinaryAppender]: 8 bytes, the most significant byte first.
// Binary forms sort as the IDs do. AppendBinary does not allocate if dst has room for 8 bytes.
func (id ScalableID) AppendBinary(dst []byte) ([]byte, error) {
	return formScalable.AppendBinary(dst, id)
}

// MarshalBinary implements [encoding.BinaryMarshaler]; see [ScalableID.AppendBinary].
func (id ScalableID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (id *ScalableID) UnmarshalBinary(data []byte) error {
	return payload.Set(id)(formScalable.Binary(data))
}

// MarshalJSON implements [json.Marshaler]; see [ID.MarshalJSON].
func (id ScalableID) MarshalJSON() ([]byte, error) { return formScalable.AppendJSON(nil, id) }

// UnmarshalJSON implements [json.Unmarshaler]; see [ID.UnmarshalJSON].
func (id *ScalableID) UnmarshalJSON(data []byte) error {
	return payload.Set(id)(formScalable.JSON(data))
}

func badScalability(v int) error {
	return wrong.Config(formatScalable, "Scalability", v, "in 0 to "+strconv.Itoa(MaxScalability))
}
