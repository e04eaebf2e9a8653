"""Faults of the operations on strided tensors."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault("matmul_strided: five axes of a batch walked, and no more", ("matmul_strided",), "strides.h",
          "for (int k = first; k < l->axes; number", "for (int k = first; k < l->axes && k < 5; number",
          "never written"),
    Fault("map_strided: negative strides not turned", ("map_strided",), "strides.h",
          "l->offsets[o] += (l->lengths[k] - 1) * l->strides[o][k];", "l->offsets[o] += 0 * l->strides[o][k];",
          "past the end of output"),
    Fault("map_strided: axes joined by the output alone", ("map_strided",), "strides.h",
          "for (int o = 0; o < operands; o++)\n        if (l->strides[o][k] !=",
          "for (int o = 0; o < 1; o++)\n        if (l->strides[o][k] !=",
          "past the end of input"),
    Fault("map_strided: rows of a tile gathered the other way", ("map_strided",), "vector/layout.c",
          "for (int64_t i = 0; i < rows; i++) to[i * to_row + j] = from[i * down + j * along];",
          "for (int64_t i = 0; i < rows; i++) to[i * to_row + j] = from[j * down + i * along];",
          "crashed|past the end"),
    Fault("map_strided: round half away from zero", ("map_strided",), "vector/strided.c", "rintf(x)", "roundf(x)",
          "matches: .*round: half away from 0"),
    Fault("map_strided: every other number taken for every number", ("map_strided",), "vector/layout.c",
          "from[i * down + j * 2]", "from[i * down + j]", "only where .*(strides|offset)"),
    Fault("map_strided: cosine a quarter turn off", ("map_strided",), "vector/functions.h",
          "(int32_t)n + quarters;", "(int32_t)n + (quarters & 0);", "matches: .*sine exchanged"),
    Fault("zip_strided: power of a negative number without its sign", ("zip_strided",), "vector/functions.h",
          "rintf(half) != half ? -y : y", "rintf(half) != half ? y : y", "matches: .*of the magnitude"),
    Fault("reduce_strided: rows joined from the first one on", ("reduce_strided",), "strided_reduce.c",
          "first + row * down + steps_to(", "first + steps_to(", "rows? .* (read|missing)|only where .*strides"),
    Fault("map_strided: places are not looked at", ("map_strided",), "strided.c",
          "CHECK(strides_fit(input, input_size, axes, shape, input_strides, input_offset, false));\n"
          "    CHECK(strides_fit(output, output_size, axes, shape, output_strides, output_offset, true));\n"
          "    struct call c = {.output = output, .inputs = {input}",
          "CHECK(storage_fits(input, input_size) && storage_fits(output, output_size));\n"
          "    struct call c = {.output = output, .inputs = {input}", "is to be refused"),
    Fault("zip_strided: offset of b left out", ("zip_strided",), "strided.c",
          "set_operand(&c.at, 2, b_strides, b_offset);", "set_operand(&c.at, 2, b_strides, 0);",
          "matches: .*offset of b ignored"),
    Fault("zip_strided: maximum passes NaN over", ("zip_strided",), "vector/strided.c",
          "a > b || a != a ? a : b", "a > b || b != b ? a : b", "matches: .*maximum: passes NaN over"),
    Fault("reduce_strided: starts from 0", ("reduce_strided",), "strided_reduce.c",
          "r->join.pair(joined[i], r->start)", "r->join.pair(joined[i], 0)", "matches: .*starts from 0"),
    Fault("reduce_strided: start in every part", ("reduce_strided",), "strided_reduce.c",
          "r->join.pair(r->joined[i], r->joined[part * elements + i])",
          "r->join.pair(r->joined[i], r->joined[part * elements + i] + r->start)",
          "matches: .*start taken as 2|start in every block"),
    Fault("reduce_strided: mean not divided", ("reduce_strided",), "strided_reduce.c",
          "r.divisor = function == MEAN ? (double)elements_of(&r.numbers) : 1.0;", "r.divisor = 1.0;",
          "matches: .*mean not divided"),
    Fault("matmul_strided: first of the batch for all", ("matmul_strided",), "strided_matmul.c",
          "p->from_b + place_of(&p->at, p->operand_b, first + i)", "p->from_b + place_of(&p->at, p->operand_b, first)",
          "matches: .*of the first product for all"),
    Fault("matmul_strided: a copied as its transpose", ("matmul_strided",), "strided_matmul.c",
          "to[i * v->columns + j] = from[i * v->down + j * v->along];",
          "to[i * v->columns + j] = from[j * v->down + i * v->along];",
          "past the end|transposed"),
)  # fmt: skip
