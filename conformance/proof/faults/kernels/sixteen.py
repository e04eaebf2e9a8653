"""Faults of the kernels that store 16 bits."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_NARROW = "for (int64_t i = 4 * quads + thread; i < n; i += threads) output[i] = Format::narrow(input[i]);"

FAULTS = (
    Fault("half.cuh: bfloat16 cut off", ("cast_to_bf16", "add_bf16"), "half.cuh",
          "__bfloat16_as_ushort(__float2bfloat16_rn(x))", "static_cast<half_bits>(__float_as_uint(x) >> 16)",
          "cut off"),
    Fault("half.cuh: float16 saturates", ("cast_to_fp16",), "half.cuh",
          "__float2half_rn(x)", "__float2half_rn(x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x)",
          "overflow saturates|numbers where (minus )?infinity is due"),
    Fault("cast.cu: what is left of the last quad not stored", ("swiglu_bf16",), "cast.cu",
          _NARROW, "", "never written"),
    Fault("optimizer.cu: draws counted from each chunk's beginning", ("multi_adamw_fp16",), "optimizer.cu",
          "random_word(own, e)", "random_word(own, e - at)", "copies"),
)  # fmt: skip
