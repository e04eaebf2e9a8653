/* Elementwise kernels: out[:] = f(in[:]) in one pass over memory, 16 bytes an access where the arrays allow. */
#ifndef ASSAYER_MAP_CUH
#define ASSAYER_MAP_CUH

#include "launch.cuh"
#include "vector.cuh"

template <int INPUTS, int OUTPUTS> struct Arrays {
    const float* in[INPUTS];
    float* out[OUTPUTS];
};

/* The quads of n elements: those before the first multiple of 16 bytes stand alone, as do those after the last.  Where the
 * arrays lie differently there are none. */
struct Quads {
    int64_t first, count;
};

template <int INPUTS, int OUTPUTS> Quads quads_of(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t n) {
    const int phase = phase_of(arrays.out[0]);
    for (const float* const array : arrays.in)
        if (phase_of(array) != phase) return {0, 0};
    for (const float* const array : arrays.out)
        if (phase_of(array) != phase) return {0, 0};
    const int64_t first = min64((4 - phase) % 4, n);
    return {first, (n - first) / 4};
}

constexpr int MAP_THREADS = 256;

/* f(x, y): y[j] from x[i], one element of every array.  An array may be read and written by the same call: no thread
 * touches another's element. */
template <int INPUTS, int OUTPUTS, typename Function>
__global__ void __launch_bounds__(MAP_THREADS) map_kernel(Arrays<INPUTS, OUTPUTS> arrays, int64_t n, Quads quads, Function f) {
    const int64_t thread = blockIdx.x * int64_t{MAP_THREADS} + threadIdx.x, threads = gridDim.x * int64_t{MAP_THREADS};
    for (int64_t q = thread; q < quads.count; q += threads) {
        const int64_t at = quads.first + 4 * q;
        Quad in[INPUTS], out[OUTPUTS];
#pragma unroll
        for (int a = 0; a < INPUTS; a++) in[a] = load_quad(arrays.in[a] + at);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float x[INPUTS], y[OUTPUTS];
#pragma unroll
            for (int a = 0; a < INPUTS; a++) x[a] = in[a].at[i];
            f(x, y);
#pragma unroll
            for (int a = 0; a < OUTPUTS; a++) out[a].at[i] = y[a];
        }
#pragma unroll
        for (int a = 0; a < OUTPUTS; a++) store_quad(arrays.out[a] + at, out[a]);
    }
    for (int64_t i = thread; i < n - 4 * quads.count; i += threads) {
        const int64_t at = i < quads.first ? i : i + 4 * quads.count;
        float x[INPUTS], y[OUTPUTS];
#pragma unroll
        for (int a = 0; a < INPUTS; a++) x[a] = arrays.in[a][at];
        f(x, y);
#pragma unroll
        for (int a = 0; a < OUTPUTS; a++) arrays.out[a][at] = y[a];
    }
}

template <int INPUTS, int OUTPUTS, typename Function>
int32_t map(const Arrays<INPUTS, OUTPUTS>& arrays, int64_t n, const Function& f, void* stream) {
    const Quads quads = quads_of(arrays, n);
    const int64_t items = quads.count ? quads.count : n;
    map_kernel<INPUTS, OUTPUTS, Function><<<blocks_for(items, MAP_THREADS), MAP_THREADS, 0, stream_of(stream)>>>(arrays, n, quads, f);
    return launched();
}

#endif
