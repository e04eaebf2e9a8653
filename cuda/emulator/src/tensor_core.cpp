// What each architecture's tensor cores add at once, and to how many digits.  Held to results of a V100, A100, A2, RTX Ada,
// L40S, H100, H200 and B200 (tests/emulator/test_tensor_core.py); sm_75 and sm_120 follow the published models alone.
#include "emulator/tensor_core.h"

#include "block.h"
#include "device.h"
#include "settings.h"

namespace emulator {
namespace {

struct Units {
    unsigned capability;
    MatrixUnit of[4];  // half, bfloat16, tf32, fp8; length 0: it has none
};

constexpr MatrixUnit none{0, 0, 0, false}, volta{4, 23, 23, false}, turing{8, 24, 23, false}, ampere_tf32{4, 24, 23, false},
    hopper{16, 25, 23, false}, hopper_tf32{8, 25, 23, false}, fp8_by_halves{16, 25, 23, true};
constexpr Units all_units[] = {
    {70, {volta, none, none, none}},
    {75, {turing, none, none, none}},
    {80, {turing, turing, ampere_tf32, none}},
    {86, {turing, turing, ampere_tf32, none}},
    {89, {turing, turing, ampere_tf32, {16, 13, 13, false}}},
    {90, {hopper, hopper, hopper_tf32, fp8_by_halves}},
    {100, {hopper, hopper, hopper_tf32, fp8_by_halves}},
    {120, {hopper, hopper, hopper_tf32, {32, 25, 23, false}}},
};

constexpr const char* names[] = {"half", "bfloat16", "tf32", "fp8"};

}  // namespace

unsigned architecture() { return settings().capability; }

MatrixUnit matrix_unit(Operands operands, unsigned least, const char* instruction) {
    const auto at = static_cast<unsigned>(operands);
    for (const Units& each : all_units) {
        if (each.capability == architecture() && each.of[at].length && architecture() >= least) return each.of[at];
    }
    this_block().fail(cudaErrorLaunchFailure, "executed %s of %s, which sm_%u lacks", instruction, names[at], architecture());
}

void require_architecture(unsigned least, const char* instruction) {
    if (architecture() < least) this_block().fail(cudaErrorLaunchFailure, "executed %s, which sm_%u lacks", instruction, architecture());
}

}  // namespace emulator
