"""Lists that are read side by side: one that is shorter than the others is refused, and none is read in part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from reference.model import parameters
from reference.model.config import TINY
from reference.ops import blocks
from reference.step import State, moved
from tests.errors import error_of
from tests.reference.samples import arguments


@pytest.mark.parametrize("name", ["grads", "ms", "vs", "weight_decays"])
def test_adamw_takes_as_many_of_each_kind(name: str) -> None:
    given = arguments("multi_adamw")
    for wrong in (given[name][:-1], [*given[name], given[name][0]]):
        said = f"multi_adamw: {name}: expected {len(given['params'])}, as many as params, got {len(wrong)}"
        assert str(error_of(ValueError, reference.multi_adamw, **given | {name: wrong})) == said


def test_a_state_takes_each_array_by_its_name_and_kind() -> None:
    names, kinds = ("embedding", "lm_head"), ("parameters", "m", "v")
    given = {kind: [np.array(f"{kind} {name}") for name in names] for kind in kinds}
    state = moved(State(*(dict.fromkeys(names) for _ in kinds), 6), **given)
    assert state.step == 7
    for kind in kinds:
        assert getattr(state, kind) == {name: f"{kind} {name}" for name in names}


@pytest.mark.parametrize("shorter", ["parameters", "m", "v"])
def test_a_state_takes_as_many_arrays_as_it_has_names(shorter: str) -> None:
    held = parameters.initialise(TINY, 1)
    state = State(held, held, held, 0)
    lists = {name: list(held.values()) for name in ("parameters", "m", "v")}
    assert moved(state, **lists).step == 1
    assert error_of(ValueError, moved, state, **lists | {shorter: lists[shorter][:-1]}) is not None


def test_a_formula_of_blocks_gives_as_many_arrays_for_each() -> None:
    def formula(x: Any) -> Any:
        return (x, x) if x[0, 0] else (x,)

    x = np.ones((4, blocks.BLOCK), np.float32)
    assert len(blocks.by_rows(formula, x)) == 2
    x[2:] = 0
    assert error_of(ValueError, blocks.by_rows, formula, x) is not None


def test_a_convolution_is_over_two_axes() -> None:
    given = arguments("conv2d")
    assert error_of(ValueError, reference.conv2d, **given | {"input": given["input"][..., None]}) is not None
