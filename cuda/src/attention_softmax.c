/* Softmax of attention's scores in place, under a mask of keys and of the future, and its gradient. */
#include "check.h"
#include "parallel.h"
#include "simd.h"

#include <math.h>

/* A query's scores in place, of which it sees the first `seen`; mask null for none.  The maximum passes over NaN, which the sum
 * then is.  A sum of 0 is that of a query that sees nothing. */
static void one_query(const struct simd* v, int64_t keys, int64_t seen, float scale, const float* mask, float* x) {
    if (mask) v->scale_add(seen, x, scale, mask, x);
    else v->scale(seen, x, scale, x);
    const float most = v->maximum(seen, x);
    const double total = v->exp_shifted(seen, x, most == -INFINITY ? 0 : most, x);
    const float factor = total == 0 ? 0 : (float)(1 / total);
    v->scale(seen, x, factor, x);
    for (int64_t j = seen; j < keys; j++) x[j] = 0 * factor; /* NaN where the row is */
}

int32_t cuda_attention_softmax(float* scores, const float* mask, int batch, int n_heads, int q_len, int kv_len, float scale,
                               int has_mask, int causal, int offset, void* stream) {
    (void)stream;
    CHECK_ARRAY(scores, batch, n_heads, q_len, kv_len);
    CHECK_ARRAY_IF(has_mask, mask, batch, kv_len);
    const struct simd* const v = simd();
    const int64_t keys = kv_len, of_sequence = (int64_t)n_heads * q_len, rows = batch * of_sequence;
    PARALLEL_FOR(rows * keys >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t position = row % q_len + offset;
        const int64_t seen = causal ? max64(0, min64(position + 1, keys)) : keys;
        one_query(v, keys, seen, scale, has_mask ? mask + row / of_sequence * keys : NULL, scores + row * keys);
    }
    return ASSAYER_OK;
}

int32_t cuda_attention_softmax_backward(const float* weights, float* d_scores, int batch, int n_heads, int q_len, int kv_len,
                                        float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(weights, batch, n_heads, q_len, kv_len);
    CHECK_ARRAY(d_scores, batch, n_heads, q_len, kv_len);
    const struct simd* const v = simd();
    const int64_t keys = kv_len, rows = (int64_t)batch * n_heads * q_len;
    PARALLEL_FOR(rows * keys >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const float* const w = weights + row * keys;
        float* const d = d_scores + row * keys;
        v->softmax_backward(keys, w, d, (float)v->dot(keys, w, d), scale, d);
    }
    return ASSAYER_OK;
}
