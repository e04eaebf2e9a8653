/* Sums over the rows of a matrix, as of a bias's gradient. */
#ifndef ASSAYER_COLUMNS_H
#define ASSAYER_COLUMNS_H

#include <stdint.h>

/* sums = beta * sums + the sum over rows of x (rows x cols); with beta 0 sums is not read. */
void sum_columns(const float* x, int64_t rows, int64_t cols, float beta, float* sums);

#endif
