"""Every backward operation against central differences of its forward, in float64."""

from __future__ import annotations

from typing import Any

import pytest

import reference
from tests.reference.differences import Case, check_directions, check_jacobian
from tests.reference.gradient_cases import LARGE, SMALL, elementwise


def _name(case: Case) -> str:
    return f"{case.operation}-{'-'.join('x'.join(map(str, shape)) for shape in case.shapes.values())}"


def test_no_gradient_is_left_out() -> None:
    gradients = {name for name in reference.OPERATIONS if name.endswith("_backward")}
    gradients |= {"scatter_add", "gemm_nn", "gemm_tn", "grouped_gemm_nn", "grouped_gemm_tn"}
    gradients |= {"conv2d_backward_input", "conv2d_backward_weight", "conv2d_backward_bias"}
    assert gradients <= {case.operation for case in SMALL}


@pytest.mark.parametrize("case", SMALL, ids=_name)
def test_every_derivative(case: Case) -> None:
    check_jacobian(case)


@pytest.mark.parametrize("case", SMALL + LARGE, ids=_name)
def test_derivatives_along_random_directions(case: Case) -> None:
    check_directions(case)


@pytest.mark.parametrize("factor", [0.0, -1.0, 1.001])
def test_the_checker_finds_a_wrong_gradient(factor: float) -> None:
    right = elementwise(7)[0]

    def wrong(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"input": factor * right.backward(x, d)["input"]}

    with pytest.raises(AssertionError):
        check_jacobian(Case("silu_backward", right.shapes, right.forward, wrong))
    with pytest.raises(AssertionError):
        check_directions(Case("silu_backward", right.shapes, right.forward, wrong))
