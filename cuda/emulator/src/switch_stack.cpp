// The change from one stack to another: what a call preserves is kept, nothing else.
//
// emulator_switch_stack(save, to) pushes the registers that a function must preserve, stores the stack pointer in *save,
// takes `to` for it and returns to whoever left from there.  ucontext does the same with two system calls, 16 times slower.
#include "fiber.h"

#if defined(__x86_64__)
// System V ABI: rbx, rbp, r12 to r15.  The control words of the floating-point units are never changed by kernels.
asm(R"(
.text
.p2align 4
.globl emulator_switch_stack
.hidden emulator_switch_stack
.type emulator_switch_stack, @function
emulator_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulator_switch_stack, .-emulator_switch_stack
)");

void* emulator::first_frame(void* top, void (*entry)()) {
    auto** frame = static_cast<void**>(top);
    *--frame = nullptr;  // where entry would return to: ends every backtrace, and aligns the stack as a call does
    *--frame = reinterpret_cast<void*>(entry);
    for (int saved_register = 0; saved_register < 6; saved_register++) *--frame = nullptr;
    return frame;
}

#elif defined(__aarch64__)
// AAPCS64: x19 to x28, the frame pointer x29, the link register x30, and the low halves of v8 to v15.
asm(R"(
.text
.p2align 4
.globl emulator_switch_stack
.hidden emulator_switch_stack
.type emulator_switch_stack, %function
emulator_switch_stack:
    stp x29, x30, [sp, #-160]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x29, x30, [sp], #160
    ret
.size emulator_switch_stack, .-emulator_switch_stack
)");

void* emulator::first_frame(void* top, void (*entry)()) {
    auto** frame = static_cast<void**>(top) - 20;
    for (int slot = 0; slot < 20; slot++) frame[slot] = nullptr;
    frame[1] = reinterpret_cast<void*>(entry);  // x30, where the switch returns to
    return frame;
}

#else
#error "the emulator switches stacks on x86-64 and aarch64; add this processor to switch_stack.cpp"
#endif
