/* Element by element over tensors of any layout.
 *
 * Axes are turned, sorted and joined (strides.h) until few are left: a dense tensor has one.  What is left is cut into tiles of
 * the two innermost, and the function works on runs along the innermost.  Inputs that do not lie in runs are gathered into
 * buffers, which the caches hold, and what the function gives is laid out where the output does not lie in runs either. */
#include "check.h"
#include "parallel.h"
#include "simd.h"
#include "strides.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 512, INPUTS = 2, OUTPUT = 0, IDENTITY = 0 /* of assayer.h */ };
enum { CACHE_LINE = 16, PIECE = 256 }; /* floats */
/* Floats of all operands, from which on results are stored past the caches: 40 MiB.  Cores that share 32 MiB of the last cache (Zen
 * 3 to 5) keep less than that from one call to the next, and are half as quick again where they may. */
enum { STREAMED = 10 << 20 };
enum { RUN = 1 << 16, REPEATED = 1024 }; /* elements of a tile that is not gathered; columns where an input repeats one number */

struct call {
    struct layout at;
    float* output;
    const float* inputs[INPUTS];
    int input_count;
    void (*map)(int64_t n, const float* x, float* y);
    void (*zip)(int64_t n, const float* a, const float* b, float* y);
    int one;               /* the operand of which zip reads one number for a row; 0, the output, where there is none */
    bool copies;           /* map changes nothing: what is gathered need not pass through a buffer */
    int64_t rows, columns; /* of a tile, along axes 1 and 0 */
    bool past_caches;      /* whether what is written is stored past them */
};

/* One tile: where it begins in each operand, its rows and columns. */
struct tile {
    int64_t offsets[MOST_OPERANDS];
    int64_t rows, columns;
};

static int64_t row_count(const struct layout* at) { return at->axes == 1 ? 1 : at->lengths[1]; }
static int64_t row_stride(const struct layout* at, int operand) { return at->axes == 1 ? 0 : at->strides[operand][1]; }

static int64_t tiles_of(const struct call* c) {
    int64_t count = ceil_div(c->at.lengths[0], c->columns) * ceil_div(row_count(&c->at), c->rows);
    for (int k = 2; k < c->at.axes; k++) count *= c->at.lengths[k];
    return count;
}

static struct tile tile_at(const struct call* c, int64_t number) {
    const struct layout* const at = &c->at;
    const int64_t across = ceil_div(at->lengths[0], c->columns), down = ceil_div(row_count(at), c->rows);
    const int64_t column = number % across * c->columns, row = number / across % down * c->rows;
    struct tile tile = {.rows = min64(c->rows, row_count(at) - row), .columns = min64(c->columns, at->lengths[0] - column)};
    number /= across * down;
    for (int o = 0; o <= c->input_count; o++)
        tile.offsets[o] = at->offsets[o] + column * at->strides[o][0] + row * row_stride(at, o) + steps_to(at, o, 2, number);
    return tile;
}

/* A tile's operands: the rows that the function reads and writes, in place or in a buffer. */
struct rows {
    float* data;
    int64_t row;
};

static struct rows input_rows(const struct call* c, const struct tile* tile, int input, float* buffer) {
    const int operand = input + 1;
    const int64_t along = c->at.strides[operand][0], down = row_stride(&c->at, operand);
    const float* const from = c->inputs[input] + tile->offsets[operand];
    if (along == 1 || tile->columns == 1) return (struct rows){(float*)from, down}; /* read only */
    simd()->gather(from, along, down, tile->rows, tile->columns, buffer, TILE_COLUMNS);
    return (struct rows){buffer, TILE_COLUMNS};
}

static void do_row(const struct call* c, int64_t n, const struct rows* in, int64_t row, float* to) {
    if (c->map) c->map(n, in[0].data + row * in[0].row, to);
    else c->zip(n, in[0].data + row * in[0].row, in[1].data + row * in[1].row, to);
}

/* The same past the caches: by way of pieces that the closest one holds, while those behind the next one are on their way. */
static void stream_row(const struct call* c, int64_t n, const struct rows* in, float* to) {
    float piece[PIECE];
    for (int64_t at = 0, length; at < n; at += length) {
        const int64_t past_line = (int64_t)((uintptr_t)(to + at) / sizeof(float) % CACHE_LINE);
        length = min64(PIECE - past_line, n - at); /* whole lines, but for the ends */
        const float *const first = in[0].data + at, *const second = c->zip ? in[1].data + at : first;
        if (c->map) c->map(length, first, piece);
        else c->zip(length, first, second, piece);
        simd()->stream(length, piece, to + at, (uintptr_t)first + 2 * sizeof piece, (uintptr_t)second + 2 * sizeof piece);
    }
}

static void do_tile(const struct call* c, const struct tile* tile) {
    float buffers[INPUTS + 1][TILE_ROWS * TILE_COLUMNS];
    const int64_t along = c->at.strides[OUTPUT][0], down = row_stride(&c->at, OUTPUT);
    if (c->copies && along == 1) {
        simd()->gather(c->inputs[0] + tile->offsets[1], c->at.strides[1][0], row_stride(&c->at, 1), tile->rows, tile->columns,
                       c->output + tile->offsets[OUTPUT], down);
        return;
    }
    struct rows in[INPUTS] = {{0}};
    for (int i = 0; i < c->input_count; i++) in[i] = input_rows(c, tile, i, buffers[i]);
    for (int64_t i = 0; i < tile->rows; i++) {
        float* const out = c->output + tile->offsets[OUTPUT] + i * down;
        do_row(c, tile->columns, in, i, along == 1 ? out : buffers[INPUTS]);
        if (along != 1) simd()->scatter(buffers[INPUTS], along, tile->columns, out);
    }
}

/* Rows of one number each, past the caches. */
static void stream_numbers(const float* numbers, const struct tile* tile, float* to, int64_t down) {
    float piece[PIECE];
    for (int64_t i = 0; i < tile->rows; i++, to += down) {
        simd()->gather(numbers + i, 0, 0, 1, PIECE, piece, 0);
        for (int64_t at = 0, length; at < tile->columns; at += length) {
            const int64_t past_line = (int64_t)((uintptr_t)(to + at) / sizeof(float) % CACHE_LINE);
            length = min64(PIECE - past_line, tile->columns - at);
            simd()->stream(length, piece, to + at, (uintptr_t)piece, (uintptr_t)piece);
        }
    }
}

/* A tile of a map whose input repeats one number along the innermost axis: the function is taken once for a row. */
static void do_tile_of_repeats(const struct call* c, const struct tile* tile) {
    float numbers[REPEATED], mapped[REPEATED];
    float* const to = c->output + tile->offsets[OUTPUT];
    const int64_t down = row_stride(&c->at, OUTPUT);
    simd()->gather(c->inputs[0] + tile->offsets[1], row_stride(&c->at, 1), 0, 1, tile->rows, numbers, 0);
    c->map(tile->rows, numbers, mapped);
    if (c->past_caches) stream_numbers(mapped, tile, to, down);
    else simd()->gather(mapped, 0, 1, tile->rows, tile->columns, to, down);
}

/* A tile whose operands all lie in runs along the innermost axis, or repeat one number there. */
static void do_tile_in_runs(const struct call* c, const struct tile* tile) {
    _Alignas(64) float repeated[INPUTS][REPEATED];
    const struct simd* const v = simd();
    const float* from[INPUTS];
    float* to = c->output + tile->offsets[OUTPUT];
    for (int k = 0; k < c->input_count; k++) from[k] = c->inputs[k] + tile->offsets[k + 1];
    for (int64_t i = 0; i < tile->rows; i++) {
        struct rows in[INPUTS];
        for (int k = 0; k < c->input_count; k++) {
            in[k] = (struct rows){(float*)from[k], 0}; /* read only */
            from[k] += row_stride(&c->at, k + 1);
            if (c->at.strides[k + 1][0] == 1 || k + 1 == c->one) continue;
            v->gather(in[k].data, 0, 0, 1, tile->columns, repeated[k], 0);
            in[k].data = repeated[k];
        }
        if (c->past_caches) stream_row(c, tile->columns, in, to);
        else do_row(c, tile->columns, in, 0, to);
        to += row_stride(&c->at, OUTPUT);
    }
}

/* Cuts the tiles; true where each operand lies in runs along the innermost axis or, being an input, repeats one number. */
static bool cut(struct call* c) {
    bool in_runs = c->at.strides[OUTPUT][0] == 1, repeats = false;
    for (int k = 1; k <= c->input_count; k++) {
        in_runs = in_runs && (c->at.strides[k][0] == 0 || c->at.strides[k][0] == 1);
        repeats = repeats || (c->at.strides[k][0] == 0 && k != c->one);
    }
    const int64_t run = max64(CHUNK, min64(RUN, elements_of(&c->at) / 16)); /* enough of them for several threads */
    c->columns = !in_runs ? TILE_COLUMNS : repeats ? REPEATED : run;
    c->rows = in_runs ? max64(1, min64(REPEATED, run / min64(c->columns, c->at.lengths[0]))) : TILE_ROWS;
    return in_runs;
}

/* Elements of all operands, where one that repeats along an axis counts once. */
static int64_t occupied(const struct call* c) {
    int64_t total = 0;
    for (int o = 0; o <= c->input_count; o++) {
        int64_t places = 1;
        for (int k = 0; k < c->at.axes; k++) places *= c->at.strides[o][k] == 0 ? 1 : c->at.lengths[k];
        total += places;
    }
    return total;
}

/* Chooses the form of the function that reads one number of an operand which repeats it beside a run. */
static void take_one(struct call* c, int function) {
    const int64_t a = c->at.strides[1][0], b = c->at.strides[2][0];
    const int side = a == 0 && b == 1 ? 0 : a == 1 && b == 0 ? 1 : INPUTS;
    if (side == INPUTS || !simd()->zip_of_one[side][function]) return;
    c->zip = simd()->zip_of_one[side][function];
    c->one = side + 1;
}

static int32_t do_all(struct call* c, int function) {
    simplify(&c->at, c->input_count + 1);
    bring_close_axis(&c->at, c->input_count + 1);
    c->past_caches = occupied(c) >= STREAMED;
    if (c->zip && !c->past_caches) take_one(c, function);
    const bool in_runs = cut(c), repeats = c->map && c->at.strides[1][0] == 0;
    const int64_t tiles = tiles_of(c);
    PARALLEL_FOR(elements_of(&c->at) >= SERIAL_BELOW)
    for (int64_t number = 0; number < tiles; number++) {
        const struct tile tile = tile_at(c, number);
        if (!in_runs) do_tile(c, &tile);
        else if (repeats) do_tile_of_repeats(c, &tile);
        else do_tile_in_runs(c, &tile);
        if (in_runs && c->past_caches) simd()->settle();
    }
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
    c.copies = function == IDENTITY;
    set_shape(&c.at, axes, shape);
    set_operand(&c.at, OUTPUT, output_strides, output_offset);
    set_operand(&c.at, 1, input_strides, input_offset);
    return elements_of(&c.at) == 0 ? ASSAYER_OK : do_all(&c, function);
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
    return elements_of(&c.at) == 0 ? ASSAYER_OK : do_all(&c, function);
}
