"""A backward that is derived wrongly, on the tape or by hand: each call is right, the way that leads wrong is named."""

from __future__ import annotations

from typing import Any

import pytest

import reference
from conformance.judging.results import Status
from conformance.steps import TAPE
from conformance.steps.tape.derived import stretches
from conformance.steps.tape.run import beginning
from tensors.tape import maps
from tests.conformance.steps.test_steps import judged

WAY = "on the way back from final_norm to layers.1.down, by hand rmsnorm_backward, "


def reasons() -> dict[str, str]:
    return {result.id: result.reason for result in judged(TAPE) if result.status is Status.FAIL}


def scaled(*args: Any, **named: Any) -> Any:
    d_input, *others = RIGHT(*args, **named)
    return d_input * 1.01, *others


RIGHT = reference.rmsnorm_backward


def test_of_a_function_of_the_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(maps.GRADIENTS, "rsqrt", ("y", lambda g, y: g * (-0.5 * y * y)))
    found = reasons()
    assert f"{TAPE}/embedding" in found
    assert f"{TAPE}/final_norm" not in found
    assert all(WAY in reason for reason in found.values())


def test_of_the_backward_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "rmsnorm_backward", scaled)
    found = reasons()
    assert f"{TAPE}/embedding" in found
    assert all(WAY in reason for reason in found.values())


def test_every_stretch_of_the_way_back_has_operations() -> None:
    ways = {name: operations for _, name, operations in stretches()}
    assert set(ways) == set(beginning())
    assert all(ways.values())
    assert ways["lm_head"][0] == "cross_entropy_backward"
    assert all("attention_backward" in ways[f"layers.0.{name}"] for name in ("w_q", "w_k", "w_v"))
