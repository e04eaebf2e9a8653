/* Rows of a table, gathered and their gradients added back. */
#include "check.h"
#include "simd.h"
#include "parallel.h"

#include <string.h>

/* Rows are copied as they are, in every format. */
#define EMBEDDING(element, suffix)                                                                                     \
    int32_t cuda_embedding##suffix(const element* weight, const int* indices, element* output, int num_indices,        \
                                   int vocab_size, int embedding_dim, void* stream) {                                  \
        (void)stream;                                                                                                  \
        CHECK_ARRAY(weight, vocab_size, embedding_dim);                                                                \
        CHECK_ARRAY(indices, num_indices);                                                                             \
        CHECK_ARRAY(output, num_indices, embedding_dim);                                                               \
        CHECK(all_within(indices, num_indices, 0, vocab_size));                                                        \
        const int64_t width = embedding_dim;                                                                           \
        PARALLEL_FOR(num_indices * width >= SERIAL_BELOW)                                                              \
        for (int64_t i = 0; i < num_indices; i++)                                                                      \
            memcpy(output + i * width, weight + indices[i] * width, (size_t)width * sizeof(element));                  \
        return ASSAYER_OK;                                                                                             \
    }
EMBEDDING(float, )
EMBEDDING(assayer_bf16, _bf16)
EMBEDDING(assayer_fp16, _fp16)

/* Rows of the table are dealt out to shares by index, so that each is added to by one thread, in the order of indices. */
int32_t cuda_scatter_add(const float* grad_output, const int* indices, float* grad_weight, int num_indices, int embedding_dim,
                         void* stream) {
    (void)stream;
    CHECK_ARRAY(grad_output, num_indices, embedding_dim);
    CHECK_ARRAY(indices, num_indices);
    CHECK_ARRAY(grad_weight, embedding_dim);
    const struct simd* const v = simd();
    const int64_t width = embedding_dim, shares = num_indices * width >= SERIAL_BELOW ? thread_count() : 1;
    PARALLEL_FOR(shares > 1)
    for (int64_t share = 0; share < shares; share++)
        for (int64_t i = 0; i < num_indices; i++)
            if (indices[i] >= 0 && indices[i] % shares == share)
                v->axpy(width, 1.0f, grad_output + i * width, grad_weight + indices[i] * width);
    return ASSAYER_OK;
}
