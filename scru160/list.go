package scru160

import (
	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/payload"
)

var list = payload.List[ID]{Length: textLen, Shortest: textLen, Append: ID.AppendText, Parse: parseBytes,
	AppendRun: func(dst []byte, ids []ID, sep byte) int {
		return base32.Hex.EncodeRun(dst, ids[0][:], len(ids), sep)
	},
	ParseRun: func(dst []ID, text []byte, sep byte) int {
		return base32.Hex.DecodeRun(dst[0][:], len(dst), text, sep)
	}}

// AppendAll appends the canonical texts of ids to dst, with sep after each text: '\n' gives a line
// for each ID. It never fails. AppendAll does not allocate if dst has room for 33 bytes an ID.
func AppendAll(dst []byte, ids []ID, sep byte) ([]byte, error) { return list.AppendAll(dst, ids, sep) }

// ParseAll appends to dst the IDs of a list, with sep after each text, as [AppendAll] writes lists.
// The last sep may be missing. ParseAll reads the texts that [Parse] reads. Any other text is a
// *[iderr.ListError], also an empty text: the error has the position of the text and wraps the error of
// Parse, and dst has the IDs before. ParseAll allocates at most once, if dst has too little room.
func ParseAll(dst []ID, text []byte, sep byte) ([]ID, error) { return list.ParseAll(dst, text, sep) }
