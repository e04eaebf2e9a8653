/* Copies of what a convolution's taps meet, and sums of planes. */
#include "math.h"
#include "names.h"
#include "vec.h"

/* Whole vectors: what one writes past its run, the next run or row writes over. */
static void copy_dense(const float* from, const struct run* runs, int count, float* to) {
    for (int r = 0; r < count; r++)
        for (int i = 0; i < runs[r].length; i += LANES) store(to + runs[r].to + i, load(from + runs[r].from + i));
}

static void copy_apart(const float* from, const struct run* runs, int count, int64_t step, float* to) {
    for (int r = 0; r < count; r++)
        for (int64_t i = 0; i < runs[r].length; i++) to[runs[r].to + i] = from[runs[r].from + i * step];
}

static void copy_runs(const float* frame, const int64_t* places, int64_t count, const struct run* runs, int run_count, int64_t step,
                      float* to, int64_t row_length) {
    for (int64_t k = 0; k < count; k++, to += row_length) {
        if (step == 1) copy_dense(frame + places[k], runs, run_count, to);
        else copy_apart(frame + places[k], runs, run_count, step, to);
    }
}

/* In double: planes of a batch may have millions of elements. */
static double total(int64_t n, const float* x) {
    double sum = 0;
    SIMD_SUM(sum) for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

static void add_to_rows(int64_t rows, int64_t n, const float* restrict x, int64_t x_row, float number, float* restrict y, int64_t y_row) {
    for (int64_t i = 0; i < rows; i++)
        SIMD for (int64_t j = 0; j < n; j++) y[i * y_row + j] = x[i * x_row + j] + number;
}

void NAME(fill_convolution)(struct simd* table) {
    table->copy_runs = copy_runs;
    table->total = total;
    table->add_to_rows = add_to_rows;
}
