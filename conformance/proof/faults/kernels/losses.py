"""Faults of the kernels of losses against targets as many as the predictions."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_FILE = "losses.cu"
_BOUND = "return x < LOWEST_LOG ? LOWEST_LOG : x;"

FAULTS = (
    Fault("losses.cu: the first chunk alone", ("mse_forward",), _FILE,
          "i < count; i += MEAN_THREADS) sum", "i < 1; i += MEAN_THREADS) sum", "left out|missing|times|partly|sum"),
    Fault("losses.cu: half of the squares' gradient", ("mse_backward",), _FILE,
          "2.0 * scale / static_cast<double>(n)", "1.0 * scale / static_cast<double>(n)", "matches: .*half of it"),
    Fault("losses.cu: NaN passed over", ("bce_forward", "categorical_cross_entropy_forward"), _FILE,
          _BOUND, "return fmaxf(x, LOWEST_LOG);", "NaN"),
    Fault("losses.cu: no bound", ("bce_forward", "categorical_cross_entropy_forward"), _FILE,
          _BOUND, "return x;", "matches: .*no bound"),
    Fault("losses.cu: a divisor that may be 0", ("bce_backward", "categorical_cross_entropy_backward"), _FILE,
          "return x < SMALLEST ? SMALLEST : x;", "return x;", "matches: .*no bound"),
    Fault("losses.cu: exp of -x", ("bce_logits_forward",), _FILE,
          "(x > 0.0f ? x : 0.0f) - x * t + log1pf(expf(-fabsf(x)))", "x - x * t + log1pf(expf(-x))",
          "matches: .*exp of -x"),
    Fault("losses.cu: the logit less its target", ("bce_logits_backward",), _FILE,
          "(sigmoid(x[0]) - x[1]) * factor", "(x[0] - x[1]) * factor", "matches: .*no sigmoid"),
    Fault("losses.cu: temperature ignored", ("cross_entropy_dense_forward",), _FILE,
          "items[i] /= divisor;", "items[i] *= 1.0f;", "matches: .*temperature ignored"),
    Fault("losses.cu: temperature twice", ("cross_entropy_dense_backward",), _FILE,
          "(static_cast<double>(rows) * temperature)", "(static_cast<double>(rows) * temperature * temperature)",
          "matches: .*temperature squared"),
    Fault("losses.cu: sum of each thread's own labels", ("cross_entropy_dense_backward",), _FILE,
          "    sum = team_sum<L::THREADS>(sum);\n", "", "columns of a row|lanes|factor|limit|matches"),
)  # fmt: skip
