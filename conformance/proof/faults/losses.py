"""Faults of losses against targets as many as the predictions."""

from __future__ import annotations

from .fault import Fault

_VECTOR, _FILE = "vector/losses.c", "losses.c"
_BCE = "(p[i] - t[i]) / at_least_smallest(p[i] * (1.0f - p[i])) * factor"
_BOUND = "return x < LOWEST_LOG ? LOWEST_LOG : x;"

FAULTS = (
    Fault("mse_forward: sum in place of the mean", ("mse_forward",), _FILE,
          "(float)(terms(n, a, b) / divisor)", "(float)terms(n, a, b)", "matches: .*sum in place of the mean"),
    Fault("mse_backward: half of it", ("mse_backward",), _FILE,
          "2.0 * scale / (double)n", "scale / (double)n", "matches: .*half of it"),
    Fault("bce_forward: no bound", ("bce_forward", "categorical_cross_entropy_forward"), _VECTOR,
          _BOUND, "return x;", "matches: .*no bound"),
    Fault("bce_forward: a NaN bounded", ("bce_forward", "categorical_cross_entropy_forward"), _VECTOR,
          _BOUND, "return x > LOWEST_LOG ? x : LOWEST_LOG;", "where NaN is due|NaN in inputs taken as 0"),
    Fault("log: subnormal numbers taken for 0", ("bce_forward", "categorical_cross_entropy_forward"), "vector/math.h",
          "x < smallest ? x * 33554432.0f : x; ", "x < smallest ? 0.0f : x; ", "subnormal"),
    Fault("bce_backward: divisor at least 1e-7", ("bce_backward", "categorical_cross_entropy_backward"), _VECTOR,
          "SMALLEST = 1e-12f", "SMALLEST = 1e-7f", "matches: .*divisor at least 1e-7"),
    Fault("bce_backward: that of the logit", ("bce_backward",), _VECTOR,
          _BCE, "(p[i] - t[i]) * factor", "matches: .*not divided by p"),
    Fault("bce_logits_forward: exp of -x", ("bce_logits_forward",), _VECTOR,
          "(x > 0.0f ? x : 0.0f) - x * t + log_lane(1.0f + exp_lane(-fabsf(x)))",
          "x - x * t + log_lane(1.0f + exp_lane(-x))", "matches: .*exp of -x"),
    Fault("bce_logits_backward: divided by the elements of a chunk", ("bce_logits_backward",), _FILE,
          "n, scale / (double)n, d_logits)", "n, scale / (double)min64(n, CHUNK), d_logits)", "times|factor|matches"),
    Fault("categorical_cross_entropy_forward: mean over all numbers", ("categorical_cross_entropy_forward",), _FILE,
          "(int64_t)rows * cols, rows, loss)", "(int64_t)rows * cols, (double)rows * cols, loss)",
          "matches: .*mean over all numbers"),
    Fault("categorical_cross_entropy_backward: sign reversed", ("categorical_cross_entropy_backward",), _VECTOR,
          "-label[i] / at_least_smallest(p[i])", "label[i] / at_least_smallest(p[i])", "matches: .*sign reversed"),
    Fault("cross_entropy_dense_forward: temperature ignored", ("cross_entropy_dense_forward",), _FILE,
          "if (temperature == 1.0f) memcpy", "if (temperature > 0.0f) memcpy", "matches: .*temperature ignored"),
    Fault("cross_entropy_dense_backward: temperature lost", ("cross_entropy_dense_backward",), _FILE,
          "scale / ((double)rows * temperature)", "scale / (double)rows", "matches: .*temperature ignored"),
    Fault("cross_entropy_dense_backward: labels taken as summing to 1", ("cross_entropy_dense_backward",), _FILE,
          "(float)v->sum(cols, labels + at)", "1.0f", "matches: .*labels taken as summing to 1"),
)  # fmt: skip
