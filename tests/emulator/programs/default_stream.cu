// What the default stream's work waits for, and what waits for it: run with ASSAYER_EMULATOR_DEFAULT_STREAM=late.
#include "harness.h"

namespace {

__global__ void one_more(int* counter) { ++*counter; }

// What another stream, which has come to its end, reads meanwhile.
int seen_by(cudaStream_t stream, int* counter) {
    int* pinned = nullptr;
    cudaMallocHost(&pinned, sizeof(int));
    cudaMemcpyAsync(pinned, counter, sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    const int seen = *pinned;
    cudaFreeHost(pinned);
    return seen;
}

}  // namespace

PROGRAM(only_the_default_stream_is_late) {
    Array<int> counter(1, 0);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    one_more<<<1, 1, 0, stream>>>(counter);
    bool right = seen_by(stream, counter) == 1;
    one_more<<<1, 1>>>(counter);
    right = right && seen_by(stream, counter) == 1;
    right = right && cudaStreamSynchronize(nullptr) == cudaSuccess && seen_by(stream, counter) == 2;
    one_more<<<1, 1>>>(counter);
    return right && cudaDeviceSynchronize() == cudaSuccess && seen_by(stream, counter) == 3 && cudaStreamDestroy(stream) == cudaSuccess;
}

PROGRAM(a_fill_is_late_too_and_in_order) {
    Array<int> counter(1, 5);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemset(counter, 0, sizeof(int));
    one_more<<<1, 1>>>(counter);
    cudaMemsetAsync(counter, 0, sizeof(int));
    one_more<<<1, 1>>>(counter);
    one_more<<<1, 1>>>(counter);
    return seen_by(stream, counter) == 5 && counter.value() == 2 && cudaStreamDestroy(stream) == cudaSuccess;
}

PROGRAM(a_stream_that_waits_for_the_default_one) {
    Array<int> counter(1, 0);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    one_more<<<1, 1>>>(counter);
    one_more<<<1, 1, 0, stream>>>(counter);
    const bool right = seen_by(stream, counter) == 2;
    one_more<<<1, 1>>>(counter);
    return right && seen_by(cudaStreamPerThread, counter) == 3 && cudaStreamDestroy(stream) == cudaSuccess;
}

PROGRAM(an_event_of_the_default_stream) {
    Array<int> counter(1, 0);
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    one_more<<<1, 1>>>(counter);
    cudaEventRecord(event);
    cudaStreamWaitEvent(stream, event, 0);
    const bool right = seen_by(stream, counter) == 1;
    return cudaEventDestroy(event) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess && right;
}

PROGRAM(a_launch_that_cannot_be_is_refused_at_once) {
    Array<int> counter(1, 0);
    one_more<<<1, 2048>>>(counter);
    return cudaGetLastError() == cudaErrorInvalidConfiguration && counter.value() == 0;
}

// A graph that is launched on another stream does its fills there.
PROGRAM(a_graph_is_not_late) {
    Array<int> counter(1, 5);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    cudaMemsetAsync(counter, 0, sizeof(int), stream);
    one_more<<<1, 1, 0, stream>>>(counter);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&instance, graph, 0);
    cudaGraphLaunch(instance, stream);
    const bool right = seen_by(stream, counter) == 1;
    cudaGraphExecDestroy(instance);
    return right && cudaGraphDestroy(graph) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess;
}
