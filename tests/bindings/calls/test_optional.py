"""Inputs that are read only where a condition holds, by the example of a convolution's bias."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import ArgumentError, ArgumentTypeError, Library, read_header
from tests import compiler
from tests.bindings.spy import Spy
from tests.errors import error_of

OPERATION = "conv2d"
PLACE = [p.name for p in read_header().operations[OPERATION].parameters].index("bias")
STEPS = {"stride_h": 1, "stride_w": 1, "pad_h": 0, "pad_w": 0, "dilation_h": 1, "dilation_w": 1, "groups": 1}
# On the device of the tests: every element of the result tells whether there is a bias, which has to lie there.
_CONV2D = """
int32_t cuda_conv2d(const float* input, const float* weight, const float* bias, float* output, int batch,
                    int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w, int stride_h,
                    int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int has_bias,
                    void* stream) {
    if (!on_device(input) || !on_device(weight) || !on_device(output)) return ILLEGAL_ADDRESS;
    if (bias && !on_device(bias)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < 16; i++) ((float*)real(output))[i] = bias != NULL;
    return ASSAYER_OK;
}
"""
MISSING = "conv2d: argument bias: expected an array, as has_bias != 0 holds (has_bias = 1), got None"


def arguments(**given: Any) -> dict[str, Any]:
    arrays = {"input": np.ones((1, 2, 3, 3), np.float32), "weight": np.ones((4, 2, 2, 2), np.float32)}
    return arrays | {"bias": np.ones(4, np.float32)} | STEPS | {"has_bias": 1} | given


def resident(library: Library, given: dict[str, Any]) -> dict[str, Any]:
    """The same arguments, arrays where the library computes."""
    return {name: library.array(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}


@pytest.fixture(params=["host arrays", "resident arrays"])
def call(request: pytest.FixtureRequest, spy: Spy) -> Any:
    if request.param == "host arrays":
        return lambda given: spy.library.conv2d(**given)
    return lambda given: spy.library.conv2d(**resident(spy.library, given))


def test_an_array_that_is_left_out_is_a_null_pointer(spy: Spy, call: Any) -> None:
    assert call(arguments(bias=None, has_bias=0)).shape == (1, 4, 2, 2)
    assert spy.address(PLACE) == 0


def test_an_array_that_is_given_arrives_whether_or_not_it_is_read(spy: Spy, call: Any) -> None:
    for has_bias in (0, 1):
        call(arguments(has_bias=has_bias))
        assert spy.address(PLACE) != 0


def test_what_is_read_cannot_be_left_out(spy: Spy, call: Any) -> None:
    calls = spy.calls
    assert str(error_of(ArgumentTypeError, call, arguments(bias=None))) == MISSING
    assert spy.calls == calls


def test_an_array_that_is_not_read_is_looked_at_where_it_is_given(spy: Spy, call: Any) -> None:
    for wrong in (np.ones(5, np.float32), np.ones((4, 1), np.float32), np.ones(4, np.float64)):
        error = error_of(ArgumentError, call, arguments(bias=wrong, has_bias=0))
        assert (error.operation, error.argument) == (OPERATION, "bias")


def test_an_output_may_not_lie_on_an_input_where_another_is_left_out(spy: Spy) -> None:
    output = np.zeros((1, 4, 2, 2), np.float32)
    given = arguments(bias=output.reshape(-1)[:4], has_bias=0)
    assert "overlap" in str(error_of(ArgumentError, lambda: spy.library.conv2d(**given, output=output)))
    spy.library.conv2d(**(given | {"bias": None}), output=output)
    assert spy.address(PLACE) == 0


def test_an_array_that_is_left_out_is_not_copied_to_a_device(tmp_path: Path) -> None:
    source = Path(compiler.__file__).with_name("device.c").read_text(encoding="utf-8") + _CONV2D
    device = Library(compiler.compile_library(source, tmp_path))
    for bias, due in ((None, 0), (np.ones(4, np.float32), 1)):
        given = arguments(bias=bias, has_bias=0)
        assert (device.conv2d(**given) == due).all()
        assert (device.conv2d(**resident(device, given)).to_host() == due).all()
    assert str(error_of(ArgumentTypeError, device.conv2d, **arguments(bias=None))) == MISSING
