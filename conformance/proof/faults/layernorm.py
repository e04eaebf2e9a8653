"""Faults of layer norm."""

from __future__ import annotations

from .fault import Fault

_VARIANCE = "v->deviations(hidden_dim, x, m) / hidden_dim"

FAULTS = (
    Fault("layernorm: eps outside the root", ("layernorm",), "layernorm.c",
          "1.0 / sqrt(variance + eps)", "1.0 / (sqrt(variance) + eps)", "matches: .*eps outside the root"),
    Fault("layernorm: variance in one pass", ("layernorm",), "layernorm.c",
          _VARIANCE, "(float)(v->dot(hidden_dim, x, x) / hidden_dim) - (float)(m * m)",
          "matches: .*mean of the squares less the mean's square|11 bits"),
    Fault("layernorm: columns past 256 not summed", ("layernorm",), "layernorm.c",
          "v->sum(hidden_dim, x) / hidden_dim", "v->sum(hidden_dim < 256 ? hidden_dim : 256, x) / hidden_dim",
          "hidden_dim >= 257"),
    Fault("layernorm: bias of the first column for all", ("layernorm",), "vector/norms.c",
          "* rstd * weight[i] + bias[i]", "* rstd * weight[i] + bias[0]", "first element of bias read for all"),
    Fault("layernorm_backward: deviation as a constant", ("layernorm_backward",), "vector/norms.c",
          "- mean_g - h * mean_gh)", "- mean_g)", "matches: .*deviation's term missing"),
    Fault("layernorm_backward: one block of rows lost", ("layernorm_backward",), "layernorm.c",
          "block = 1; block < blocks; block++) v->axpy", "block = 2; block < blocks; block++) v->axpy",
          "lost|rows? .*(missing|left out)|(missing|left out).* rows?"),
    Fault("layernorm_backward: gradients assigned", ("layernorm_backward",), "layernorm.c",
          "if (beta == 0) {", "if (gradient) {", "matches: .*gradients assigned"),
)  # fmt: skip
