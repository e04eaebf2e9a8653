/* Experts: sending tokens there and back. */
#include "gather.cuh"
#include "reduce.cuh"
#include "scratch.cuh"

namespace {

/* pairs[position[i]] = i; of several the last.  The pairs are -1 before. */
__global__ void __launch_bounds__(256) invert_kernel(const int32_t* position, int32_t* pairs, int64_t n) {
    const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
    if (i >= n || position[i] < 0 || position[i] >= n) return;
    atomicMax(&pairs[position[i]], static_cast<int32_t>(i));
}

int32_t invert(const int32_t* position, int32_t* pairs, int64_t n, void* stream) {
    TRY(code_of(cudaMemsetAsync(pairs, 0xff, static_cast<size_t>(n) * sizeof(int32_t), stream_of(stream))));
    invert_kernel<<<blocks_for(n, 256), 256, 0, stream_of(stream)>>>(position, pairs, n);
    return launched();
}

/* output[t] = sum over j of weights[t, j] * input[position[t, j]]; every weight 1 where weights is null. */
template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK)
    combine_kernel(const T* input, const float* weights, const int32_t* position, T* output, int64_t tokens, int top_k,
                   int cols) {
    const int64_t t = L::team(), rows = tokens * top_k;
    if (t >= tokens) return;
    L::columns(cols, [&](int64_t column) {
        Pack<L::WIDTH> sum = filled<L::WIDTH>(0.0f);
        for (int64_t pair = t * top_k; pair < (t + 1) * top_k; pair++) {
            const int32_t row = position[pair];
            const bool there = row >= 0 && row < rows;
            const float weight = weights ? weights[pair] : 1.0f;
            const Pack<L::WIDTH> none = filled<L::WIDTH>(not_a_number());
            const Pack<L::WIDTH> part = there ? load_numbers<L::WIDTH>(input + int64_t{row} * cols + column) : none;
#pragma unroll
            for (int i = 0; i < L::WIDTH; i++) sum.at[i] += weight * part.at[i];
        }
        store_numbers<L::WIDTH>(output + t * cols + column, sum);
    });
}

template <typename T>
int32_t combine(const T* input, const float* weights, const int32_t* position, T* output, int tokens, int top_k,
                int cols, void* stream) {
    return with_team<T>(cols, rows_of_quads(cols, input, output), [=](auto layout) {
        using L = decltype(layout);
        combine_kernel<L><<<blocks_for(tokens, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            input, weights, position, output, tokens, top_k, cols);
        return launched();
    });
}

template <typename T> struct CombineBackward {
    const T *input, *d_output;
    const float* weights;
    const int32_t* pairs; /* of each row of input, -1 for none */
    T* d_input;
    float* d_weights;
    int64_t rows;
    int top_k, cols;
};

/* A row of input read once: its gradient and its weight's. */
template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK) combine_backward_kernel(CombineBackward<T> b) {
    const int64_t row = L::team();
    if (row >= b.rows) return;
    const int32_t pair = b.pairs[row];
    const bool there = pair >= 0;
    const float weight = there ? b.weights[pair] : not_a_number();
    const T* const d_output = b.d_output + int64_t{there ? pair / b.top_k : 0} * b.cols;
    float inner = 0.0f;
    L::columns(b.cols, [&](int64_t column) {
        const Pack<L::WIDTH> dy = load_numbers<L::WIDTH>(d_output + column),
                             x = load_numbers<L::WIDTH>(b.input + row * b.cols + column);
        Pack<L::WIDTH> dx;
#pragma unroll
        for (int i = 0; i < L::WIDTH; i++) {
            dx.at[i] = weight * dy.at[i];
            inner += dy.at[i] * x.at[i];
        }
        store_numbers<L::WIDTH>(b.d_input + row * b.cols + column, dx);
    });
    inner = team_sum<L::THREADS>(inner);
    if (there && threadIdx.x % L::THREADS == 0) b.d_weights[pair] = inner;
}

template <typename T>
int32_t dispatch(const T* input, const int32_t* position, T* output, int tokens, int top_k, int hidden_dim,
                 void* stream) {
    CHECK_ARRAY(input, tokens, hidden_dim);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(output, tokens, top_k, hidden_dim);
    const int64_t rows = int64_t{tokens} * top_k;
    CHECK(rows <= INT32_MAX);
    const Scratch scratch(rows * static_cast<int64_t>(sizeof(int32_t)), stream_of(stream));
    TRY(scratch.code());
    TRY(invert(position, scratch.as<int32_t>(), rows, stream));
    return gather(input, scratch.as<int32_t>(), output, rows, tokens, top_k, hidden_dim, stream);
}

template <typename T>
int32_t dispatch_backward(const T* d_output, const int32_t* position, T* d_input, int tokens, int top_k, int hidden_dim,
                          void* stream) {
    CHECK_ARRAY(d_output, tokens, top_k, hidden_dim);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(d_input, tokens, hidden_dim);
    return combine(d_output, nullptr, position, d_input, tokens, top_k, hidden_dim, stream);
}

template <typename T>
int32_t combine_weighted(const T* input, const float* weights, const int32_t* position, T* output, int tokens,
                         int top_k, int hidden_dim, void* stream) {
    CHECK_ARRAY(input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(weights, tokens, top_k);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(output, tokens, hidden_dim);
    return combine(input, weights, position, output, tokens, top_k, hidden_dim, stream);
}

template <typename T>
int32_t combine_backward(const T* input, const float* weights, const int32_t* position, const T* d_output, T* d_input,
                         float* d_weights, int tokens, int top_k, int hidden_dim, void* stream) {
    CHECK_ARRAY(input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(weights, tokens, top_k);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(d_output, tokens, hidden_dim);
    CHECK_ARRAY(d_input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(d_weights, tokens, top_k);
    const int64_t rows = int64_t{tokens} * top_k;
    CHECK(rows <= INT32_MAX);
    const size_t bytes = static_cast<size_t>(rows) * sizeof(int32_t);
    const Scratch scratch(static_cast<int64_t>(bytes), stream_of(stream));
    TRY(scratch.code());
    TRY(invert(position, scratch.as<int32_t>(), rows, stream));
    TRY(code_of(cudaMemsetAsync(d_weights, 0xff, bytes, stream_of(stream)))); /* NaN, where no row follows */
    const CombineBackward<T> b = {input, d_output, weights,   scratch.as<int32_t>(), d_input, d_weights,
                                  rows,  top_k,    hidden_dim};
    return with_team<T>(hidden_dim, rows_of_quads(hidden_dim, input, d_output, d_input), [=](auto layout) {
        using L = decltype(layout);
        combine_backward_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(b);
        return launched();
    });
}

} // namespace

#define DISPATCH_AND_COMBINE(Declared, T, suffix)                                                                      \
    int32_t cuda_expert_dispatch##suffix(const Declared* input, const int32_t* position, Declared* output, int tokens, \
                                         int top_k, int hidden_dim, void* stream) {                                    \
        return dispatch(numbers_of<T>(input), position, numbers_of<T>(output), tokens, top_k, hidden_dim, stream);     \
    }                                                                                                                  \
    int32_t cuda_expert_dispatch_backward##suffix(const Declared* d_output, const int32_t* position,                   \
                                                  Declared* d_input, int tokens, int top_k, int hidden_dim,            \
                                                  void* stream) {                                                      \
        return dispatch_backward(numbers_of<T>(d_output), position, numbers_of<T>(d_input), tokens, top_k, hidden_dim, \
                                 stream);                                                                              \
    }                                                                                                                  \
    int32_t cuda_expert_combine##suffix(const Declared* input, const float* weights, const int32_t* position,          \
                                        Declared* output, int tokens, int top_k, int hidden_dim, void* stream) {       \
        return combine_weighted(numbers_of<T>(input), weights, position, numbers_of<T>(output), tokens, top_k,         \
                                hidden_dim, stream);                                                                   \
    }                                                                                                                  \
    int32_t cuda_expert_combine_backward##suffix(const Declared* input, const float* weights, const int32_t* position, \
                                                 const Declared* d_output, Declared* d_input, float* d_weights,        \
                                                 int tokens, int top_k, int hidden_dim, void* stream) {                \
        return combine_backward(numbers_of<T>(input), weights, position, numbers_of<T>(d_output),                      \
                                numbers_of<T>(d_input), d_weights, tokens, top_k, hidden_dim, stream);                 \
    }
FOR_EACH_STORAGE(DISPATCH_AND_COMBINE)
