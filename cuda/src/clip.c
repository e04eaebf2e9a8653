/* The norm of gradients, clipping by it, and whether they are numbers at all.  Squares are summed in double: a float's
 * square may pass the largest float, and a sum over millions keeps its digits. */
#include "buffers.h"
#include "simd.h"

#include <math.h>

/* The sum over every listed chunk, in the order of the list; negative where there was no memory. */
static double sum_squares(const float* const* inputs, const int64_t* sizes, int count) {
    const struct simd* const vectors = simd();
    const struct chunks list = cut_buffers(sizes, count);
    const struct scratch sums = scratch_take(list.count, sizeof(double));
    double total = -1;
    if (list.scratch.memory && sums.memory) {
        double* const parts = sums.memory;
        FOR_LISTED(list, part, parts[index_] = vectors->sum_squares(part->length, inputs[part->array] + part->at))
        total = 0;
        for (int64_t i = 0; i < list.count; i++) total += parts[i];
    }
    scratch_give(sums);
    scratch_give(list.scratch);
    return total;
}

int32_t cuda_grad_clip(float* grad, float* partial_norms, float* total_norm, float clip_norm, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(partial_norms, ceil_div(size, 256));
    CHECK_ARRAY(total_norm, 1);
    CHECK(clip_norm > 0);
    const double total = sum_squares((const float* const[]){grad}, &size, 1);
    if (total < 0) return ASSAYER_NO_MEMORY;
    const double norm = sqrt(total);
    total_norm[0] = (float)norm;
    if (norm > clip_norm) {
        const struct simd* const vectors = simd();
        const float factor = (float)(clip_norm / norm);
        FOR_CHUNKS(size, at, length, vectors->scale(length, grad + at, factor, grad + at))
    }
    return ASSAYER_OK;
}

int32_t cuda_multi_sum_squares(const float* const* inputs, const int64_t* sizes, float* sum_squares_out, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(sum_squares_out, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    const double total = sum_squares(inputs, sizes, count);
    if (total < 0) return ASSAYER_NO_MEMORY;
    sum_squares_out[0] = (float)total;
    return ASSAYER_OK;
}

int32_t cuda_multi_nonfinite(const float* const* inputs, const int64_t* sizes, int32_t* nonfinite, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(nonfinite, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    const struct simd* const vectors = simd();
    const struct chunks list = cut_buffers(sizes, count);
    const struct scratch counts = scratch_take(list.count, sizeof(int64_t));
    const int found = list.scratch.memory && counts.memory;
    if (found) {
        int64_t* const parts = counts.memory;
        FOR_LISTED(list, part, parts[index_] = vectors->nonfinite(part->length, inputs[part->array] + part->at))
        int64_t all = 0;
        for (int64_t i = 0; i < list.count; i++) all += parts[i];
        nonfinite[0] = (int32_t)(all < INT32_MAX ? all : INT32_MAX);
    }
    scratch_give(counts);
    scratch_give(list.scratch);
    return found ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_multi_sum_squares_nonfinite(const float* const* inputs, const int64_t* sizes, float* sum_squares_out,
                                         int32_t* nonfinite, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(sum_squares_out, 1);
    CHECK_ARRAY(nonfinite, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    const struct simd* const vectors = simd();
    struct both { double squares; int64_t nonfinite; };
    const struct chunks list = cut_buffers(sizes, count);
    const struct scratch scratch = scratch_take(list.count, sizeof(struct both));
    const int found = list.scratch.memory && scratch.memory;
    if (found) {
        struct both* const of_chunk = scratch.memory;
        FOR_LISTED(list, part, { /* what is counted second lies in the nearest caches */
            const float* const x = inputs[part->array] + part->at;
            of_chunk[index_].squares = vectors->sum_squares(part->length, x);
            of_chunk[index_].nonfinite = vectors->nonfinite(part->length, x);
        })
        struct both all = {0, 0};
        for (int64_t i = 0; i < list.count; i++) {
            all.squares += of_chunk[i].squares;
            all.nonfinite += of_chunk[i].nonfinite;
        }
        sum_squares_out[0] = (float)all.squares;
        nonfinite[0] = (int32_t)min64(all.nonfinite, INT32_MAX);
    }
    scratch_give(scratch);
    scratch_give(list.scratch);
    return found ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_clip_scale(const float* sum_squares, float* total_norm, float* scale, float clip_norm, void* stream) {
    (void)stream;
    CHECK_ARRAY(sum_squares, 1);
    CHECK_ARRAY(total_norm, 1);
    CHECK_ARRAY(scale, 1);
    CHECK(clip_norm > 0);
    const float norm = sqrtf(sum_squares[0]);
    total_norm[0] = norm;
    scale[0] = norm > clip_norm ? clip_norm / norm : 1.0f;
    return ASSAYER_OK;
}

int32_t cuda_multi_scale(float* const* arrays, const int64_t* sizes, const float* scale, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(arrays, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(scale, 1);
    CHECK(buffers_fit((const float* const*)arrays, sizes, count));
    const struct simd* const vectors = simd();
    const float factor = scale[0];
    const struct chunks list = cut_buffers(sizes, count);
    if (list.scratch.memory) {
        FOR_LISTED(list, part, {
            float* const x = arrays[part->array] + part->at;
            vectors->scale(part->length, x, factor, x);
        })
    }
    scratch_give(list.scratch);
    return list.scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}
