package ulidflake

import (
	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/payload"
)

var (
	list         = payload.List[ID]{Length: base32.Len63, Shortest: base32.Len63, Append: ID.AppendText, Parse: parseBytes}
	listScalable = payload.List[ScalableID]{Length: base32.Len63, Shortest: base32.Len63,
		Append: ScalableID.AppendText, Parse: parseScalableBytes}
)

// AppendAll appends the canonical texts of ids to dst, with sep after each text: '\n' gives a line
// for each ID. If a value is not an ID, the error is an *[iderr.ListError], and dst ends with the
// text of the ID before. AppendAll does not allocate if dst has room for 14 bytes an ID.
func AppendAll(dst []byte, ids []ID, sep byte) ([]byte, error) { return list.AppendAll(dst, ids, sep) }

// ParseAll appends to dst the IDs of a list, with sep after each text, as [AppendAll] writes lists.
// The last sep may be missing. ParseAll reads the texts that [Parse] reads. Any other text is a
// *[iderr.ListError], also an empty text: the error has the position of the text and wraps the error of
// Parse, and dst has the IDs before. ParseAll allocates at most once, if dst has too little room.
func ParseAll(dst []ID, text []byte, sep byte) ([]ID, error) { return list.ParseAll(dst, text, sep) }

// AppendAllScalable is [AppendAll] for ScalableIDs.
func AppendAllScalable(dst []byte, ids []ScalableID, sep byte) ([]byte, error) {
	return listScalable.AppendAll(dst, ids, sep)
}

// ParseAllScalable is [ParseAll] for ScalableIDs.
func ParseAllScalable(dst []ScalableID, text []byte, sep byte) ([]ScalableID, error) {
	return listScalable.ParseAll(dst, text, sep)
}
