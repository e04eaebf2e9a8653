/* What recurrent layers share, forward and backward: a launch for each step, and where the states of a step lie. */
#ifndef ASSAYER_RECURRENT_CUH
#define ASSAYER_RECURRENT_CUH

#include "../src/recurrent_arguments.h"
#include "product.cuh"

/* rows: of a weight, hidden_dim for each part that it has. */
struct Layer {
    const float *input, *w_x, *w_h, *h0, *c0; /* h0 and c0 are null where they are 0 */
    int64_t batch, steps, input_dim, hidden_dim, rows;

    __host__ __device__ int64_t terms() const { return batch * steps; }
    __host__ __device__ int64_t states() const { return batch * hidden_dim; }

    /* True where every size of a product is one that multiply() takes. */
    bool fits() const { return terms() <= INT32_MAX && rows <= INT32_MAX; }
};

/* Where the state of a sample before a step lies: in a sequence of states, or at the start, of which null is 0. */
__device__ inline float state_before(const Layer& l, const float* states, const float* start, int64_t sample,
                                     int64_t step, int64_t unit) {
    if (step > 0) return states[(sample * l.steps + step - 1) * l.hidden_dim + unit];
    return start ? start[sample * l.hidden_dim + unit] : 0.0f;
}

constexpr int STEP_THREADS = 256;

/* f(sample, unit) for every unit of every sample. */
template <typename Function>
__global__ void __launch_bounds__(STEP_THREADS) units_kernel(Function f, int64_t samples, int64_t units) {
    const int64_t threads = gridDim.x * int64_t{STEP_THREADS};
    for (int64_t i = blockIdx.x * int64_t{STEP_THREADS} + threadIdx.x; i < samples * units; i += threads)
        f(i / units, i % units);
}

template <typename Function> int32_t for_units(const Function& f, int64_t samples, int64_t units, void* stream) {
    units_kernel<<<blocks_for(samples * units, STEP_THREADS), STEP_THREADS, 0, stream_of(stream)>>>(f, samples, units);
    return launched();
}

#endif
