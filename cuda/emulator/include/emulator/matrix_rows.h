// ldmatrix and stmatrix: 8 x 8 numbers of 16 bits between shared memory and the registers of a warp.
#pragma once

#include "matrix.h"

namespace emulator {

// Where the numbers lie that a lane holds of each matrix, from the addresses of the rows: lane 8 i + j gives that of row j
// of matrix i, 16 bytes.  Each lane moves its own numbers, so that reports name the right thread.
template <unsigned count, bool transposed>
struct MatrixRows {
    struct Numbers {
        uint16_t* at[count][2];
    };
    static void all(uint16_t* const* rows, Numbers* results, unsigned mask) {
        require_whole_warp(mask);
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < count; i++) {
                for (unsigned half = 0; half < 2; half++) {
                    const unsigned pair = lane % 4 * 2 + half, other = lane / 4;
                    results[lane].at[i][half] = transposed ? rows[8 * i + pair] + other : rows[8 * i + other] + pair;
                }
            }
        }
    }
};

template <unsigned count, bool transposed>
inline typename MatrixRows<count, transposed>::Numbers numbers_of_rows(const char* name, const char* misaligned, const void* row, Place place) {
    static_assert(count == 1 || count == 2 || count == 4, "ldmatrix and stmatrix move 1, 2 or 4 matrices");
    if (running_thread->lane < 8 * count && reinterpret_cast<uintptr_t>(row) % 16 != 0) trap(misaligned);
    using Rows = MatrixRows<count, transposed>;
    return together<Rows, typename Rows::Numbers>(name, whole_warp, static_cast<uint16_t*>(const_cast<void*>(row)), place);
}

// ldmatrix.sync.aligned.m8n8.xCOUNT[.trans].shared.b16
template <unsigned count, bool transposed = false>
inline void ldmatrix(uint32_t (&registers)[count], const void* row, EMULATOR_HERE) {
    require_architecture(75, "ldmatrix");
    const auto numbers = numbers_of_rows<count, transposed>("ldmatrix", "ldmatrix of a row that is not aligned to 16 bytes", row, place);
    for (unsigned i = 0; i < count; i++) registers[i] = *numbers.at[i][0] | static_cast<uint32_t>(*numbers.at[i][1]) << 16;
}
// stmatrix.sync.aligned.m8n8.xCOUNT[.trans].shared.b16
template <unsigned count, bool transposed = false>
inline void stmatrix(void* row, const uint32_t (&registers)[count], EMULATOR_HERE) {
    require_architecture(90, "stmatrix");
    const auto numbers = numbers_of_rows<count, transposed>("stmatrix", "stmatrix of a row that is not aligned to 16 bytes", row, place);
    for (unsigned i = 0; i < count; i++) {
        *numbers.at[i][0] = static_cast<uint16_t>(registers[i]);
        *numbers.at[i][1] = static_cast<uint16_t>(registers[i] >> 16);
    }
}

}  // namespace emulator
