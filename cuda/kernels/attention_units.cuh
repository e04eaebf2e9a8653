/* Whether attention's kernels of matrix units take a call, and how they are launched. */
#ifndef ASSAYER_ATTENTION_UNITS_CUH
#define ASSAYER_ATTENTION_UNITS_CUH

#include "attention.cuh"
#include "half.cuh"
#include "launch.cuh"

namespace {

constexpr int WIDEST_HEAD = 128;

/* Places in a tile past the last query or key are counted in 31 bits too. */
inline bool sizes_in_31_bits(const AttentionOf<half_bits>& s) {
    constexpr int64_t MOST = INT32_MAX - 1024;
    return s.queries() <= MOST && s.kv_len <= MOST;
}

/* Tiles that each meet `met` lines, one after the other: too few of them leave most of a device idle. */
inline bool enough_tiles(int64_t tiles, int64_t met) {
    return met <= 512 || 4 * tiles >= device_attribute(cudaDevAttrMultiProcessorCount);
}

/* Whether the device has what the kernel was compiled to: a library without machine code for it starts from PTX, which
 * may be an older architecture's. */
template <typename Kernel> bool has_units(Kernel* kernel) {
    cudaFuncAttributes attributes = {};
    return succeeded(cudaFuncGetAttributes(&attributes, kernel)) && attributes.ptxVersion >= 80;
}

template <typename Shape, typename Kernel, typename Given>
int32_t launch_by_units(Kernel* kernel, int64_t blocks, const Given& given, void* stream) {
    constexpr int BYTES = Shape::SHARED * int{sizeof(half_bits)};
    TRY(code_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES)));
    kernel<<<blocks_for(blocks, 1), Shape::THREADS, BYTES, stream_of(stream)>>>(given);
    return launched();
}

} // namespace

#endif
