// What rewrite/ turns inline PTX into: registers as bits, addresses, loads and stores.
#pragma once

#include "async_copy.h"
#include "matrix.h"
#include "shared_memory.h"

namespace emulator {

// PTX counts addresses in shared memory from the start of the block's own, in 32 bits.
size_t shared_address(uint64_t generic);
void* shared_pointer(uint64_t address);  // an address outside of what a block has is an error

namespace ptx {

template <class T>
inline uint64_t bits(const T& x) {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 8, "a register of PTX holds up to 8 bytes");
    uint64_t all = 0;
    std::memcpy(&all, &x, sizeof x);
    return all;
}
template <class T>
inline void set(T& x, uint64_t all) {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 8, "a register of PTX holds up to 8 bytes");
    std::memcpy(static_cast<void*>(&x), &all, sizeof x);
}

inline void* generic_pointer(uint64_t address) { return reinterpret_cast<void*>(address); }
inline void* shared_pointer(uint64_t address) { return emulator::shared_pointer(address & 0xffffffffu); }

template <class T, unsigned count>
struct alignas(sizeof(T) * count) Vector {
    T x[count];
};
template <class T, unsigned count>
inline Vector<T, count>* aligned(void* at) {
    if (reinterpret_cast<uintptr_t>(at) % sizeof(Vector<T, count>)) trap("a load or store at an address that its bytes do not divide");
    return static_cast<Vector<T, count>*>(at);
}
template <class T, unsigned count>
inline Vector<T, count> load(void* from) { return *aligned<T, count>(from); }
template <class T, unsigned count>
inline void store(void* to, const Vector<T, count>& x) { *aligned<T, count>(to) = x; }

inline void cp_async(void* to, const void* from, uint64_t bytes, uint64_t from_source, bool global_only) {
    if (from_source > bytes) trap("cp.async with a source of more bytes than it copies");
    const auto given = static_cast<unsigned>(from_source);
    if (bytes == 16) emulator::cp_async<16>(to, from, given);
    else if (bytes == 8 && !global_only) emulator::cp_async<8>(to, from, given);
    else if (bytes == 4 && !global_only) emulator::cp_async<4>(to, from, given);
    else trap("cp.async of other than 4, 8 or 16 bytes, or by .cg of other than 16");
}

}  // namespace ptx
}  // namespace emulator

inline size_t __cvta_generic_to_shared(const void* address) { return emulator::shared_address(reinterpret_cast<uintptr_t>(address)); }
inline void* __cvta_shared_to_generic(size_t address) { return emulator::shared_pointer(address); }
inline size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
