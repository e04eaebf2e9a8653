"""Gradient checkpointing: the same bits as without, computed again as often as stated, and less kept meanwhile."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from reference import random
from reference.model import recompute, transformer
from reference.model.recompute import Dropped, Recompute
from reference.namespace import Wrapped
from reference.step import TrainingConfig, accumulate, start, training_step
from tests.errors import error_of
from tests.reference.model_samples import SMALL, batch, parameters
from training.memory.ledger import Ledger, Watched, arrays_in, owner_of

DEEP = replace(SMALL, layers=5)
SETTINGS = [Recompute("every", 1), Recompute("every", 2), Recompute("boundaries", 3), Recompute("boundaries")]


def layers_of(setting: Recompute, layers: int) -> list[list[int]]:
    return [list(segment) for segment in setting.segments(layers)]


def test_segments_by_policy() -> None:
    assert layers_of(Recompute("every", 2), 5) == [[1], [3]]
    assert layers_of(Recompute("every", 1), 3) == [[0], [1], [2]]
    assert layers_of(Recompute("every", 5), 5) == [[4]]
    assert layers_of(Recompute("boundaries", 2), 5) == [[0, 1], [2, 3], [4]]
    assert layers_of(Recompute("boundaries", 5), 5) == [[0, 1, 2, 3, 4]]
    assert layers_of(Recompute("boundaries"), 10) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


def test_settings_as_text() -> None:
    assert recompute.read("none") is None
    assert recompute.read("every:2") == Recompute("every", 2)
    assert recompute.read("boundaries") == Recompute("boundaries", None)
    for text in ("", "all", "every:", "every:-1", "every:2:3", "boundaries:x", "none:1"):
        expected = "none, or every or boundaries, with or without a number of layers (every:2)"
        error = error_of(ValueError, recompute.read, text)
        assert str(error) == f"Recompute: policy: expected {expected}, got {text!r}"


@pytest.mark.parametrize("policy", recompute.POLICIES)
def test_more_layers_than_there_are_would_recompute_something_else(policy: str) -> None:
    with pytest.raises(ValueError, match=r"^Recompute: k: expected at most the 2 layers there are, got 3$"):
        transformer.forward(reference, SMALL, parameters(), batch()[0], Recompute(policy, 3))


def test_settings_that_mean_nothing() -> None:
    with pytest.raises(ValueError, match=r"^Recompute: policy: expected one of every, boundaries, got all$"):
        Recompute("all", 1)
    for k in (0, -1, True, 2.0):
        error = error_of(ValueError, Recompute, "every", k)
        assert str(error) == f"Recompute: k: expected a whole number of at least 1, got {k}"


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("micro_batches", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_those_of_the_plain_run(setting: Recompute, micro_batches: int, dtype: Any) -> None:
    at = parameters(DEEP, dtype=dtype)
    plain = accumulate(reference, DEEP, at, *batch(), micro_batches=micro_batches)
    assert_same_bits(plain, accumulate(reference, DEEP, at, *batch(), micro_batches=micro_batches, recompute=setting))


def assert_same_bits(expected: Any, got: Any) -> None:
    expected, got = list(arrays_in(expected)), list(arrays_in(got))
    assert len(expected) == len(got)
    for one, other in zip(expected, got, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_gradients_are_added_to_what_is_given(setting: Recompute) -> None:
    at, given = parameters(DEEP), parameters(DEEP, seed=9)
    gradients = []
    for one in (None, setting):
        output = transformer.forward(reference, DEEP, at, batch()[0], one)
        d_logits = output.logits * 0.5
        gradients.append(transformer.backward(reference, DEEP, at, output, d_logits, 1.0, into=given))
    assert_same_bits(*gradients)


@pytest.mark.parametrize(("setting", "again"), list(zip(SETTINGS, (5, 2, 5, 5), strict=True)), ids=str)
def test_a_step_computes_the_dropped_layers_twice(setting: Recompute, again: int) -> None:
    training = TrainingConfig(warmup=1, total=3)
    plain, ops = Watched(reference, Ledger()), Watched(reference, Ledger())
    state, expected = training_step(plain, DEEP, training, start(parameters(DEEP)), *batch())
    after, metrics = training_step(ops, DEEP, training, start(parameters(DEEP)), *batch(), recompute=setting)
    assert_same_bits((state, expected), (after, metrics))
    of_a_layer = forward_calls(DEEP.layers) - forward_calls(DEEP.layers - 1)
    of_a_layer["add"] -= 1  # the auxiliary loss is not added once more
    expected_calls = plain.calls + Counter({name: again * n for name, n in of_a_layer.items() if n})
    if setting.segments(DEEP.layers)[0].start == 0:  # where no branch is joined yet
        expected_calls += Counter(rmsnorm=1)
        expected_calls -= Counter(rmsnorm_residual=1)
    assert ops.calls == expected_calls


def forward_calls(layers: int) -> Counter[str]:
    ops, config = Watched(reference, Ledger()), replace(DEEP, layers=layers)
    transformer.forward(ops, config, parameters(config), batch()[0])
    return ops.calls


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_what_is_kept_shrinks_to_the_inputs_of_segments(setting: Recompute) -> None:
    plain, dropped = kept_by_layer(None), kept_by_layer(setting)
    firsts = {segment.start for segment in setting.segments(DEEP.layers)}
    inside = {index for segment in setting.segments(DEEP.layers) for index in segment}
    for index in range(DEEP.layers):
        if index not in inside:
            assert dropped[index] == plain[index]
        elif index in firsts:  # the stream, and behind the first layer a branch
            assert dropped[index] == (1 + (index > 0)) * batch()[0].size * DEEP.hidden * 8
        else:
            assert dropped[index] == 0


def kept_by_layer(setting: Recompute | None) -> list[int]:
    output = transformer.forward(reference, DEEP, parameters(DEEP), batch()[0], setting)
    kept = [(k.stream, k.branch) if isinstance(k, Dropped) else k for k in output.trunk.layers]
    return [sum({id(owner_of(a)): owner_of(a).nbytes for a in arrays_in(k)}.values()) for k in kept]


def test_the_peak_of_a_step_shrinks_by_what_is_not_kept() -> None:
    """Behind forward only inputs of segments live on, and in backward one segment at a time."""

    def peak(setting: Recompute | None) -> int:
        ledger = Ledger()
        ops, at = Watched(reference, ledger), parameters(DEEP)
        accumulate(ops, DEEP, at, *batch(shape=(8, 32)), recompute=setting)
        assert ledger.live == 0
        return ledger.peak

    assert peak(Recompute("every", 1)) < peak(Recompute("boundaries", 2)) < peak(Recompute("every", 2)) < peak(None)


class Dropping(Wrapped):
    """A namespace in which SwiGLU drops elements, drawn from a stream of seeds; how many it has drawn is its state."""

    def __init__(self) -> None:
        super().__init__(reference)
        self.drawn = 0

    def swiglu(self, gate: Any, up: Any) -> Any:
        self.drawn += 1
        return reference.swiglu(gate, up) * random.integers(random.stream("dropout", self.drawn), 0, 2, gate.shape)

    def state(self) -> int:
        return self.drawn

    def restore(self, state: int) -> None:
        self.drawn = state


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("micro_batches", [1, 2])
def test_what_was_drawn_is_drawn_again(setting: Recompute, micro_batches: int) -> None:
    plain, ops, careless = Dropping(), Dropping(), Dropping()
    at = parameters(DEEP)
    expected = accumulate(plain, DEEP, at, *batch(), micro_batches=micro_batches)
    assert_same_bits(
        expected,
        accumulate(ops, DEEP, at, *batch(), micro_batches=micro_batches, recompute=replace(setting, draws=ops)),
    )
    assert ops.drawn == plain.drawn  # a replay leaves no trace in what is drawn after it
    other = accumulate(careless, DEEP, at, *batch(), micro_batches=micro_batches, recompute=setting)[1]
    assert other["layers.1.down"].tobytes() != expected[1]["layers.1.down"].tobytes()
