// What a device says of itself, and what it does when it is told to fail.
#include "harness.h"

PROGRAM(multiprocessors) {
    int count = 0;
    const bool right = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess;
    std::fprintf(stderr, "%d multiprocessors\n", count);
    return right && count > 0;
}

PROGRAM(one_in_three_allocations) {
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        char* memory = nullptr;
        failed += cudaMalloc(&memory, 8) == cudaErrorMemoryAllocation;
        cudaFree(memory);
    }
    cudaGetLastError();
    return failed == 1;
}
