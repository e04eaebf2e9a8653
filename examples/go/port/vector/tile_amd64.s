#include "textflag.h"

// func cpuid(leaf, sub uint32) (b, c uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-16
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL BX, b+8(FP)
	MOVL CX, c+12(FP)
	RET

// func xgetbv() (a uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, a+0(FP)
	RET

// One row of the tile: its sums stand in left and right.
#define ROW(at, left, right) \
	VBROADCASTSS at(SI), Y2 \
	VFMADD231PS  Y0, Y2, left \
	VFMADD231PS  Y1, Y2, right

#define CLEAR(left, right) \
	VXORPS left, left, left \
	VXORPS right, right, right

#define STORE(at, left, right) \
	VMOVUPS left, at(DX) \
	VMOVUPS right, (at+32)(DX)

// func tileFMA(depth int, a, b, sums *float32)
TEXT ·tileFMA(SB), NOSPLIT, $0-32
	MOVQ depth+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ sums+24(FP), DX
	CLEAR(Y4, Y5)
	CLEAR(Y6, Y7)
	CLEAR(Y8, Y9)
	CLEAR(Y10, Y11)
	CLEAR(Y12, Y13)
	CLEAR(Y14, Y15)

loop:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	ROW(0, Y4, Y5)
	ROW(4, Y6, Y7)
	ROW(8, Y8, Y9)
	ROW(12, Y10, Y11)
	ROW(16, Y12, Y13)
	ROW(20, Y14, Y15)
	ADDQ $24, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  loop
	STORE(0, Y4, Y5)
	STORE(64, Y6, Y7)
	STORE(128, Y8, Y9)
	STORE(192, Y10, Y11)
	STORE(256, Y12, Y13)
	STORE(320, Y14, Y15)
	VZEROUPPER
	RET
