package payload

import (
	"bytes"
	"slices"

	"github.com/firn-id/firn/iderr"
)

// A List writes and reads a format's IDs as a list of texts, with the same byte after each text.
type List[T any] struct {
	Length   int // length of the longest canonical text
	Shortest int // length of the shortest text that Parse reads

	Append func(id T, dst []byte) ([]byte, error)
	Parse  func(text []byte) (T, error)

	// AppendRun writes texts, each with sep, at the beginning of dst. There must be room for all
	// texts. ParseRun reads texts while dst has room. Each returns the number of IDs done; List
	// does the other IDs in turn. Both are nil if the format has no faster way. A format with
	// AppendRun has canonical texts of one length.
	AppendRun func(dst []byte, ids []T, sep byte) int
	ParseRun  func(dst []T, text []byte, sep byte) int
}

// AppendAll appends the texts of ids, with sep after each. It stops at an invalid ID.
func (l *List[T]) AppendAll(dst []byte, ids []T, sep byte) ([]byte, error) {
	done := 0
	dst = slices.Grow(dst, len(ids)*(l.Length+1))
	if l.AppendRun != nil && len(ids) > 0 {
		done = l.AppendRun(dst[len(dst):cap(dst)], ids, sep)
		dst = dst[:len(dst)+done*(l.Length+1)]
	}
	for i, id := range ids[done:] {
		text, err := l.Append(id, dst)
		if err != nil {
			return dst, &iderr.ListError{Index: done + i, Offset: -1, Err: err}
		}
		dst = append(text, sep)
	}
	return dst, nil
}

// ParseAll appends the IDs of a list of texts, with sep after each. The last sep may be missing.
// ParseAll stops at an invalid text.
func (l *List[T]) ParseAll(dst []T, text []byte, sep byte) ([]T, error) {
	first := len(dst)
	dst = slices.Grow(dst, min(bytes.Count(text, []byte{sep}), len(text)/(l.Shortest+1))+1)
	for pos := 0; pos < len(text); {
		if l.ParseRun != nil && len(dst) < cap(dst) {
			if n := l.ParseRun(dst[len(dst):cap(dst)], text[pos:], sep); n > 0 {
				dst, pos = dst[:len(dst)+n], pos+n*(l.Length+1)
				continue
			}
		}
		end := bytes.IndexByte(text[pos:], sep)
		if end < 0 {
			end = len(text) - pos
		}
		id, err := l.Parse(text[pos : pos+end])
		if err != nil {
			return dst, &iderr.ListError{Index: len(dst) - first, Offset: pos, Err: err}
		}
		dst, pos = append(dst, id), pos+end+1
	}
	return dst, nil
}
