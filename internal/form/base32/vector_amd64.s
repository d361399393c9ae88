//go:build amd64 && !purego && !race && !msan && !asan

#include "textflag.h"

// Constants are 32 bytes for a register of 32 characters. Those for 16 are its first half.
#define TWICE(NAME, A, B) \
	DATA  NAME<>+0(SB)/8, A   \
	DATA  NAME<>+8(SB)/8, B   \
	DATA  NAME<>+16(SB)/8, A  \
	DATA  NAME<>+24(SB)/8, B  \
	GLOBL NAME<>(SB), RODATA|NOPTR, $32

// ENCODE makes the 16 or 32 characters of V, with the help of A and B.
//
//	1. The 10 bits of two characters lie in two bytes of a value. SHUFFLE takes these to a
//	   word of their own, the first byte uppermost.
//	2. A multiplication moves the 10 bits to the top of the word.
//	3. Shifts take 5 of them to each byte of the word, the first 5 to the lower byte.
//	4. A shuffle looks up 4 bits, so a character is looked up in the lower half of the
//	   alphabet and in the upper, and the fifth bit, shifted to where a blend looks, says
//	   which it is.
#define ENCODE(V, A, B, SHUFFLE, TOP, SECOND, LOWER, UPPER) \
	VPSHUFB   SHUFFLE, V, V \
	VPMULLW   TOP, V, V     \
	VPSRLW    $11, V, A     \
	VPSLLW    $2, V, V      \
	VPAND     SECOND, V, V  \
	VPOR      A, V, V       \
	VPSHUFB   V, LOWER, A   \
	VPSHUFB   V, UPPER, B   \
	VPSLLW    $3, V, V      \
	VPBLENDVB V, B, A, V

// 10 bytes: for each pair of characters the bytes that it is in, the second one first.
TWICE(pairs10, $0x0304020301020001, $0x0809070806070506)

// 20 bytes: the second half of the register holds the last 16 of them.
DATA  pairs20<>+0(SB)/8, $0x0304020301020001
DATA  pairs20<>+8(SB)/8, $0x0809070806070506
DATA  pairs20<>+16(SB)/8, $0x090a080907080607
DATA  pairs20<>+24(SB)/8, $0x0e0f0d0e0c0d0b0c
GLOBL pairs20<>(SB), RODATA|NOPTR, $32

// An integer, whose bytes lie the other way around: as 10 bytes, the first two of them 0, whose
// last 13 characters are the integer's.
TWICE(pairs8, $0x0605070608070908, $0x0100020103020403)

TWICE(top, $0x0040001000040001, $0x0040001000040001)
TWICE(second, $0x1f001f001f001f00, $0x1f001f001f001f00)

// DECODE makes the values of the 16 or 32 characters of V, 40 bits in each quad word with
// others above them, with the help of A, B and C. FOREIGN is not 0 if one is foreign.
//
//	1. A character is looked up in the three tables by its low half, and its bits 4 and 6,
//	   shifted to where a blend looks, say which value is its own. (A shuffle looks up
//	   nothing, and gives 0, for bytes from 0x80 on.)
//	2. Its high half is looked up among the rows there are. One of the two has the top bit
//	   set for a foreign character.
//	3. Multiplications put two values together, and then two of these: 20 bits in each
//	   double word, of which the first is to be the upper.
#define DECODE(V, A, B, C, FOREIGN, DIGITS, EVEN, ODD, THERE, HALF, PAIR, FOUR) \
	VPSHUFB    V, EVEN, A   \
	VPSHUFB    V, ODD, B    \
	VPSLLW     $3, V, C     \
	VPBLENDVB  C, B, A, A   \
	VPSHUFB    V, DIGITS, B \
	VPSLLW     $1, V, C     \
	VPBLENDVB  C, A, B, A   \
	VPSRLW     $4, V, V     \
	VPAND      HALF, V, V   \
	VPSHUFB    V, THERE, V  \
	VPOR       V, A, V      \
	VPMOVMSKB  V, FOREIGN   \
	VPMADDUBSW PAIR, A, V   \
	VPMADDWD   FOUR, V, V   \
	VPSRLQ     $32, V, A    \
	VPSLLQ     $20, V, V    \
	VPOR       A, V, V

TWICE(half, $0x0f0f0f0f0f0f0f0f, $0x0f0f0f0f0f0f0f0f)
TWICE(pair, $0x0120012001200120, $0x0120012001200120)
TWICE(four, $0x0001040000010400, $0x0001040000010400)

// The bytes of 40 bits and 40 bits, uppermost first.
DATA  bytes10<>+0(SB)/8, $0x0a0b0c0001020304
DATA  bytes10<>+8(SB)/8, $0x8080808080800809

// In the second half of a register they begin at the eleventh and go on at the first.
DATA  bytes10<>+16(SB)/8, $0x8080808008090a0b
DATA  bytes10<>+24(SB)/8, $0x0c00010203048080
GLOBL bytes10<>(SB), RODATA|NOPTR, $32

// The tables of a Codec, at AX.
#define LOWER16 0(AX)
#define UPPER16 16(AX)
#define DIGITS 32(AX)
#define EVEN 48(AX)
#define ODD 64(AX)
#define THERE 80(AX)

// func hasAVX2() bool
TEXT ·hasAVX2(SB), NOSPLIT, $0-1
	MOVB   $0, ret+0(FP)
	MOVL   $0, AX
	CPUID
	CMPL   AX, $7
	JLT    no
	MOVL   $1, AX
	MOVL   $0, CX
	CPUID
	ANDL   $(1<<27 | 1<<28), CX // the system uses XSAVE, AVX
	CMPL   CX, $(1<<27 | 1<<28)
	JNE    no
	MOVL   $0, CX
	XGETBV
	ANDL   $6, AX               // XMM and YMM are saved
	CMPL   AX, $6
	JNE    no
	MOVL   $7, AX
	MOVL   $0, CX
	CPUID
	ANDL   $(1<<5), BX          // AVX2
	JEQ    no
	MOVB   $1, ret+0(FP)
no:
	RET

// func encode63(c *Codec, dst []byte, v uint64)
TEXT ·encode63(SB), NOSPLIT, $0-40
	CMPB    ·vectors(SB), $0
	JEQ     twin
	MOVQ    c+0(FP), AX
	MOVQ    dst_base+8(FP), DI
	ADDQ    dst_len+16(FP), DI
	VMOVQ   v+32(FP), X0
	VMOVDQU LOWER16, X3
	VMOVDQU UPPER16, X4
	ENCODE(X0, X1, X2, pairs8<>(SB), top<>(SB), second<>(SB), X3, X4)
	VPEXTRQ $1, X0, -8(DI)
	VPSRLDQ $3, X0, X0
	VMOVQ   X0, -13(DI)
	RET
twin:
	JMP     ·twinEncode63(SB)

// func encode80(c *Codec, dst []byte, src *[10]byte)
TEXT ·encode80(SB), NOSPLIT, $0-40
	CMPB     ·vectors(SB), $0
	JEQ      twin
	MOVQ     c+0(FP), AX
	MOVQ     dst_base+8(FP), DI
	ADDQ     dst_len+16(FP), DI
	MOVQ     src+32(FP), SI
	VMOVQ    0(SI), X0             // as Go writes it, or the processor has to wait
	VPINSRW  $4, 8(SI), X0, X0
	VMOVDQU  LOWER16, X3
	VMOVDQU  UPPER16, X4
	ENCODE(X0, X1, X2, pairs10<>(SB), top<>(SB), second<>(SB), X3, X4)
	VMOVDQU  X0, -16(DI)
	RET
twin:
	JMP      ·twinEncode80(SB)

// func encode160(c *Codec, dst []byte, src *[20]byte)
TEXT ·encode160(SB), NOSPLIT, $0-40
	CMPB           ·vectors(SB), $0
	JEQ            twin
	MOVQ           c+0(FP), AX
	MOVQ           dst_base+8(FP), DI
	ADDQ           dst_len+16(FP), DI
	MOVQ           src+32(FP), SI
	VMOVDQU        4(SI), X1         // as Go writes it: the last 16 bytes last
	VPSLLDQ        $4, X1, X0
	VPINSRD        $0, 0(SI), X0, X0
	VINSERTI128    $1, X1, Y0, Y0
	VBROADCASTI128 LOWER16, Y3
	VBROADCASTI128 UPPER16, Y4
	ENCODE(Y0, Y1, Y2, pairs20<>(SB), top<>(SB), second<>(SB), Y3, Y4)
	VMOVDQU        Y0, -32(DI)
	VZEROUPPER
	RET
twin:
	JMP            ·twinEncode160(SB)

// The functions that read a string or a slice differ in where their results are. RESULT is that
// place, LEN that of the text's length.

#define DECODE63(LEN, RESULT) \
	CMPQ    LEN, $13          \
	JNE     bad               \
	VMOVDQU DIGITS, X4        \
	VMOVDQU EVEN, X5          \
	VMOVDQU ODD, X6           \
	VMOVDQU THERE, X7         \
	VMOVQ   0(SI), X0         \
	VPINSRQ $1, 5(SI), X0, X0 \
	DECODE(X0, X1, X2, X3, BX, X4, X5, X6, X7, half<>(SB), pair<>(SB), four<>(SB)) \
	INTEGER                   \
	JNE     bad               \
	MOVQ    DX, RESULT        \
	RET                       \
bad:                          \
	MOVQ    $-1, RESULT       \
	RET

// INTEGER makes DX of the first 8 characters of 13 and of the last 8, which share three, in
// X0. It leaves the flag for zero clear if one is foreign, by BX, or the integer too large.
#define INTEGER \
	VPSLLQ  $24, X0, X0    \
	VPSRLQ  $24, X0, X0    \
	VMOVQ   X0, CX         \
	VPEXTRQ $1, X0, DX     \
	MOVQ    CX, R8         \
	SHLQ    $25, CX        \
	ORQ     CX, DX         \
	SHRQ    $38, R8        \
	ORL     R8, BX

#define DECODE80(LEN, RESULT) \
	CMPQ    LEN, $16          \
	JNE     bad               \
	VMOVDQU DIGITS, X4        \
	VMOVDQU EVEN, X5          \
	VMOVDQU ODD, X6           \
	VMOVDQU THERE, X7         \
	VMOVDQU 0(SI), X0         \
	DECODE(X0, X1, X2, X3, BX, X4, X5, X6, X7, half<>(SB), pair<>(SB), four<>(SB)) \
	TESTL   BX, BX            \
	JNE     bad               \
	VPSHUFB bytes10<>(SB), X0, X0 \
	VMOVQ   X0, 0(DI)         \
	VPEXTRW $4, X0, 8(DI)     \
	MOVB    $1, RESULT        \
	RET                       \
bad:                          \
	MOVB    $0, RESULT        \
	RET

#define DECODE160(LEN, RESULT) \
	CMPQ           LEN, $32   \
	JNE            bad        \
	VBROADCASTI128 DIGITS, Y4 \
	VBROADCASTI128 EVEN, Y5   \
	VBROADCASTI128 ODD, Y6    \
	VBROADCASTI128 THERE, Y7  \
	VMOVDQU        0(SI), Y0  \
	DECODE(Y0, Y1, Y2, Y3, BX, Y4, Y5, Y6, Y7, half<>(SB), pair<>(SB), four<>(SB)) \
	TESTL          BX, BX     \
	JNE            foreign    \
	VPSHUFB        bytes10<>(SB), Y0, Y0 \
	VEXTRACTI128   $1, Y0, X1 \
	VPBLENDW       $0xe0, X1, X0, X0 \
	VMOVDQU        X0, 0(DI)  \
	VMOVD          X1, 16(DI) \
	VZEROUPPER                \
	MOVB           $1, RESULT \
	RET                       \
foreign:                      \
	VZEROUPPER                \
bad:                          \
	MOVB           $0, RESULT \
	RET

// func decode63(c *Codec, s string) int64
TEXT ·decode63(SB), NOSPLIT, $0-32
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ s_base+8(FP), SI
	DECODE63(s_len+16(FP), ret+24(FP))
twin:
	JMP  ·twin63(SB)

// func decode63Bytes(c *Codec, s []byte) int64
TEXT ·decode63Bytes(SB), NOSPLIT, $0-40
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ s_base+8(FP), SI
	DECODE63(s_len+16(FP), ret+32(FP))
twin:
	JMP  ·twin63Bytes(SB)

// func decode80(c *Codec, dst *[10]byte, s string) bool
TEXT ·decode80(SB), NOSPLIT, $0-33
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ s_base+16(FP), SI
	DECODE80(s_len+24(FP), ret+32(FP))
twin:
	JMP  ·twin80(SB)

// func decode80Bytes(c *Codec, dst *[10]byte, s []byte) bool
TEXT ·decode80Bytes(SB), NOSPLIT, $0-41
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ s_base+16(FP), SI
	DECODE80(s_len+24(FP), ret+40(FP))
twin:
	JMP  ·twin80Bytes(SB)

// func decode160(c *Codec, dst *[20]byte, s string) bool
TEXT ·decode160(SB), NOSPLIT, $0-33
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ s_base+16(FP), SI
	DECODE160(s_len+24(FP), ret+32(FP))
twin:
	JMP  ·twin160(SB)

// func decode160Bytes(c *Codec, dst *[20]byte, s []byte) bool
TEXT ·decode160Bytes(SB), NOSPLIT, $0-41
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ s_base+16(FP), SI
	DECODE160(s_len+24(FP), ret+40(FP))
twin:
	JMP  ·twin160Bytes(SB)

// Runs keep in registers what the functions above read from memory. R10 counts the values, of
// which there are CX, and R9 is what separates the texts.

#define BEGIN(DONE) \
	MOVQ $0, DONE        \
	CMPB ·vectors(SB), $0 \
	JEQ  none            \
	MOVQ c+0(FP), AX     \
	MOVQ $0, R10

#define ENCODER(LOAD, SHUFFLE, V3, V4, V5, V6, V7) \
	LOAD    LOWER16, V3        \
	LOAD    UPPER16, V4        \
	VMOVDQU SHUFFLE, V5        \
	VMOVDQU top<>(SB), V6      \
	VMOVDQU second<>(SB), V7

#define DECODER(LOAD, V4, V5, V6, V7, V8, V9, V10, V11) \
	LOAD    DIGITS, V4         \
	LOAD    EVEN, V5           \
	LOAD    ODD, V6            \
	LOAD    THERE, V7          \
	VMOVDQU half<>(SB), V8     \
	VMOVDQU pair<>(SB), V9     \
	VMOVDQU four<>(SB), V10    \
	VMOVDQU bytes10<>(SB), V11

// func encodeRun63(c *Codec, dst []byte, first *int64, n int, sep byte) int
TEXT ·encodeRun63(SB), NOSPLIT, $0-64
	BEGIN(ret+56(FP))
	MOVQ    dst_base+8(FP), DI
	MOVQ    first+32(FP), SI
	MOVQ    n+40(FP), CX
	MOVB    sep+48(FP), R9
	ENCODER(VMOVDQU, pairs8<>(SB), X3, X4, X5, X6, X7)
next:
	CMPQ    R10, CX
	JGE     end
	MOVQ    0(SI), BX
	TESTQ   BX, BX
	JLT     end
	VMOVQ   BX, X0
	ENCODE(X0, X1, X2, X5, X6, X7, X3, X4)
	VPEXTRQ $1, X0, 5(DI)
	VPSRLDQ $3, X0, X0
	VMOVQ   X0, 0(DI)
	MOVB    R9, 13(DI)
	ADDQ    $8, SI
	ADDQ    $14, DI
	INCQ    R10
	JMP     next
end:
	MOVQ    R10, ret+56(FP)
none:
	RET

// func encodeRun80(c *Codec, dst []byte, first *[10]byte, n int, sep byte) int
TEXT ·encodeRun80(SB), NOSPLIT, $0-64
	BEGIN(ret+56(FP))
	MOVQ    dst_base+8(FP), DI
	MOVQ    first+32(FP), SI
	MOVQ    n+40(FP), CX
	MOVB    sep+48(FP), R9
	ENCODER(VMOVDQU, pairs10<>(SB), X3, X4, X5, X6, X7)
next:
	CMPQ    R10, CX
	JGE     end
	VMOVQ   0(SI), X0
	VPINSRW $4, 8(SI), X0, X0
	ENCODE(X0, X1, X2, X5, X6, X7, X3, X4)
	VMOVDQU X0, 0(DI)
	MOVB    R9, 16(DI)
	ADDQ    $10, SI
	ADDQ    $17, DI
	INCQ    R10
	JMP     next
end:
	MOVQ    R10, ret+56(FP)
none:
	RET

// func encodeRun160(c *Codec, dst []byte, first *[20]byte, n int, sep byte) int
TEXT ·encodeRun160(SB), NOSPLIT, $0-64
	BEGIN(ret+56(FP))
	MOVQ        dst_base+8(FP), DI
	MOVQ        first+32(FP), SI
	MOVQ        n+40(FP), CX
	MOVB        sep+48(FP), R9
	ENCODER(VBROADCASTI128, pairs20<>(SB), Y3, Y4, Y5, Y6, Y7)
next:
	CMPQ        R10, CX
	JGE         end
	VMOVDQU     0(SI), X0
	VINSERTI128 $1, 4(SI), Y0, Y0
	ENCODE(Y0, Y1, Y2, Y5, Y6, Y7, Y3, Y4)
	VMOVDQU     Y0, 0(DI)
	MOVB        R9, 32(DI)
	ADDQ        $20, SI
	ADDQ        $33, DI
	INCQ        R10
	JMP         next
end:
	MOVQ        R10, ret+56(FP)
	VZEROUPPER
none:
	RET

// func decodeRun63(c *Codec, first *int64, n int, text []byte, sep byte) int
TEXT ·decodeRun63(SB), NOSPLIT, $0-64
	BEGIN(ret+56(FP))
	MOVQ    first+8(FP), DI
	MOVQ    n+16(FP), R11
	MOVQ    text_base+24(FP), SI
	MOVB    sep+48(FP), R9
	DECODER(VMOVDQU, X4, X5, X6, X7, X8, X9, X10, X11)
next:
	CMPQ    R10, R11
	JGE     end
	CMPB    R9, 13(SI)
	JNE     end
	VMOVQ   0(SI), X0
	VPINSRQ $1, 5(SI), X0, X0
	DECODE(X0, X1, X2, X3, BX, X4, X5, X6, X7, X8, X9, X10)
	INTEGER
	JNE     end
	MOVQ    DX, 0(DI)
	ADDQ    $14, SI
	ADDQ    $8, DI
	INCQ    R10
	JMP     next
end:
	MOVQ    R10, ret+56(FP)
none:
	RET

// func decodeRun80(c *Codec, first *[10]byte, n int, text []byte, sep byte) int
TEXT ·decodeRun80(SB), NOSPLIT, $0-64
	BEGIN(ret+56(FP))
	MOVQ    first+8(FP), DI
	MOVQ    n+16(FP), R11
	MOVQ    text_base+24(FP), SI
	MOVB    sep+48(FP), R9
	DECODER(VMOVDQU, X4, X5, X6, X7, X8, X9, X10, X11)
next:
	CMPQ    R10, R11
	JGE     end
	CMPB    R9, 16(SI)
	JNE     end
	VMOVDQU 0(SI), X0
	DECODE(X0, X1, X2, X3, BX, X4, X5, X6, X7, X8, X9, X10)
	TESTL   BX, BX
	JNE     end
	VPSHUFB X11, X0, X0
	VMOVQ   X0, 0(DI)
	VPEXTRW $4, X0, 8(DI)
	ADDQ    $17, SI
	ADDQ    $10, DI
	INCQ    R10
	JMP     next
end:
	MOVQ    R10, ret+56(FP)
none:
	RET

// func decodeRun160(c *Codec, first *[20]byte, n int, text []byte, sep byte) int
TEXT ·decodeRun160(SB), NOSPLIT, $0-64
	BEGIN(ret+56(FP))
	MOVQ         first+8(FP), DI
	MOVQ         n+16(FP), R11
	MOVQ         text_base+24(FP), SI
	MOVB         sep+48(FP), R9
	DECODER(VBROADCASTI128, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11)
next:
	CMPQ         R10, R11
	JGE          end
	CMPB         R9, 32(SI)
	JNE          end
	VMOVDQU      0(SI), Y0
	DECODE(Y0, Y1, Y2, Y3, BX, Y4, Y5, Y6, Y7, Y8, Y9, Y10)
	TESTL        BX, BX
	JNE          end
	VPSHUFB      Y11, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPBLENDW     $0xe0, X1, X0, X0
	VMOVDQU      X0, 0(DI)
	VMOVD        X1, 16(DI)
	ADDQ         $33, SI
	ADDQ         $20, DI
	INCQ         R10
	JMP          next
end:
	MOVQ         R10, ret+56(FP)
	VZEROUPPER
none:
	RET
