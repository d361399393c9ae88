//go:build !amd64 || purego || race || msan || asan

package base32

const vectors = false

func encode(c *Codec, dst, id []byte)                 { twinEncode(c, dst, id) }
func decode(c *Codec, id, s []byte) bool              { return twinDecode(c, id, s) }
func decodeString(c *Codec, id []byte, s string) bool { return twinDecodeString(c, id, s) }
func encodeRun(*Codec, []byte, []byte, int, byte)     {}
func decodeRun(*Codec, []byte, []byte, int, byte) int { return 0 }
