#include "textflag.h"

// func write10(dst []byte, src *[10]byte)
TEXT ·write10(SB), NOSPLIT, $0-32
	MOVQ dst_base+0(FP), DI
	ADDQ dst_len+8(FP), DI
	MOVQ src+24(FP), SI
	MOVQ 0(SI), AX
	MOVW 8(SI), BX
	MOVQ AX, -16(DI)
	MOVW BX, -8(DI)
	RET

// func write8(dst []byte, v uint64)
TEXT ·write8(SB), NOSPLIT, $0-32
	MOVQ dst_base+0(FP), DI
	ADDQ dst_len+8(FP), DI
	MOVQ v+24(FP), AX
	MOVQ AX, -13(DI)
	RET

// func write20(dst []byte, src *[20]byte)
TEXT ·write20(SB), NOSPLIT, $0-32
	MOVQ    dst_base+0(FP), DI
	ADDQ    dst_len+8(FP), DI
	MOVQ    src+24(FP), SI
	MOVL    0(SI), AX
	VMOVDQU 4(SI), X0         // as Go writes it: the last 16 bytes last
	MOVL    AX, -32(DI)
	VMOVDQU X0, -28(DI)
	RET

// func read10(dst *[10]byte, s string) bool
TEXT ·read10(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ s_base+8(FP), SI
	CMPQ s_len+16(FP), $16
	JNE  bad
	MOVQ 0(SI), AX
	MOVW 8(SI), BX
	MOVQ AX, 0(DI)
	MOVW BX, 8(DI)
	MOVB $1, ret+24(FP)
	RET
bad:
	MOVB $0, ret+24(FP)
	RET

// func read8(s string) int64
TEXT ·read8(SB), NOSPLIT, $0-24
	MOVQ s_base+0(FP), SI
	CMPQ s_len+8(FP), $13
	JNE  bad
	MOVQ 0(SI), AX
	MOVQ AX, ret+16(FP)
	RET
bad:
	MOVQ $-1, ret+16(FP)
	RET

// func read20(dst *[20]byte, s string) bool
TEXT ·read20(SB), NOSPLIT, $0-25
	MOVQ    dst+0(FP), DI
	MOVQ    s_base+8(FP), SI
	CMPQ    s_len+16(FP), $32
	JNE     bad
	MOVL    0(SI), AX
	VMOVDQU 4(SI), X0
	MOVL    AX, 0(DI)
	VMOVDQU X0, 4(DI)
	MOVB    $1, ret+24(FP)
	RET
bad:
	MOVB    $0, ret+24(FP)
	RET
