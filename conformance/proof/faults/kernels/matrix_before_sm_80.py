"""Faults of products by the matrix units of sm_70 and sm_75: float16 alone, copies that threads bring themselves."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import ON_SM_70, ON_SM_75

_PTX, _QUADS, _KERNEL = "ptx_matrix.cuh", "matrix_quads.cuh", "matrix.cuh"
_WRONG = "^C: |; C: |: C "
_SOME = "plain or tails"

FAULTS = (
    Fault("ptx_matrix.cuh: the first half of the columns' depth twice", ("gemm_fp16",), _PTX,
          "columns[1] = {b[half]};", "columns[1] = {b[0]};", _WRONG, run_mode=ON_SM_75, cases=_SOME),
    Fault("ptx_matrix.cuh: rows of a fragment paired by depth", ("gemm_fp16",), _PTX,
          "rows[2] = {a[2 * half], a[2 * half + 1]}", "rows[2] = {a[half], a[half + 2]}", _WRONG, run_mode=ON_SM_75,
          cases=_SOME),
    Fault("ptx_matrix.cuh: a copy that nobody asked for is read", ("gemm_fp16",), _PTX,
          "there ? *reinterpret_cast<const float4*>(from) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);",
          "*reinterpret_cast<const float4*>(from); (void)there;", "read past the end of [AB]|" + _WRONG,
          run_mode=ON_SM_75),
    Fault("matrix_quads.cuh: lines of a factor by eights of lanes", ("gemm_fp16",), _QUADS,
          "return lane_of_thread() / 4 % 4;", "return lane_of_thread() / 8;", _WRONG, run_mode=ON_SM_70, cases=_SOME),
    Fault("matrix_quads.cuh: rows and columns of the four products exchanged", ("gemm_nn_fp16",), _QUADS,
          "Shape::warp_row() + 16 * i, quad_of_lane() / 2, slice",
          "Shape::warp_row() + 16 * i, quad_of_lane() % 2, slice",
          _WRONG, run_mode=ON_SM_70, cases=_SOME),
    Fault("matrix_quads.cuh: the lower four lines twice", ("gemm_tn_fp16",), _QUADS,
          "eight / CHUNK) + lines_of_lane();", "eight / CHUNK);", _WRONG, run_mode=ON_SM_70, cases=_SOME),
    Fault("matrix_quads.cuh: the first chunk of a slice twice", ("gemm_fp16",), _QUADS,
          "slice * (SLICE / CHUNK) + c)", "slice * (SLICE / CHUNK))", _WRONG, run_mode=ON_SM_70, cases=_SOME),
    Fault("matrix_quads.cuh: columns of a lane's second four beside the first", ("gemm_fp16",), _QUADS,
          "j % 2 * 4 + (lane_of_thread() & 2)", "j % 2 * 2 + (lane_of_thread() & 2) * 2", _WRONG, run_mode=ON_SM_70,
          cases=_SOME),
    Fault("matrix_quads.cuh: slices assigned, not added", ("gemm_tn_fp16",), _QUADS,
          "SEPARATE ? left[n] + sums[n] : sums[n]", "sums[n]", _WRONG, run_mode=ON_SM_70),
)  # fmt: skip
