"""The training step: schedule, accumulation, what it leaves alone, and that it learns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from conformance.limits.namespaces import Stored
from reference.model import transformer
from reference.namespace import Wrapped
from reference.step import (
    BACKWARD_BEGINS,
    FORWARD_BEGINS,
    TrainingConfig,
    Whole,
    accumulate,
    adamw_arguments,
    counted,
    learning_rate,
    start,
    training_step,
    weight_decays,
)
from tests.errors import error_of
from tests.reference.model_samples import SMALL, Recorded, assert_close, batch, in_float64, noisy, parameters

TRAINING = TrainingConfig(lr=1.0, warmup=4, total=12)


def test_schedule() -> None:
    assert [learning_rate(TRAINING, t) for t in (1, 2, 4)] == [0.25, 0.5, 1.0]
    half_way = learning_rate(TRAINING, 8)
    assert abs(half_way - 0.55) <= 2 * np.finfo(float).eps
    rates = [learning_rate(TRAINING, t) for t in range(4, 13)]
    assert rates == sorted(rates, reverse=True)
    assert learning_rate(TRAINING, 12) == learning_rate(TRAINING, 13) == learning_rate(TRAINING, 10**6) == 0.1
    assert learning_rate(replace(TRAINING, warmup=0), 1) < 1.0
    error = error_of(ValueError, learning_rate, TRAINING, 0)
    assert str(error) == "learning_rate: update: expected at least 1 (updates count from 1), got 0"


@pytest.mark.parametrize("aux_alpha", [0.0, 0.3])
def test_micro_batches_give_the_gradient_of_their_mean(aux_alpha: float) -> None:
    """Without an auxiliary loss that is the whole batch's; the auxiliary loss is each micro-batch's own."""
    config = replace(SMALL, aux_alpha=aux_alpha)
    tokens, targets = batch()
    with in_float64():
        loss, added, _ = accumulate(reference, config, noisy(parameters()), tokens, targets, micro_batches=2)
    if aux_alpha == 0:
        expected_loss, expected, _ = accumulate(reference, config, parameters(), tokens, targets)
        assert_close(expected_loss.total, loss.total)
    else:
        counted = [(half >= 0).sum() / (targets >= 0).sum() for half in (targets[:2], targets[2:])]
        expected = sum_of_halves(config, tokens, targets, counted)
    for name, gradient in expected.items():
        assert_close(gradient, added[name], name)


def test_the_first_token_of_the_vocabulary_counts_and_what_is_negative_does_not() -> None:
    assert counted(np.array([[0, 1], [-1, -100]])) == 2


def test_the_loss_of_one_counted_target_is_not_shared_with_the_others() -> None:
    config, (tokens, targets) = replace(SMALL, aux_alpha=0.0), batch()
    alone = np.full_like(targets, -1)
    alone[1, 2] = 3
    with in_float64():
        loss, *_ = accumulate(reference, config, noisy(parameters()), tokens, alone, micro_batches=2)
    whole, *_ = accumulate(reference, config, parameters(), tokens, alone)
    assert_close(whole.total, loss.total)


def sum_of_halves(config: Any, tokens: Any, targets: Any, shares: list[float]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for rows, share in zip((slice(2), slice(2, 4)), shares, strict=True):
        output = transformer.forward(reference, config, parameters(), tokens[rows])
        _, log_probs = transformer.loss(reference, output, targets[rows])
        counted = (targets[rows] >= 0).sum()
        d_logits = reference.cross_entropy_backward(log_probs, targets[rows].reshape(-1), scale=share / counted)
        part = transformer.backward(reference, config, parameters(), output, d_logits, 0.5)
        total = {name: gradient + total.get(name, 0.0) for name, gradient in part.items()}
    return total


def test_gradients_are_added_to_what_is_given() -> None:
    given = parameters(seed=9)
    with in_float64():
        alone, added = (gradients_of_half_the_logits(into) for into in (None, noisy(given)))
    for name, gradient in alone.items():
        assert_close(gradient.v + given[name], added[name], name)


def gradients_of_half_the_logits(into: Any) -> dict[str, Any]:
    ops = Stored()
    output = transformer.forward(ops, SMALL, noisy(parameters()), batch()[0])
    return transformer.backward(ops, SMALL, noisy(parameters()), output, output.logits * 0.5, 1.0, into=into)


def test_micro_batches_have_to_divide_the_batch() -> None:
    error = error_of(ValueError, accumulate, reference, SMALL, {}, *batch(), micro_batches=3)
    assert str(error) == "training_step: micro_batches: expected a divisor of the batch of 4, got 3"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_alone_do_not_decay(dtype: Any) -> None:
    arrays = [np.zeros((2,) * dimensions, dtype) for dimensions in (1, 2, 3)]
    decays = weight_decays(replace(TRAINING, weight_decay=0.25), arrays)
    assert decays.dtype == dtype
    np.testing.assert_array_equal(decays, [0.0, 0.25, 0.25])
    assert weight_decays(TRAINING, arrays[:1]).tolist() == [0.0]  # a model may be one array


class Named(Wrapped):
    """A namespace that keeps the names of its calls."""

    def __init__(self, ops: Any) -> None:
        super().__init__(ops)
        self.names: list[str] = []

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.names.append(operation)
        return super()._call(operation, *args, **named)


def test_where_forward_and_backward_begin() -> None:
    ops = Named(reference)
    accumulate(ops, SMALL, parameters(), *batch())
    assert ops.names[:2] == ["rope_freqs", FORWARD_BEGINS]
    begins = ops.names.index(BACKWARD_BEGINS[0])
    assert [name for name in ops.names[:begins] if name.endswith("_backward")] == []
    assert "cross_entropy_forward" in ops.names[:begins]


class Offering(Recorded):
    """A namespace that offers one fused operation, and keeps what it returned."""

    def offers(self, operation: str) -> bool:
        return operation == self._operation


FUSED = ("topk_router", "topk_router_backward", "router_gemm", "grouped_gemm_swiglu", "fused_cross_entropy")


@pytest.mark.parametrize("fused", FUSED)
def test_a_fused_operation_gives_the_gradients_of_its_parts(fused: str) -> None:
    config = replace(SMALL, aux_alpha=0.3)
    with in_float64():
        by_parts = accumulate(reference, config, noisy(parameters()), *batch())
    ops = Offering(reference, fused)
    loss, fused_gradients, _ = accumulate(ops, config, parameters(), *batch())
    assert ops.results
    for got, expected in zip(loss, by_parts.loss, strict=True):
        assert_close(got, expected)
    for name, gradient in by_parts.gradients.items():
        assert_close(fused_gradients[name], gradient, name)


def test_adamw_is_told_which_update_it_is() -> None:
    before = start(parameters())._replace(step=6)
    gradients = {name: np.ones_like(array) for name, array in before.parameters.items()}
    training = replace(TRAINING, beta1=0.8, beta2=0.99, eps=1e-7)
    lists, named = adamw_arguments(training, before, gradients, np.array([0.5]), 0.25)
    assert named == {"lr": 0.25, "beta1": 0.8, "beta2": 0.99, "eps": 1e-7, "step": 7}
    *arrays, decays, scale = lists
    for got, held in zip(arrays, (before.parameters, gradients, before.m, before.v), strict=True):
        assert all(one is held[name] for one, name in zip(got, before.parameters, strict=True))
    np.testing.assert_array_equal(decays, weight_decays(training, arrays[0]))
    assert scale.tolist() == [0.5]


HALVES = (slice(2), slice(2, 4))


def test_parts_of_a_whole_add_up_to_it() -> None:
    tokens, targets = batch()
    config, whole = replace(SMALL, aux_alpha=0.3), Whole(int((targets >= 0).sum()), 2)
    with in_float64():
        together = accumulate(reference, config, noisy(parameters()), tokens, targets, micro_batches=2)
    first, second = (
        accumulate(reference, config, parameters(), tokens[part], targets[part], whole=whole) for part in HALVES
    )
    for name, gradient in together.gradients.items():
        assert_close(first.gradients[name] + second.gradients[name], gradient, name)
    for one, other, loss in zip(first.loss, second.loss, together.loss, strict=True):
        assert_close(one + other, loss)
    for one, other, load in zip(first.loads, second.loads, together.loads, strict=True):
        np.testing.assert_array_equal(one + other, load)
        assert (one + other).sum() == tokens.size * SMALL.top_k


def test_gradients_are_those_of_so_many_times_the_loss() -> None:
    config = replace(SMALL, aux_alpha=0.3)
    plain, scaled = (accumulate(reference, config, parameters(), *batch(), loss_scale=scale) for scale in (1.0, 8.0))
    assert plain.loss == scaled.loss
    for name, gradient in plain.gradients.items():
        np.testing.assert_array_equal(8 * gradient, scaled.gradients[name])


@pytest.mark.parametrize("counts", [[9, 9], [3, 15], [0, 0]])
def test_targets_are_as_many_as_is_said_of_each_micro_batch(counts: list[int]) -> None:
    tokens, targets = batch()
    told = accumulate(reference, SMALL, parameters(), tokens, targets, micro_batches=2, counts=counts)
    with in_float64():
        first, second = (
            accumulate(reference, SMALL, noisy(parameters()), tokens[part], targets[part]).loss.cross_entropy
            for part in HALVES
        )
        of_first, of_second = (count / max(1, sum(counts)) for count in counts)
        assert_close(told.loss.cross_entropy, first * of_first + second * of_second)


def test_each_gradient_is_ready_when_the_last_micro_batch_is_in_it() -> None:
    ready: dict[str, Any] = {}

    def note(gradients: dict[str, Any]) -> None:
        assert not ready.keys() & gradients.keys()
        ready.update({name: gradient.copy() for name, gradient in gradients.items()})

    done = accumulate(reference, SMALL, parameters(), *batch(), micro_batches=2, ready=note)
    assert ready.keys() == done.gradients.keys()
    for name, gradient in done.gradients.items():
        np.testing.assert_array_equal(ready[name], gradient, name)


def test_a_batch_without_targets_moves_nothing_but_the_router_and_below() -> None:
    tokens, targets = batch()
    loss, gradients, _ = accumulate(reference, SMALL, parameters(), tokens, np.full_like(targets, -1))
    assert loss.cross_entropy == 0
    assert loss.total == loss.aux > 0
    assert (gradients["lm_head"] == 0).all()
    assert (gradients["final_norm"] == 0).all()
    assert (gradients["layers.1.down"] == 0).all()
    assert (gradients["layers.1.router"] != 0).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_step_keeps_its_precision_and_writes_to_nothing_given(dtype: Any) -> None:
    state = start(parameters(dtype=dtype))
    for arrays in (state.parameters, state.m, state.v):
        for array in arrays.values():
            array.flags.writeable = False
    tokens, targets = batch()
    tokens.flags.writeable = targets.flags.writeable = False
    after, metrics = training_step(reference, SMALL, TRAINING, state, tokens, targets)
    assert after.step == 1
    arrays = [*after.parameters.values(), *after.m.values(), *after.v.values(), *metrics[:4]]
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}
    assert list(after.parameters) == list(state.parameters)


def test_an_expert_without_tokens_has_no_gradient() -> None:
    tokens, targets = batch(shape=(1, 2))
    counts = transformer.forward(reference, SMALL, parameters(), tokens).trunk.layers[0].moe.routing.f_counts
    _, gradients, _ = accumulate(reference, SMALL, parameters(), tokens, np.maximum(targets, 0))
    assert (counts == 0).any()
    for field in ("gate", "up", "down"):
        gradient = gradients[f"layers.0.{field}"]
        assert ((gradient == 0).all(axis=(1, 2)) == (counts == 0)).all()


def test_the_loss_falls_when_one_batch_is_learnt_by_heart() -> None:
    training = TrainingConfig(lr=3e-2, warmup=2, total=60)
    state, losses = start(parameters(dtype=np.float32)), []
    for _ in range(60):
        state, metrics = training_step(reference, SMALL, training, state, *batch())
        losses.append(float(metrics.cross_entropy[0]))
    assert losses[-1] < 0.1 < np.log(SMALL.vocab) / 2 < losses[0]
