/* Element by element over tensors of any layout: densely where they are dense, in tiles turned in shared memory where
 * an input lies closest along another axis than the output, else place by place. */
#ifndef ASSAYER_STRIDED_CUH
#define ASSAYER_STRIDED_CUH

#include "map.cuh"
#include "reduce.cuh"

#include "../src/strides.h"

/* Where the element of a number lies, counted with axis `first` the fastest. */
__host__ __device__ inline int64_t place_of(const layout& at, int operand, int first, int64_t number) {
    int64_t place = at.offsets[operand];
    for (int k = first; k < at.axes; k++) {
        const int64_t rest = number / at.lengths[k];
        place += (number - rest * at.lengths[k]) * at.strides[operand][k];
        number = rest;
    }
    return place;
}

constexpr int STRIDED_THREADS = 256;

template <int INPUTS, typename Function>
__global__ void __launch_bounds__(STRIDED_THREADS)
    strided_kernel(const layout at, Arrays<INPUTS, 1> arrays, int64_t count, Function f) {
    for (int64_t i = blockIdx.x * int64_t{STRIDED_THREADS} + threadIdx.x; i < count;
         i += gridDim.x * int64_t{STRIDED_THREADS}) {
        float x[INPUTS], y[1];
#pragma unroll
        for (int a = 0; a < INPUTS; a++) x[a] = arrays.in[a][place_of(at, a + 1, 0, i)];
        f(x, y);
        arrays.out[0][place_of(at, 0, 0, i)] = y[0];
    }
}

/* SIDE x SIDE elements of axes 0 and 1: warps read the rows of the axis along which each input lies closest. */
constexpr int SIDE = 32, TILE_WARPS = STRIDED_THREADS / WARP;

template <int INPUTS, typename Function>
__global__ void __launch_bounds__(STRIDED_THREADS)
    turned_kernel(const layout at, Arrays<INPUTS, 1> arrays, int64_t tiles, Function f) {
    __shared__ float held[INPUTS][SIDE][SIDE + 1];
    const int lane = lane_of_thread(), warp = threadIdx.x / WARP;
    const int64_t across = ceil_div(at.lengths[0], SIDE), down = ceil_div(at.lengths[1], SIDE);
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int64_t column = tile % across * SIDE, row = tile / across % down * SIDE, number = tile / (across * down);
        const int columns = static_cast<int>(min64(SIDE, at.lengths[0] - column));
        const int rows = static_cast<int>(min64(SIDE, at.lengths[1] - row));
#pragma unroll
        for (int a = 0; a < INPUTS; a++) {
            const int64_t along = at.strides[a + 1][0], beside = at.strides[a + 1][1];
            const float* const from = arrays.in[a] + place_of(at, a + 1, 2, number) + column * along + row * beside;
            const bool turned = beside != 0 && (along < 0 ? -along : along) > (beside < 0 ? -beside : beside);
            for (int i = warp; i < SIDE; i += TILE_WARPS) {
                const int c = turned ? i : lane, r = turned ? lane : i;
                if (c < columns && r < rows) held[a][r][c] = from[c * along + r * beside];
            }
        }
        __syncthreads();
        float* const to =
            arrays.out[0] + place_of(at, 0, 2, number) + column * at.strides[0][0] + row * at.strides[0][1];
        for (int r = warp; r < rows; r += TILE_WARPS) {
            if (lane >= columns) continue;
            float x[INPUTS], y[1];
#pragma unroll
            for (int a = 0; a < INPUTS; a++) x[a] = held[a][r][lane];
            f(x, y);
            to[lane * at.strides[0][0] + r * at.strides[0][1]] = y[0];
        }
        __syncthreads();
    }
}

inline bool is_dense(const layout& at, int operands) {
    bool dense = at.axes == 1;
    for (int o = 0; o < operands; o++) dense = dense && at.strides[o][0] == 1;
    return dense;
}

/* Whether an input is to be turned, and tiles of axes 0 and 1 are worth it. */
inline bool is_turned(const layout& at, int operands) {
    if (at.axes < 2 || at.lengths[0] < SIDE / 2 || at.lengths[1] < SIDE / 2) return false;
    bool turned = false;
    for (int o = 1; o < operands; o++)
        turned = turned || (at.strides[o][1] != 0 && size_of_step(at.strides[o][1]) < size_of_step(at.strides[o][0]));
    return turned;
}

/* output = f(inputs) at every place; operand 0 is the output.  The layout has an element. */
template <int INPUTS, typename Function>
int32_t map_layout(layout at, Arrays<INPUTS, 1> arrays, const Function& f, void* stream) {
    simplify(&at, INPUTS + 1);
    bring_close_axis(&at, INPUTS + 1);
    const int64_t count = elements_of(&at);
    if (is_dense(at, INPUTS + 1)) {
        arrays.out[0] += at.offsets[0];
        for (int a = 0; a < INPUTS; a++) arrays.in[a] += at.offsets[a + 1];
        return map(arrays, count, f, stream);
    }
    if (is_turned(at, INPUTS + 1)) {
        const int64_t planes = count / (at.lengths[0] * at.lengths[1]);
        const int64_t tiles = ceil_div(at.lengths[0], SIDE) * ceil_div(at.lengths[1], SIDE) * planes;
        turned_kernel<INPUTS, Function>
            <<<blocks_for(tiles, 1), STRIDED_THREADS, 0, stream_of(stream)>>>(at, arrays, tiles, f);
        return launched();
    }
    strided_kernel<INPUTS, Function>
        <<<blocks_for(count, STRIDED_THREADS), STRIDED_THREADS, 0, stream_of(stream)>>>(at, arrays, count, f);
    return launched();
}

#endif
