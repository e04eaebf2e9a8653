/* The gradient of root-mean-square normalisation: rows once for d_input, their sums over rows for d_weight. */
#include "functions.cuh"
#include "partials.cuh"
#include "rows.cuh"
#include "scratch.cuh"

namespace {

/* base: what d_input starts from, or null.  Each team sums its own d_weight over the rows it takes, into its row of
 * `partials`. */
template <typename T> struct Backward {
    const T *x, *d_output, *base;
    const float* weight;
    T* d_input;
    float* partials;
    int rows, cols;
    float eps;
};

/* r, and the c of d_input = base + r * (d_output * weight - x * c).  The last part stays in x and dy. */
template <typename L, typename T>
__device__ float2 row_factors(const Backward<T>& b, int64_t row, const Parts<L>& parts, float (&x)[L::ITEMS],
                              float (&dy)[L::ITEMS]) {
    float squares = 0.0f, inner = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        const int64_t at = row * b.cols + parts.start(part);
        float weights[L::ITEMS];
        L::load(b.x + at, parts.left(part), 0.0f, x);
        L::load(b.d_output + at, parts.left(part), 0.0f, dy);
        L::load(b.weight + parts.start(part), parts.left(part), 0.0f, weights);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) {
            squares += x[i] * x[i];
            inner += dy[i] * weights[i] * x[i];
        }
    }
    const float r = inverse_root(team_sum<L::THREADS>(squares), b.cols, b.eps);
    return make_float2(r, r * r * (team_sum<L::THREADS>(inner) / static_cast<float>(b.cols)));
}

template <typename L, typename T>
__device__ void store_d_input(const Backward<T>& b, int64_t at, int64_t start, int left, float2 factors,
                              const float (&x)[L::ITEMS], const float (&dy)[L::ITEMS]) {
    float dx[L::ITEMS];
    L::load(b.weight + start, left, 0.0f, dx);
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) dx[i] = factors.x * (dy[i] * dx[i] - x[i] * factors.y);
    if (b.base) {
        float base[L::ITEMS];
        L::load(b.base + at, left, 0.0f, base);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) dx[i] += base[i];
    }
    L::store(b.d_input + at, left, dx);
}

/* d_weight is summed in registers where a row is one part, and in the team's own row of partials where it is more. */
template <typename L, typename T> __global__ void __launch_bounds__(L::BLOCK) rmsnorm_backward_kernel(Backward<T> b) {
    const Parts<L> parts{b.cols};
    if (L::team() >= b.rows) return;
    float* const partial = b.partials + L::team() * b.cols;
    float x[L::ITEMS], dy[L::ITEMS], sums[L::ITEMS] = {};
    for (int64_t row = L::team(); row < b.rows; row += L::teams()) {
        const float2 factors = row_factors<L>(b, row, parts, x, dy);
        for (int part = parts.count() - 1; part >= 0; part--) {
            const int64_t start = parts.start(part), at = row * b.cols + start;
            const int left = parts.left(part);
            if (part < parts.count() - 1) {
                L::load(b.x + at, left, 0.0f, x);
                L::load(b.d_output + at, left, 0.0f, dy);
            }
            store_d_input<L>(b, at, start, left, factors, x, dy);
            if (parts.count() > 1 && row != L::team()) L::load(partial + start, left, 0.0f, sums);
#pragma unroll
            for (int i = 0; i < L::ITEMS; i++) {
                const float term = dy[i] * (x[i] * factors.x);
                sums[i] = parts.count() > 1 && row == L::team() ? term : sums[i] + term;
            }
            if (parts.count() > 1) L::store(partial + start, left, sums);
        }
    }
    if (parts.count() == 1) L::store(partial, b.cols, sums);
}

template <typename T> int32_t backward(Backward<T> b, float* d_weight, float beta, bool quads, void* stream) {
    const int teams = static_cast<int>(min64(b.rows, TEAMS_AT_MOST));
    const Scratch scratch(int64_t{teams} * b.cols * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    b.partials = scratch.as<float>();
    TRY((with_row_layout<3, T>(b.cols, quads && rows_of_quads(b.cols, b.partials), [=](auto layout) {
        using L = decltype(layout);
        rmsnorm_backward_kernel<L, T><<<blocks_for(teams, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(b);
        return launched();
    })));
    return sum_partials(b.partials, d_weight, teams, b.cols, beta, stream);
}

template <typename T>
int32_t rmsnorm_backward(const T* input, const float* weight, const T* d_output, T* d_input, float* d_weight, int rows,
                         int hidden_dim, float eps, float beta, void* stream) {
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK(eps >= 0);
    return backward<T>({input, d_output, nullptr, weight, d_input, nullptr, rows, hidden_dim, eps}, d_weight, beta,
                       rows_of_quads(hidden_dim, input, weight, d_output, d_input), stream);
}

template <typename T>
int32_t rmsnorm_residual_backward(const T* residual_out, const float* weight, const T* d_output,
                                  const T* d_residual_out, T* d_input, float* d_weight, int rows, int hidden_dim,
                                  float eps, float beta, void* stream) {
    CHECK_ARRAY(residual_out, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_residual_out, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK(eps >= 0);
    return backward<T>({residual_out, d_output, d_residual_out, weight, d_input, nullptr, rows, hidden_dim, eps},
                       d_weight, beta,
                       rows_of_quads(hidden_dim, residual_out, weight, d_output, d_residual_out, d_input), stream);
}

} // namespace

#define RMSNORM_BACKWARD(Declared, T, suffix)                                                                          \
    int32_t cuda_rmsnorm_backward##suffix(const Declared* input, const float* weight, const Declared* d_output,        \
                                          Declared* d_input, float* d_weight, int rows, int hidden_dim, float eps,     \
                                          float beta, void* stream) {                                                  \
        return rmsnorm_backward(numbers_of<T>(input), weight, numbers_of<T>(d_output), numbers_of<T>(d_input),         \
                                d_weight, rows, hidden_dim, eps, beta, stream);                                        \
    }                                                                                                                  \
    int32_t cuda_rmsnorm_residual_backward##suffix(                                                                    \
        const Declared* residual_out, const float* weight, const Declared* d_output, const Declared* d_residual_out,   \
        Declared* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream) {           \
        return rmsnorm_residual_backward(numbers_of<T>(residual_out), weight, numbers_of<T>(d_output),                 \
                                         numbers_of<T>(d_residual_out), numbers_of<T>(d_input), d_weight, rows,        \
                                         hidden_dim, eps, beta, stream);                                               \
    }
FOR_EACH_STORAGE(RMSNORM_BACKWARD)
