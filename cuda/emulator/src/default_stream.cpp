// Whoever launches on the default stream what belongs to a stream that was given, and only waits for that one, reads results
// that are not there.  Work that is done at once hides it, so it can be postponed.
#include "default_stream.h"

#include <mutex>
#include <utility>
#include <vector>

#include "settings.h"
#include "streams.h"

namespace emulator {
namespace {

struct Postponed {
    std::mutex mutex;
    std::vector<std::function<void()>> work;
};
Postponed& postponed_work() {
    static auto* const all = new Postponed;
    return *all;
}

std::vector<std::function<void()>> taken() {
    Postponed& all = postponed_work();
    std::lock_guard<std::mutex> lock(all.mutex);
    return std::exchange(all.work, {});
}

bool is_default(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy; }

}  // namespace

bool is_postponed(cudaStream_t stream) { return settings().default_stream_is_late && is_default(stream); }

bool postponed(cudaStream_t stream, std::function<void()> work) {
    if (!is_postponed(stream)) return false;
    Postponed& all = postponed_work();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.work.push_back(std::move(work));
    return true;
}

void catch_up(cudaStream_t stream) {
    if (!settings().default_stream_is_late || (!is_default(stream) && !waits_for_default_stream(stream))) return;
    static std::mutex in_order;  // what one thread catches up with, another does not overtake
    static thread_local bool is_under_way = false;
    if (is_under_way) return;  // the work itself asks, too
    std::lock_guard<std::mutex> lock(in_order);
    is_under_way = true;
    for (const auto& work : taken()) work();
    is_under_way = false;
}

}  // namespace emulator
