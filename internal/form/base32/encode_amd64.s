//go:build !purego && !race && !msan && !asan

#include "textflag.h"

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

// CONSTANTS loads what ENCODE needs. The alphabet is that of a Codec, at AX.
#define CONSTANTS(LOAD, TOP, SECOND, LOWER, UPPER) \
	VPBROADCASTQ top<>(SB), TOP       \
	VPBROADCASTQ second<>(SB), SECOND \
	LOAD         0(AX), LOWER         \
	LOAD         16(AX), UPPER

DATA  top<>(SB)/8, $0x0040001000040001
GLOBL top<>(SB), RODATA|NOPTR, $8
DATA  second<>(SB)/8, $0x1f001f001f001f00
GLOBL second<>(SB), RODATA|NOPTR, $8

// ENCODE20 makes the characters of the 20 bytes at SI. It loads an ID in the two parts that Go writes
// it in: for other parts the processor has to wait.
#define ENCODE20 \
	VBROADCASTI128 4(SI), Y0        \
	VPBROADCASTD   0(SI), Y1        \
	VPBLENDD       $8, Y1, Y0, Y0   \
	ENCODE(Y0, Y1, Y2, bytes20<>(SB), Y3, Y4, Y5, Y6)

// For each pair of characters the bytes that it is in, the second one first.
DATA  bytes10<>+0(SB)/8, $0x0304020301020001
DATA  bytes10<>+8(SB)/8, $0x0809070806070506
GLOBL bytes10<>(SB), RODATA|NOPTR, $16

// Each half of the register has the last 16 bytes, and the first half the first 4 at its end.
DATA  bytes20<>+0(SB)/8, $0x0f000e0f0d0e0c0d
DATA  bytes20<>+8(SB)/8, $0x0405030402030102
DATA  bytes20<>+16(SB)/8, $0x090a080907080607
DATA  bytes20<>+24(SB)/8, $0x0e0f0d0e0c0d0b0c
GLOBL bytes20<>(SB), RODATA|NOPTR, $32

// func encode(c *Codec, dst, id []byte)
TEXT ·encode(SB), NOSPLIT, $0-56
	CMPB ·vectors(SB), $0
	JEQ  twin
	MOVQ c+0(FP), AX
	MOVQ dst_base+8(FP), DI
	ADDQ dst_len+16(FP), DI
	MOVQ id_base+32(FP), SI
	CMPQ id_len+40(FP), $20
	JEQ  long
	CONSTANTS(VMOVDQU, X3, X4, X5, X6)
	VMOVQ 0(SI), X0            // in the two parts that Go writes an ID in
	VPINSRW $4, 8(SI), X0, X0
	ENCODE(X0, X1, X2, bytes10<>(SB), X3, X4, X5, X6)
	VMOVDQU X0, -16(DI)
	RET
long:
	CONSTANTS(VBROADCASTI128, Y3, Y4, Y5, Y6)
	ENCODE20
	VMOVDQU Y0, -32(DI)
	VZEROUPPER
	RET
twin:
	JMP  ·twinEncode(SB)

// func encodeRun(c *Codec, dst, first []byte, pairs int, sep byte)
TEXT ·encodeRun(SB), NOSPLIT, $0-65
	MOVQ c+0(FP), AX
	MOVQ dst_base+8(FP), DI
	MOVQ first_base+32(FP), SI
	MOVQ pairs+56(FP), CX
	MOVB sep+64(FP), R9
	CONSTANTS(VBROADCASTI128, Y3, Y4, Y5, Y6)
next:
	ENCODE20
	VMOVDQU Y0, 0(DI)
	ADDQ $16, DI
	CMPQ first_len+40(FP), $20
	JEQ  long
	MOVB R9, 0(DI)   // between two IDs of 10 bytes
	INCQ DI
	VEXTRACTI128 $1, Y0, 0(DI)
long:
	MOVB R9, 16(DI)
	ADDQ $17, DI
	ADDQ $20, SI
	DECQ CX
	JNE  next
	VZEROUPPER
	RET

// func hasAVX2() bool
TEXT ·hasAVX2(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	MOVL $0, AX
	CPUID
	CMPL AX, $7
	JLT  no
	MOVL $1, AX
	MOVL $0, CX
	CPUID
	ANDL $(1<<27 | 1<<28), CX // the system uses XSAVE, AVX
	CMPL CX, $(1<<27 | 1<<28)
	JNE  no
	MOVL $0, CX
	XGETBV
	ANDL $6, AX               // XMM and YMM are saved
	CMPL AX, $6
	JNE  no
	MOVL $7, AX
	MOVL $0, CX
	CPUID
	ANDL $(1<<5), BX          // AVX2
	JEQ  no
	MOVB $1, ret+0(FP)
no:
	RET
