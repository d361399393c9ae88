//go:build !amd64 || purego || race || msan || asan

package base32

func encode63(c *Codec, dst []byte, v uint64)               { twinEncode63(c, dst, v) }
func encode80(c *Codec, dst []byte, src *[10]byte)          { twinEncode80(c, dst, src) }
func encode160(c *Codec, dst []byte, src *[20]byte)         { twinEncode160(c, dst, src) }
func decode63(c *Codec, s string) int64                     { return twin63(c, s) }
func decode63Bytes(c *Codec, s []byte) int64                { return twin63Bytes(c, s) }
func decode80(c *Codec, dst *[10]byte, s string) bool       { return twin80(c, dst, s) }
func decode80Bytes(c *Codec, dst *[10]byte, s []byte) bool  { return twin80Bytes(c, dst, s) }
func decode160(c *Codec, dst *[20]byte, s string) bool      { return twin160(c, dst, s) }
func decode160Bytes(c *Codec, dst *[20]byte, s []byte) bool { return twin160Bytes(c, dst, s) }
func encodeRun63(*Codec, []byte, *int64, int, byte) int     { return 0 }
func encodeRun80(*Codec, []byte, *[10]byte, int, byte) int  { return 0 }
func encodeRun160(*Codec, []byte, *[20]byte, int, byte) int { return 0 }
func decodeRun63(*Codec, *int64, int, []byte, byte) int     { return 0 }
func decodeRun80(*Codec, *[10]byte, int, []byte, byte) int  { return 0 }
func decodeRun160(*Codec, *[20]byte, int, []byte, byte) int { return 0 }
