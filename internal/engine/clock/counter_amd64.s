//go:build linux && !purego

#include "textflag.h"

// func cycles() uint64
//
// It may be executed some instructions early or late: it is not a fence. What that is worth, some
// tens of nanoseconds, is within the margin of a Deadline.
TEXT ·cycles(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
