"""Arrays whose shape others tell: one that is longer or shorter along an axis, or has one more, is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import reference
from tests.errors import error_of
from tests.reference.samples import arguments

TOLD: dict[str, str] = {
    **dict.fromkeys(("silu_backward", "relu_backward", "leaky_relu_backward", "elu_backward"), "d_output"),
    **dict.fromkeys(("sigmoid_backward", "tanh_backward", "gelu_backward", "gelu_tanh_backward"), "d_output"),
    **{"swiglu": "up", "swiglu_backward": "up d_output", "add": "b", "mul": "b"},
    **{"softmax_backward": "d_output", "softmax_temperature_backward": "d_output"},
    **{"softmax_topk_backward": "indices d_weights", "topk_router_backward": "indices d_weights f_counts"},
    **{"attention_softmax": "mask", "attention_softmax_backward": "d_scores"},
    **{"attention_forward": "V", "flash_attention": "V", "attention_backward": "V output d_output"},
    **{"rmsnorm": "weight", "rmsnorm_backward": "weight d_output", "rmsnorm_residual": "residual weight"},
    **{"rmsnorm_residual_backward": "weight d_output d_residual_out"},
    **{"layernorm": "weight bias", "layernorm_backward": "weight mean rstd d_output"},
    "batchnorm_training": "weight bias running_mean running_var",
    "batchnorm_evaluation": "weight bias running_mean running_var",
    "batchnorm_backward": "weight mean rstd d_output",
    **{"add_row": "row", "add_column": "column", "dense": "bias", "dense_backward": "d_output"},
    "scatter_add": "indices",
    **{"gemm_swiglu": "B_up", "grouped_gemm_swiglu": "B_up", "conv2d": "bias"},
    **{"expert_combine": "position", "expert_combine_backward": "position"},
    **dict.fromkeys(("mse_forward", "mse_backward", "bce_forward", "bce_backward"), "target"),
    **dict.fromkeys(("bce_logits_forward", "bce_logits_backward"), "target"),
    **dict.fromkeys(("categorical_cross_entropy_forward", "categorical_cross_entropy_backward"), "labels"),
    **dict.fromkeys(("cross_entropy_dense_forward", "cross_entropy_dense_backward"), "labels"),
    **{"sgd_step": "grad", "momentum_step": "grad velocity", "adam_step": "grad m v", "adamw_step": "grad m v"},
    **{"dropout": "philox", "dropout_backward": "philox", "max_pool2d_backward": "places"},
    "rnn_forward": "w_x bias h0",
    "rnn_backward": "w_x h0 output d_output",
    "lstm_forward": "w_x bias h0 c0",
    "lstm_backward": "w_x h0 c0 output cells gates d_output",
    "gru_forward": "w_x b_x b_h h0",
    "gru_backward": "w_x h0 output gates d_output",
}


def others(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for axis, length in enumerate(shape):
        for other in (length + 1, length - 1):
            yield *shape[:axis], other, *shape[axis + 1 :]
    yield 1, *shape
    yield *shape, 1


@pytest.mark.parametrize(("operation", "name"), [(op, name) for op, names in TOLD.items() for name in names.split()])
def test_an_array_of_another_shape_is_refused(operation: str, name: str) -> None:
    given = arguments(operation)
    shape = given[name].shape
    for other in others(shape):
        wrong = np.zeros(other, given[name].dtype)
        said = str(error_of(ValueError, getattr(reference, operation), **given | {name: wrong}))
        assert said.startswith(f"{operation}: {name}: expected ")
        assert said.endswith(f"shape {shape}, got {other}") or said.endswith(f", {shape}, got {other}"), said


AXES: list[tuple[str, str, str]] = [
    *((f"batchnorm_{which}", "input", "shape (batch, channels, spatial)") for which in ("training", "evaluation")),
    ("batchnorm_backward", "input", "shape (batch, channels, spatial)"),
    ("attention_softmax", "scores", "four axes"),
    *(
        (f"{layer}_{way}", "input", "three axes, (batch, steps, input_dim)")
        for layer in ("rnn", "lstm", "gru")
        for way in ("forward", "backward")
    ),
]


@pytest.mark.parametrize(("operation", "name", "expected"), AXES)
def test_an_array_of_more_or_fewer_axes_is_refused(operation: str, name: str, expected: str) -> None:
    given = arguments(operation)
    for wrong in (given[name][0], given[name][None]):
        said = str(error_of(ValueError, getattr(reference, operation), **given | {name: wrong}))
        assert said == f"{operation}: {name}: expected {expected}, got {wrong.shape}"


# Arrays that have an axis of any length beside those that are told: what is wrong of them, and what is said.
PARTLY: list[tuple[str, str, Any, str]] = [
    ("topk_router_backward", "weights", (5, 2), "expected 6 rows, as probs, got 5"),
    ("topk_router_backward", "weights", (7, 2), "expected 6 rows, as probs, got 7"),
    ("aux_loss_forward", "expert_indices", (7, 2), "expected 6 rows, got 7"),
    ("aux_loss_forward", "expert_indices", (5, 2), "expected 6 rows, got 5"),
    *(
        (operation, "d_output", shape, f"expected the shape {due}, got {shape}")
        for operation, due, shapes in (
            ("conv2d_backward_input", (2, 6, 3, 6), ((2, 5, 3, 6), (2, 7, 3, 6), (2, 6, 2, 6), (2, 6, 3, 7))),
            ("conv2d_backward_weight", (2, 6, 3, 6), ((2, 6, 4, 6), (2, 6, 3, 5))),
            ("avg_pool2d_backward", (2, 3, 4, 7), ((2, 3, 5, 7), (2, 3, 3, 7), (2, 3, 4, 8), (2, 3, 4, 6))),
        )
        for shape in shapes
    ),
    *(("dense_backward", "weight", (3, cols), f"expected 6 columns, got {cols}") for cols in (5, 7)),
    *(("dense", "weight", (3, cols), f"expected 6 columns, got {cols}") for cols in (5, 7)),
    ("concat_steps", "b", (3, 4, 5), "expected the batch and the width of a, (2, 4, 5), got (3, 4, 5)"),
    ("concat_steps", "b", (2, 4, 6), "expected the batch and the width of a, (2, 4, 5), got (2, 4, 6)"),
]


@pytest.mark.parametrize(("operation", "name", "shape", "said"), PARTLY)
def test_an_array_that_does_not_fit_the_others_is_refused(operation: str, name: str, shape: Any, said: str) -> None:
    given = arguments(operation)
    wrong = np.zeros(shape, given[name].dtype)
    error = error_of(ValueError, getattr(reference, operation), **given | {name: wrong})
    assert str(error) == f"{operation}: {name}: {said}"


@pytest.mark.parametrize(
    ("output", "weight", "due"),
    [((8, 3), (6, 2, 3), "(3,)"), ((8, 2, 3), (6, 3), "(2, 3)"), ((8, 3), (6, 4), "(3,)"), ((8, 3), (6,), "(3,)")],
)
def test_rows_that_are_added_are_as_long_along_every_axis(
    output: tuple[int, ...], weight: tuple[int, ...], due: str
) -> None:
    given = arguments("scatter_add") | {"grad_output": np.zeros(output), "grad_weight": np.zeros(weight)}
    said = str(error_of(ValueError, reference.scatter_add, **given))
    assert said == f"scatter_add: grad_weight: expected rows as long as those of grad_output, {due}, got {weight}"


def test_planes_are_as_large_as_their_places_can_be_told() -> None:
    """2^31 - 1 is prime: a plane of so many places has one row.  Its windows are refused, which are others."""
    given = arguments("max_pool2d_backward") | {"pad_h": 0, "kernel_h": 1}
    error = error_of(ValueError, reference.max_pool2d_backward, **given | {"height": 2**16, "width": 2**15})
    expected = "expected at most 2147483647: places are int32, got 2147483648"
    assert str(error) == f"max_pool2d_backward: height * width: {expected}"
    error = error_of(ValueError, reference.max_pool2d_backward, **given | {"height": 1, "width": 2**31 - 1})
    assert str(error).startswith("max_pool2d_backward: d_output: expected the shape (2, 3, 1, ")
    planes = np.broadcast_to(np.int8(0), (1, 1, 2**16, 2**15))
    error = error_of(ValueError, reference.max_pool2d, planes, 1, 1, 2**16, 2**15, 0, 0)
    assert str(error) == f"max_pool2d: height * width: {expected}"
