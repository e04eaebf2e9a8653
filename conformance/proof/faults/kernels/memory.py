"""Faults of what kernels' launchers do where the device has no memory for them."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_TAKEN = "    TRY(scratch.code());\n    TRY(first());\n"

FAULTS = (
    Fault("broadcast.cu: memory used that was not there", ("add_row_backward",), "broadcast.cu",
          "    TRY(scratch.code());\n", "", "where the device has no memory for it"),
    Fault("losses.cu: 0 returned without memory", ("mse_forward",), "losses.cu",
          _TAKEN, "    if (scratch.code() != ASSAYER_OK) return ASSAYER_OK;\n    TRY(first());\n",
          "where the device has no memory for it.*returned 0, and is wrong"),
    Fault("losses.cu: written before there is memory", ("cross_entropy_dense_forward",), "losses.cu",
          _TAKEN, "    TRY(first());\n    TRY(scratch.code());\n",
          "where the device has no memory for it.*returned -3 and wrote log_probs"),
    Fault("launch.cuh: an error left for the next launch", ("mse_forward",), "launch.cuh",
          "    if (error != cudaSuccess) cudaGetLastError();\n", "", "after a call without memory it is wrong"),
)  # fmt: skip
