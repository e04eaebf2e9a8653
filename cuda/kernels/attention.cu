/* Attention in two calls around a softmax, and the KV cache. */
#include "many.cuh"
#include "product.cuh"

int32_t cuda_attention_scores(const float* Q, const float* K, float* scores, int batch, int n_heads, int seq_len, int head_dim,
                              float scale, void* stream) {
    CHECK_ARRAY(Q, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, head_dim);
    CHECK_ARRAY(scores, batch, n_heads, seq_len, seq_len);
    const int64_t width = int64_t{n_heads} * head_dim, square = int64_t{seq_len} * seq_len;
    Product p = {Q, K, scores, true, true, seq_len, seq_len, head_dim, width, head_dim, seq_len};
    p.alpha = scale;
    p.causal = true;
    p.batches = batch;
    p.heads = n_heads;
    p.a_batch = seq_len * width;
    p.b_batch = int64_t{seq_len} * head_dim;
    p.c_batch = n_heads * square;
    p.a_head = head_dim;
    p.c_head = square;
    return multiply(p, stream);
}

int32_t cuda_attention_output(const float* weights, const float* V, float* output, int batch, int n_heads, int seq_len, int head_dim,
                              void* stream) {
    CHECK_ARRAY(weights, batch, n_heads, seq_len, seq_len);
    CHECK_ARRAY(V, batch, seq_len, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_heads, head_dim);
    const int64_t width = int64_t{n_heads} * head_dim, square = int64_t{seq_len} * seq_len;
    Product p = {weights, V, output, true, false, seq_len, head_dim, seq_len, seq_len, head_dim, width};
    p.batches = batch;
    p.heads = n_heads;
    p.a_batch = n_heads * square;
    p.b_batch = int64_t{seq_len} * head_dim;
    p.c_batch = seq_len * width;
    p.a_head = square;
    p.c_head = head_dim;
    return multiply(p, stream);
}

namespace {

struct Copy {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0]; }
};

/* A batch's part is one piece of the input and one of its cache; a block takes a chunk of it. */
__global__ void __launch_bounds__(MANY_THREADS)
    append_kernel(const float* input, float* cache, int64_t batch, int64_t part, int64_t cache_size, int64_t first) {
    const int64_t chunks = ceil_div(part, CHUNK);
    Copy copy;
    for (int64_t i = blockIdx.x; i < batch * chunks; i += gridDim.x) {
        const int64_t b = i / chunks;
        visit_chunk(Arrays<1, 1>{{input + b * part}, {cache + b * cache_size + first}}, i % chunks * CHUNK, part, copy);
    }
}

} // namespace

int32_t cuda_kv_cache_append(const float* input, float* cache, int batch, int new_len, int n_kv_heads, int head_dim, int kv_capacity,
                             int position, void* stream) {
    CHECK_ARRAY(input, batch, new_len, n_kv_heads, head_dim);
    CHECK_ARRAY(cache, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK(position >= 0 && int64_t{position} + new_len <= kv_capacity);
    const int64_t width = int64_t{n_kv_heads} * head_dim, part = new_len * width;
    append_kernel<<<blocks_for(batch * ceil_div(part, CHUNK), 1), MANY_THREADS, 0, stream_of(stream)>>>(
        input, cache, batch, part, kv_capacity * width, position * width);
    return launched();
}
