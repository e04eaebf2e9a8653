/* Element by element over tensors of any layout.
 *
 * Axes are turned, sorted and joined (strides.h) until few are left: a dense tensor has one.  What is left is cut into tiles of
 * the two innermost; inputs that do not lie in runs along the innermost are gathered into buffers, which the caches hold,
 * the function works on runs, and what it gives is laid out where the output does not lie in runs either. */
#include "check.h"
#include "parallel.h"
#include "simd.h"
#include "strides.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 512, INPUTS = 2, OUTPUT = 0 };

struct call {
    struct layout at;
    float* output;
    const float* inputs[INPUTS];
    int input_count;
    void (*map)(int64_t n, const float* x, float* y);
    void (*zip)(int64_t n, const float* a, const float* b, float* y);
};

/* One tile: where it begins in each operand, its rows (axis 1) and columns (axis 0). */
struct tile {
    int64_t offsets[MOST_OPERANDS];
    int64_t rows, columns;
};

static int64_t tile_columns(const struct layout* at) { return at->axes == 1 ? CHUNK : TILE_COLUMNS; }
static int64_t row_count(const struct layout* at) { return at->axes == 1 ? 1 : at->lengths[1]; }

static int64_t tiles_of(const struct layout* at) {
    int64_t count = ceil_div(at->lengths[0], tile_columns(at)) * ceil_div(row_count(at), TILE_ROWS);
    for (int k = 2; k < at->axes; k++) count *= at->lengths[k];
    return count;
}

static struct tile tile_at(const struct layout* at, int operands, int64_t number) {
    const int64_t columns = tile_columns(at), across = ceil_div(at->lengths[0], columns), down = ceil_div(row_count(at), TILE_ROWS);
    const int64_t column = number % across * columns, row = number / across % down * TILE_ROWS;
    struct tile tile = {.rows = min64(TILE_ROWS, row_count(at) - row), .columns = min64(columns, at->lengths[0] - column)};
    for (int o = 0; o < operands; o++)
        tile.offsets[o] = at->offsets[o] + column * at->strides[o][0] + (at->axes == 1 ? 0 : row * at->strides[o][1]);
    number /= across * down;
    for (int o = 0; o < operands; o++) tile.offsets[o] += steps_to(at, o, 2, number);
    return tile;
}

static int64_t row_stride(const struct layout* at, int operand) { return at->axes == 1 ? 0 : at->strides[operand][1]; }

/* Gathers a tile, its rows one after the other: along the way that its numbers lie closer. */
static void gather(const float* from, int64_t along, int64_t down, int64_t rows, int64_t columns, float* to, int64_t to_row) {
    if (down != 0 && size_of_step(down) < size_of_step(along)) {
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) to[i * to_row + j] = from[i * down + j * along];
    } else {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down + j * along];
    }
}

static void scatter(const float* from, int64_t along, int64_t columns, float* to) {
    for (int64_t j = 0; j < columns; j++) to[j * along] = from[j];
}

/* A tile's operands: the rows that the function reads and writes, in place or in a buffer. */
struct rows {
    float* data;
    int64_t row;
};

static struct rows input_rows(const struct call* c, const struct tile* tile, int input, float* buffer) {
    const int operand = input + 1;
    const int64_t along = c->at.strides[operand][0], down = row_stride(&c->at, operand), row = tile_columns(&c->at);
    const float* const from = c->inputs[input] + tile->offsets[operand];
    if (along == 1 || tile->columns == 1) return (struct rows){(float*)from, down}; /* read only */
    gather(from, along, down, tile->rows, tile->columns, buffer, row);
    return (struct rows){buffer, row};
}

static void do_tile(const struct call* c, int64_t number) {
    float buffers[INPUTS + 1][TILE_ROWS * TILE_COLUMNS]; /* a tile of one axis is one row of CHUNK numbers */
    const struct tile tile = tile_at(&c->at, c->input_count + 1, number);
    struct rows in[INPUTS] = {{0}};
    for (int i = 0; i < c->input_count; i++) in[i] = input_rows(c, &tile, i, buffers[i]);
    const int64_t along = c->at.strides[OUTPUT][0], down = row_stride(&c->at, OUTPUT);
    for (int64_t i = 0; i < tile.rows; i++) {
        float* const out = c->output + tile.offsets[OUTPUT] + i * down;
        float* const to = along == 1 ? out : buffers[INPUTS];
        if (c->map) c->map(tile.columns, in[0].data + i * in[0].row, to);
        else c->zip(tile.columns, in[0].data + i * in[0].row, in[1].data + i * in[1].row, to);
        if (along != 1) scatter(to, along, tile.columns, out);
    }
}

_Static_assert(CHUNK <= TILE_ROWS * TILE_COLUMNS, "a buffer holds a tile of one axis");

static int32_t do_all(struct call* c) {
    simplify(&c->at, c->input_count + 1);
    bring_close_axis(&c->at, c->input_count + 1);
    const int64_t tiles = tiles_of(&c->at);
    PARALLEL_FOR(elements_of(&c->at) >= SERIAL_BELOW)
    for (int64_t number = 0; number < tiles; number++) do_tile(c, number);
    return ASSAYER_OK;
}

int32_t cuda_map_strided(const float* input, float* output, const int64_t* shape, const int64_t* input_strides,
                         const int64_t* output_strides, int64_t input_size, int64_t output_size, int axes, int64_t input_offset,
                         int64_t output_offset, int function, void* stream) {
    (void)stream;
    CHECK(axes >= 0 && axes <= MOST_AXES && (axes == 0 || (shape && input_strides && output_strides)));
    CHECK(function >= 0 && function < MAP_FUNCTIONS);
    CHECK(strides_fit(input, input_size, axes, shape, input_strides, input_offset, false));
    CHECK(strides_fit(output, output_size, axes, shape, output_strides, output_offset, true));
    struct call c = {.output = output, .inputs = {input}, .input_count = 1, .map = simd()->map[function]};
    set_shape(&c.at, axes, shape);
    set_operand(&c.at, OUTPUT, output_strides, output_offset);
    set_operand(&c.at, 1, input_strides, input_offset);
    return elements_of(&c.at) == 0 ? ASSAYER_OK : do_all(&c);
}

int32_t cuda_zip_strided(const float* a, const float* b, float* output, const int64_t* shape, const int64_t* a_strides,
                         const int64_t* b_strides, const int64_t* output_strides, int64_t a_size, int64_t b_size,
                         int64_t output_size, int axes, int64_t a_offset, int64_t b_offset, int64_t output_offset, int function,
                         void* stream) {
    (void)stream;
    CHECK(axes >= 0 && axes <= MOST_AXES && (axes == 0 || (shape && a_strides && b_strides && output_strides)));
    CHECK(function >= 0 && function < ZIP_FUNCTIONS);
    CHECK(strides_fit(a, a_size, axes, shape, a_strides, a_offset, false));
    CHECK(strides_fit(b, b_size, axes, shape, b_strides, b_offset, false));
    CHECK(strides_fit(output, output_size, axes, shape, output_strides, output_offset, true));
    struct call c = {.output = output, .inputs = {a, b}, .input_count = 2, .zip = simd()->zip[function]};
    set_shape(&c.at, axes, shape);
    set_operand(&c.at, OUTPUT, output_strides, output_offset);
    set_operand(&c.at, 1, a_strides, a_offset);
    set_operand(&c.at, 2, b_strides, b_offset);
    return elements_of(&c.at) == 0 ? ASSAYER_OK : do_all(&c);
}
