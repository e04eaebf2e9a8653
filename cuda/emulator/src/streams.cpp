// Every operation has ended when the call that orders it returns, but for those that are postponed (default_stream.h).  That
// is one of the orders in which a device may do what streams and events allow, so programs that are right are right here; one
// that forgets to wait for another stream is not found out.
#include "streams.h"

#include <chrono>
#include <map>
#include <mutex>
#include <set>

#include "default_stream.h"
#include "errors.h"
#include "graphs.h"

namespace emulator {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
    bool timed, recorded;
    Clock::time_point when;
};

struct Handles {
    std::mutex mutex;
    std::set<cudaStream_t> streams, non_blocking;
    std::map<cudaEvent_t, Event> events;
    uintptr_t next = 0x1000;  // addresses of nothing: a handle is only ever compared
};
Handles& handles() {
    static auto* const all = new Handles;
    return *all;
}

// Runs action on the event, where there is such an event.
template <class Action>
cudaError_t with_event(cudaEvent_t event, Action action) {
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.events.find(event);
    return checked(found == all.events.end() ? cudaErrorInvalidResourceHandle : action(found->second));
}

cudaError_t existing(cudaStream_t stream) { return checked(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle); }

// That the stream has come to its end, which one that is captured never does.
cudaError_t ended(cudaStream_t stream) {
    const cudaError_t captured = stream ? waiting_for(stream) : cudaSuccess;
    if (!captured && (!stream || stream == cudaStreamLegacy)) catch_up(stream);
    return captured ? checked(captured) : existing(stream);
}

}  // namespace

bool is_stream(cudaStream_t stream) {
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return true;
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.streams.count(stream) != 0;
}

bool waits_for_default_stream(cudaStream_t stream) {
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.non_blocking.count(stream) == 0;
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    if (!stream || flags > cudaStreamNonBlocking) return checked(cudaErrorInvalidValue);
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    *stream = reinterpret_cast<cudaStream_t>(all.next += 16);
    all.streams.insert(*stream);
    if (flags & cudaStreamNonBlocking) all.non_blocking.insert(*stream);
    return checked(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) { return cudaStreamCreateWithFlags(stream, flags); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.non_blocking.erase(stream);
    return checked(all.streams.erase(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return ended(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return ended(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    if (flags) return checked(cudaErrorInvalidValue);
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (is_captured(stream)) return checked(cudaErrorNotSupported);
    return with_event(event, [](Event&) { return cudaSuccess; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return checked(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument) {
    if (!function) return checked(cudaErrorInvalidValue);
    const cudaError_t error = existing(stream);
    const auto call = [=] { return function(argument), cudaSuccess; };
    if (error || recorded(stream, call) || postponed(stream, call)) return error;
    catch_up(stream);
    return call();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    if (!event || flags > (cudaEventBlockingSync | cudaEventDisableTiming)) return checked(cudaErrorInvalidValue);
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    *event = reinterpret_cast<cudaEvent_t>(all.next += 16);
    all.events[*event] = {!(flags & cudaEventDisableTiming), false, {}};
    return checked(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    Handles& all = handles();
    std::lock_guard<std::mutex> lock(all.mutex);
    return checked(all.events.erase(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (is_captured(stream)) return checked(cudaErrorNotSupported);
    catch_up(stream);
    return with_event(event, [](Event& marked) {
        marked.recorded = true;
        marked.when = Clock::now();
        return cudaSuccess;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return with_event(event, [](Event&) { return cudaSuccess; });
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!milliseconds) return checked(cudaErrorInvalidValue);
    Event first{};
    const cudaError_t error = with_event(start, [&](Event& event) {
        first = event;
        return event.timed && event.recorded ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
    if (error) return error;
    return with_event(end, [&](Event& event) {
        if (!event.timed || !event.recorded) return cudaErrorInvalidResourceHandle;
        *milliseconds = std::chrono::duration<float, std::milli>(event.when - first.when).count();
        return cudaSuccess;
    });
}
