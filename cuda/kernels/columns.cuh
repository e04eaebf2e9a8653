/* Sums over the rows of a matrix, as of a bias's gradient. */
#ifndef ASSAYER_COLUMNS_CUH
#define ASSAYER_COLUMNS_CUH

#include <cstdint>

/* How many floats of working memory sum_columns() takes. */
int64_t column_partials(int rows, int cols);

/* sums = beta * sums + the sum over rows of x (rows x cols); with beta 0 sums is not read. */
int32_t sum_columns(const float* x, float* partials, float* sums, int rows, int cols, float beta, void* stream);

#endif
