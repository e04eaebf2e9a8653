/* The loss that balances the experts. */
#include "aux_loss.h"
#include "check.h"
#include "parallel.h"
#include "scratch.h"

#include <stdbool.h>
#include <string.h>

/* A token counts once for an expert, however often its slots name it. */
static void count_tokens(const int* expert_indices, int64_t batch_seq, int top_k, int64_t n_experts, int64_t* counts) {
    memset(counts, 0, (size_t)n_experts * sizeof *counts);
    for (int64_t t = 0; t < batch_seq; t++) {
        const int* const chosen = expert_indices + t * top_k;
        for (int j = 0; j < top_k; j++) {
            bool again = false;
            for (int i = 0; i < j; i++) again |= chosen[i] == chosen[j];
            counts[chosen[j]] += !again;
        }
    }
}

static void sum_columns(const float* rows, int64_t count, int64_t n, double* sums) {
    for (int64_t e = 0; e < n; e++) sums[e] = 0;
    for (int64_t t = 0; t < count; t++)
        for (int64_t e = 0; e < n; e++) sums[e] += rows[t * n + e];
}

void balance(struct load load, int64_t tokens, int64_t n_experts, float alpha, float* aux_loss, float* f_counts, float* p_means) {
    double total = 0;
    for (int64_t e = 0; e < n_experts; e++) {
        const double mean = load.sums[e] / (double)tokens;
        f_counts[e] = (float)load.counts[e];
        p_means[e] = (float)mean;
        total += (double)load.counts[e] / (double)tokens * mean;
    }
    aux_loss[0] = (float)(alpha * (double)n_experts * total);
}

int32_t cuda_aux_loss_forward(const float* router_probs, const int* expert_indices, float* aux_loss, float* f_counts, float* p_means,
                              int batch_seq, int n_experts, int top_k, float alpha, void* stream) {
    (void)stream;
    CHECK_ARRAY(router_probs, batch_seq, n_experts);
    CHECK_ARRAY(expert_indices, batch_seq, top_k);
    CHECK_ARRAY(aux_loss, 1);
    CHECK_ARRAY(f_counts, n_experts);
    CHECK_ARRAY(p_means, n_experts);
    CHECK(top_k <= n_experts);
    CHECK(all_within(expert_indices, (int64_t)batch_seq * top_k, 0, n_experts));
    const struct scratch scratch = scratch_take(n_experts, sizeof(int64_t) + sizeof(double));
    if (scratch.memory) {
        int64_t* const counts = scratch.memory;
        double* const sums = (double*)(counts + n_experts);
        count_tokens(expert_indices, batch_seq, top_k, n_experts, counts);
        sum_columns(router_probs, batch_seq, n_experts, sums);
        balance((struct load){counts, sums}, batch_seq, n_experts, alpha, aux_loss, f_counts, p_means);
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_aux_loss_backward(const float* f_counts, float* d_router_probs, int batch_seq, int n_experts, float alpha, float scale,
                               void* stream) {
    (void)stream;
    CHECK_ARRAY(f_counts, n_experts);
    CHECK_ARRAY(d_router_probs, batch_seq, n_experts);
    const double factor = (double)scale * alpha * n_experts / ((double)batch_seq * batch_seq);
    PARALLEL_FOR((int64_t)batch_seq * n_experts >= SERIAL_BELOW)
    for (int64_t t = 0; t < batch_seq; t++)
        for (int64_t e = 0; e < n_experts; e++) d_router_probs[t * n_experts + e] = (float)(factor * f_counts[e]);
    return ASSAYER_OK;
}
