//go:build amd64 && !purego && !race && !msan && !asan

package base32

// vectors reports whether the processor and the operating system support AVX2. Only tests change
// it.
var vectors = hasAVX2()

// hasAVX2 reports whether the processor has AVX2 and the system saves the registers of AVX2.
func hasAVX2() bool

// The functions below are in vector_amd64.s. Without AVX2 each function jumps to a twin with the
// same arguments and results. The functions for runs return 0 instead.
//
// The encoders write over the end of dst. Their callers have made dst long enough.

//go:noescape
func encode63(c *Codec, dst []byte, v uint64)

//go:noescape
func encode80(c *Codec, dst []byte, src *[10]byte)

//go:noescape
func encode160(c *Codec, dst []byte, src *[20]byte)

//go:noescape
func decode63(c *Codec, s string) int64

//go:noescape
func decode63Bytes(c *Codec, s []byte) int64

//go:noescape
func decode80(c *Codec, dst *[10]byte, s string) bool

//go:noescape
func decode80Bytes(c *Codec, dst *[10]byte, s []byte) bool

//go:noescape
func decode160(c *Codec, dst *[20]byte, s string) bool

//go:noescape
func decode160Bytes(c *Codec, dst *[20]byte, s []byte) bool

// A run uses as much of dst and text as n values take. The caller has limited n to the room there.

//go:noescape
func encodeRun63(c *Codec, dst []byte, first *int64, n int, sep byte) int

//go:noescape
func encodeRun80(c *Codec, dst []byte, first *[10]byte, n int, sep byte) int

//go:noescape
func encodeRun160(c *Codec, dst []byte, first *[20]byte, n int, sep byte) int

//go:noescape
func decodeRun63(c *Codec, first *int64, n int, text []byte, sep byte) int

//go:noescape
func decodeRun80(c *Codec, first *[10]byte, n int, text []byte, sep byte) int

//go:noescape
func decodeRun160(c *Codec, first *[20]byte, n int, text []byte, sep byte) int

// The assembly jumps to twins. Each twin must have the same arguments and results as the function.
var (
	_ = []func(*Codec, []byte, uint64){encode63, twinEncode63}
	_ = []func(*Codec, []byte, *[10]byte){encode80, twinEncode80}
	_ = []func(*Codec, []byte, *[20]byte){encode160, twinEncode160}
	_ = []func(*Codec, string) int64{decode63, twin63}
	_ = []func(*Codec, []byte) int64{decode63Bytes, twin63Bytes}
	_ = []func(*Codec, *[10]byte, string) bool{decode80, twin80}
	_ = []func(*Codec, *[10]byte, []byte) bool{decode80Bytes, twin80Bytes}
	_ = []func(*Codec, *[20]byte, string) bool{decode160, twin160}
	_ = []func(*Codec, *[20]byte, []byte) bool{decode160Bytes, twin160Bytes}
)
