#include "errors.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "default_stream.h"
#include "graphs.h"

namespace emulator {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> failure{cudaSuccess};

struct Described {
    cudaError_t error;
    const char* name;
    const char* text;
};
constexpr Described descriptions[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const Described& description(cudaError_t error) {
    static constexpr Described unknown{cudaErrorUnknown, "unrecognized error code", "unrecognized error code"};
    for (const Described& each : descriptions) {
        if (each.error == error) return each;
    }
    return unknown;
}

}  // namespace

cudaError_t checked(cudaError_t own) {
    const cudaError_t failed = failure;
    if (failed) return failed;
    if (own && own != cudaErrorNotReady) last_error = own;
    return own;
}

cudaError_t refuse_launch(cudaError_t error, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "CUDA emulator: %s: %s\n", description(error).name, text);
    return last_error = error;
}

void kernel_failed(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    failure.compare_exchange_strong(none, error);
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaGetLastError() {
    const cudaError_t last = last_error, failed = failure;
    last_error = cudaSuccess;
    return failed ? failed : last;
}
cudaError_t cudaPeekAtLastError() {
    const cudaError_t failed = failure;
    return failed ? failed : last_error;
}
const char* cudaGetErrorName(cudaError_t error) { return description(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return description(error).text; }

cudaError_t cudaDeviceSynchronize() {
    const cudaError_t captured = waiting_for(nullptr);
    if (!captured) catch_up(nullptr);
    return checked(captured);
}
cudaError_t cudaDeviceReset() {
    failure = cudaSuccess;
    last_error = cudaSuccess;
    return cudaSuccess;
}
