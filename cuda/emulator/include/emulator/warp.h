// Warp collectives.  Lanes meet by mask: each leaves a record on its own stack and waits; the last to come does the work
// for all of them, reading and writing the others' records.
#pragma once

#include "thread.h"

namespace emulator {

struct Meeting {
    using Resolve = void (*)(Meeting* const* lanes, unsigned mask);  // lanes[i] is valid where bit i of mask is set
    const char* name;
    unsigned mask;  // as the lane gave it
    Place place;
    Resolve resolve = nullptr;
    void* clock = nullptr;  // the race detector's
};

// Waits until every lane of the mask that has not returned is here with the same mask; then resolve has run once.
void meet(Meeting& mine, Meeting::Resolve resolve);

// Runs action(lane) for each lane of the mask, lowest first.
template <class Action>
inline __attribute__((always_inline)) void for_lanes(unsigned mask, Action action) {
    for (; mask; mask &= mask - 1) action(static_cast<unsigned>(__builtin_ctz(mask)));
}

template <class T>
struct Shuffle : Meeting {
    unsigned source;
    T value, result;

    EMULATOR_UNCHECKED static void resolve_all(Meeting* const* lanes, unsigned mask) {
        for (unsigned rest = mask; rest; rest &= rest - 1) {
            auto& mine = *static_cast<Shuffle*>(lanes[__builtin_ctz(rest)]);
            if (mask >> mine.source & 1) {
                mine.result = static_cast<const Shuffle*>(lanes[mine.source])->value;
            } else {  // undefined in CUDA: all bits set is NaN as any floating type
                auto* bytes = reinterpret_cast<unsigned char*>(&mine.result);
                for (size_t i = 0; i < sizeof(T); i++) bytes[i] = 0xff;
            }
        }
    }
};

template <class T>
inline T shuffle(const char* name, unsigned mask, T value, unsigned source, Place place) {
    static_assert(std::is_trivially_copyable<T>::value, "a value that travels between lanes is copied as bytes");
    Shuffle<T> mine{{name, mask, place}, source, value, value};
    meet(mine, Shuffle<T>::resolve_all);
    return mine.result;
}

// A collective whose lanes each give a value and each get a result that Function::all computes from all values.
template <class Function, class T, class Result>
struct Together : Meeting {
    T value;
    Result result;

    EMULATOR_UNCHECKED static void resolve_all(Meeting* const* lanes, unsigned mask) {
        T values[32];
        Result results[32];
        for (unsigned rest = mask; rest; rest &= rest - 1) {
            values[__builtin_ctz(rest)] = static_cast<const Together*>(lanes[__builtin_ctz(rest)])->value;
        }
        Function::all(values, results, mask);
        for (unsigned rest = mask; rest; rest &= rest - 1) {
            static_cast<Together*>(lanes[__builtin_ctz(rest)])->result = results[__builtin_ctz(rest)];
        }
    }
};

template <class Function, class Result, class T>
inline Result together(const char* name, unsigned mask, T value, Place place) {
    Together<Function, T, Result> mine{{name, mask, place}, value, Result{}};
    meet(mine, Together<Function, T, Result>::resolve_all);
    return mine.result;
}

}  // namespace emulator

#include "warp_functions.h"
