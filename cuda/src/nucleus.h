/* A draw from the nucleus of a row: of its largest probabilities, as many as come to top_p (Holtzman et al. 2020). */
#ifndef ASSAYER_NUCLEUS_H
#define ASSAYER_NUCLEUS_H

#include <stdint.h>

/* tempered: arguments of the softmax, 0 the largest, none of them NaN; weights: their exponentials; u in [0, 1).  The column in whose
 * share of the nucleus u falls, the largest first, equal ones by lower column.  memory: nucleus_memory(n) words. */
int32_t draw_from_nucleus(const float* tempered, const float* weights, int n, float top_p, double u, uint32_t* memory);
int64_t nucleus_memory(int n);

#endif
