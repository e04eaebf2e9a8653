// Tries the scratch memory of kernels: `scratch NAME` says a code of it and what the next launch would say.
#include "scratch.cuh"

#include <cstdio>
#include <cstring>

static int32_t used(cudaStream_t stream) {
    const Scratch scratch(1 << 20, stream);
    return scratch.code();
}

/* In the middle of a capture of the caller's, in the strictest of modes. */
static int32_t captured() {
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    TRY(code_of(cudaStreamCreate(&stream)));
    TRY(code_of(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)));
    TRY(used(stream));
    return code_of(cudaStreamEndCapture(stream, &graph));
}

static uint64_t reserved() {
    uint64_t bytes = 0;
    succeeded(cudaMemPoolGetAttribute(scratch_pool(), cudaMemPoolAttrReservedMemCurrent, &bytes));
    return bytes;
}

static int32_t trimmed() {
    TRY(used(nullptr));
    TRY(code_of(cudaDeviceSynchronize()));
    if (reserved() < 1 << 20) return 1;
    trim_scratch();
    return reserved() == 0 ? ASSAYER_OK : 2;
}

static int32_t asked() { return device_attribute(cudaDevAttrMultiProcessorCount) ? ASSAYER_OK : ASSAYER_UNSUPPORTED; }

int main(int, char** names) {
    const char* const name = names[1];
    int32_t code = 0;
    if (std::strcmp(name, "used") == 0) code = used(nullptr);
    else if (std::strcmp(name, "captured") == 0) code = captured();
    else if (std::strcmp(name, "trimmed") == 0) code = trimmed();
    else if (std::strcmp(name, "asked") == 0) code = asked();
    else return 2;
    std::printf("%d %d\n", static_cast<int>(code), static_cast<int>(launched()));
    return 0;
}
