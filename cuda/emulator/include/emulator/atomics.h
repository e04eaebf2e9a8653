// Atomic functions.  Blocks run on several system threads, so they are real.
#pragma once

#include "barrier.h"

namespace emulator {

// Relaxed, as in CUDA.  Under the race detector, which does not know fences, an atomic of a thread that has executed one
// carries the order, and a fence orders what follows after the last atomic: so the patterns "write, fence, atomic" and
// "atomic, fence, read" are understood.
inline int atomic_order([[maybe_unused]] void* address) {
#if EMULATOR_DETECTS_RACES
    if (!running_thread) return __ATOMIC_ACQ_REL;  // the host
    running_thread->last_atomic = address;
    if (running_thread->fenced) return __ATOMIC_ACQ_REL;
#endif
    return __ATOMIC_RELAXED;
}

template <size_t size> struct Bits;
template <> struct Bits<2> { using Type = uint16_t; };
template <> struct Bits<4> { using Type = uint32_t; };
template <> struct Bits<8> { using Type = uint64_t; };

template <class To, class From>
inline To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "same bits, other type");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

template <class B>
inline bool compare_exchange(B* address, B& expected, B desired) {
#if EMULATOR_DETECTS_RACES
    if (atomic_order(address) == __ATOMIC_ACQ_REL) {
        return __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
#endif
    return __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// *address = change(*address), atomically; returns what was there before.
template <class T, class Change>
inline T atomic_update(T* address, Change change) {
    using B = typename Bits<sizeof(T)>::Type;
    auto* const cell = reinterpret_cast<B*>(address);
    B before = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (!compare_exchange(cell, before, bit_cast<B>(static_cast<T>(change(bit_cast<T>(before)))))) {}
    return bit_cast<T>(before);
}

}  // namespace emulator

template <class T> inline T atomicAdd(T* address, emulator::Given<T> value) {
    if constexpr (std::is_integral<T>::value) {
        return __atomic_fetch_add(address, value, emulator::atomic_order(address));
    } else {
        return emulator::atomic_update(address, [=](T old) { return old + value; });
    }
}
template <class T> inline T atomicSub(T* address, emulator::Given<T> value) {
    static_assert(std::is_integral<T>::value, "CUDA has atomicSub for int and unsigned");
    return __atomic_fetch_sub(address, value, emulator::atomic_order(address));
}
template <class T> inline T atomicMax(T* address, emulator::Given<T> value) {
    return emulator::atomic_update(address, [=](T old) { return old > value ? old : value; });
}
template <class T> inline T atomicMin(T* address, emulator::Given<T> value) {
    return emulator::atomic_update(address, [=](T old) { return old < value ? old : value; });
}
template <class T> inline T atomicAnd(T* address, emulator::Given<T> value) {
    return emulator::atomic_update(address, [=](T old) { return old & value; });
}
template <class T> inline T atomicOr(T* address, emulator::Given<T> value) {
    return emulator::atomic_update(address, [=](T old) { return old | value; });
}
template <class T> inline T atomicXor(T* address, emulator::Given<T> value) {
    return emulator::atomic_update(address, [=](T old) { return old ^ value; });
}
template <class T> inline T atomicExch(T* address, emulator::Given<T> value) {
    return emulator::atomic_update(address, [=](T) { return value; });
}
inline unsigned atomicInc(unsigned* address, unsigned last) {
    return emulator::atomic_update(address, [=](unsigned old) { return old >= last ? 0u : old + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned last) {
    return emulator::atomic_update(address, [=](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

// A thread whose exchange fails may be spinning on another one's work, which has to get a turn.
template <class T> inline T atomicCAS(T* address, emulator::Given<T> expected, emulator::Given<T> desired) {
    using B = typename emulator::Bits<sizeof(T)>::Type;
    B found = emulator::bit_cast<B>(static_cast<T>(expected));
    if (!emulator::compare_exchange(reinterpret_cast<B*>(address), found, emulator::bit_cast<B>(static_cast<T>(desired)))) {
        emulator::yield();
    }
    return emulator::bit_cast<T>(found);
}

// The scopes: a block's and the system's atomics are at least as strong as asked for.
template <class T> inline T atomicAdd_block(T* address, emulator::Given<T> value) { return atomicAdd(address, value); }
template <class T> inline T atomicAdd_system(T* address, emulator::Given<T> value) { return atomicAdd(address, value); }
