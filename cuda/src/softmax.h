/* The router's softmax over the k largest of a row. */
#ifndef ASSAYER_SOFTMAX_H
#define ASSAYER_SOFTMAX_H

#include "simd.h"

/* memory: order_memory(cols, k) words. */
void softmax_topk_row(const struct simd* v, const float* x, int cols, int k, float* weights, int32_t* chosen, uint32_t* memory);

/* w * (dw - sum(w * dw)) at the chosen of `cols` columns, 0 elsewhere; of equal ones the last counts. */
void softmax_topk_row_backward(const struct simd* v, const float* w, const int32_t* chosen, const float* dw, int cols, int k,
                               float* dx);

#endif
