/* AMX's tiles in C, so that what is written for them runs, and is judged, where there are none.
 *
 * TDPBF16PS as Intel's manual has it: of every row and column the products of the lower numbers of the pairs and those of the
 * upper ones are added up apart, each from zero in the order of k; then both sums are added, and what comes of it to the tile.
 * All to nearest even; a subnormal number is taken for zero, and stored as one.  TDPFP16PS is the same of float16, but that its
 * subnormal numbers are kept.  It is not fast. */
#include <stdlib.h>

#include "unit.h"

#if defined(__GNUC__)
#define TILES
#define CONFIGURE(shapes) configure(shapes)
#define RELEASE() release()
#define LOAD(tile, from, stride) load_tile(tile, from, stride)
#define ZERO(tile) zero_tile(tile)
#define DOT(is_fp16, sums, left, right) dot_tiles(is_fp16, sums, left, right)
#define STORE(tile, to, stride) store_tile(tile, to, stride)

struct tile_shapes;
static void configure(const struct tile_shapes* shapes);
static void release(void);
static void load_tile(int tile, const void* from, int64_t stride);
static void zero_tile(int tile);
static void dot_tiles(bool is_fp16, int sums, int left, int right);
static void store_tile(int tile, void* to, int64_t stride);
#include "tiles.h"

struct tile {
    uint8_t data[TILE_HEIGHT][TILE_BYTES];
};
static _Thread_local struct tile tiles[TILE_COUNT];
static _Thread_local struct tile_shapes configured;

/* A processor raises an exception where a tile is not configured. */
static const struct tile* shaped(int tile) {
    if (configured.rows[tile] == 0) abort();
    return &tiles[tile];
}

static void configure(const struct tile_shapes* shapes) {
    configured = *shapes;
    memset(tiles, 0, sizeof tiles);
}

static void release(void) { memset(&configured, 0, sizeof configured); }

static void zero_tile(int tile) {
    (void)shaped(tile);
    memset(&tiles[tile], 0, sizeof tiles[tile]);
}

static void load_tile(int tile, const void* from, int64_t stride) {
    zero_tile(tile); /* the rest of a tile becomes zero */
    for (int i = 0; i < configured.rows[tile]; i++)
        memcpy(tiles[tile].data[i], (const char*)from + i * stride, configured.row_bytes[tile]);
}

static void store_tile(int tile, void* to, int64_t stride) {
    const struct tile* const from = shaped(tile);
    for (int i = 0; i < configured.rows[tile]; i++) memcpy((char*)to + i * stride, from->data[i], configured.row_bytes[tile]);
}

/* To nearest even, subnormal numbers to zero: those below 2^-126 once they are rounded to 24 digits. */
static inline float flushed(double x) {
    const double size = x < 0 ? -x : x;
    return size < 0x1p-126 - 0x1p-151 ? (float)(x * 0.0) : (float)x;
}

static inline float float_of(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Numbers of 16 bits as doubles, in which a product and a sum with a float keep all that rounding asks for. */
static inline double number_of_bf16(uint16_t half) {
    const uint32_t bits = (uint32_t)((half & 0x7f80) == 0 ? half & 0x8000 : half) << 16;
    return (double)float_of(bits);
}

/* A float's exponent is larger by 112; as are those that stand for infinities and NaN, and a subnormal number has no first digit. */
static inline double number_of_fp16(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff, shifted = magnitude << 13;
    if (magnitude < 1 << 10) return (double)(sign ? -0x1p-24f : 0x1p-24f) * (double)magnitude;
    return (double)float_of(sign | (shifted + (magnitude < 0x7c00 ? 112u << 23 : 224u << 23)));
}

/* Numbers of one place in their pairs: [k][j]. */
struct side {
    double number[TILE_HEIGHT][TILE_HEIGHT];
};

static void read_side(bool is_fp16, const struct tile* tile, int place, struct side* side) {
    for (int k = 0; k < TILE_HEIGHT; k++)
        for (int j = 0; j < TILE_HEIGHT; j++) {
            uint16_t half;
            memcpy(&half, tile->data[k] + 4 * j + 2 * place, sizeof half);
            side->number[k][j] = is_fp16 ? number_of_fp16(half) : number_of_bf16(half);
        }
}

/* One row of sums by what stands at one place in the pairs. */
static void dot_side(const double* left, int pairs, const struct side* right, int columns, float* sums) {
    for (int j = 0; j < columns; j++) sums[j] = 0;
    for (int k = 0; k < pairs; k++)
        for (int j = 0; j < columns; j++) sums[j] = flushed(left[k] * right->number[k][j] + (double)sums[j]);
}

static void dot_tiles(bool is_fp16, int sums, int left, int right) {
    const struct tile *const a = shaped(left), *const b = shaped(right);
    (void)shaped(sums);
    const int pairs = configured.row_bytes[left] / 4, columns = configured.row_bytes[sums] / 4;
    struct side lefts[2], rights[2];
    for (int place = 0; place < 2; place++) read_side(is_fp16, a, place, &lefts[place]), read_side(is_fp16, b, place, &rights[place]);
    for (int i = 0; i < configured.rows[sums]; i++) {
        float row[TILE_HEIGHT], apart[2][TILE_HEIGHT];
        for (int place = 0; place < 2; place++) dot_side(lefts[place].number[i], pairs, &rights[place], columns, apart[place]);
        memcpy(row, tiles[sums].data[i], sizeof row);
        for (int j = 0; j < columns; j++) {
            const float both = flushed((double)apart[0][j] + (double)apart[1][j]);
            row[j] = flushed((double)flushed(row[j]) + (double)both);
        }
        memcpy(tiles[sums].data[i], row, sizeof row);
    }
}

const struct unit* amx_emulated_unit(void) {
    static const struct unit unit = {"amx_emulated", UNIT_AMX_EMULATED, STRIP_ROWS, true, multiply_bf16};
    return &unit;
}

const struct unit* amx_fp16_emulated_unit(void) {
    static const struct unit unit = {"amx_emulated", UNIT_AMX_EMULATED, STRIP_ROWS, false, multiply_fp16};
    return &unit;
}
#else
const struct unit* amx_fp16_emulated_unit(void) { return 0; }
const struct unit* amx_emulated_unit(void) { return 0; }
#endif
