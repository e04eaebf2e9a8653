/* Routines that read and write numbers of 16 bits, for each format. */
#include "half.h"
#include "math.h"
#include "names.h"

#define HALF(name) name##_bf16
#define WIDE(x) bf16_number(x)
#define ROUNDED(x) bf16_bits(x)
#include "half_rows.h"
#undef HALF
#undef WIDE
#undef ROUNDED
#define HALF(name) name##_fp16
#define WIDE(x) fp16_number(x)
#define ROUNDED(x) fp16_bits(x)
#include "half_rows.h"

void NAME(fill_half_rows)(struct simd* table) {
    fill_bf16(&table->bf16_rows);
    fill_fp16(&table->fp16_rows);
}
