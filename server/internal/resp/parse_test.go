package resp

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// malformed are sequences of bytes that are no commands, with the error of each.
var malformed = []struct{ bytes, want string }{
	{"PING\r\n", `expected '*', got 'P': speak RESP, inline commands are refused`},
	{"INCR nanoflake\r\n", `expected '*', got 'I'`},
	{"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nINCR nanoflake\r\n", `expected '*', got 'P'`},
	{"\r\n", `expected '*', got '\r'`},
	{"\n", `expected '*', got '\n'`},
	{" *1\r\n$4\r\nPING\r\n", `expected '*', got ' '`},
	{"\x16\x03\x01\x02\x00\x01", `expected '*', got '\x16'`},
	{"\x00", `expected '*', got '\x00'`},
	{"\xff", `expected '*', got '\u00ff'`},
	{":1\r\n", `expected '*', got ':'`},
	{"$4\r\nPING\r\n", `expected '*', got '$'`},
	{"*\r\n", "invalid multibulk length: a command has 1 to 64 words"},
	{"*0\r\n", "invalid multibulk length"},
	{"*00\r\n", "invalid multibulk length"},
	{"*01\r\n$4\r\nPING\r\n", "invalid multibulk length"},
	{"*-1\r\n", "invalid multibulk length"},
	{"*+1\r\n$4\r\nPING\r\n", "invalid multibulk length"},
	{"* 1\r\n$4\r\nPING\r\n", "invalid multibulk length"},
	{"*1 \r\n$4\r\nPING\r\n", "invalid multibulk length"},
	{"*1\n$4\nPING\n", "invalid multibulk length"},
	{"*1\rx", "invalid multibulk length"},
	{"*1\r\r\n", "invalid multibulk length"},
	{"*65\r\n", "invalid multibulk length"},
	{"*100\r\n", "invalid multibulk length"},
	{"*1048577\r\n", "invalid multibulk length"},
	{"*2147483648\r\n", "invalid multibulk length"},
	{"*18446744073709551617\r\n", "invalid multibulk length"},
	{"*" + strings.Repeat("9", 100_000), "invalid multibulk length"},
	{"*one\r\n", "invalid multibulk length"},
	{"*1\r\nPING\r\n", "expected '$', got 'P'"},
	{"*1\r\n:4\r\n", "expected '$', got ':'"},
	{"*1\r\n*1\r\n$4\r\nPING\r\n", "expected '$', got '*'"},
	{"*2\r\n$4\r\nINCR\r\n\r\n", `expected '$', got '\r'`},
	{"*1\r\n$\r\n", "invalid bulk length: a word has 0 to 512 bytes"},
	{"*1\r\n$-1\r\n", "invalid bulk length"},
	{"*1\r\n$-0\r\n", "invalid bulk length"},
	{"*1\r\n$04\r\nPING\r\n", "invalid bulk length"},
	{"*1\r\n$4 \r\nPING\r\n", "invalid bulk length"},
	{"*1\r\n$4\nPING\n", "invalid bulk length"},
	{"*1\r\n$513\r\n", "invalid bulk length"},
	{"*1\r\n$65536\r\n", "invalid bulk length"},
	{"*1\r\n$2147483647\r\n", "invalid bulk length"},
	{"*1\r\n$2147483648\r\n", "invalid bulk length"},
	{"*1\r\n$4294967300\r\nPING\r\n", "invalid bulk length"},
	{"*1\r\n$" + strings.Repeat("1", 100_000), "invalid bulk length"},
	{"*1\r\n$4\r\nPING\n", "expected CRLF after a word of 4 bytes"},
	{"*1\r\n$4\r\nPING\rx", "expected CRLF after a word of 4 bytes"},
	{"*1\r\n$4\r\nPINGPONG\r\n", "expected CRLF after a word of 4 bytes"},
	{"*1\r\n$5\r\nPING\r\n", "expected CRLF after a word of 5 bytes"},
	{"*1\r\n$0\r\nPING\r\n", "expected CRLF after a word of 0 bytes"},
	{"*33\r\n" + strings.Repeat("$512\r\n"+strings.Repeat("x", 512)+"\r\n", 33), "the command is longer than 16384 bytes"},
	{"*64\r\n" + strings.Repeat("$512\r\n"+strings.Repeat("x", 512)+"\r\n", 31) + strings.Repeat("$4\r\nPING\r\n", 33), "the command is longer than 16384 bytes"},
}

// Each malformed sequence is an error as soon as a byte makes it malformed, and the same error with more bytes.
func TestParseMalformed(t *testing.T) {
	for _, v := range malformed {
		var f frame
		n, fault := f.parse([]byte(v.bytes))
		if n != 0 || fault == nil || !strings.HasPrefix(fault.Error(), "Protocol error: "+v.want) {
			t.Errorf("%.40q: %d, %v, want %s", v.bytes, n, fault, v.want)
			continue
		}
		var first string
		for end := range min(len(v.bytes), maxFrame+1) {
			n, early := f.parse([]byte(v.bytes[:end]))
			switch {
			case n != 0:
				t.Errorf("%.40q: the first %d bytes are a command of %d bytes", v.bytes, end, n)
			case early != nil && first == "":
				first = early.Error()
			}
			if early == nil && first != "" || early != nil && early.Error() != fault.Error() {
				t.Fatalf("%.40q: %v after %d bytes, and %v in the end", v.bytes, early, end, fault)
			}
		}
	}
}

func TestParse(t *testing.T) {
	longest := slices.Repeat([]string{strings.Repeat("x", maxWord)}, 31)
	longest = append(longest, "", "")
	for len(frameOf(longest...)) < maxFrame {
		longest[32] += "x"
	}
	// One byte more is too long, and so is another word.
	more := slices.Clone(longest)
	more[32] += "x"
	for _, b := range []string{frameOf(more...), strings.Replace(frameOf(longest...), "*33", "*34", 1)} {
		var f frame
		for _, b := range []string{b[:maxFrame], b, b + "$1\r\nx\r\n"} {
			if n, fault := f.parse([]byte(b)); n != 0 || fault == nil {
				t.Errorf("%d bytes of a command that is too long: %d, %v", len(b), n, fault)
			}
		}
	}
	for _, words := range [][]string{
		{"PING"}, {"INCR", "nanoflake"}, {""}, {"", "", ""}, {"ECHO", "\r\n"}, {"ECHO", "*1\r\n$4\r\nPING\r\n"}, {"ECHO", "\x00\xff"},
		slices.Repeat([]string{"x"}, maxWords), {strings.Repeat("x", maxWord)}, longest,
	} {
		b := []byte(frameOf(words...))
		var f frame
		for end := range b {
			if n, fault := f.parse(b[:end]); n != 0 || fault != nil {
				t.Fatalf("the first %d of %d bytes of %.40q: %d, %v", end, len(b), b, n, fault)
			}
		}
		for _, more := range []string{"", "*", "garbage", "*1\r\n$4\r\nPING\r\n"} {
			n, fault := f.parse(append(slices.Clip(b), more...))
			if n != len(b) || fault != nil || len(f.words) != len(words) {
				t.Fatalf("%.40q: %d, %v, %d words", b, n, fault, len(f.words))
			}
			for i, w := range f.words {
				if string(w) != words[i] {
					t.Errorf("word %d is %q, want %q", i, w, words[i])
				}
			}
		}
	}
}

var (
	wholeLength = regexp.MustCompile(`^.(0|[1-9][0-9]*)\r\n`)
	partLength  = regexp.MustCompile(`^.((0|[1-9][0-9]*)\r?)?$`)
)

// reference reads the words of the first command of b. ok reports whether b has the whole command, and bad whether no
// bytes behind b make b the beginning of a command.
func reference(b []byte) (words []string, rest []byte, ok, bad bool) {
	whole := len(b)
	number := func(mark byte, least, most int) (n int, ok, bad bool) {
		if len(b) == 0 || b[0] != mark {
			return 0, false, len(b) > 0
		}
		found := wholeLength.FindSubmatch(b)
		if found == nil {
			n, _ = strconv.Atoi(strings.TrimRight(string(b[1:min(len(b), 10)]), "\r"))
			return 0, false, !partLength.Match(b) || n > most
		}
		b = b[len(found[0]):]
		n, err := strconv.Atoi(string(found[1]))
		return n, true, err != nil || n < least || n > most
	}
	count, ok, bad := number('*', 1, maxWords)
	if !ok || bad {
		return nil, nil, false, bad
	}
	for left := count; left > 0; left-- {
		if whole-len(b)+6*left > maxFrame {
			return nil, nil, false, true
		}
		size, ok, bad := number('$', 0, maxWord)
		switch {
		case !ok || bad:
			return nil, nil, false, bad
		case whole-len(b)+size+2 > maxFrame:
			return nil, nil, false, true
		case len(b) < size+2:
			return nil, nil, false, len(b) > size && b[size] != '\r'
		case string(b[size:size+2]) != "\r\n":
			return nil, nil, false, true
		}
		words, b = append(words, string(b[:size])), b[size+2:]
	}
	return words, b, true, false
}

// FuzzParse compares parse with the reference, on all of the input and on each beginning of it.
func FuzzParse(f *testing.F) {
	for _, v := range malformed {
		f.Add([]byte(v.bytes[:min(len(v.bytes), 200)]))
	}
	f.Add([]byte(frameOf("INCR", "nanoflake") + frameOf("FIRN.NEXT", "sno", "10")))
	f.Add([]byte("*0"))
	f.Add([]byte("*1\r\n$0\r\n\r"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var f frame
		for end := range min(len(b), 100) {
			compare(t, &f, b[:end])
		}
		compare(t, &f, b)
	})
}

func compare(t *testing.T, f *frame, b []byte) {
	t.Helper()
	words, rest, ok, bad := reference(b)
	n, fault := f.parse(b)
	if (n > 0) != ok || (fault != nil) != bad || ok && n != len(b)-len(rest) || ok && len(f.words) != len(words) {
		t.Fatalf("%q: %d bytes, %v, want %q, %v, %v", b, n, fault, words, ok, bad)
	}
	for i := range words {
		if string(f.words[i]) != words[i] {
			t.Fatalf("%q: word %d is %q, want %q", b, i, f.words[i], words[i])
		}
	}
}
