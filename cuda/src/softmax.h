/* The router's softmax over the k largest of a row. */
#ifndef ASSAYER_SOFTMAX_H
#define ASSAYER_SOFTMAX_H

#include "simd.h"

/* memory: order_memory(cols, k) words. */
void softmax_topk_row(const struct simd* v, const float* x, int cols, int k, float* weights, int32_t* chosen, uint32_t* memory);

#endif
