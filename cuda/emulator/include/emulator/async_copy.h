// cp.async: copies from global into shared memory that other work goes on beside.
//
// Between such an instruction and the wait for its group the bytes may come at any time.  In the schedule `forward` they come
// at once, in `reverse` at the wait, in `random` the one or the other; those of a copy under way are all ones until it comes,
// unless ASSAYER_EMULATOR_FILL is 0.  So a read before the wait, and one of a buffer that is filled again too early, see it.
#pragma once

#include "barrier.h"
#include "shared_memory.h"
#include "tensor_core.h"

namespace emulator {

struct AsyncCopy {
    unsigned char* to;
    const unsigned char* from;
    unsigned bytes, from_source;  // what the source does not give is zero
};

// Whether the copy comes at its wait: then it is kept until then.
bool defer(const AsyncCopy& copy);
bool fills_memory();
// Ends the running thread's group of copies; takes out one copy of a group that is not among the `pending` last ones, if there is.
void commit_copies();
bool take_copy(unsigned pending, AsyncCopy& copy);

// The kernel's own accesses, which sanitisers have to see: this is compiled with it.
inline void land(const AsyncCopy& copy) {
    for (unsigned i = 0; i < copy.bytes; i++) copy.to[i] = i < copy.from_source ? copy.from[i] : 0;
}

// cp.async.ca/cg.shared.global [to], [from], bytes, from_source
template <unsigned bytes>
inline void cp_async(void* to, const void* from, unsigned from_source = bytes) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    require_architecture(80, "cp.async");
    if (from_source > bytes) trap("cp.async with a source of more bytes than it copies");
    if (!is_shared(to)) trap("cp.async to what is not shared memory");
    if (reinterpret_cast<uintptr_t>(to) % bytes || reinterpret_cast<uintptr_t>(from) % bytes) trap("cp.async at an address that its bytes do not divide");
    const AsyncCopy copy{static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), bytes, from_source};
    if (!defer(copy)) return land(copy);
    for (unsigned i = 0; fills_memory() && i < bytes; i++) copy.to[i] = 0xff;
}
inline void cp_async_commit_group() {
    require_architecture(80, "cp.async.commit_group");
    commit_copies();
}
// Waits until at most `pending` groups of the thread's are under way.
inline void cp_async_wait_group(unsigned pending) {
    require_architecture(80, "cp.async.wait_group");
    for (AsyncCopy copy; take_copy(pending, copy);) land(copy);
}
template <unsigned pending>
inline void cp_async_wait_group() {
    cp_async_wait_group(pending);
}
inline void cp_async_wait_all() {
    cp_async_commit_group();
    cp_async_wait_group(0);
}

}  // namespace emulator
