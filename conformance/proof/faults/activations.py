"""Faults of the activation functions, and of softmax with a temperature."""

from __future__ import annotations

from .fault import Fault

_LANES = "vector/activations.c"

FAULTS = (
    Fault("relu: a NaN becomes 0", ("relu",), _LANES,
          "y[i] = x[i] <= 0.0f ? 0.0f : x[i];", "y[i] = x[i] > 0.0f ? x[i] : 0.0f;", "matches: .*NaN becomes 0"),
    Fault("relu_backward: 1 at 0", ("relu_backward",), _LANES,
          "dx[i] = x[i] <= 0.0f ? 0.0f : dy[i];", "dx[i] = x[i] < 0.0f ? 0.0f : dy[i];", "matches: .*1 at 0"),
    Fault("leaky_relu: the larger of two", ("leaky_relu",), _LANES,
          "y[i] = x[i] > 0.0f ? x[i] : alpha * x[i];", "y[i] = x[i] > alpha * x[i] ? x[i] : alpha * x[i];",
          "matches: .*larger of x and alpha"),
    Fault("leaky_relu_backward: gate on d_output", ("leaky_relu_backward",), _LANES,
          "dx[i] = x[i] > 0.0f ? dy[i] : alpha * dy[i];", "dx[i] = dy[i] > 0.0f ? dy[i] : alpha * dy[i];",
          "matches: .*gate on d_output"),
    Fault("elu: alpha inside the exponential", ("elu",), _LANES,
          "alpha * expm1_lane(x[i])", "expm1_lane(alpha * x[i])", "matches: .*alpha inside the exponential"),
    Fault("elu_backward: derivative by the output", ("elu_backward",), _LANES,
          "dy[i] * alpha * exp_lane(x[i])", "dy[i] * (alpha * expm1_lane(x[i]) + 1.0f)", r"matches: .*y \+ 1"),
    Fault("sigmoid: the exponent's sign", ("sigmoid",), _LANES,
          "y[i] = sigmoid_lane(x[i]);", "y[i] = sigmoid_lane(-x[i]);", "matches: .*sign of the exponent"),
    Fault("sigmoid_backward: output computed once more", ("sigmoid_backward",), _LANES,
          "dx[i] = dy[i] * y[i] * (1.0f - y[i]);",
          "{ const float s = sigmoid_lane(y[i]); dx[i] = dy[i] * s * (1.0f - s); }",
          "matches: .*output taken for the input"),
    Fault("tanh: digits lost near 0", ("tanh",), "vector/math.h",
          "bits_of(e / (e + 2.0f))", "bits_of(1.0f - 2.0f / (e + 2.0f))",
          r"matches: .*2 sigmoid\(2 x\) - 1|\(11 bits\)"),
    Fault("tanh_backward: not squared", ("tanh_backward",), _LANES,
          "(1.0f - y[i] * y[i])", "(1.0f - y[i])", "matches: .*y not squared"),
    Fault("gelu: by a sigmoid", ("gelu",), _LANES,
          "y[i] = x[i] * normal_lane(x[i]);", "y[i] = x[i] * sigmoid_lane(1.702f * x[i]);", "matches: .*quick GELU"),
    Fault("gelu_backward: x missing", ("gelu_backward",), _LANES,
          "+ x[i] * density)", "+ density)", "matches: .*x missing in the second term"),
    Fault("gelu_tanh: a zero lost", ("gelu_tanh",), _LANES,
          "#define CUBE 0.044715f", "#define CUBE 0.44715f", r"matches: .*0\.44715"),
    Fault("gelu_tanh_backward: cube's derivative", ("gelu_tanh_backward",), _LANES,
          "3.0f * TWICE * CUBE", "TWICE * CUBE", "matches: .*cube's factor 3 missing"),
    Fault("softmax_temperature: multiplied", ("softmax_temperature",), _LANES,
          "(x[i] - shift) / temperature", "(x[i] - shift) * temperature", "matches: .*temperature multiplied"),
    Fault("softmax_temperature_backward: temperature lost", ("softmax_temperature_backward",), "activations.c",
          "(float)v->dot(cols, y, dy), temperature,", "(float)v->dot(cols, y, dy), 1.0f,",
          "matches: .*temperature lost"),
)  # fmt: skip
