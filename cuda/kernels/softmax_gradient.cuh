/* The gradient of a row's softmax, from what the softmax gave. */
#ifndef ASSAYER_SOFTMAX_GRADIENT_CUH
#define ASSAYER_SOFTMAX_GRADIENT_CUH

#include "reduce.cuh"
#include "rows.cuh"

/* dx = finish(y * (dy - sum(y * dy))); dx may be dy: a team reads each part once more before it writes it. */
template <typename L, typename Finish>
__device__ void softmax_row_backward(const float* y, const float* dy, float* dx, int cols, const Finish& finish) {
    const Parts<L> parts{cols};
    float items[L::ITEMS], gradients[L::ITEMS], inner = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        L::load(y + parts.start(part), parts.left(part), 0.0f, items);
        L::load(dy + parts.start(part), parts.left(part), 0.0f, gradients);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) inner += items[i] * gradients[i];
    }
    inner = team_sum<L::THREADS>(inner);
    for (int part = parts.count() - 1; part >= 0; part--) {
        if (part < parts.count() - 1) {
            L::load(y + parts.start(part), parts.left(part), 0.0f, items);
            L::load(dy + parts.start(part), parts.left(part), 0.0f, gradients);
        }
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = finish(items[i] * (gradients[i] - inner));
        L::store(dx + parts.start(part), parts.left(part), items);
    }
}

#endif
