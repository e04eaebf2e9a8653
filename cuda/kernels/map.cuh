/* Elementwise kernels: out[:] = f(in[:]) in one pass over memory, 16 bytes an access where the arrays allow. */
#ifndef ASSAYER_MAP_CUH
#define ASSAYER_MAP_CUH

#include "launch.cuh"
#include "vector.cuh"

/* Arrays that are walked together, of float32 or a 16-bit format; an array may stand on both sides. */
template <int INPUTS, int OUTPUTS, typename In_ = float, typename Out_ = In_> struct Arrays {
    using In = In_;
    using Out = Out_;
    static constexpr int INS = INPUTS, OUTS = OUTPUTS, PLACES = OUTPUTS ? OUTPUTS : 1; /* no array is empty */
    static constexpr int WIDTH = WHOLE<In> > WHOLE<Out> ? WHOLE<In> : WHOLE<Out>; /* of a pack: 4, or 8 of 16 bits */
    const In* in[INPUTS];
    Out* out[PLACES];
};

/* The packs of n elements: those before the first multiple of 16 bytes stand alone, as do those after the last.  Where
 * the arrays lie differently there are none. */
struct Packs {
    int64_t first, count;
};

/* How many elements stand before the first multiple of 16 bytes. */
template <typename T> __host__ __device__ int before_first(const T* array) {
    return (WHOLE<T> - phase_of(array)) % WHOLE<T>;
}

template <typename A> __host__ __device__ Packs packs_of(const A& arrays, int64_t n) {
    using In = typename A::In;
    using Out = typename A::Out;
    const int first = WHOLE<In> == A::WIDTH ? before_first(arrays.in[0]) : before_first(arrays.out[0]);
    bool together = true;
    for (int a = 0; a < A::INS; a++) together = together && before_first(arrays.in[a]) == first % WHOLE<In>;
    for (int a = 0; a < A::OUTS; a++) together = together && before_first(arrays.out[a]) == first % WHOLE<Out>;
    if (!together) return {0, 0};
    const int64_t alone = min64(first, n);
    return {alone, (n - alone) / A::WIDTH};
}

/* f(x, y) once for every element of a pack: WIDTH of them, or one that stands alone. */
template <int WIDTH, typename A, typename Function>
__device__ void visit_pack(const A& arrays, int64_t at, Function& f) {
    Pack<WIDTH> in[A::INS], out[A::PLACES];
#pragma unroll
    for (int a = 0; a < A::INS; a++) in[a] = load_numbers<WIDTH>(arrays.in[a] + at);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        float x[A::INS], y[A::PLACES];
#pragma unroll
        for (int a = 0; a < A::INS; a++) x[a] = in[a].at[i];
        f(x, y);
#pragma unroll
        for (int a = 0; a < A::OUTS; a++) out[a].at[i] = y[a];
    }
#pragma unroll
    for (int a = 0; a < A::OUTS; a++) store_numbers<WIDTH>(arrays.out[a] + at, out[a]);
}

/* f(x, y) for this thread's share of n elements: y[j] of every output from x[i] of every input. */
template <typename A, typename Function>
__device__ void visit(const A& arrays, int64_t n, Packs packs, int64_t thread, int64_t threads, Function& f) {
    constexpr int WIDTH = A::WIDTH;
    for (int64_t p = thread; p < packs.count; p += threads) visit_pack<WIDTH>(arrays, packs.first + WIDTH * p, f);
    for (int64_t i = thread; i < n - WIDTH * packs.count; i += threads)
        visit_pack<1>(arrays, i < packs.first ? i : i + WIDTH * packs.count, f);
}

constexpr int MAP_THREADS = 256;

template <typename A, typename Function>
__global__ void __launch_bounds__(MAP_THREADS) map_kernel(A arrays, int64_t n, Packs packs, Function f) {
    visit(arrays, n, packs, blockIdx.x * int64_t{MAP_THREADS} + threadIdx.x, gridDim.x * int64_t{MAP_THREADS}, f);
}

template <typename A, typename Function> int32_t map(const A& arrays, int64_t n, const Function& f, void* stream) {
    const Packs packs = packs_of(arrays, n);
    const int64_t items = packs.count ? packs.count : n;
    map_kernel<A, Function><<<blocks_for(items, MAP_THREADS), MAP_THREADS, 0, stream_of(stream)>>>(arrays, n, packs, f);
    return launched();
}

#endif
