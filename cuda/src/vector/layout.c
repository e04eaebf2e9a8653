/* Numbers at steps brought together into runs, and runs laid out at steps. */
#include "math.h"
#include "names.h"

/* Rows of runs, by the way along which the numbers lie closer. */
static void gather(const float* restrict from, int64_t along, int64_t down, int64_t rows, int64_t columns, float* restrict to,
                   int64_t to_row) {
    const int64_t step = along < 0 ? -along : along, step_down = down < 0 ? -down : down;
    if (step_down != 0 && step_down < step) {
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) to[i * to_row + j] = from[i * down + j * along];
    } else if (along == 2) {
        for (int64_t i = 0; i < rows; i++)
            SIMD for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down + j * 2];
    } else if (along == -1) {
        for (int64_t i = 0; i < rows; i++)
            SIMD for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down - j];
    } else {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down + j * along];
    }
}

static void scatter(const float* restrict from, int64_t along, int64_t columns, float* restrict to) {
    for (int64_t j = 0; j < columns; j++) to[j * along] = from[j];
}

void NAME(fill_layout)(struct simd* table) {
    table->gather = gather;
    table->scatter = scatter;
}
