// Captures by stream, and graphs: a list of work in the order in which it was asked for, which is the order it is done in.
#include "graphs.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "default_stream.h"
#include "errors.h"
#include "failures.h"
#include "memory.h"
#include "streams.h"

struct CUgraph_st {
    std::vector<std::function<cudaError_t()>> work;
    std::vector<void*> memory;
    ~CUgraph_st() {
        for (void* each : memory) emulator::release(each, false);
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
    cudaStreamCaptureMode mode;
    std::thread::id by;
};
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

bool forbids_unsafe_calls(const Capture& capture) {
    if (mode_of_thread == cudaStreamCaptureModeRelaxed) return false;
    if (capture.by == std::this_thread::get_id()) return capture.mode != cudaStreamCaptureModeRelaxed;
    return capture.mode == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
}

bool is_mode(cudaStreamCaptureMode mode) { return mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed; }

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

// Breaks the captures for which forbidden(stream, capture) holds; an error where there is one.
template <class Forbidden>
static cudaError_t breaking(Forbidden forbidden) {
    if (under_way == 0) return cudaSuccess;
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    bool broken = false;
    for (auto& [captured, capture] : all.captures) {
        if (forbidden(captured, capture)) capture.broken = broken = true;
    }
    return broken ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t waiting_for(cudaStream_t stream) {
    return breaking([=](cudaStream_t captured, const Capture&) { return !stream || captured == stream; });
}

cudaError_t unsafe_call() {
    return breaking([](cudaStream_t, const Capture& capture) { return forbids_unsafe_calls(capture); });
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (!is_mode(mode)) return checked(cudaErrorInvalidValue);
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (!stream || stream == cudaStreamLegacy) return checked(cudaErrorStreamCaptureUnsupported);
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.captures.insert({stream, {std::make_shared<CUgraph_st>(), false, mode, std::this_thread::get_id()}}).second) return checked(cudaErrorIllegalState);
    under_way++;
    return checked(cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    if (!mode || !is_mode(*mode)) return checked(cudaErrorInvalidValue);
    std::swap(*mode, mode_of_thread);
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
    if (const cudaError_t failure = planted_failure("cudaGraphInstantiate")) return checked(failure);
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
    catch_up(stream);
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
    if (const cudaError_t failure = planted_failure("cudaGraphDestroy")) return checked(failure);
    std::shared_ptr<CUgraph_st> ended;
    Graphs& all = graphs();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.captured.find(graph);
    if (found == all.captured.end()) return checked(cudaErrorInvalidValue);
    ended = std::move(found->second);
    all.captured.erase(found);
    return checked(cudaSuccess);
}
