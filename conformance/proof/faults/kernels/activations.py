"""Faults of the kernels of activation functions, and of softmax with a temperature."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_FILE, _TEMPERED = "activations.cuh", "softmax_temperature.cu"

FAULTS = (
    Fault("activations.cuh: relu by maximum", ("relu",), _FILE,
          "y[0] = x[0] <= 0.0f ? 0.0f : x[0];", "y[0] = fmaxf(x[0], 0.0f);", "matches: .*NaN becomes 0"),
    Fault("activations.cuh: relu_backward's gate on d_output", ("relu_backward",), _FILE,
          "y[0] = x[0] <= 0.0f ? 0.0f : x[1];", "y[0] = x[1] <= 0.0f ? 0.0f : x[1];", "matches: .*gate on d_output"),
    Fault("activations.cuh: leaky_relu's branches exchanged", ("leaky_relu",), _FILE,
          "x[0] > 0.0f ? x[0] : alpha * x[0]", "x[0] > 0.0f ? alpha * x[0] : x[0]", "matches: .*alpha above 0"),
    Fault("activations.cuh: leaky_relu_backward 1 at 0", ("leaky_relu_backward",), _FILE,
          "x[0] > 0.0f ? x[1] : alpha * x[1]", "x[0] >= 0.0f ? x[1] : alpha * x[1]", "matches: .*1 at 0"),
    Fault("activations.cuh: elu without its 1", ("elu",), _FILE,
          "expf(x[0]) - 1.0f : expm1f(x[0])", "expf(x[0]) : expf(x[0])", "matches: .*1 not subtracted"),
    Fault("activations.cuh: elu_backward without alpha", ("elu_backward",), _FILE,
          "x[1] * alpha * expf(x[0])", "x[1] * expf(x[0])", "matches: .*alpha left out"),
    Fault("activations.cuh: sigmoid by the exponential of x", ("sigmoid",), _FILE,
          "y[0] = sigmoid(x[0]);", "y[0] = expf(x[0]) / (1.0f + expf(x[0]));",
          r"matches: .*exp\(x\) / \(1 \+ exp\(x\)\)"),
    Fault("activations.cuh: sigmoid_backward without y", ("sigmoid_backward",), _FILE,
          "x[1] * x[0] * (1.0f - x[0])", "x[1] * (1.0f - x[0])", "matches: .*y missing"),
    Fault("activations.cuh: tanh by exponentials", ("tanh",), _FILE,
          "y[0] = tanhf(x[0]);", "y[0] = (expf(2.0f * x[0]) - 1.0f) / (expf(2.0f * x[0]) + 1.0f);",
          "matches: .*difference of exponentials"),
    Fault("activations.cuh: tanh_backward as the sigmoid's", ("tanh_backward",), _FILE,
          "x[1] * (1.0f - x[0] * x[0])", "x[1] * x[0] * (1.0f - x[0])", "matches: .*derivative of the sigmoid"),
    Fault("activations.cuh: gelu without the root of 2", ("gelu",), _FILE,
          "y[0] = x[0] * normcdff(x[0]);", "y[0] = x[0] * normcdff(1.41421356f * x[0]);", "matches: .*erf of x"),
    Fault("activations.cuh: gelu_backward's density too large", ("gelu_backward",), _FILE,
          "DENSITY_AT_0 = 0.39894228f", "DENSITY_AT_0 = 1.0f", "matches: .*density not divided"),
    Fault("activations.cuh: gelu_tanh with the square", ("gelu_tanh",), _FILE,
          "TWICE * x * (1.0f + CUBE * x * x)", "TWICE * x * (1.0f + CUBE * x)", "matches: .*square for the cube"),
    Fault("activations.cuh: gelu_tanh_backward's inner derivative", ("gelu_tanh_backward",), _FILE,
          "(TWICE + 3.0f * TWICE * CUBE * near * near)", "TWICE", "matches: .*inner derivative 1"),
    Fault("softmax_temperature.cu: temperature multiplied", ("softmax_temperature",), _TEMPERED,
          "factor = 1.0f / (temperature * lift);", "factor = temperature * lift;", "matches: .*temperature multiplied"),
    Fault("softmax_temperature.cu: the gradient not divided", ("softmax_temperature_backward",), _TEMPERED,
          "d_input + at, cols, Tempered(temperature));", "d_input + at, cols, Tempered(1.0f));",
          "matches: .*temperature lost"),
)  # fmt: skip
