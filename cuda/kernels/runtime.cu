/* The build itself: memory and streams of the device. */
#include "ptx.cuh"
#include "scratch.cuh"

#include <cstring>

int32_t assayer_version(int32_t* version) {
    CHECK(version);
    *version = ASSAYER_VERSION;
    return ASSAYER_OK;
}

namespace {

cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

int64_t devices() {
    int count = 0; /* stays as it is where there is no driver */
    cudaGetDeviceCount(&count);
    cudaGetLastError();
    return count;
}

int64_t threads() {
    return int64_t{device_attribute(cudaDevAttrMultiProcessorCount)} *
           device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
}

int64_t compute_capability() {
    return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) +
           device_attribute(cudaDevAttrComputeCapabilityMinor);
}

const struct {
    const char* name;
    int64_t (*value)();
} FACTS[] = {
    {"device_memory", [] { return int64_t{arrays_on_device()}; }},
    {"devices", devices},
    {"threads", threads},
    {"compute_capability", compute_capability},
    {"emulated", [] { return int64_t{EMULATED}; }},
    {"vector_bits", [] { return int64_t{8 * sizeof(float4)}; }}, /* of one thread's widest access */
};

} // namespace

int32_t assayer_capability(const char* name, int64_t* value) {
    CHECK(name && value);
    for (const auto& fact : FACTS) {
        if (std::strcmp(name, fact.name) != 0) continue;
        *value = fact.value();
        return ASSAYER_OK;
    }
    return ASSAYER_UNAVAILABLE;
}

/* What the kernels' scratch memory keeps is handed back before the device is said to have none. */
int32_t assayer_allocate(void** memory, int64_t bytes) {
    CHECK(memory && bytes >= 1);
    void* block = nullptr;
    int32_t code = code_of(cudaMalloc(&block, static_cast<size_t>(bytes)));
    if (code == ASSAYER_NO_MEMORY) {
        trim_scratch();
        code = code_of(cudaMalloc(&block, static_cast<size_t>(bytes)));
    }
    if (code == ASSAYER_OK) *memory = block;
    return code;
}

int32_t assayer_free(void* memory) { return code_of(cudaFree(memory)); }

int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream) {
    CHECK(destination && source && bytes >= 1);
    return code_of(
        cudaMemcpyAsync(destination, source, static_cast<size_t>(bytes), cudaMemcpyDefault, stream_of(stream)));
}

int32_t assayer_fill(void* destination, int32_t byte, int64_t bytes, void* stream) {
    CHECK(destination && bytes >= 1);
    return code_of(cudaMemsetAsync(destination, byte, static_cast<size_t>(bytes), stream_of(stream)));
}

/* Not ordered by the default stream, so that one may be used while the other is captured. */
int32_t assayer_stream_create(void** stream) {
    CHECK(stream);
    cudaStream_t made = nullptr;
    const cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    if (error == cudaSuccess) *stream = made;
    return code_of(error);
}

/* Whoever is done with a stream is done with much of what its calls needed. */
int32_t assayer_stream_destroy(void* stream) {
    CHECK(stream);
    const int32_t code = code_of(cudaStreamDestroy(stream_of(stream)));
    trim_scratch();
    return code;
}

int32_t assayer_synchronize(void* stream) { return code_of(cudaStreamSynchronize(stream_of(stream))); }

int32_t assayer_event_create(void** event) {
    CHECK(event);
    cudaEvent_t made = nullptr;
    const cudaError_t error = cudaEventCreate(&made);
    if (error == cudaSuccess) *event = made;
    return code_of(error);
}

int32_t assayer_event_destroy(void* event) {
    CHECK(event);
    return code_of(cudaEventDestroy(event_of(event)));
}

int32_t assayer_event_record(void* event, void* stream) {
    CHECK(event);
    return code_of(cudaEventRecord(event_of(event), stream_of(stream)));
}

int32_t assayer_event_wait(void* event) {
    CHECK(event);
    return code_of(cudaEventSynchronize(event_of(event)));
}

int32_t assayer_event_elapsed(void* start, void* stop, float* milliseconds) {
    CHECK(start && stop && milliseconds);
    return code_of(cudaEventElapsedTime(milliseconds, event_of(start), event_of(stop)));
}

int32_t assayer_stream_wait(void* stream, void* event) {
    CHECK(event);
    return code_of(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0));
}

/* Relaxed: a caller that needs memory while it captures may take it.  The kernels take theirs from a pool then. */
int32_t assayer_capture_begin(void* stream) {
    CHECK(stream);
    if (!scratch_pool()) return ASSAYER_UNSUPPORTED;
    return code_of(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeRelaxed));
}

int32_t assayer_capture_end(void* stream, void** graph) {
    CHECK(stream && graph);
    cudaGraph_t captured = nullptr;
    TRY(code_of(cudaStreamEndCapture(stream_of(stream), &captured)));
    cudaGraphExec_t instance = nullptr;
    const int32_t made = code_of(cudaGraphInstantiate(&instance, captured, 0));
    const int32_t destroyed = code_of(cudaGraphDestroy(captured));
    if (made != ASSAYER_OK) return made;
    if (destroyed == ASSAYER_OK) *graph = instance;
    else succeeded(cudaGraphExecDestroy(instance));
    return destroyed;
}

int32_t assayer_graph_launch(void* graph, void* stream) {
    CHECK(graph);
    return code_of(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(stream)));
}

int32_t assayer_graph_destroy(void* graph) {
    CHECK(graph);
    return code_of(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)));
}
