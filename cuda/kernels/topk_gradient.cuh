/* The gradient of a row's softmax over the k chosen, from what softmax_topk gave. */
#ifndef ASSAYER_TOPK_GRADIENT_CUH
#define ASSAYER_TOPK_GRADIENT_CUH

#include "functions.cuh"
#include "reduce.cuh"
#include "rows.cuh"

/* w * (dw - sum(w * dw)) at the chosen columns of a row, 0 elsewhere. */
struct ChosenGradient {
    const float *w, *dw;
    const int32_t* chosen;
    int k;
    float inner = 0.0f;
    bool stray = false; /* an index is no column: the row is NaN */

    /* Every thread of the team comes here. */
    template <typename L> __device__ void sum(int cols) {
        int strays = 0;
        for (int j = L::member(); j < k; j += L::THREADS) {
            inner += w[j] * dw[j];
            strays += chosen[j] < 0 || chosen[j] >= cols;
        }
        inner = team_sum<L::THREADS>(inner);
        stray = team_sum<L::THREADS>(strays) != 0;
    }

    /* A column from `start` on looks for itself among the chosen; of equal ones the last counts. */
    template <typename L> __device__ void at_columns(int64_t start, float (&items)[L::ITEMS]) const {
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = stray ? not_a_number() : 0.0f;
        for (int j = 0; !stray && j < k; j++) {
            const float gradient = w[j] * (dw[j] - inner);
            const int64_t at = chosen[j] - start;
#pragma unroll
            for (int i = 0; i < L::ITEMS; i++) items[i] = at == L::column(i) ? gradient : items[i];
        }
    }
};

#endif
