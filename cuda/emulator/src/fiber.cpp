#include "fiber.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace emulator {

Stack Stack::map(size_t number) {
    constexpr size_t guard = 64 << 10;  // at least a page on every processor; an overflow ends in it
    void* const memory = mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) {
        std::perror("CUDA emulator: no memory for a thread's stack");
        std::abort();
    }
    Stack stack;
    stack.bottom = static_cast<unsigned char*>(memory) + guard;
    stack.colour = 64 + number * 320 % 4096;
    return stack;
}

void Fiber::prepare(const Stack& stack, void (*entry)()) {
    stack_ = stack;
    stack_pointer_ = first_frame(stack.top(), entry);
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    bottom_ = stack.bottom;
    size_ = Stack::bytes;
#endif
}

void Fiber::become(Fiber& next) {
    next.stack_ = stack_;
    next.stack_pointer_ = stack_pointer_;
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    next.bottom_ = bottom_;
    next.size_ = size_;
#endif
}

void Fiber::adopt_system_thread() {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    pthread_attr_t attributes;
    void* bottom = nullptr;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &bottom, &size_);
    pthread_attr_destroy(&attributes);
    bottom_ = bottom;
#endif
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    clock_ = __tsan_get_current_fiber();
#endif
}

void Fiber::switch_to(Fiber& next) {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    __sanitizer_start_switch_fiber(&shadow_of_locals_, next.bottom_, next.size_);
#elif EMULATOR_MODE == EMULATOR_MODE_THREAD
    __tsan_switch_to_fiber(next.clock_, 1);  // 1: a change of fiber orders nothing
#endif
    emulator_switch_stack(&stack_pointer_, next.stack_pointer_);
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    __sanitizer_finish_switch_fiber(shadow_of_locals_, nullptr, nullptr);
#endif
}

void Fiber::end_in(Fiber& next) {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.size_);
#elif EMULATOR_MODE == EMULATOR_MODE_THREAD
    __tsan_switch_to_fiber(next.clock_, 1);
#endif
    emulator_switch_stack(&stack_pointer_, next.stack_pointer_);
    __builtin_unreachable();
}

void Fiber::begun() {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

void Fiber::identify([[maybe_unused]] void* identity) {
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    clock_ = identity;
#endif
}

void Fiber::forget() {
    stack_pointer_ = nullptr;
    allow(stack_.bottom, stack_.bottom ? Stack::bytes : 0);  // the frames that never ended have left their red zones
}

}  // namespace emulator
