/* A strip of rows by one panel on a unit of the C library, by its place here: what tests compare with the reference. */
#include "halves/unit.h"

/* sums += strip . panel, both packed; 1 where the unit is there and has computed. */
int multiply_on(int place, const uint16_t* strip, const uint16_t* panel, int rows, int64_t steps, float* sums);

int multiply_on(int place, const uint16_t* strip, const uint16_t* panel, int rows, int64_t steps, float* sums) {
    const struct unit* const units[] = {0, avx512_bf16_unit(), amx_unit(), amx_emulated_unit(), amx_fp16_unit(), amx_fp16_emulated_unit()};
    const struct unit* const unit = units[place];
    if (!unit || rows > unit->rows) return 0;
    unit->multiply(&(struct unit_call){.strip = strip, .panels = panel, .rows = rows, .panel_count = 1, .steps = steps, .sums = sums,
                                       .row = PAIR_WIDTH, .adds = true});
    return 1;
}
