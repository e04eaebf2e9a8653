/* Elementwise kernels: out[:] = f(in[:]) in one pass over memory, 16 bytes an access where the arrays allow. */
#ifndef ASSAYER_MAP_CUH
#define ASSAYER_MAP_CUH

#include "launch.cuh"
#include "vector.cuh"

/* Arrays that are walked together; an array may stand on both sides. */
template <int INPUTS, int OUTPUTS> struct Arrays {
    const float* in[INPUTS];
    float* out[OUTPUTS ? OUTPUTS : 1];
};

/* The quads of n elements: those before the first multiple of 16 bytes stand alone, as do those after the last.  Where
 * the arrays lie differently there are none. */
struct Quads {
    int64_t first, count;
};

template <int INPUTS, int OUTPUTS>
__host__ __device__ Quads quads_of(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t n) {
    const int phase = phase_of(arrays.in[0]);
    bool together = true;
    for (int a = 1; a < INPUTS; a++) together = together && phase_of(arrays.in[a]) == phase;
    for (int a = 0; a < OUTPUTS; a++) together = together && phase_of(arrays.out[a]) == phase;
    if (!together) return {0, 0};
    const int64_t first = min64((4 - phase) % 4, n);
    return {first, (n - first) / 4};
}

template <int INPUTS, int OUTPUTS, typename Function>
__device__ void visit_quad(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t at, Function& f) {
    Quad in[INPUTS], out[OUTPUTS ? OUTPUTS : 1];
#pragma unroll
    for (int a = 0; a < INPUTS; a++) in[a] = load_quad(arrays.in[a] + at);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float x[INPUTS], y[OUTPUTS ? OUTPUTS : 1];
#pragma unroll
        for (int a = 0; a < INPUTS; a++) x[a] = in[a].at[i];
        f(x, y);
#pragma unroll
        for (int a = 0; a < OUTPUTS; a++) out[a].at[i] = y[a];
    }
#pragma unroll
    for (int a = 0; a < OUTPUTS; a++) store_quad(arrays.out[a] + at, out[a]);
}

template <int INPUTS, int OUTPUTS, typename Function>
__device__ void visit_one(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t at, Function& f) {
    float x[INPUTS], y[OUTPUTS ? OUTPUTS : 1];
#pragma unroll
    for (int a = 0; a < INPUTS; a++) x[a] = arrays.in[a][at];
    f(x, y);
#pragma unroll
    for (int a = 0; a < OUTPUTS; a++) arrays.out[a][at] = y[a];
}

/* f(x, y) for this thread's share of n elements: y[j] of every output from x[i] of every input. */
template <int INPUTS, int OUTPUTS, typename Function>
__device__ void visit(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t n, Quads quads, int64_t thread, int64_t threads,
                      Function& f) {
    for (int64_t q = thread; q < quads.count; q += threads) visit_quad(arrays, quads.first + 4 * q, f);
    for (int64_t i = thread; i < n - 4 * quads.count; i += threads)
        visit_one(arrays, i < quads.first ? i : i + 4 * quads.count, f);
}

constexpr int MAP_THREADS = 256;

template <int INPUTS, int OUTPUTS, typename Function>
__global__ void __launch_bounds__(MAP_THREADS)
    map_kernel(Arrays<INPUTS, OUTPUTS> arrays, int64_t n, Quads quads, Function f) {
    visit(arrays, n, quads, blockIdx.x * int64_t{MAP_THREADS} + threadIdx.x, gridDim.x * int64_t{MAP_THREADS}, f);
}

template <int INPUTS, int OUTPUTS, typename Function>
int32_t map(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t n, const Function& f, void* stream) {
    const Quads quads = quads_of(arrays, n);
    const int64_t items = quads.count ? quads.count : n;
    map_kernel<INPUTS, OUTPUTS, Function>
        <<<blocks_for(items, MAP_THREADS), MAP_THREADS, 0, stream_of(stream)>>>(arrays, n, quads, f);
    return launched();
}

#endif
