"""Faults of the products that stay float32 and are too short for matrix units: threads multiply them."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BACKWARDS, BY_RACES, ON_SM_70, ON_SM_80

_FLOAT, _KERNEL = "matrix_float.cuh", "matrix.cuh"
_LEANS = "matches: sums cut off|rounded toward zero"

FAULTS = (
    Fault("matrix_float.cuh: short sums left to the unit", ("router_gemm_fp16", "gemm_tn_fp16"), _FLOAT,
          "units >= 75 ? 256 : 1024", "units >= 75 ? 0 : 0", _LEANS, run_mode=ON_SM_80),
    Fault("matrix_float.cuh: short sums left to sm_70's unit", ("router_gemm_fp16",), _FLOAT,
          "units >= 75 ? 256 : 1024", "units >= 75 ? 256 : 16", _LEANS, run_mode=ON_SM_70),
    Fault("matrix.cuh: an expert's few tokens left to the unit", ("grouped_gemm_tn_bf16", "grouped_gemm_tn_fp16"),
          _KERNEL, "(p.parts ? p.depth : job.depth) <=", "p.depth <=", _LEANS, run_mode=ON_SM_80),
    Fault("matrix_float.cuh: no wait for the copies", ("gemm_tn_bf16",), _FLOAT,
          "wait_for_copies<1>();", "wait_for_copies<2>();", "C: NaN", run_mode=BACKWARDS, cases="plain"),
    Fault("matrix_float.cuh: a stage filled while others read it", ("gemm_tn_bf16",), _FLOAT,
          "__syncthreads(); /* nobody reads this stage any more */", "", "data race kernels/", run_mode=BY_RACES,
          cases="64x48x128"),
    Fault("matrix_float.cuh: one stage for all steps", ("gemm_tn_fp16",), _FLOAT,
          "stages + step % 2 * Shape::STAGE", "stages + step * 0", "only where K >= 33"),
    Fault("matrix_float.cuh: what is left of the depth not summed", ("gemm_tn_bf16", "router_gemm_fp16"), _FLOAT,
          "(a.depth + Shape::DEPTH - 1) / Shape::DEPTH", "a.depth / Shape::DEPTH",
          "matches: terms past the last multiple of 16 missing"),
    Fault("matrix_float.cuh: the first eight rows twice", ("router_gemm_bf16",), _FLOAT,
          "16 * i + Units::row(half)", "16 * i + Units::row(0 * half)", "holds what belongs to another one, 8 before"),
    Fault("matrix_float.cuh: neighbouring columns exchanged", ("gemm_tn_fp16",), _FLOAT,
          "Units::column(j) + n", "Units::column(j) + 1 - n", "the right values in other places"),
    Fault("matrix_float.cuh: rows and columns of a fragment exchanged", ("gemm_tn_bf16",), _FLOAT,
          "fmaf(rows[i][n / 2], columns[j][n % 2],", "fmaf(rows[i][n % 2], columns[j][n / 2],",
          "the right values in other places"),
    Fault("matrix_tile.cuh: numbers of a chunk from its end", ("gemm_tn_fp16",), "matrix_tile.cuh",
          "place(depth, line / CHUNK) + line % CHUNK", "place(depth, line / CHUNK) + CHUNK - 1 - line % CHUNK",
          "the right values in other places"),
)  # fmt: skip
