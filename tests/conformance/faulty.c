/* A library with one fault per value of `scale`, for the tests of the worker. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIGHT, WRITES_PAST, READS_PAST, WRITES_BEFORE, READS_BEFORE, READS_FAR_BEFORE, HANGS, ABORTS, LEAVES, WILD, CHANGES_INPUT,
       COUNTS, PRINTS, FLOODS, REFUSES, REFUSES_LATE, REFUSES_ONCE, WRITES_FAR, LEAVES_TAIL,
       TRUSTS_MALLOC };

static int calls;
static volatile float sink;

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1) return -2;
    int fault = (int)scale;
    calls++;
    if (fault == REFUSES) return -2;
    if (fault == REFUSES_ONCE) return calls % 2 ? -2 : -1;
    for (int64_t i = 0; i < n; i++) output[i] = 2 * input[i];
    switch (fault) {
        case WRITES_PAST: output[n] = output[n + 2] = 1; break;
        case READS_PAST: sink = input[n]; break;
        case WRITES_BEFORE: output[-1] = 1; break;
        case READS_BEFORE: output[0] = input[-1]; break;
        case READS_FAR_BEFORE: sink = input[-100]; break;
        case HANGS: for (;;) sink = 0;
        case ABORTS: fprintf(stderr, "assertion failed: n < 0\n"); abort();
        case LEAVES: exit(3);
        case WILD: *(volatile float*)sizeof(float) = 1; break;
        case CHANGES_INPUT: ((float*)(uintptr_t)input)[3] = 7; break;
        case COUNTS: output[2] = (float)calls; break;
        case PRINTS: puts("hello"); fflush(stdout); fputs("there\n", stderr); break;
        case FLOODS: for (;;) puts("again and again and again and again");
        case REFUSES_LATE: return -2;
        case LEAVES_TAIL: /* of what its vectors take, where they are aligned */
            for (int64_t i = n / 4 * 4; i < n && (uintptr_t)output % 16 == 0; i++) output[i] = 0;
            break;
        case WRITES_FAR: output[-900] = 1; break;
        case TRUSTS_MALLOC: { /* to hold zeros, as new pages of the system do */
            float* sums = malloc(1 << 22);
            if (!sums) return -3;
            output[5] += sums[7] + sums[1 << 19];
            free(sums);
        } break;
    }
    return 0;
}

/* Leaves output[1] as it was. */
int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    (void)stream;
    for (int64_t i = 0; i < n; i++)
        if (i != 1) output[i] = a[i] + b[i];
    return 0;
}

/* Adds into C whatever beta says. */
int32_t cuda_gemm_beta(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream) {
    (void)A, (void)B, (void)K, (void)alpha, (void)beta, (void)stream;
    for (int i = 0; i < M * N; i++) C[i] += 1;
    return 0;
}

/* Writes one partial norm too many. */
int32_t cuda_grad_clip(float* grad, float* partial_norms, float* total_norm, float clip_norm, int64_t size, void* stream) {
    (void)clip_norm, (void)stream;
    partial_norms[(size + 255) / 256] = 1;
    total_norm[0] = 1;
    grad[0] = 0;
    return 0;
}

/* Scales in place; element 0 of the second array twice. */
int32_t cuda_multi_scale(float* const* arrays, const int64_t* sizes, const float* scale, int count, void* stream) {
    (void)stream;
    for (int i = 0; i < count; i++) {
        if (!arrays[i]) return -2;
        for (int64_t j = 0; j < sizes[i]; j++) arrays[i][j] *= scale[0];
    }
    if (count > 1) arrays[1][0] *= scale[0];
    return 0;
}
