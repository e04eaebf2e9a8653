"""Faults of the kernels of norms that take a mean off."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BY_ADDRESSES

FAULTS = (
    Fault("layernorm.cu: variance of a sample", ("layernorm",), "layernorm.cu",
          "inverse_root(team_sum<L::THREADS>(squares), f.cols, f.eps)",
          "inverse_root(team_sum<L::THREADS>(squares), f.cols - 1, f.eps)", "matches: .*divided by hidden_dim - 1"),
    Fault("layernorm.cu: deviation stored", ("layernorm",), "layernorm.cu",
          "f.rstd[row] = rstd;", "f.rstd[row] = 1.0f / rstd;", "matches: .*deviation stored"),
    Fault("layernorm.cu: bias taken for aligned as the others are", ("layernorm",), "layernorm.cu",
          "rows_of_quads(hidden_dim, input, weight, bias, output)", "rows_of_quads(hidden_dim, input, weight, output)",
          "where bias alone begins", run_mode=BY_ADDRESSES, cases="displaced"),
    Fault("layernorm_backward.cu: rstd left out", ("layernorm_backward",), "layernorm_backward.cu",
          "dx[i] = row.rstd * (dy[i]", "dx[i] = (dy[i]", "matches: .*rstd missing"),
    Fault("layernorm_backward.cu: sums start from what was left", ("layernorm_backward",), "layernorm_backward.cu",
          "if (in_memory && !is_first) {", "is_first = false;\n    if (in_memory) {", "NaN|never written"),
    Fault("batchnorm.cu: running variance not of a sample", ("batchnorm_training",), "batchnorm.cu",
          "sample = squares / static_cast<float>(images.count() - 1)", "sample = squares / count",
          "matches: .*running variance not of a sample"),
    Fault("batchnorm.cu: eps left out", ("batchnorm_evaluation",), "batchnorm.cu",
          "sqrtf(e.running_var[channel] + e.eps)", "sqrtf(e.running_var[channel])", "matches: .*eps ignored"),
    Fault("batchnorm.cu: mean not subtracted", ("batchnorm_evaluation",), "batchnorm.cu",
          "e.input, e.running_mean[channel], scale", "e.input, 0.0f, scale", "matches: .*mean not subtracted"),
    Fault("batchnorm_backward.cu: deviation's term left out", ("batchnorm_backward",), "batchnorm_backward.cu",
          "- mean_dy - h * mean_product)", "- mean_dy)", "matches: .*deviation's term missing"),
)  # fmt: skip
