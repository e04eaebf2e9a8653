"""Calls whose sizes are past what 32 bits number: refused before anything is read, or right all the same.

$ASSAYER_EMULATED names another library that is to be tested.  Arrays are those of a small call: what reads them ends.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bindings import read_header
from bindings.shared_object.foreign import SharedObject
from tests.c.raw import Call
from tests.tools import CXX, needs

pytestmark = needs(*CXX)
HEADER = read_header()
INVALID, UNSUPPORTED = (HEADER.constants[f"ASSAYER_{name}"].value for name in ("INVALID", "UNSUPPORTED"))
ONE_EACH = {"batch": 1, "in_channels": 1, "out_channels": 1, "groups": 1, "has_bias": 0, "pad_h": 0, "pad_w": 0}
PLANE = ONE_EACH | {f"{name}_{axis}": 1 for name in ("stride", "dilation", "kernel") for axis in "hw"}
LONG_TAPS = PLANE | {"out_channels": 2, "height": 1, "width": 1, "kernel_h": 32768, "kernel_w": 32769, "pad_h": 16384}


@pytest.fixture(scope="module")
def library(tested_path: Path) -> SharedObject:
    return SharedObject(tested_path)


@pytest.mark.parametrize(
    ("operation", "sizes", "code"),
    [
        ("conv2d", PLANE | {"batch": 1024, "height": 32768, "width": 32768}, UNSUPPORTED),
        ("conv2d", LONG_TAPS | {"pad_w": 16384}, UNSUPPORTED),
        ("conv2d", PLANE | {"height": 65536, "width": 32768, "stride_h": 65536, "stride_w": 65536}, UNSUPPORTED),
        ("rnn_forward", {"batch": 2**30, "steps": 2, "input_dim": 1, "hidden_dim": 1}, UNSUPPORTED),
        ("lstm_forward", {"hidden_dim": 2**29, "input_dim": 2**30 - 1}, UNSUPPORTED),
        ("lstm_backward", {"hidden_dim": 2**29, "input_dim": 2**30}, INVALID),
        ("gru_backward", {"hidden_dim": 2**29, "input_dim": 2**31 - 1}, INVALID),
        ("expert_dispatch", {"tokens": 65536, "top_k": 32768, "hidden_dim": 1}, INVALID),
        ("attention_scores", {"batch": 65536, "n_heads": 32768, "seq_len": 1, "head_dim": 1}, UNSUPPORTED),
        (
            "attention_forward_bf16",
            {"batch": 2**30, "n_q_heads": 2**31 - 1, "n_kv_heads": 1, "q_len": 1, "kv_len": 1, "kv_capacity": 1}
            | {"head_dim": 2},
            INVALID,
        ),
    ],
)  # fmt: skip
def test_what_is_too_large_is_refused(library: SharedObject, operation: str, sizes: dict[str, int], code: int) -> None:
    call = Call(library, HEADER.operations[operation])
    before = call.contents()
    assert call(**sizes) == code
    assert call.contents() == before


def test_a_window_of_more_places_than_32_bits_number(library: SharedObject) -> None:
    """The mean of three numbers over 2^31 + 7 places, all but these in the padding."""
    call = Call(library, HEADER.operations["avg_pool2d"])
    x, output = np.array([1.5, 2.0, -0.25], np.float32), np.zeros(1, np.float32)
    width = 429496731
    sizes = {"batch": 1, "channels": 1, "height": 3, "width": 1, "pad_h": 1, "pad_w": width // 2}
    window = {f"{name}_{axis}": size for name in ("kernel", "stride") for axis, size in (("h", 5), ("w", width))}
    assert call(input=x, output=output, **sizes, **window, count_include_pad=1) == 0
    # The sum is exact; the number of places and the quotient are rounded once each, by half of the last digit at most.
    np.testing.assert_allclose(output, [3.25 / (5.0 * width)], rtol=2 * 2.0**-24)
