/* Which entries are largest: equal ones by lower index, a NaN above every number. */
#ifndef ASSAYER_ORDER_H
#define ASSAYER_ORDER_H

#include <stdint.h>

/* The indices of the k largest of x[0..n), in descending order.  memory: order_memory(n, k) words. */
void largest(const float* x, int n, int k, int32_t* chosen, uint32_t* memory);
int64_t order_memory(int n, int k);

/* The first index of the largest entry. */
int32_t first_largest(const float* x, int n);

#endif
