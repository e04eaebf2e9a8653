// gemm as a stranger writes it on tensor cores: a warp a tile of 16 x 16, factors rounded to half, 16 products an instruction.
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>

constexpr int TILE = 16;

// C (M x N) = A (M x K) . B^T, B (N x K); a block is one warp and owns one tile of C.  Past the ends are zeros.
__global__ void gemm_by_wmma_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
    using namespace nvcuda;
    __shared__ __half a[TILE * TILE], b[TILE * TILE];
    __shared__ float c[TILE * TILE];
    const int row = static_cast<int>(blockIdx.y) * TILE, col = static_cast<int>(blockIdx.x) * TILE;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += TILE) {
        for (int i = static_cast<int>(threadIdx.x); i < TILE * TILE; i += 32) {
            const int r = i / TILE, at = k + i % TILE;
            a[i] = __half(row + r < M && at < K ? A[int64_t{row + r} * K + at] : 0.0f);
            b[i] = __half(col + r < N && at < K ? B[int64_t{col + r} * K + at] : 0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major> of_a;
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::col_major> of_b;
        wmma::load_matrix_sync(of_a, a, TILE);
        wmma::load_matrix_sync(of_b, b, TILE);
        wmma::mma_sync(sum, of_a, of_b, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, sum, TILE, wmma::mem_row_major);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x); i < TILE * TILE; i += 32) {
        if (row + i / TILE < M && col + i % TILE < N) C[int64_t{row + i / TILE} * N + col + i % TILE] = c[i];
    }
}

extern "C" int32_t cuda_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream) {
    if (!A || !B || !C || M < 1 || N < 1 || K < 1) return -2;
    const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    gemm_by_wmma_kernel<<<grid, 32, 0, static_cast<cudaStream_t>(stream)>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}
