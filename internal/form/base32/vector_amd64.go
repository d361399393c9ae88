//go:build !purego && !race && !msan && !asan

package base32

// vectors reports whether the processor and the operating system support AVX2. Only tests change
// it.
var vectors = hasAVX2()

// hasAVX2 reports whether the processor has AVX2 and the system saves the registers of AVX2.
func hasAVX2() bool

// The functions below are in encode_amd64.s and decode_amd64.s. Their callers have compared the
// lengths. Without AVX2, the functions for one ID of 10 or 20 bytes jump to a twin, and those for
// runs are not called.

// encode writes the text of an ID over the end of dst.
//
//go:noescape
func encode(c *Codec, dst, id []byte)

//go:noescape
func decode(c *Codec, id, text []byte) bool

//go:noescape
func decodeString(c *Codec, id []byte, text string) bool

// The functions for runs handle pairs of 10 bytes: two IDs, or one of 20 bytes. The first ID stands
// for all: the others lie behind it.

// encodeRun writes the texts of pairs, of which there is at least one, with sep after each text.
//
//go:noescape
func encodeRun(c *Codec, dst, first []byte, pairs int, sep byte)

// decodeRun reads pairs, of which there is at least one, with sep after each text. It returns how
// many it has read up to the first fault.
//
//go:noescape
func decodeRun(c *Codec, first, text []byte, pairs int, sep byte) int

// The assembly jumps to twins. Each twin must have the same arguments and results as the function.
var (
	_ = []func(*Codec, []byte, []byte){encode, twinEncode}
	_ = []func(*Codec, []byte, []byte) bool{decode, twinDecode}
	_ = []func(*Codec, []byte, string) bool{decodeString, twinDecodeString}
)
