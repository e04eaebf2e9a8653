// What is said about a kernel that went wrong.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "block.h"
#include "errors.h"

namespace emulator {
namespace {

// Text that is written out in one piece, so that those of several system threads do not mix.
class Report {
  public:
    ~Report() { std::fwrite(text_, 1, length_, stderr); }
    __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        add_list(format, arguments);
        va_end(arguments);
    }
    void add_list(const char* format, va_list arguments) {
        const int written = std::vsnprintf(text_ + length_, sizeof text_ - length_, format, arguments);
        if (written > 0) length_ += static_cast<size_t>(written) < sizeof text_ - length_ ? static_cast<size_t>(written) : sizeof text_ - length_ - 1;
    }

  private:
    char text_[8192];
    size_t length_ = 0;
};

}  // namespace

void describe(const Block& block, const Thread* thread, char* text, size_t size) {
    const int written = std::snprintf(text, size, "kernel `%s`, block (%u,%u,%u) of (%u,%u,%u)", block.launch().name, block.index.x,
                                      block.index.y, block.index.z, block.blocks.x, block.blocks.y, block.blocks.z);
    if (!thread || written < 0 || static_cast<size_t>(written) >= size) return;
    std::snprintf(text + written, size - static_cast<size_t>(written), ", thread (%u,%u,%u) of (%u,%u,%u)", thread->index.x,
                  thread->index.y, thread->index.z, block.threads.x, block.threads.y, block.threads.z);
}

void Block::fail(cudaError_t error, const char* what, ...) {
    if (grid_->fail()) {
        Report report;
        char where[512];
        describe(*this, &running(), where, sizeof where);
        report.add("CUDA emulator: %s: %s ", cudaGetErrorName(error), where);
        va_list arguments;
        va_start(arguments, what);
        report.add_list(what, arguments);
        va_end(arguments);
        report.add("\n");
    }
    kernel_failed(error);
    running().fiber.end_in(host_);
}

Waiting Block::what_it_waits_for(const Member& member) const {
    const Warp& warp = warps_[member.number / 32];
    if (const NamedBarriers::Barrier* const named = named_.of(member)) return {named->name, named_.place_of(member), 0, false};
    if (!(warp.in_meeting >> member.lane & 1)) return {barrier_.name, barrier_.place, 0, false};
    const Meeting& meeting = *warp.meetings[member.lane];
    return {meeting.name, meeting.place, meeting.mask, true};
}

void Block::report_deadlock() {
    if (grid_->fail()) {
        Report report;
        char where[512];
        describe(*this, nullptr, where, sizeof where);
        report.add("CUDA emulator: %s: %s: deadlock, none of its threads can go on\n", cudaGetErrorName(cudaErrorLaunchFailure), where);
        if (alive_ < n_threads_) report.add("  %u of %u threads have returned\n", n_threads_ - alive_, n_threads_);
        const auto is_alive = [&](unsigned i) { return warps_[i / 32].alive >> i % 32 & 1; };
        for (unsigned i = 0; i < n_threads_;) {
            if (!is_alive(i)) {
                i++;
                continue;
            }
            const Member& first = members_[i];
            const Waiting waiting = what_it_waits_for(first);
            unsigned next = i + 1;
            while (next < n_threads_ && is_alive(next) && what_it_waits_for(members_[next]) == waiting) next++;
            const Member& last = members_[next - 1];
            report.add("  threads (%u,%u,%u) to (%u,%u,%u) wait at %s in %s:%d", first.index.x, first.index.y, first.index.z, last.index.x,
                       last.index.y, last.index.z, waiting.name, waiting.place.file, waiting.place.line);
            if (waiting.in_meeting) report.add(" with mask 0x%08x", waiting.mask);
            report.add("\n");
            i = next;
        }
    }
    kernel_failed(cudaErrorLaunchFailure);
    running().fiber.end_in(host_);
}

}  // namespace emulator
