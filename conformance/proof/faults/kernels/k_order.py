"""Faults within all limits, that only bits show: products added over k in another order than is declared."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import ON_SM_80

_TILE, _KERNEL, _CONTRACT = "matrix_tile.cuh", "matrix.cuh", "mma-sm80-order"
_CASES = "plain or accumulate or tails"

FAULTS = (
    Fault("matrix_tile.cuh: two slices of a step exchanged", ("gemm_bf16", "gemm_tt_fp16"), _TILE,
          "__device__ void load(const half_bits* stage, int slice) {",
          "__device__ void load(const half_bits* stage, int slice) { slice ^= 1;",
          "C: the bits of .*neighbouring instructions exchanged", run_mode=ON_SM_80, contract=_CONTRACT, cases=_CASES),
    Fault("matrix_tile.cuh: every slice summed from zero", ("gemm_bf16", "gemm_nn_fp16"), _TILE,
          "if constexpr (SEPARATE) add_slice(", "if constexpr (true) add_slice(",
          "C: the bits of every 16 of k summed from zero", run_mode=ON_SM_80, contract=_CONTRACT, cases=_CASES),
    Fault("matrix_tile.cuh: one accumulator for weights' gradients", ("gemm_tn_bf16", "gemm_tn_fp16"), _TILE,
          "if constexpr (SEPARATE) add_slice(", "if constexpr (false) add_slice(",
          "C: the bits of one accumulator through all of k", run_mode=ON_SM_80, contract=_CONTRACT, cases=_CASES),
    Fault("matrix.cuh: C added to what alpha scales, rounded", ("gemm_tn_bf16", "gemm_tn_fp16"), _KERNEL,
          "pack.at[i] = fmaf(alpha, sums[c + i], beta * pack.at[i]);",
          "pack.at[i] = fmaf(beta, pack.at[i], alpha * sums[c + i]);",
          r"C: the bits of .*fma\(beta, C, alpha \* sum\)", run_mode=ON_SM_80, contract=_CONTRACT, cases=_CASES),
    Fault("matrix.cuh: the parts of a depth added from the last", ("gemm_tn_fp16",), _KERNEL,
          "for (int split = 0; split < splits; split++) {", "for (int split = splits - 1; split >= 0; split--) {",
          "C: the bits of the parts of k added from the last", run_mode=ON_SM_80, contract=_CONTRACT, cases=_CASES),
)  # fmt: skip
