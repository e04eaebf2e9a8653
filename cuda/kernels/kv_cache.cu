/* The cache of keys or values that attention_forward reads. */
#include "launch.cuh"
#include "vector.cuh"

namespace {

constexpr int THREADS = 256;

/* Every sequence's new entries, `length` floats, lie one behind the other and go into its part of the cache. */
template <int WIDTH>
__global__ void __launch_bounds__(THREADS)
    append_kernel(const float* input, float* cache, int64_t n, int64_t length, int64_t capacity) {
    constexpr int64_t EACH = int64_t{THREADS} * WIDTH;
    for (int64_t i = blockIdx.x * EACH + threadIdx.x * WIDTH; i < n; i += gridDim.x * EACH)
        store_pack<WIDTH>(cache + i / length * capacity + i % length, load_pack<WIDTH>(input + i));
}

} // namespace

int32_t cuda_kv_cache_append(const float* input, float* cache, int batch, int new_len, int n_kv_heads, int head_dim,
                             int kv_capacity, int position, void* stream) {
    CHECK_ARRAY(input, batch, new_len, n_kv_heads, head_dim);
    CHECK_ARRAY(cache, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK(position >= 0 && int64_t{position} + new_len <= kv_capacity);
    const int64_t entry = int64_t{n_kv_heads} * head_dim, length = new_len * entry, capacity = kv_capacity * entry;
    const int64_t n = batch * length;
    float* const first = cache + position * entry;
    const bool quads = rows_of_quads(entry, input, first);
    const unsigned blocks = blocks_for(n / (quads ? 4 : 1), THREADS);
    if (quads) append_kernel<4><<<blocks, THREADS, 0, stream_of(stream)>>>(input, first, n, length, capacity);
    else append_kernel<1><<<blocks, THREADS, 0, stream_of(stream)>>>(input, first, n, length, capacity);
    return launched();
}
