package call

// Functions of call_amd64.s. A function that writes begins at the last 16, 13 or 32 bytes of dst.

//go:noescape
func write10(dst []byte, src *[10]byte)

//go:noescape
func write8(dst []byte, v uint64)

//go:noescape
func write20(dst []byte, src *[20]byte)

//go:noescape
func read10(dst *[10]byte, s string) bool

//go:noescape
func read8(s string) int64

//go:noescape
func read20(dst *[20]byte, s string) bool
