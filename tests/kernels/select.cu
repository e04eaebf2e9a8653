// Tries the search of a sampler where what it looks for is not there: says which index of the row it ends at.
#include "select.cuh"

#include <cstdio>
#include <cstdlib>

constexpr int SIZE = 100;

/* Weights of 1, in bins of their own. */
struct Row {
    int64_t size;
    __device__ Mass weight(int64_t) const { return 1; }
    __device__ uint32_t key(int64_t i) const { return static_cast<uint32_t>(i); }
    __device__ int bin(int64_t i) const { return static_cast<int>(i); }
};

struct ByMass {
    __device__ Mass operator()(const Amount& amount) const { return amount.mass; }
};

__global__ void search_kernel(Mass threshold, Mass* found) {
    __shared__ Histogram<256> h;
    const Row row = {SIZE};
    const Stop stop = walk_down(h, row, ByMass{}, threshold);
    const int along = walk_along(h, row.size, [&](int64_t i) { return row.weight(i); }, threshold);
    if (threadIdx.x == 0) {
        found[0] = static_cast<Mass>(stop.digits.bin);
        found[1] = stop.weight();
        found[2] = static_cast<Mass>(along);
    }
}

/* Sums whose low halves wrap. */
__global__ void add_kernel(Mass weight, Mass* sum) {
    __shared__ Histogram<256> h;
    if (threadIdx.x == 0) h.clear(0);
    __syncthreads();
    h.add(0, weight);
    __syncthreads();
    if (threadIdx.x == 0) *sum = h.bin(0).mass;
}

int main(int, char** words) {
    Mass* found;
    cudaMalloc(&found, 4 * sizeof *found);
    search_kernel<<<1, 256>>>(std::strtoull(words[1], nullptr, 10), found);
    add_kernel<<<1, 256>>>(std::strtoull(words[2], nullptr, 10), found + 3);
    Mass said[4];
    const cudaError_t error = cudaMemcpy(said, found, sizeof said, cudaMemcpyDefault);
    std::printf("%llu %llu %llu %llu\n", said[0], said[1], said[2], said[3]);
    return error;
}
