// Dot products by the emulator: by the unit that the caller describes, or by the instruction for so many numbers of a format
// on the architecture chosen, eight of them on the diagonal of each product.
#include <mma.h>

using namespace emulator;

// A number of any format in 32 bits, as a register would hold it alone.
template <class F, class Result, unsigned k>
static void dots_of(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, int64_t count, const MatrixUnit& unit) {
    for (int64_t i = 0; i < count; i++) {
        Factors<k> first, second;
        for (unsigned j = 0; j < k; j++) {
            set_factor<F>(first, j, a[i * k + j], unit);
            set_factor<F>(second, j, b[i * k + j], unit);
        }
        d[i] = whole_product<Result, Result>(first, second, c[i], unit, 2 * F::fraction);
    }
}
// Registers of a fragment from rows of bits, by the layout that PTX documents, in the place of what a kernel does by ldmatrix.
template <class F, unsigned k>
__device__ void fragments(const uint32_t* a, const uint32_t* b, uint32_t* of_a, uint32_t* of_b) {
    constexpr unsigned n = Kept<F>::per_register, width = 32 / n;
    const uint32_t mask = width == 32 ? ~0u : (1u << width % 32) - 1;
    for (unsigned i = 0; i < 16 * k / 32; i++) {
        const Place2D at = place_of_a<n>(threadIdx.x, i);
        put_number<F>(of_a, i, a[at.row % 8 * k + at.col] & mask);
    }
    for (unsigned i = 0; i < 8 * k / 32; i++) {
        const Place2D at = place_of_b<n>(threadIdx.x, i);
        put_number<F>(of_b, i, b[at.col * k + at.row] & mask);
    }
}
template <class F, class Register, unsigned k>
__global__ void mma_kernel(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d) {
    constexpr unsigned n = Kept<F>::per_register, sums = std::is_same<Register, float>::value ? 4 : 2;
    using Sum = typename AccumulatorOf<Register>::Type;
    uint32_t of_a[16 * k / 32 / n], of_b[8 * k / 32 / n], of_c[sums] = {};
    const int64_t first = int64_t{blockIdx.x} * 8;
    fragments<F, k>(a + first * k, b + first * k, of_a, of_b);
    for (unsigned i = 0; i < 4; i++) put_number<Sum>(of_c, i, c[first + place_of_c(threadIdx.x, i).col]);
    Register from[sums], sum[sums];
    for (unsigned i = 0; i < sums; i++) from[i] = bit_cast<Register>(of_c[i]);
    multiply<F, F, k>("mma", 70, sum, of_a, of_b, from, Place::here());
    for (unsigned i = 0; i < sums; i++) of_c[i] = bit_cast<uint32_t>(sum[i]);
    for (unsigned i = 0; i < 4; i++) {
        const Place2D at = place_of_c(threadIdx.x, i);
        if (at.row == at.col) d[first + at.row] = number_in<Sum>(of_c, i) & (sums == 4 ? ~0u : 0xffffu);
    }
}

// The same by mma.m8n8k4: of each group of eight lanes the diagonal, 32 to a warp.
template <class Register>
__global__ void quads_kernel(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d) {
    using Sum = typename AccumulatorOf<Register>::Type;
    using P = QuadProduct<Sum, Sum, true, false>;
    constexpr unsigned sums = 8 / Kept<Sum>::per_register;
    const unsigned lane = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * 32 + lane % 16 / 4 * 8, own = (first + PlaceInQuads::own(lane)) * 4;
    uint32_t of_a[2], of_b[2], of_c[sums];
    for (unsigned i = 0; i < 4; i++) put_number<Float16Bits>(of_a, i, a[own + i]), put_number<Float16Bits>(of_b, i, b[own + i]);
    for (unsigned i = 0; i < 8; i++) put_number<Sum>(of_c, i, c[first + P::template sum<Sum>(lane, i).col]);
    Register from[sums], sum[sums];
    for (unsigned i = 0; i < sums; i++) from[i] = bit_cast<Register>(of_c[i]);
    mma_m8n8k4<true, false>(sum, of_a, of_b, from);
    for (unsigned i = 0; i < sums; i++) of_c[i] = bit_cast<uint32_t>(sum[i]);
    for (unsigned i = 0; i < 8; i++) {
        const Place2D at = P::template sum<Sum>(lane, i);
        if (at.row == at.col) d[first + at.row] = number_in<Sum>(of_c, i) & (sums == 8 ? ~0u : 0xffffu);
    }
}

template <class F, class Result, class Register, unsigned k>
static int run(bool by_mma, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, int64_t count, const MatrixUnit& unit) {
    if (!by_mma) return dots_of<F, Result, k>(a, b, c, d, count, unit), 0;
    uint32_t *on_a, *on_b, *on_c, *on_d;
    const size_t factors = count * k * sizeof *a, sums = count * sizeof *c;
    cudaMalloc(&on_a, factors), cudaMalloc(&on_b, factors), cudaMalloc(&on_c, sums), cudaMalloc(&on_d, sums);
    cudaMemcpy(on_a, a, factors, cudaMemcpyHostToDevice), cudaMemcpy(on_b, b, factors, cudaMemcpyHostToDevice);
    cudaMemcpy(on_c, c, sums, cudaMemcpyHostToDevice);
    if constexpr (std::is_same<F, Float16Bits>::value && k == 4) {
        quads_kernel<Register><<<static_cast<unsigned>(count / 32), 32>>>(on_a, on_b, on_c, on_d);
    } else {
        mma_kernel<F, Register, k><<<static_cast<unsigned>(count / 8), 32>>>(on_a, on_b, on_c, on_d);
    }
    const cudaError_t error = cudaMemcpy(d, on_d, sums, cudaMemcpyDeviceToHost);
    cudaFree(on_a), cudaFree(on_b), cudaFree(on_c), cudaFree(on_d);
    return error;
}

template <class F, unsigned... ks>
static int run_of(int k, bool half, bool by_mma, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, int64_t count, const MatrixUnit& unit) {
    int error = -2;
    ((k == ks ? void(error = half ? run<F, Float16Bits, uint32_t, ks>(by_mma, a, b, c, d, count, unit)
                                  : run<F, Float32Bits, float, ks>(by_mma, a, b, c, d, count, unit))
              : void()),
     ...);
    return error;
}

// The format by its place in this list, the sums in half or float32; `unit` is length, fraction, kept, by_halves.
extern "C" int dots(int format, int k, int half, int by_mma, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, int64_t count,
                    const uint32_t* unit) {
    const MatrixUnit given{unit[0], unit[1], unit[2], unit[3] != 0};
    switch (format) {
        case 0: return run_of<Float16Bits, 4, 8, 16>(k, half, by_mma, a, b, c, d, count, given);
        case 1: return run_of<BFloat16Bits, 8, 16>(k, half, by_mma, a, b, c, d, count, given);
        case 2: return run_of<TensorFloat32Bits, 4, 8>(k, half, by_mma, a, b, c, d, count, given);
        case 3: return run_of<E4M3, 32>(k, half, by_mma, a, b, c, d, count, given);
        case 4: return run_of<E5M2, 32>(k, half, by_mma, a, b, c, d, count, given);
        default: return -2;
    }
}
