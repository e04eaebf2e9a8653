/* Root-mean-square normalisation, alone and with the residual sum before it. */
#include "functions.cuh"
#include "rows.cuh"

namespace {

/* residual and residual_out are null where there is no sum. */
template <typename T> struct Forward {
    const T *input, *residual;
    const float* weight;
    T *output, *residual_out;
    int rows, cols;
    float eps;
};

/* The items of a part of the row that is normalised, and, where `keep`, the sum written out. */
template <typename L, typename T>
__device__ void load_sum(const Forward<T>& f, int64_t at, int left, bool keep, float (&items)[L::ITEMS]) {
    L::load(f.input + at, left, 0.0f, items);
    if (!f.residual) return;
    float others[L::ITEMS];
    L::load(f.residual + at, left, 0.0f, others);
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) items[i] += others[i];
    if (keep) L::store(f.residual_out + at, left, items);
}

template <typename L, typename T> __global__ void __launch_bounds__(L::BLOCK) rmsnorm_kernel(Forward<T> f) {
    const int64_t row = L::team();
    if (row >= f.rows) return;
    const Parts<L> parts{f.cols};
    float items[L::ITEMS], squares = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        load_sum<L>(f, row * f.cols + parts.start(part), parts.left(part), true, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) squares += items[i] * items[i];
    }
    const float r = inverse_root(team_sum<L::THREADS>(squares), f.cols, f.eps);
    for (int part = parts.count() - 1; part >= 0; part--) {
        const int64_t at = row * f.cols + parts.start(part);
        if (part < parts.count() - 1) load_sum<L>(f, at, parts.left(part), false, items);
        float weights[L::ITEMS];
        L::load(f.weight + parts.start(part), parts.left(part), 0.0f, weights);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = items[i] * r * weights[i];
        L::store(f.output + at, parts.left(part), items);
    }
}

template <typename T> int32_t forward(const Forward<T>& f, bool quads, void* stream) {
    return with_row_layout<3, T>(f.cols, quads, [=](auto layout) {
        using L = decltype(layout);
        rmsnorm_kernel<L, T><<<blocks_for(f.rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(f);
        return launched();
    });
}

template <typename T>
int32_t rmsnorm(const T* input, const float* weight, T* output, int rows, int hidden_dim, float eps, void* stream) {
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK(eps >= 0);
    return forward<T>({input, nullptr, weight, output, nullptr, rows, hidden_dim, eps},
                      rows_of_quads(hidden_dim, input, weight, output), stream);
}

template <typename T>
int32_t rmsnorm_residual(const T* input, const T* residual, const float* weight, T* output, T* residual_out, int rows,
                         int hidden_dim, float eps, void* stream) {
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(residual, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK_ARRAY(residual_out, rows, hidden_dim);
    CHECK(eps >= 0);
    return forward<T>({input, residual, weight, output, residual_out, rows, hidden_dim, eps},
                      rows_of_quads(hidden_dim, input, residual, weight, output, residual_out), stream);
}

} // namespace

#define RMSNORM(Declared, T, suffix)                                                                                   \
    int32_t cuda_rmsnorm##suffix(const Declared* input, const float* weight, Declared* output, int rows,               \
                                 int hidden_dim, float eps, void* stream) {                                            \
        return rmsnorm(numbers_of<T>(input), weight, numbers_of<T>(output), rows, hidden_dim, eps, stream);            \
    }                                                                                                                  \
    int32_t cuda_rmsnorm_residual##suffix(const Declared* input, const Declared* residual, const float* weight,        \
                                          Declared* output, Declared* residual_out, int rows, int hidden_dim,          \
                                          float eps, void* stream) {                                                   \
        return rmsnorm_residual(numbers_of<T>(input), numbers_of<T>(residual), weight, numbers_of<T>(output),          \
                                numbers_of<T>(residual_out), rows, hidden_dim, eps, stream);                           \
    }
FOR_EACH_STORAGE(RMSNORM)
