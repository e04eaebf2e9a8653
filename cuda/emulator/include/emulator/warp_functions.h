// The warp collectives by CUDA's names, on top of warp.h.
#pragma once

#include "warp.h"

namespace emulator {

void sync_warp(unsigned mask, Place place);  // __syncwarp: the one collective that also orders memory

// What the warp's own functions carry from lane to lane; small_float.h adds to it.
template <class T> struct Travels : std::is_arithmetic<T> {};

// Shuffles within segments of `width` lanes; a lane whose source would lie in another segment keeps its own value.
template <class T>
inline T shuffle_from(const char* name, unsigned mask, T value, int source, unsigned width, Place place) {
    const unsigned start = running_thread->lane & ~(width - 1);
    return shuffle(name, mask, value, start | (static_cast<unsigned>(source) & (width - 1)), place);
}
template <class T>
inline T shuffle_xor(const char* name, unsigned mask, T value, int bits, unsigned width, Place place) {
    const unsigned lane = running_thread->lane, source = lane ^ static_cast<unsigned>(bits);
    return shuffle(name, mask, value, source >= (lane & ~(width - 1)) + width ? lane : source, place);
}
template <class T>
inline T shuffle_up(const char* name, unsigned mask, T value, unsigned delta, unsigned width, Place place) {
    const unsigned lane = running_thread->lane;
    return shuffle(name, mask, value, (lane & (width - 1)) < delta ? lane : lane - delta, place);
}
template <class T>
inline T shuffle_down(const char* name, unsigned mask, T value, unsigned delta, unsigned width, Place place) {
    const unsigned lane = running_thread->lane;
    return shuffle(name, mask, value, (lane & (width - 1)) + delta >= width ? lane : lane + delta, place);
}

struct Ballot {
    static void all(const bool* values, unsigned* results, unsigned mask) {
        unsigned holding = 0;
        for_lanes(mask, [&](unsigned lane) { holding |= unsigned{values[lane]} << lane; });
        for_lanes(mask, [&](unsigned lane) { results[lane] = holding; });
    }
};

struct Match {
    template <class T>
    static void all(const T* values, unsigned* results, unsigned mask) {
        for_lanes(mask, [&](unsigned lane) {
            results[lane] = 0;
            for_lanes(mask, [&](unsigned other) {
                results[lane] |= unsigned{__builtin_memcmp(&values[lane], &values[other], sizeof(T)) == 0} << other;
            });
        });
    }
};

// All lanes equal: who they are, otherwise 0.
struct MatchAll {
    template <class T>
    static void all(const T* values, unsigned* results, unsigned mask) {
        unsigned equal = 0;
        Match::all(values, results, mask);
        for_lanes(mask, [&](unsigned lane) { equal |= unsigned{results[lane] == mask} << lane; });
        for_lanes(mask, [&](unsigned lane) { results[lane] = equal == mask ? mask : 0; });
    }
};

template <class Operation>
struct Reduce {
    template <class T>
    static void all(const T* values, T* results, unsigned mask) {
        T total = values[__builtin_ctz(mask)];
        for_lanes(mask & (mask - 1), [&](unsigned lane) { total = Operation::of(total, values[lane]); });
        for_lanes(mask, [&](unsigned lane) { results[lane] = total; });
    }
};

template <class Operation, class T>
inline T reduce(const char* name, unsigned mask, T value, Place place) {
    static_assert(std::is_same<T, int>::value || std::is_same<T, unsigned>::value, "__reduce_*_sync takes int or unsigned");
    return together<Reduce<Operation>, T>(name, mask, value, place);
}

struct Add {
    static unsigned of(unsigned a, unsigned b) { return a + b; }
    static int of(int a, int b) { return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }
};
struct Min { template <class T> static T of(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> static T of(T a, T b) { return a > b ? a : b; } };
struct And { static unsigned of(unsigned a, unsigned b) { return a & b; } };
struct Or { static unsigned of(unsigned a, unsigned b) { return a | b; } };
struct Xor { static unsigned of(unsigned a, unsigned b) { return a ^ b; } };

}  // namespace emulator

inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATOR_HERE) { emulator::sync_warp(mask, place); }

// Which lanes run together is not defined where threads are scheduled one by one: a lane is sure of itself alone.
inline unsigned __activemask() { return 1u << emulator::running_thread->lane; }

// CUDA shuffles numbers, not structures.
#define EMULATOR_SHUFFLE(name, how, Count)                                                                          \
    template <class T>                                                                                              \
    inline T name(unsigned mask, T value, Count count, int width = 32, EMULATOR_HERE) {                             \
        static_assert(emulator::Travels<T>::value, #name " takes numbers of CUDA's types; shuffle the members");    \
        return emulator::how(#name, mask, value, count, static_cast<unsigned>(width), place);                       \
    }
EMULATOR_SHUFFLE(__shfl_sync, shuffle_from, int)
EMULATOR_SHUFFLE(__shfl_xor_sync, shuffle_xor, int)
EMULATOR_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned)
EMULATOR_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned)
#undef EMULATOR_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATOR_HERE) {
    return emulator::together<emulator::Ballot, unsigned>("__ballot_sync", mask, predicate != 0, place);
}
inline int __any_sync(unsigned mask, int predicate, EMULATOR_HERE) {
    return emulator::together<emulator::Ballot, unsigned>("__any_sync", mask, predicate != 0, place) != 0;
}
inline int __all_sync(unsigned mask, int predicate, EMULATOR_HERE) {
    return emulator::together<emulator::Ballot, unsigned>("__all_sync", mask, predicate == 0, place) == 0;
}

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, EMULATOR_HERE) {
    return emulator::together<emulator::Match, unsigned>("__match_any_sync", mask, value, place);
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* predicate, EMULATOR_HERE) {
    const unsigned equal = emulator::together<emulator::MatchAll, unsigned>("__match_all_sync", mask, value, place);
    *predicate = equal != 0;
    return equal;
}

template <class T> inline T __reduce_add_sync(unsigned mask, T value, EMULATOR_HERE) { return emulator::reduce<emulator::Add>("__reduce_add_sync", mask, value, place); }
template <class T> inline T __reduce_min_sync(unsigned mask, T value, EMULATOR_HERE) { return emulator::reduce<emulator::Min>("__reduce_min_sync", mask, value, place); }
template <class T> inline T __reduce_max_sync(unsigned mask, T value, EMULATOR_HERE) { return emulator::reduce<emulator::Max>("__reduce_max_sync", mask, value, place); }
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, EMULATOR_HERE) { return emulator::reduce<emulator::And>("__reduce_and_sync", mask, value, place); }
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, EMULATOR_HERE) { return emulator::reduce<emulator::Or>("__reduce_or_sync", mask, value, place); }
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, EMULATOR_HERE) { return emulator::reduce<emulator::Xor>("__reduce_xor_sync", mask, value, place); }
