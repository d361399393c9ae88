//go:build !purego && !race && !msan && !asan

#include "textflag.h"

// DECODE makes the 10 or 20 bytes of the characters of V, with the help of A, B and C. It clears the
// flag for zero if a character is foreign.
//
//	1. A character is looked up in the three tables by its low half, and its bits 4 and 6,
//	   shifted to where a blend looks, say which value is its own. (A shuffle looks up
//	   nothing, and gives 0, for bytes from 0x80 on.)
//	2. Its high half is looked up among the rows there are. One of the two has the top bit
//	   set for a foreign character.
//	3. Multiplications put two values together, and then two of these: 20 bits in each
//	   double word, of which the first is to be the upper. This makes 40 bits in each quad
//	   word, with others above them.
//	4. A shuffle takes the bytes of twice 40 bits together, uppermost first. In the second
//	   half of a register they begin at the eleventh and go on at the first.
#define DECODE(V, A, B, C, DIGITS, EVEN, ODD, THERE) \
	VPSHUFB    V, EVEN, A   \
	VPSHUFB    V, ODD, B    \
	VPSLLW     $3, V, C     \
	VPBLENDVB  C, B, A, A   \
	VPSHUFB    V, DIGITS, B \
	VPSLLW     $1, V, C     \
	VPBLENDVB  C, A, B, A   \
	VPSRLW     $4, V, V     \
	VPAND      half<>(SB), V, V   \
	VPSHUFB    V, THERE, V  \
	VPOR       V, A, V      \
	VPMOVMSKB  V, BX        \
	VPMADDUBSW pair<>(SB), A, V   \
	VPMADDWD   four<>(SB), V, V   \
	VPSRLQ     $32, V, A    \
	VPSLLQ     $20, V, V    \
	VPOR       A, V, V      \
	VPSHUFB    bytes<>(SB), V, V \
	TESTL      BX, BX

// CONSTANTS loads what DECODE needs. The tables are those of a Codec, at AX.
#define CONSTANTS(LOAD, DIGITS, EVEN, ODD, THERE) \
	LOAD 32(AX), DIGITS \
	LOAD 48(AX), EVEN   \
	LOAD 64(AX), ODD    \
	LOAD 80(AX), THERE

#define REPEAT(NAME, BYTES) \
	DATA  NAME<>+0(SB)/8, BYTES  \
	DATA  NAME<>+8(SB)/8, BYTES  \
	DATA  NAME<>+16(SB)/8, BYTES \
	DATA  NAME<>+24(SB)/8, BYTES \
	GLOBL NAME<>(SB), RODATA|NOPTR, $32
REPEAT(half, $0x0f0f0f0f0f0f0f0f)
REPEAT(pair, $0x0120012001200120)
REPEAT(four, $0x0001040000010400)
DATA  bytes<>+0(SB)/8, $0x0a0b0c0001020304
DATA  bytes<>+8(SB)/8, $0x8080808080800809
DATA  bytes<>+16(SB)/8, $0x8080808008090a0b
DATA  bytes<>+24(SB)/8, $0x0c00010203048080
GLOBL bytes<>(SB), RODATA|NOPTR, $32

// STORE20 writes the 20 bytes of Y0 to DI.
#define STORE20 \
	VEXTRACTI128 $1, Y0, X1        \
	VPBLENDW     $0xe0, X1, X0, X0 \
	VMOVDQU      X0, 0(DI)         \
	VMOVD        X1, 16(DI)

// READER reads one ID. The place of the result depends on the type of the text.
#define READER(RESULT, TWIN) \
	CMPB ·vectors(SB), $0 \
	JEQ  twin \
	MOVQ c+0(FP), AX \
	MOVQ id_base+8(FP), DI \
	MOVQ text_base+32(FP), SI \
	CMPQ id_len+16(FP), $20 \
	JEQ  long \
	CONSTANTS(VMOVDQU, X4, X5, X6, X7) \
	VMOVDQU 0(SI), X0 \
	DECODE(X0, X1, X2, X3, X4, X5, X6, X7) \
	SETEQ RESULT \
	JNE  end \
	VMOVQ X0, 0(DI) \
	VPEXTRW $4, X0, 8(DI) \
	RET \
long: \
	CONSTANTS(VBROADCASTI128, Y4, Y5, Y6, Y7) \
	VMOVDQU 0(SI), Y0 \
	DECODE(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7) \
	SETEQ RESULT \
	JNE  end \
	STORE20 \
end: \
	VZEROUPPER \
	RET \
twin: \
	JMP  TWIN

// func decode(c *Codec, id, text []byte) bool
TEXT ·decode(SB), NOSPLIT, $0-57
	READER(ret+56(FP), ·twinDecode(SB))

// func decodeString(c *Codec, id []byte, text string) bool
TEXT ·decodeString(SB), NOSPLIT, $0-49
	READER(ret+48(FP), ·twinDecodeString(SB))

// func decodeRun(c *Codec, first, text []byte, pairs int, sep byte) int
TEXT ·decodeRun(SB), NOSPLIT, $0-80
	MOVQ c+0(FP), AX
	MOVQ first_base+8(FP), DI
	MOVQ text_base+32(FP), SI
	MOVQ pairs+56(FP), CX
	MOVB sep+64(FP), R9
	CONSTANTS(VBROADCASTI128, Y4, Y5, Y6, Y7)
next:
	VMOVDQU 0(SI), Y0
	ADDQ $16, SI
	CMPQ first_len+16(FP), $20
	JEQ  long
	CMPB R9, 0(SI)   // between two IDs of 10 bytes
	JNE  end
	INCQ SI
	VINSERTI128 $1, 0(SI), Y0, Y0
long:
	CMPB R9, 16(SI)
	JNE  end
	DECODE(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	JNE  end
	STORE20
	ADDQ $17, SI
	ADDQ $20, DI
	DECQ CX
	JNE  next
end:
	MOVQ pairs+56(FP), BX
	SUBQ CX, BX
	MOVQ BX, ret+72(FP)
	VZEROUPPER
	RET
