package resp

import "fmt"

// The limits of a command. The longest legal command fits into the read buffer of a connection.
const (
	maxWords = 64        // words of a command
	maxWord  = 512       // bytes of a word
	maxFrame = 16 * 1024 // bytes of a command with its headers
)

// A protocolError is a fault after which nobody knows where the next command begins. The connection ends with the error.
type protocolError struct{ text string }

func (e *protocolError) Error() string { return "Protocol error: " + e.text }

func protocolErrorf(format string, args ...any) *protocolError {
	return &protocolError{fmt.Sprintf(format, args...)}
}

// A frame is a command as clients send it: an array of bulk strings.
type frame struct {
	words [][]byte // parts of the parsed bytes
	room  [maxWords][]byte
}

// parse reads the command that b begins with, and returns its length in bytes. The length is 0 if b has the beginning of
// a command only. More bytes behind b change neither a length above 0 nor an error. So the answer to a sequence of bytes
// does not depend on how the network splits the sequence.
//
// parse reads no inline commands. A web page can make a browser send a text to the port, as the body of an HTTP request,
// and no line of the text must be a command.
func (f *frame) parse(b []byte) (n int, fault *protocolError) {
	f.words = f.room[:0]
	if len(b) == 0 {
		return 0, nil
	}
	if b[0] != '*' {
		return 0, protocolErrorf("expected '*', got %s: speak RESP, inline commands are refused", quoted(b[0]))
	}
	count, at, fault := length(b, 1, maxWords)
	if fault != nil || count == 0 {
		return 0, within(fault, count, at, "multibulk length: a command has 1 to %d words", maxWords)
	}
	for left := count; left > 0; left-- {
		if at+left*len("$0\r\n\r\n") > maxFrame {
			return 0, protocolErrorf("the command is longer than %d bytes", maxFrame)
		}
		if at == len(b) {
			return 0, nil
		}
		if b[at] != '$' {
			return 0, protocolErrorf("expected '$', got %s", quoted(b[at]))
		}
		size, start, fault := length(b, at+1, maxWord)
		if fault != nil || start == 0 {
			return 0, within(fault, 1, start, "bulk length: a word has 0 to %d bytes", maxWord)
		}
		end := start + size
		if end+len("\r\n") > maxFrame {
			return 0, protocolErrorf("the command is longer than %d bytes", maxFrame)
		}
		if end < len(b) && b[end] != '\r' || end+1 < len(b) && b[end+1] != '\n' {
			return 0, protocolErrorf("expected CRLF after a word of %d bytes", size)
		}
		if end+1 >= len(b) {
			return 0, nil
		}
		f.words = append(f.words, b[start:end:end])
		at = end + len("\r\n")
	}
	return at, nil
}

// within returns the fault of a length that parse does not go on with, or nil if the length is not complete. A complete
// length is out of range.
func within(fault *protocolError, v, next int, format string, limit int) *protocolError {
	if fault == nil && (next == 0 || v > 0) {
		return nil
	}
	return protocolErrorf("invalid "+format, limit)
}

var errLength = &protocolError{"invalid length"}

// length reads a number from 0 to most and its CRLF, from b[i] on. The offset of the byte behind is next, which is 0 if
// b ends before. A bad byte is a fault at once, however many bytes follow.
func length(b []byte, i, most int) (v, next int, fault *protocolError) {
	for first := i; i < len(b); i++ {
		c := b[i]
		switch {
		case '0' <= c && c <= '9' && (i == first || v > 0): // "00" is no number
			v = 10*v + int(c-'0')
			if v > most {
				return 0, 0, errLength
			}
		case c == '\r' && i > first:
			switch {
			case i+1 == len(b):
				return 0, 0, nil
			case b[i+1] == '\n':
				return v, i + 2, nil
			}
			return 0, 0, errLength
		default:
			return 0, 0, errLength
		}
	}
	return 0, 0, nil
}

// quoted returns a byte as an error shows the byte.
func quoted(c byte) string { return fmt.Sprintf("%+q", rune(c)) }
