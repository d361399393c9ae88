package resp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firn-id/firn/server/internal/reason"
)

// appendError appends an error: the word, the name of the reason, and the text in one line.
func appendError(dst []byte, e *reason.Error) []byte {
	dst = append(append(append(dst, '-'), e.Of.RESP...), ' ')
	dst = append(append(dst, e.Of.Name...), ": "...)
	return append(append(dst, printable(e.Text)...), "\r\n"...)
}

// printable returns the text in one line, without control characters.
func printable(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "?")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r == '\r':
			return -1
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, text)
}

// appendSimple appends a simple string, which has neither CR nor LF.
func appendSimple(dst []byte, s string) []byte {
	return append(append(append(dst, '+'), s...), "\r\n"...)
}

func appendInt(dst []byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, ':'), int64(n), 10), "\r\n"...)
}

// exact is the greatest integer that is exact in JavaScript.
const exact = 1<<53 - 1

// appendID appends an integer that is an ID: as a big number if big is true and the integer is above exact.
func appendID(dst []byte, id uint64, big bool) []byte {
	kind := byte(':')
	if big && id > exact {
		kind = '('
	}
	return append(strconv.AppendUint(append(dst, kind), id, 10), "\r\n"...)
}

func appendBulk[T string | []byte](dst []byte, s T) []byte {
	return append(append(appendHead(dst, '$', len(s)), s...), "\r\n"...)
}

// appendHead appends the head of a bulk string ('$'), an array ('*') or a map ('%').
func appendHead(dst []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, kind), int64(n), 10), "\r\n"...)
}

// appendMap appends the head of a map of n keys. RESP2 has no maps, and has an array of keys and values instead.
func (c *conn) appendMap(dst []byte, n int) []byte {
	if c.protocol == 3 {
		return appendHead(dst, '%', n)
	}
	return appendHead(dst, '*', 2*n)
}

// appendNull appends the value that stands for no value.
func (c *conn) appendNull(dst []byte) []byte {
	if c.protocol == 3 {
		return append(dst, "_\r\n"...)
	}
	return append(dst, "$-1\r\n"...)
}
