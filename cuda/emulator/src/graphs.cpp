// Captures by stream, and graphs: a list of work in the order in which it was asked for, which is the order it is done in.
#include "graphs.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "errors.h"
#include "streams.h"

struct CUgraph_st {
    std::vector<std::function<cudaError_t()>> work;
    std::vector<void*> memory;
    ~CUgraph_st() {
        for (void* each : memory) cudaFree(each);
    }
};
struct CUgraphExec_st {
    std::shared_ptr<CUgraph_st> graph;
};

namespace emulator {
namespace {

struct Capture {
    std::shared_ptr<CUgraph_st> graph;
    bool broken;
};
struct Graphs {
    std::mutex mutex;
    std::map<cudaStream_t, Capture> captures;
    std::map<cudaGraph_t, std::shared_ptr<CUgraph_st>> captured;
    std::set<cudaGraphExec_t> instances;
};
Graphs& graphs() {
    static auto* const all = new Graphs;
    return *all;
}
std::atomic<int> under_way{0};  // captures: most launches need look no further

// Runs action on the stream's capture, where one is under way.
template <class Action>
bool with_capture(cudaStream_t stream, Action action) {
    if (under_way == 0) return false;
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.captures.find(stream);
    return found != all.captures.end() && action(found->second);
}

}  // namespace

bool recorded(cudaStream_t stream, std::function<cudaError_t()> work) {
    return with_capture(stream, [&](Capture& capture) {
        capture.graph->work.push_back(std::move(work));
        return true;
    });
}

bool kept_by_graph(cudaStream_t stream, void* memory) {
    return with_capture(stream, [&](Capture& capture) {
        capture.graph->memory.push_back(memory);
        return true;
    });
}

bool is_kept_by_graph(cudaStream_t stream, void* memory) {
    return with_capture(stream, [&](Capture& capture) {
        const auto& kept = capture.graph->memory;
        return std::find(kept.begin(), kept.end(), memory) != kept.end();
    });
}

bool is_captured(cudaStream_t stream) {
    return with_capture(stream, [](Capture&) { return true; });
}

cudaError_t capture(const Launch& launch, std::shared_ptr<void> arguments) {
    recorded(launch.configuration.stream, [launch, arguments] { return run(launch); });
    return checked(cudaSuccess);
}

cudaError_t waiting_for(cudaStream_t stream) {
    if (under_way == 0) return cudaSuccess;
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    bool broken = false;
    for (auto& [captured, capture] : all.captures) {
        if (!stream || captured == stream) capture.broken = broken = true;
    }
    return broken ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return checked(cudaErrorInvalidValue);
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (!stream || stream == cudaStreamLegacy) return checked(cudaErrorStreamCaptureUnsupported);
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.captures.insert({stream, {std::make_shared<CUgraph_st>(), false}}).second) return checked(cudaErrorIllegalState);
    under_way++;
    return checked(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    if (!status) return checked(cudaErrorInvalidValue);
    *status = cudaStreamCaptureStatusNone;
    with_capture(stream, [&](Capture& capture) {
        *status = capture.broken ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
        return true;
    });
    return checked(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    if (!graph) return checked(cudaErrorInvalidValue);
    *graph = nullptr;
    Capture ended{};  // what it held, if it is broken, is freed without the lock
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.captures.find(stream);
    if (found == all.captures.end()) return checked(cudaErrorIllegalState);
    ended = std::move(found->second);
    all.captures.erase(found);
    under_way--;
    if (ended.broken) return checked(cudaErrorStreamCaptureInvalidated);
    *graph = ended.graph.get();
    all.captured[*graph] = ended.graph;
    return checked(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* instance, cudaGraph_t graph, unsigned long long) {
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.captured.find(graph);
    if (!instance || found == all.captured.end()) return checked(cudaErrorInvalidValue);
    *instance = new CUgraphExec_st{found->second};
    all.instances.insert(*instance);
    return checked(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream) {
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    std::shared_ptr<CUgraph_st> graph;
    {
        Graphs& all = graphs();
        std::lock_guard<std::mutex> lock(all.mutex);
        if (!all.instances.count(instance)) return checked(cudaErrorInvalidValue);
        if (all.captures.count(stream)) return checked(cudaErrorNotSupported);
        graph = instance->graph;
    }
    for (const auto& work : graph->work) {
        if (const cudaError_t failed = work()) return failed;
    }
    return checked(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance) {
    Graphs& all = graphs();
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        if (!all.instances.erase(instance)) return checked(cudaErrorInvalidValue);
    }
    delete instance;
    return checked(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    std::shared_ptr<CUgraph_st> ended;
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.captured.find(graph);
    if (found == all.captured.end()) return checked(cudaErrorInvalidValue);
    ended = std::move(found->second);
    all.captured.erase(found);
    return checked(cudaSuccess);
}
