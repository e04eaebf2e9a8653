/* The cache of keys or values that attention_forward reads. */
#include "launch.cuh"
#include "vector.cuh"

namespace {

constexpr int THREADS = 256;

/* Every sequence's new entries, `length` numbers, lie one behind the other and go into its part of the cache. */
template <int WIDTH, typename T>
__global__ void __launch_bounds__(THREADS)
    append_kernel(const T* input, T* cache, int64_t n, int64_t length, int64_t capacity) {
    constexpr int64_t EACH = int64_t{THREADS} * WIDTH;
    for (int64_t i = blockIdx.x * EACH + threadIdx.x * WIDTH; i < n; i += gridDim.x * EACH)
        store_pack(cache + i / length * capacity + i % length, load_pack<WIDTH>(input + i));
}

template <typename T>
int32_t append(const T* input, T* cache, int batch, int new_len, int n_kv_heads, int head_dim, int kv_capacity,
               int position, void* stream) {
    CHECK_ARRAY(input, batch, new_len, n_kv_heads, head_dim);
    CHECK_ARRAY(cache, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK(position >= 0 && int64_t{position} + new_len <= kv_capacity);
    const int64_t entry = int64_t{n_kv_heads} * head_dim, length = new_len * entry, capacity = kv_capacity * entry;
    const int64_t n = batch * length;
    T* const first = cache + position * entry;
    const bool quads = rows_of_quads(entry, input, first);
    const unsigned blocks = blocks_for(n / (quads ? WHOLE<T> : 1), THREADS);
    const auto kernel = quads ? append_kernel<WHOLE<T>, T> : append_kernel<1, T>;
    kernel<<<blocks, THREADS, 0, stream_of(stream)>>>(input, first, n, length, capacity);
    return launched();
}

} // namespace

#define KV_CACHE_APPEND(T, suffix)                                                                                     \
    int32_t cuda_kv_cache_append##suffix(const T* input, T* cache, int batch, int new_len, int n_kv_heads,             \
                                         int head_dim, int kv_capacity, int position, void* stream) {                  \
        return append(input, cache, batch, new_len, n_kv_heads, head_dim, kv_capacity, position, stream);              \
    }
KV_CACHE_APPEND(float, )
KV_CACHE_APPEND(assayer_bf16, _bf16)
KV_CACHE_APPEND(assayer_fp16, _fp16)
