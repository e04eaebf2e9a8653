/* A strip of A by panels of B on AMX's tiles, for whoever includes this: amx.c with the processor's tiles, amx_emulated.c with
 * tiles in C.  Each says how a tile is configured, loaded, zeroed, multiplied and stored: CONFIGURE, LOAD, ZERO, DOT, STORE,
 * RELEASE, and TILES, what functions that use them are marked by.  DOT is told whether the factors are float16.
 *
 * Two tiles of 16 rows of A meet two panels of B: four tiles of sums, each of 16 by 16 floats, for four loads and four products
 * of 16 x 32 by 32 x 16.  A strip of fewer rows configures its tiles to them. */
#include "unit.h"

#include <string.h>

enum { TILE_HEIGHT = 16, TILE_BYTES = 64, STRIP_ROWS = 2 * TILE_HEIGHT };
/* The numbers of the tiles; gcc makes assembly of them, and so takes digits alone. */
#define SUM_00 0
#define SUM_01 1
#define SUM_10 2
#define SUM_11 3
#define LEFT_0 4
#define LEFT_1 5
#define RIGHT_0 6
#define RIGHT_1 7
#define TILE_COUNT 8

/* What the processor reads of memory (Intel, Software Developer's Manual, LDTILECFG). */
struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static struct tile_shapes shapes_of(int rows) {
    const uint8_t upper = (uint8_t)(rows < TILE_HEIGHT ? rows : TILE_HEIGHT), lower = (uint8_t)(rows - upper);
    struct tile_shapes shapes = {.palette = 1};
    const uint8_t rows_of[TILE_COUNT] = {upper, upper, lower, lower, upper, lower, TILE_HEIGHT, TILE_HEIGHT};
    for (int i = 0; i < TILE_COUNT; i++) {
        shapes.rows[i] = rows_of[i];
        shapes.row_bytes[i] = rows_of[i] ? TILE_BYTES : 0; /* a tile is there whole or not at all */
    }
    return shapes;
}

/* has_lower, has_right: whether there are a second tile of A and a second panel; constants, as is_fp16, wherever this is inlined. */
TILES static inline __attribute__((always_inline)) void tile_block(const struct unit_call* call, const uint16_t* b, float* sums,
                                                                   bool is_fp16, bool has_lower, bool has_right) {
    const int64_t row = call->row * (int64_t)sizeof(float), strip_step = (int64_t)call->rows * PAIR_DEPTH;
    float* const lower = sums + TILE_HEIGHT * call->row;
    if (call->adds) {
        LOAD(SUM_00, sums, row);
        if (has_right) LOAD(SUM_01, sums + PAIR_WIDTH, row);
        if (has_lower) LOAD(SUM_10, lower, row);
        if (has_lower && has_right) LOAD(SUM_11, lower + PAIR_WIDTH, row);
    } else {
        ZERO(SUM_00);
        if (has_right) ZERO(SUM_01);
        if (has_lower) ZERO(SUM_10);
        if (has_lower && has_right) ZERO(SUM_11);
    }
    const uint16_t* a = call->strip;
    for (int64_t step = 0; step < call->steps; step++, a += strip_step, b += PAIR_DEPTH * PAIR_WIDTH) {
        LOAD(LEFT_0, a, TILE_BYTES);
        LOAD(RIGHT_0, b, TILE_BYTES);
        DOT(is_fp16, SUM_00, LEFT_0, RIGHT_0);
        if (has_right) LOAD(RIGHT_1, b + call->panel_stride, TILE_BYTES);
        if (has_right) DOT(is_fp16, SUM_01, LEFT_0, RIGHT_1);
        if (has_lower) LOAD(LEFT_1, a + TILE_HEIGHT * PAIR_DEPTH, TILE_BYTES);
        if (has_lower) DOT(is_fp16, SUM_10, LEFT_1, RIGHT_0);
        if (has_lower && has_right) DOT(is_fp16, SUM_11, LEFT_1, RIGHT_1);
    }
    STORE(SUM_00, sums, row);
    if (has_right) STORE(SUM_01, sums + PAIR_WIDTH, row);
    if (has_lower) STORE(SUM_10, lower, row);
    if (has_lower && has_right) STORE(SUM_11, lower + PAIR_WIDTH, row);
}

TILES static inline __attribute__((always_inline)) void multiply_tiles(const struct unit_call* call, bool is_fp16) {
    const struct tile_shapes shapes = shapes_of(call->rows);
    const bool has_lower = call->rows > TILE_HEIGHT;
    CONFIGURE(&shapes);
    for (int j = 0; j < call->panel_count; j += 2) {
        const uint16_t* const b = call->panels + j * call->panel_stride;
        float* const sums = call->sums + j * PAIR_WIDTH;
        const bool has_right = j + 1 < call->panel_count;
        if (has_lower && has_right) tile_block(call, b, sums, is_fp16, true, true);
        else if (has_lower) tile_block(call, b, sums, is_fp16, true, false);
        else if (has_right) tile_block(call, b, sums, is_fp16, false, true);
        else tile_block(call, b, sums, is_fp16, false, false);
    }
    RELEASE(); /* a thread that holds tiles is switched and put to sleep more slowly */
}

TILES static void multiply_bf16(const struct unit_call* call) { multiply_tiles(call, false); }
TILES static void multiply_fp16(const struct unit_call* call) { multiply_tiles(call, true); }
