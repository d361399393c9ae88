package filelease

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

var sample = []byte("until 1767225600\nnonce 0123456789abcdef\x00\xff")

func TestEncode(t *testing.T) {
	content, rev := encode("prod/0007", 12, []byte("value"))
	if want := "firn 1 12 a3cb847d\nvalue"; string(content) != want || rev != "12-a3cb847d" {
		t.Errorf("encode = %q, %s; want %q", content, rev, want)
	}
	for _, value := range [][]byte{nil, []byte("\n"), sample, bytes.Repeat([]byte{0}, driver.MaxValue)} {
		for _, number := range []uint64{1, 10, math.MaxUint64 - 1} {
			content, rev := encode("a/b", number, value)
			if int64(len(content)) > maxFile {
				t.Errorf("%d bytes are more than maxFile", len(content))
			}
			e, err := decode("a/b", content)
			if err != nil || !bytes.Equal(e.Value, value) || e.Revision != rev || e.number != number || e.Key != "a/b" {
				t.Errorf("decode(%q) = %v, %v", content, e, err)
			}
		}
	}
}

func TestDecodeDamaged(t *testing.T) {
	content, _ := encode("a", 99, sample)
	damaged := func(b []byte, what string, at int) {
		if e, err := decode("a", b); !errors.Is(err, driver.ErrDamaged) && !errors.Is(err, driver.ErrVersion) {
			t.Errorf("%s at %d: %v, %v", what, at, e, err)
		}
	}
	for i := range content {
		damaged(content[:i], "truncated", i)
		damaged(append(content[:i:i], make([]byte, len(content)-i)...), "zeros", i)
		for x := 1; x < 256; x++ {
			b := bytes.Clone(content)
			b[i] ^= byte(x)
			damaged(b, "changed", i)
		}
	}
	for _, end := range []string{"\x00", "\n", "x", string(content)} {
		damaged(append(bytes.Clone(content), end...), "appended", len(content))
	}
	for _, s := range []string{
		"\n", "firn", "firn 1", "firn 1\n", "firn 1 \n", "firn 0 1 00000000\n", "firn 01 1 00000000\n", "firn -1 1 00000000\n",
		"firn 1 0 00000000\n", "firn 1 18446744073709551615 00000000\n", "firn 1 18446744073709551616 00000000\n", "Firn 1 1 00000000\n",
	} {
		if e, err := decode("a", []byte(s)); !errors.Is(err, driver.ErrDamaged) {
			t.Errorf("decode(%q) = %v, %v", s, e, err)
		}
	}
	if e, err := decode("b", content); !errors.Is(err, driver.ErrDamaged) {
		t.Errorf("the file of another key: %v, %v", e, err)
	}
}

func TestDecodeVersion(t *testing.T) {
	for _, s := range []string{"firn 2 whatever", "firn 10\n", "firn " + strings.Repeat("9", 100) + " "} {
		if e, err := decode("a", []byte(s)); !errors.Is(err, driver.ErrVersion) || errors.Is(err, driver.ErrDamaged) {
			t.Errorf("decode(%q) = %v, %v", s, e, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	content, _ := encode("a", 7, sample)
	f.Add("a", content)
	f.Add("a", content[:20])
	f.Add("b", []byte("firn 2 1 00000000\n"))
	f.Add("", []byte{})
	f.Fuzz(func(t *testing.T, key string, content []byte) {
		e, err := decode(key, content)
		if err != nil {
			if errors.Is(err, driver.ErrDamaged) == errors.Is(err, driver.ErrVersion) {
				t.Errorf("error %v", err)
			}
			return
		}
		if again, rev := encode(key, e.number, e.Value); !bytes.Equal(again, content) || rev != e.Revision {
			t.Errorf("decode takes %q, which is not what encode writes", content)
		}
	})
}
