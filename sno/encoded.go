package sno

import (
	"time"

	"github.com/firn-id/firn/internal/form/wrong"
)

// The functions below read a field of a text without decoding the rest: for a program that dispatches
// on the metabyte. Each function checks the length of the text and the characters of the field, with
// the errors of [Parse].

// EncodedTime returns the time of the ID in a text.
func EncodedTime[S string | []byte](text S) (time.Time, error) {
	stamp, err := part(text, 0, 8)
	if err != nil {
		return time.Time{}, err
	}
	return timeOf(stamp >> 1), nil
}

// EncodedMeta returns the metabyte of the ID in a text.
func EncodedMeta[S string | []byte](text S) (byte, error) {
	bits, err := part(text, 8, 10) // 40 bits are 8 characters: the metabyte begins a character
	return byte(bits >> 2), err
}

// EncodedPartition returns the partition of the ID in a text.
func EncodedPartition[S string | []byte](text S) (p Partition, err error) {
	bits, err := part(text, 9, 13) // bits 45 to 65 of 80; the partition is 48 to 64
	p.PutUint16(uint16(bits >> 1))
	return p, err
}

// EncodedSequence returns the sequence of the ID in a text. Where generators share a partition by the
// bounds of their sequences, the sequence says which generator made the ID.
func EncodedSequence[S string | []byte](text S) (uint16, error) {
	bits, err := part(text, 12, 16) // bits 60 to 80 of 80; the sequence is 64 to 80
	return uint16(bits), err
}

// part returns the bits of the characters from, inclusive, to to, exclusive.
func part[S string | []byte](text S, from, to int) (bits uint64, err error) {
	if len(text) != SizeEncoded {
		return 0, &InvalidDataSizeError{Size: len(text)}
	}
	for i := from; i < to; i++ {
		v, ok := codec.Digit(text[i])
		if !ok {
			return 0, wrong.Character(format, text, i, "in [2-9a-x]")
		}
		bits = bits<<5 | uint64(v)
	}
	return bits, nil
}
