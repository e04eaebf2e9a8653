// Fibers: threads of control that change over only where they say so.
#pragma once

#include "sanitizers.h"

extern "C" void emulator_switch_stack(void** save, void* to);

namespace emulator {

// Lays out a new stack so that switching to the returned pointer calls entry.
void* first_frame(void* top, void (*entry)());

struct Stack {
    static constexpr size_t bytes = 256 << 10;
    unsigned char* bottom = nullptr;
    unsigned char* top() const { return bottom + bytes - colour; }
    size_t colour = 0;  // distance from the end: stacks that began at equal offsets would share few cache lines
    static Stack map(size_t number);
};

class Fiber {
  public:
    // A fiber that has not begun; it begins in entry(), on this stack, when somebody switches to it.
    void prepare(const Stack& stack, void (*entry)());
    // This fiber's code goes on as that of `next`, which has not begun: no change of stack.
    void become(Fiber& next);
    // Stands for the system thread that calls this.
    void adopt_system_thread();

    void switch_to(Fiber& next);              // returns when somebody switches back
    [[noreturn]] void end_in(Fiber& next);    // never returns; the stack may be used again
    static void begun();                      // entry's first call

    bool has_begun() const { return stack_pointer_ != nullptr; }
    void reset() { stack_pointer_ = nullptr; }
    const Stack& stack() const { return stack_; }

    void identify(void* identity);            // whom the race detector takes it for (identities.h)
    void forget();                            // abandons what it was doing: a fault

  private:
    void* stack_pointer_ = nullptr;
    Stack stack_;
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    void* shadow_of_locals_ = nullptr;
    const void* bottom_ = nullptr;
    size_t size_ = 0;
#endif
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    void* clock_ = nullptr;
#endif
};

}  // namespace emulator
