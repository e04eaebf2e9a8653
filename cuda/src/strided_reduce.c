/* Tensors of any layout joined along some of their axes.
 *
 * A task joins a part of what there is of a tile of elements: side by side where neighbouring elements lie close to each other,
 * and element by element where the numbers of one element do.  Tiles and parts depend on the sizes alone, and parts are joined
 * in their order. */
#include "check.h"
#include "parallel.h"
#include "scratch.h"
#include "simd.h"
#include "strides.h"

#include <math.h>
#include <string.h>

enum { TILE = 1024, PART = 32768, OUTPUT = 0, INPUT = 1, NUMBERS = 0 };
enum { SUM = 0, PRODUCT = 1, MEAN = 4 };

struct reduction {
    struct layout kept;    /* operands: output, input */
    struct layout copies;  /* where each element is written, as the input does not change along these axes; operand: output */
    struct layout numbers; /* what each element is joined of; operand: input */
    const float* input;
    float* output;
    struct join join;
    bool sums;
    double none; /* what joined with x gives x */
    float start;
    double times, divisor; /* what is joined counts so often: an axis along which a number repeats is no more than a factor */
    bool in_runs;        /* the numbers of an element lie closer to each other than neighbouring elements do */
    int64_t tile, parts; /* elements of a tile, along axis 0; parts of an element */
    int64_t each;        /* numbers of an element */
    double* joined;      /* where there are several parts: of every element, part by part */
};

static void collect(const float* from, int64_t step, int64_t n, float* to) { simd()->gather(from, step, 0, 1, n, to, 0); }

/* Numbers from up to `to` of one element, run by run along their innermost axis. */
static double join_runs(const struct reduction* r, const struct join* join, const float* element, int64_t from, int64_t to) {
    const int64_t length = r->numbers.lengths[0], step = r->numbers.strides[NUMBERS][0];
    double joined = r->none;
    float buffer[TILE];
    while (from < to) {
        const int64_t column = from % length, left = min64(length - column, to - from), n = step == 1 ? left : min64(left, TILE);
        const float* const run = element + column * step + steps_to(&r->numbers, NUMBERS, 1, from / length);
        if (step != 1) collect(run, step, n, buffer);
        joined = join->run(n, step == 1 ? run : buffer, joined);
        from += n;
    }
    return joined;
}

/* The same of several elements, side by side. */
static void join_columns(const struct reduction* r, const struct join* join, const float* first, int64_t columns, int64_t from, int64_t to,
                         double* joined) {
    const int64_t step = r->kept.strides[INPUT][0];
    float buffer[TILE];
    for (int64_t i = 0; i < columns; i++) joined[i] = r->none;
    const int64_t length = r->numbers.lengths[0], down = r->numbers.strides[NUMBERS][0];
    while (from < to) {
        const int64_t row = from % length, rows = step == 1 ? min64(length - row, to - from) : 1;
        const float* const rest = first + row * down + steps_to(&r->numbers, NUMBERS, 1, from / length);
        if (step != 1) collect(rest, step, columns, buffer);
        join->columns(columns, rows, down, step == 1 ? rest : buffer, joined);
        from += rows;
    }
}

/* A number to all places of an element. */
static void write_copies(const struct layout* copies, int64_t count, float number, float* to) {
    const int64_t across = copies->lengths[0], step = copies->strides[OUTPUT][0];
    for (int64_t row = 0; row < count / across; row++) {
        float* const first = to + steps_to(copies, OUTPUT, 1, row);
        if (step == 1) simd()->gather(&number, 0, 0, 1, across, first, 0);
        else
            for (int64_t i = 0; i < across; i++) first[i * step] = number;
    }
}

static void write_elements(const struct reduction* r, int64_t column, int64_t row, int64_t columns, const double* joined) {
    const int64_t copies = elements_of(&r->copies), step = r->kept.strides[OUTPUT][0];
    float* const to = r->output + r->kept.offsets[OUTPUT] + r->copies.offsets[OUTPUT] + steps_to(&r->kept, OUTPUT, 1, row);
    float numbers[TILE];
    for (int64_t at = 0, count; at < columns; at += count) {
        count = min64(TILE, columns - at);
        r->join.with(count, joined + at, r->times, r->start, r->divisor, numbers);
        for (int64_t i = 0; i < count; i++) {
            float* const place = to + (column + at + i) * step;
            if (copies == 1) *place = numbers[i];
            else write_copies(&r->copies, copies, numbers[i], place);
        }
    }
}

/* A part of a tile: joined[i] = what numbers from up to `to` of its element i join to. */
static void join_tile(const struct reduction* r, const struct join* join, const float* first, int64_t columns, int64_t from, int64_t to,
                      double* joined) {
    if (!r->in_runs) {
        join_columns(r, join, first, columns, from, to, joined);
        return;
    }
    const int64_t step = r->kept.strides[INPUT][0];
    if (r->numbers.axes == 1 && r->numbers.strides[NUMBERS][0] == 1)
        for (int64_t i = 0; i < columns; i++) joined[i] = join->run(to - from, first + i * step + from, r->none);
    else
        for (int64_t i = 0; i < columns; i++) joined[i] = join_runs(r, join, first + i * step, from, to);
}

static bool all_finite(const double* joined, int64_t n) {
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite = finite && isfinite(joined[i]);
    return finite;
}

/* Part `task % parts` of tile `task / parts`. */
static void do_part(const struct reduction* r, int64_t task) {
    const int64_t length = r->kept.lengths[0], across = ceil_div(length, r->tile), tile = task / r->parts, part = task % r->parts;
    const int64_t column = tile % across * r->tile, row = tile / across, columns = min64(r->tile, length - column);
    const float* const first = r->input + r->kept.offsets[INPUT] + r->numbers.offsets[NUMBERS] +
                               steps_to(&r->kept, INPUT, 1, row) + column * r->kept.strides[INPUT][0];
    const int64_t from = ceil_div(r->each, r->parts) * part, to = min64(from + ceil_div(r->each, r->parts), r->each);
    double joined[TILE];
    join_tile(r, &r->join, first, columns, from, to, joined);
    if (r->sums && !all_finite(joined, columns)) join_tile(r, &simd()->join[SUM_OF_ANY], first, columns, from, to, joined);
    if (r->parts == 1) write_elements(r, column, row, columns, joined);
    else memcpy(r->joined + part * elements_of(&r->kept) + row * length + column, joined, (size_t)columns * sizeof(double));
}

/* Joins the parts of every element, in their order, and writes it. */
static void join_parts(const struct reduction* r) {
    const int64_t elements = elements_of(&r->kept), length = r->kept.lengths[0];
    for (int64_t part = 1; part < r->parts; part++) r->join.pairs(elements, r->joined + part * elements, r->joined);
    for (int64_t row = 0; row < elements / length; row++) write_elements(r, 0, row, length, r->joined + row * length);
}

static int32_t reduce(struct reduction* r) {
    simplify(&r->kept, 2);
    simplify(&r->copies, 1);
    simplify(&r->numbers, 1);
    const int64_t elements = elements_of(&r->kept);
    r->each = elements_of(&r->numbers);
    r->in_runs = r->kept.lengths[0] == 1 ||
                 size_of_step(r->numbers.strides[NUMBERS][0]) < size_of_step(r->kept.strides[INPUT][0]);
    r->tile = r->in_runs ? max64(1, min64(TILE, PART / r->each)) : TILE;
    const int64_t tiles = ceil_div(r->kept.lengths[0], r->tile) * (elements / r->kept.lengths[0]);
    r->parts = tiles < 64 ? ceil_div(r->each * min64(r->tile, r->kept.lengths[0]), PART) : 1;
    r->parts = min64(r->parts, r->each);
    const struct scratch scratch = scratch_take(r->parts > 1 ? r->parts * elements : 1, sizeof(double));
    r->joined = scratch.memory;
    if (scratch.memory) {
        PARALLEL_FOR(elements * r->each >= SERIAL_BELOW)
        for (int64_t task = 0; task < tiles * r->parts; task++) do_part(r, task);
        if (r->parts > 1) join_parts(r);
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

/* Of numbers that repeat one is joined, which a sum counts as often as it stands there. */
static void leave_out_repeats(struct reduction* r) {
    struct layout repeats;
    move_repeats(&r->numbers, 1, NUMBERS, &repeats);
    if (r->sums) r->times = (double)elements_of(&repeats);
}

/* Elements that are joined of nothing: where the input lies does not matter, and nobody has looked at it. */
static void write_starts(struct reduction* r, bool is_mean) {
    simplify(&r->kept, 1);
    for (int64_t i = 0; i < elements_of(&r->kept); i++)
        r->output[r->kept.offsets[OUTPUT] + steps_to(&r->kept, OUTPUT, 0, i)] = is_mean ? NAN : r->start;
}

int32_t cuda_reduce_strided(const float* input, float* output, const int64_t* shape, const int64_t* input_strides,
                            const int64_t* output_strides, int64_t input_size, int64_t output_size, int axes, int kept,
                            int64_t input_offset, int64_t output_offset, int function, float start, void* stream) {
    static const double none[] = {0, 1, -INFINITY, INFINITY, 0};
    (void)stream;
    CHECK(axes >= 0 && axes <= MOST_AXES && kept >= 0 && kept <= axes && function >= 0 && function <= MEAN);
    CHECK((axes == 0 || (shape && input_strides)) && (kept == 0 || output_strides));
    CHECK(strides_fit(input, input_size, axes, shape, input_strides, input_offset, false));
    CHECK(strides_fit(output, output_size, kept, shape, output_strides, output_offset, true));
    struct reduction r = {.input = input, .output = output, .join = simd()->join[function % MEAN], .none = none[function], .start = start};
    r.sums = function == SUM || function == MEAN;
    set_shape(&r.kept, kept, shape);
    set_operand(&r.kept, OUTPUT, output_strides, output_offset);
    set_operand(&r.kept, INPUT, input_strides, input_offset);
    set_shape(&r.numbers, axes - kept, shape + kept);
    set_operand(&r.numbers, NUMBERS, input_strides + kept, 0);
    if (elements_of(&r.kept) == 0) return ASSAYER_OK;
    r.divisor = function == MEAN ? (double)elements_of(&r.numbers) : 1.0;
    r.times = 1.0;
    if (elements_of(&r.numbers) > 0) {
        move_repeats(&r.kept, 2, INPUT, &r.copies);
        if (function != PRODUCT) leave_out_repeats(&r);
        return reduce(&r);
    }
    write_starts(&r, function == MEAN);
    return ASSAYER_OK;
}
