"""16-bit operations as they are made of float32 ones: which names they have, and what is stored of their results."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from reference.ops.sixteen import OPERATIONS, is_form_of, stored_in
from tests.errors import error_of


def test_a_form_of_an_operation_is_known_by_its_name() -> None:
    names = ("gemm", "rope_qk")
    for name in names:
        for form in (name, f"{name}_bf16", f"{name}_fp16"):
            assert is_form_of(form, *names)
            assert not is_form_of(form)
    for other in ("gemm_swiglu", "gemm_swiglu_bf16", "gemm_bf", "bf16", "rope_qk_backward_fp16", ""):
        assert not is_form_of(other, *names)


def test_every_operation_in_16_bits_but_the_casts_is_a_form_of_one_that_there_is() -> None:
    wide = [name for name in reference.OPERATIONS if name not in OPERATIONS]
    for name, operation in OPERATIONS.items():
        assert is_form_of(name, *wide) != name.startswith("cast_")
        assert (operation.__name__, operation.__qualname__) == (name, name)


@pytest.mark.parametrize("halves", [(True,), (True, True, False)])
def test_each_result_of_a_16_bit_operation_is_said_to_be_stored_or_not(halves: tuple[bool, ...]) -> None:
    x = np.ones(2, np.float16)
    assert error_of(ValueError, stored_in(np.dtype(np.float16), lambda x: (x, x), "twice", halves), x) is not None
