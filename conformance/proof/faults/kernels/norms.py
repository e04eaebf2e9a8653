"""Faults of the kernels of norms that take a mean off."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

FAULTS = (
    Fault("layernorm.cu: variance of a sample", ("layernorm",), "layernorm.cu",
          "inverse_root(team_sum<L::THREADS>(squares), f.cols, f.eps)",
          "inverse_root(team_sum<L::THREADS>(squares), f.cols - 1, f.eps)", "matches: .*divided by hidden_dim - 1"),
    Fault("layernorm.cu: deviation stored", ("layernorm",), "layernorm.cu",
          "f.rstd[row] = rstd;", "f.rstd[row] = 1.0f / rstd;", "matches: .*deviation stored"),
    Fault("layernorm_backward.cu: rstd left out", ("layernorm_backward",), "layernorm_backward.cu",
          "dx[i] = row.rstd * (dy[i]", "dx[i] = (dy[i]", "matches: .*rstd missing"),
    Fault("layernorm_backward.cu: sums start from what was left", ("layernorm_backward",), "layernorm_backward.cu",
          "if (in_memory && !is_first) {", "is_first = false;\n    if (in_memory) {", "NaN|never written"),
)  # fmt: skip
