/* One row's softmax, and the router's softmax over its k largest. */
#ifndef ASSAYER_SOFTMAX_H
#define ASSAYER_SOFTMAX_H

#include "simd.h"

void softmax_row(const struct simd* v, const float* x, int cols, float* y);

/* memory: order_memory(cols, k) words. */
void softmax_topk_row(const struct simd* v, const float* x, int cols, int k, float* weights, int32_t* chosen, uint32_t* memory);

#endif
