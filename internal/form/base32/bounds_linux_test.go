package base32_test

import (
	"bytes"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/form/base32"
)

// Assembly that reads or writes past the end of its arguments crashes here: the pages before and
// after the memory are protected.
func TestBounds(t *testing.T) {
	page := syscall.Getpagesize()
	area := func() []byte { // a page between protected pages
		b, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []int{0, 2 * page} {
			if err := syscall.Mprotect(b[end:end+page], syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
		}
		return b[page : 2*page : 2*page]
	}
	a, b := area(), area()
	both(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(13, 14))
		for _, r := range runs {
			for n := 1; n < 9; n++ {
				values := r.values(random, n)
				text := r.texts(values, ',')
				for _, begin := range []bool{false, true} { // at the end and at the beginning of the page
					place := func(area []byte, n int) []byte {
						if begin {
							return area[:n:n]
						}
						return area[len(area)-n:]
					}
					v := place(a, len(values))
					copy(v, values)
					s := place(b, len(text))
					base32.Hex.EncodeRun(s, v[:r.size], n, ',')
					copy(s, text)
					clear(v)
					base32.Hex.DecodeRun(v[:r.size], n, s, ',')
					one := place(b, r.length)
					copy(one, text)
					if v := place(a, r.size); !base32.Hex.DecodeBytes(v, one) || !bytes.Equal(v, values[:r.size]) {
						t.Errorf("read %x, want %x", v, values[:r.size])
					}
					if got := r.one(place(b, r.length)[:0], place(a, r.size)); !bytes.Equal(got, text[:r.length]) || &got[0] != &one[0] {
						t.Errorf("wrote %q", got)
					}
				}
			}
		}
	})
}
