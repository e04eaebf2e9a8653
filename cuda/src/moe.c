/* Experts: sorting tokens by expert, sending them there and back, and the loss that balances them. */
#include "experts.h"
#include "check.h"
#include "simd.h"
#include "parallel.h"
#include "scratch.h"

#include <string.h>

int32_t cuda_expert_sort(const int32_t* indices, int32_t* offsets, int32_t* position, int tokens, int top_k, int n_experts,
                         void* stream) {
    (void)stream;
    CHECK_ARRAY(indices, tokens, top_k);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(position, tokens, top_k);
    const int64_t pairs = (int64_t)tokens * top_k;
    CHECK(pairs <= INT32_MAX && all_within(indices, pairs, 0, n_experts));
    /* A counting sort: offsets[e + 1] first counts, then is where expert e's next pair goes, and ends as its end. */
    memset(offsets, 0, ((size_t)n_experts + 1) * sizeof *offsets);
    for (int64_t i = 0; i < pairs; i++)
        if (indices[i] + 1 < n_experts) offsets[indices[i] + 2]++;
    for (int64_t e = 2; e <= n_experts; e++) offsets[e] += offsets[e - 1];
    for (int64_t i = 0; i < pairs; i++) position[i] = offsets[indices[i] + 1]++;
    return ASSAYER_OK;
}

/* inverse[position[i]] = i.  False where position does not name every row once: what is scattered by it would not fill the
 * output, and two threads would meet. */
static bool invert(const int32_t* position, int64_t rows, int32_t* inverse) {
    for (int64_t row = 0; row < rows; row++) inverse[row] = -1;
    for (int64_t i = 0; i < rows; i++) {
        if (inverse[position[i]] >= 0) return false;
        inverse[position[i]] = (int32_t)i;
    }
    return true;
}

int32_t check_permutation(const int32_t* position, int64_t rows) {
    CHECK(all_within(position, rows, 0, rows));
    const struct scratch scratch = scratch_take(rows, sizeof(int32_t));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) code = invert(position, rows, scratch.memory) ? ASSAYER_OK : ASSAYER_INVALID;
    scratch_give(scratch);
    return code;
}

/* Rows are written one after the other, each read where it lies: the other way round takes twice as long where position has
 * no order. */
static int32_t dispatch(const char* input, const int32_t* position, char* output, int64_t pairs, int64_t top_k, int64_t row_bytes) {
    CHECK(all_within(position, pairs, 0, pairs));
    const struct scratch scratch = scratch_take(pairs, sizeof(int32_t));
    const int32_t* const pair_of = scratch.memory;
    int32_t code = ASSAYER_NO_MEMORY;
    if (pair_of) code = invert(position, pairs, scratch.memory) ? ASSAYER_OK : ASSAYER_INVALID;
    const int64_t rows = code == ASSAYER_OK ? pairs : 0;
    PARALLEL_FOR(rows * row_bytes >= SERIAL_BELOW * (int64_t)sizeof(float))
    for (int64_t row = 0; row < rows; row++) memcpy(output + row * row_bytes, input + pair_of[row] / top_k * row_bytes, (size_t)row_bytes);
    scratch_give(scratch);
    return code;
}

/* Rows are copied as they are, in every format. */
#define EXPERT_DISPATCH(element, suffix)                                                                               \
    int32_t cuda_expert_dispatch##suffix(const element* input, const int32_t* position, element* output,               \
                                         int tokens, int top_k, int hidden_dim, void* stream) {                        \
        (void)stream;                                                                                                  \
        CHECK_ARRAY(input, tokens, hidden_dim);                                                                        \
        CHECK_ARRAY(position, tokens, top_k);                                                                          \
        CHECK_ARRAY(output, tokens, top_k, hidden_dim);                                                                \
        return dispatch((const char*)input, position, (char*)output, (int64_t)tokens * top_k, top_k,                   \
                        hidden_dim * (int64_t)sizeof(element));                                                        \
    }
EXPERT_DISPATCH(float, )
EXPERT_DISPATCH(assayer_bf16, _bf16)
EXPERT_DISPATCH(assayer_fp16, _fp16)

/* output[t] = sum over j of weights[t, j] * input[position[t, j]]; every weight 1 where weights is null. */
static void gather(const float* input, const float* weights, const int32_t* position, float* output, int64_t tokens, int64_t top_k,
                   int64_t width) {
    const struct simd* const v = simd();
    PARALLEL_FOR(tokens * top_k * width >= SERIAL_BELOW)
    for (int64_t t = 0; t < tokens; t++) {
        float* const y = output + t * width;
        for (int64_t i = t * top_k; i < (t + 1) * top_k; i++) {
            const float *row = input + position[i] * width, weight = weights ? weights[i] : 1.0f;
            if (i == t * top_k) v->scale(width, row, weight, y);
            else v->axpy(width, weight, row, y);
        }
    }
}

int32_t cuda_expert_dispatch_backward(const float* d_output, const int32_t* position, float* d_input, int tokens, int top_k,
                                      int hidden_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, tokens, top_k, hidden_dim);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(d_input, tokens, hidden_dim);
    CHECK(all_within(position, (int64_t)tokens * top_k, 0, (int64_t)tokens * top_k));
    gather(d_output, NULL, position, d_input, tokens, top_k, hidden_dim);
    return ASSAYER_OK;
}

int32_t cuda_expert_combine(const float* input, const float* weights, const int32_t* position, float* output, int tokens, int top_k,
                            int hidden_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(weights, tokens, top_k);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(output, tokens, hidden_dim);
    CHECK(all_within(position, (int64_t)tokens * top_k, 0, (int64_t)tokens * top_k));
    gather(input, weights, position, output, tokens, top_k, hidden_dim);
    return ASSAYER_OK;
}

int32_t cuda_expert_combine_backward(const float* input, const float* weights, const int32_t* position, const float* d_output,
                                     float* d_input, float* d_weights, int tokens, int top_k, int hidden_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(weights, tokens, top_k);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(d_output, tokens, hidden_dim);
    CHECK_ARRAY(d_input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(d_weights, tokens, top_k);
    const int64_t width = hidden_dim, pairs = (int64_t)tokens * top_k;
    const int32_t code = check_permutation(position, pairs);
    if (code != ASSAYER_OK) return code;
    const struct simd* const v = simd();
    PARALLEL_FOR(pairs * width >= SERIAL_BELOW)
    for (int64_t i = 0; i < pairs; i++) {
        const float* const dy = d_output + i / top_k * width;
        v->scale(width, dy, weights[i], d_input + position[i] * width);
        d_weights[i] = (float)v->dot(width, dy, input + position[i] * width);
    }
    return ASSAYER_OK;
}
