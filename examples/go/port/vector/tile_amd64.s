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

// func expFMA(n int, x *float32, factor, shift float32, y *float32)
// y = exp(factor * x - shift), eight at a time, as Exp has it.
TEXT ·expFMA(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ x+8(FP), SI
	MOVQ y+24(FP), DI
	VBROADCASTSS factor+16(FP), Y14
	VBROADCASTSS shift+20(FP), Y15
	VBROADCASTSS ·constants+0(SB), Y13  // highest
	VBROADCASTSS ·constants+4(SB), Y12  // lowest
	VBROADCASTSS ·constants+8(SB), Y11  // log2(e)
	VBROADCASTSS ·constants+12(SB), Y10 // rounder
	VBROADCASTSS ·constants+16(SB), Y9  // ln 2, the first part
	VBROADCASTSS ·constants+20(SB), Y8  // and the rest, negative

next:
	VMOVUPS (SI), Y0
	VMULPS Y14, Y0, Y0
	VSUBPS Y15, Y0, Y0
	VMINPS Y0, Y13, Y1 // a NaN stays
	VMAXPS Y1, Y12, Y1
	VMOVAPS Y1, Y2
	VFMADD213PS Y10, Y11, Y2 // x * log2(e) + rounder
	VSUBPS Y10, Y2, Y3 // n
	VFNMADD231PS Y9, Y3, Y1
	VFNMADD231PS Y8, Y3, Y1 // r
	VBROADCASTSS ·constants+24(SB), Y4
	VBROADCASTSS ·constants+28(SB), Y5
	VFMADD213PS Y5, Y1, Y4
	VBROADCASTSS ·constants+32(SB), Y5
	VFMADD213PS Y5, Y1, Y4
	VBROADCASTSS ·constants+36(SB), Y5
	VFMADD213PS Y5, Y1, Y4
	VBROADCASTSS ·constants+40(SB), Y5
	VFMADD213PS Y5, Y1, Y4
	VBROADCASTSS ·constants+44(SB), Y5
	VFMADD213PS Y5, Y1, Y4
	VBROADCASTSS ·constants+48(SB), Y5
	VFMADD213PS Y5, Y1, Y4
	VFMADD213PS Y5, Y1, Y4
	VPSUBD Y10, Y2, Y2
	VPBROADCASTD ·constants+52(SB), Y6 // 254
	VPADDD Y6, Y2, Y2
	VPSRLD $1, Y2, Y3
	VPSUBD Y3, Y2, Y2
	VPSLLD $23, Y3, Y3
	VPSLLD $23, Y2, Y2
	VMULPS Y3, Y4, Y4
	VMULPS Y2, Y4, Y4
	VCMPPS $1, Y12, Y0, Y5
	VANDNPS Y4, Y5, Y4
	VMOVUPS Y4, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  next
	VZEROUPPER
	RET
