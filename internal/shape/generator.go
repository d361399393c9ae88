package shape

import (
	"context"
	"encoding"
	"time"

	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/usage"
)

// A Recipe says how to make IDs. The zero Recipe is the defaults of each format.
type Recipe struct {
	Settings
	Worker int
	Leased bool             // a lease gives the worker, and not Worker
	Clock  func() time.Time // nil means time.Now; for tests

	IncrementBits int  // of a Ulid-Flake; 0 means the default
	StartBits     *int // of the counter of SCRU160; nil means the default
	Reset         bool // the sequence of Snowflake-SI begins at 0 in each millisecond
	Meta          byte // of sno

	// MaxBackward is as in the formats' Configs: how far a clock may be behind. 0 means the default.
	MaxBackward time.Duration

	// SequenceMin and SequenceMax are the bounds of sno's sequence, for a generator without a lease.
	// Zeros mean the whole sequence.
	SequenceMin, SequenceMax uint16
}

// A Generator makes IDs of one format, in the forms that all formats have. A Generator is for one
// goroutine.
type Generator interface {
	ForLease() grant.Grantee
	Usage() usage.Usage

	// AppendTexts appends the texts of n new IDs, each with a newline. AppendBinary appends their
	// binary forms. With an error, both append the IDs that were made before.
	AppendTexts(ctx context.Context, dst []byte, n int) ([]byte, error)
	AppendBinary(ctx context.Context, dst []byte, n int) ([]byte, error)

	// TryAppendBinary is AppendBinary without a wait: it returns the error of the format's TryNext after
	// the IDs that the generator has now.
	TryAppendBinary(dst []byte, n int) ([]byte, error)

	// TryAppendTexts is AppendTexts without a wait, as TryAppendBinary is AppendBinary. made is the number of IDs.
	TryAppendTexts(dst []byte, n int) (_ []byte, made int, _ error)

	// Share returns a Generator for another goroutine, which makes IDs beside this one: both never make the
	// same ID.
	Share() Generator
}

// ID has the methods that the IDs of all formats have.
type ID interface {
	encoding.BinaryAppender
	encoding.TextAppender
}

// Source has the methods of a format's generator.
type Source[T ID] interface {
	ForLease() grant.Grantee
	Usage() usage.Usage
	Fill(context.Context, []T) (int, error)
	TryFill([]T) (int, error)
}

// Made returns the Generator of a format's generator, and the error of the generator's constructor.
// appendAll is AppendAll of the format.
func Made[T ID](g Source[T], appendAll func([]byte, []T, byte) ([]byte, error), err error) (Generator, error) {
	if err != nil {
		return nil, err
	}
	return &made[T]{Source: g, appendAll: appendAll}, nil
}

type made[T ID] struct {
	Source[T]
	appendAll func([]byte, []T, byte) ([]byte, error)
	ids       []T
}

func (m *made[T]) Share() Generator { return &made[T]{Source: m.Source, appendAll: m.appendAll} }

// room returns room for n IDs.
func (m *made[T]) room(n int) []T {
	if len(m.ids) < n {
		m.ids = make([]T, n)
	}
	return m.ids[:n]
}

func (m *made[T]) AppendTexts(ctx context.Context, dst []byte, n int) ([]byte, error) {
	ids := m.room(n)
	n, err := m.Fill(ctx, ids)
	dst, bad := m.appendAll(dst, ids[:n], '\n')
	if bad != nil {
		err = bad
	}
	return dst, err
}

func (m *made[T]) AppendBinary(ctx context.Context, dst []byte, n int) ([]byte, error) {
	ids := m.room(n)
	n, err := m.Fill(ctx, ids)
	return appendBinary(dst, ids[:n], err)
}

func (m *made[T]) TryAppendBinary(dst []byte, n int) ([]byte, error) {
	ids := m.room(n)
	n, err := m.TryFill(ids)
	return appendBinary(dst, ids[:n], err)
}

func (m *made[T]) TryAppendTexts(dst []byte, n int) (_ []byte, made int, _ error) {
	ids := m.room(n)
	made, err := m.TryFill(ids)
	dst, bad := m.appendAll(dst, ids[:made], '\n')
	if bad != nil {
		err = bad
	}
	return dst, made, err
}

// appendBinary appends the binary forms of IDs, and returns the error with which the IDs were made.
func appendBinary[T ID](dst []byte, ids []T, err error) ([]byte, error) {
	for _, id := range ids {
		var bad error
		if dst, bad = id.AppendBinary(dst); bad != nil {
			return dst, bad
		}
	}
	return dst, err
}

// A Codec reads and writes IDs in their binary form. The errors are those of the format's own
// functions. A nil function means a form that the format does not have.
type Codec struct {
	Parse   func(text string) (binary []byte, err error) // the canonical text, and other texts that Parse of the format reads
	Decimal func(text string) (binary []byte, err error)
	Hex     func(text string) (binary []byte, err error)
	Base36  func(text string) (binary []byte, err error) // with or without leading zeros
	UUID    func(text string) (binary []byte, err error) // the text of a UUID

	AppendText func(dst, binary []byte) ([]byte, error)
	AppendUUID func(dst, binary []byte) ([]byte, error) // the text of a UUID

	// Reader and Writer are Parse and AppendText for many IDs. The functions that they return append to
	// dst, allocate nothing if dst has room, and are for one goroutine. An error leaves dst as it was.
	Reader func() func(dst, text []byte) ([]byte, error)
	Writer func() func(dst, binary []byte) ([]byte, error)

	// Lines is Reader for a run of lines. The function that Lines returns reads canonical texts of the greatest
	// length, each with a newline, up to the first other text, and some IDs at most. The function appends the
	// binary forms of the n IDs to dst. A nil Lines means no faster way than Reader.
	Lines func() func(dst, text []byte) (binary []byte, n int)
}

// Reads returns the function of a Codec for a format's function.
func Reads[T ID](read func(string) (T, error)) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		id, err := read(text)
		if err != nil {
			return nil, err
		}
		return id.AppendBinary(nil)
	}
}

// Writes is AppendText of a Codec for the IDs T.
func Writes[T ID, P interface {
	*T
	encoding.BinaryUnmarshaler
}](dst, binary []byte) ([]byte, error) {
	var id T
	if err := P(&id).UnmarshalBinary(binary); err != nil {
		return dst, err
	}
	return id.AppendText(dst)
}

// Reader is Reader of a Codec for the IDs T.
func Reader[T ID, P interface {
	*T
	encoding.TextUnmarshaler
}]() func(dst, text []byte) ([]byte, error) {
	id := new(T)
	return func(dst, text []byte) ([]byte, error) {
		if err := P(id).UnmarshalText(text); err != nil {
			return dst, err
		}
		return (*id).AppendBinary(dst)
	}
}

// Lines is Lines of a Codec for the IDs T. parse reads texts while ids has room.
func Lines[T ID](parse func(ids []T, text []byte, sep byte) int) func() func(dst, text []byte) ([]byte, int) {
	return func() func(dst, text []byte) ([]byte, int) {
		const most = 64
		ids := make([]T, most)
		return func(dst, text []byte) ([]byte, int) {
			n := parse(ids, text, '\n')
			for i := range ids[:n] {
				var err error
				if dst, err = ids[i].AppendBinary(dst); err != nil {
					return dst, i
				}
			}
			return dst, n
		}
	}
}

// Writer is Writer of a Codec for the IDs T.
func Writer[T ID, P interface {
	*T
	encoding.BinaryUnmarshaler
}]() func(dst, binary []byte) ([]byte, error) {
	id := new(T)
	return func(dst, binary []byte) ([]byte, error) {
		if err := P(id).UnmarshalBinary(binary); err != nil {
			return dst, err
		}
		return (*id).AppendText(dst)
	}
}
