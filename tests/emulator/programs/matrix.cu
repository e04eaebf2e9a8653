// Tensor cores: products of small whole numbers, which come out exact in any order of summation, so that only the places of
// the numbers in lanes and registers can be wrong.
#include "harness.h"
#include "ptx.cuh"

constexpr int M = 16, N = 8, K = 16;

template <class T>
static std::vector<T> numbers(int count, int factor) {
    std::vector<T> made;
    for (int i = 0; i < count; i++) made.push_back(T(static_cast<float>(i * factor % 13 - 6)));
    return made;
}

// C = A B + 1, A m x k and B k x n, both stored by rows.
template <class T>
static bool is_product(const std::vector<T>& a, const std::vector<T>& b, const std::vector<float>& c, int m, int n, int k) {
    for (int row = 0; row < m; row++) {
        for (int col = 0; col < n; col++) {
            float sum = 1;
            for (int i = 0; i < k; i++) sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + col]);
            if (c[row * n + col] != sum) return false;
        }
    }
    return true;
}

__device__ void store(float* c, const float (&d)[4]) {
    const unsigned group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    for (unsigned i = 0; i < 4; i++) c[(group + i / 2 * 8) * N + pair + i % 2] = d[i];
}

// Fragments by ldmatrix: A as it stands, B, which the instruction wants by columns, turned over.
template <class T>
__global__ void multiply_kernel(const T* a, const T* b, float* c) {
    __shared__ __align__(16) T tile_a[M][K];
    __shared__ __align__(16) T tile_b[K][N];
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < M * K; i += 32) tile_a[i / K][i % K] = a[i];
    for (unsigned i = lane; i < K * N; i += 32) tile_b[i / N][i % N] = b[i];
    __syncwarp();
    uint32_t fragment_a[4], fragment_b[2];
    load_4(fragment_a, &tile_a[lane % 16][lane / 16 * 8]);
    load_2_transposed(fragment_b, &tile_b[lane % 16][0]);
    const float ones[4] = {1, 1, 1, 1};
    float d[4];
    multiply(T(), d, fragment_a, fragment_b, ones);
    store(c, d);
}
template <class T>
static bool multiplies() {
    const auto a = numbers<T>(M * K, 5), b = numbers<T>(K * N, 7);
    Array<T> on_a(a), on_b(b);
    Array<float> c(M * N);
    multiply_kernel<T><<<1, 32>>>(on_a, on_b, c);
    return is_product(a, b, c.values(), M, N, K);
}
PROGRAM(mma_of_half) { return multiplies<__half>(); }
PROGRAM(mma_of_bfloat16) { return multiplies<__nv_bfloat16>(); }

// Numbers with digits below those of TF32, which are ignored.
__global__ void multiply_tf32_kernel(const float* a, const float* b, float* c) {
    const unsigned group = threadIdx.x / 4, within = threadIdx.x % 4;
    const auto bits = [](float x) { return __float_as_uint(x) | 0xfff; };
    const uint32_t fragment_a[4] = {bits(a[group * 8 + within]), bits(a[(group + 8) * 8 + within]), bits(a[group * 8 + within + 4]),
                                    bits(a[(group + 8) * 8 + within + 4])};
    const uint32_t fragment_b[2] = {bits(b[within * N + group]), bits(b[(within + 4) * N + group])};
    const float ones[4] = {1, 1, 1, 1};
    float d[4];
    multiply_tf32(d, fragment_a, fragment_b, ones);
    store(c, d);
}
PROGRAM(mma_of_tf32) {
    auto a = numbers<float>(M * 8, 5), b = numbers<float>(8 * N, 7);
    for (auto* const values : {&a, &b}) {
        for (float& value : *values) value = value == 0 ? 1 : value;  // 0 with low digits is not a whole number
    }
    Array<float> on_a(a), on_b(b), c(M * N);
    multiply_tf32_kernel<<<1, 32>>>(on_a, on_b, c);
    return is_product(a, b, c.values(), M, N, 8);
}

template <class T>
__global__ void wmma_kernel(const T* a, const T* b, float* c) {
    using namespace nvcuda;
    __shared__ float tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fragment_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> fragment_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(fragment_a, a, 16);
    wmma::load_matrix_sync(fragment_b, b, 16);
    wmma::fill_fragment(sum, 1.0f);
    wmma::mma_sync(sum, fragment_a, fragment_b, sum);
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (unsigned i = threadIdx.x; i < 256; i += 32) c[i] = tile[i];
}
template <class T>
static bool wmma_multiplies() {
    const auto a = numbers<T>(256, 5), b = numbers<T>(256, 7);
    Array<T> on_a(a), on_b(b);
    Array<float> c(256);
    wmma_kernel<T><<<1, 32>>>(on_a, on_b, c);
    return is_product(a, b, c.values(), 16, 16, 16);
}
PROGRAM(wmma_of_half) { return wmma_multiplies<__half>(); }
PROGRAM(wmma_of_bfloat16) { return wmma_multiplies<__nv_bfloat16>(); }
