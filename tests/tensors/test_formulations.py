"""Two formulations, one truth: the model of modules on the tape, and the one whose backward is written by hand.

Of both, in float64, loss and gradients err; by how much follows from the judge's noise, propagated through each: the
variance of their difference is the sum of both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library
from conformance.limits.measure import limits
from conformance.limits.noise import FLOAT32, Noisy, exact, using
from conformance.limits.noise.precision import Precision
from conformance.steps.tape.judge import Numbers
from reference import random
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.step import accumulate
from tensors.functions import COMPOSED, FUSED, Composed
from tensors.modules import Decoder
from tests.graph.limits import FLOAT64, OnDoubles

DEVIATION = 0.125  # weights large enough that every gradient is far from zero
TINY = Config(hidden=8, layers=1, q_heads=2, kv_heads=1, head_dim=4, experts=2, top_k=1, ffn=8, vocab=11)
SMALL = Config(hidden=16, layers=2, q_heads=4, kv_heads=2, head_dim=4, experts=4, top_k=2, ffn=24, vocab=37)
CONFIGS = {
    "tiny": TINY,
    "one head": replace(TINY, q_heads=1, layers=2),
    "a KV head for each": replace(TINY, kv_heads=2),
    "small, pairs of heads": SMALL,
    "small, one KV head": replace(SMALL, kv_heads=1),
    "small, all experts": replace(SMALL, top_k=4),
    "small, one expert": replace(SMALL, experts=1, top_k=1, layers=1),
    "many experts, most without tokens": replace(SMALL, experts=16, top_k=1, layers=1),
    "a heavy auxiliary loss": replace(SMALL, aux_alpha=1.0),
    "no auxiliary loss": replace(SMALL, aux_alpha=0.0),
}
FORMS = {"composed": COMPOSED, "fused": FUSED}
Arrays = dict[str, Any]


def batch(config: Config, seq: int = 6) -> tuple[Any, Any]:
    """Tokens and targets, some of which do not count."""
    tokens, targets = (
        random.integers(random.stream("formulations", name), 0, config.vocab, (2, seq)).astype(np.int32)
        for name in ("tokens", "targets")
    )
    targets[:, ::4] = -1
    return tokens, targets


def by_hand(ops: Any, config: Config, parameters: Parameters) -> Arrays:
    loss, gradients, _ = accumulate(ops, config, parameters, *batch(config))
    return {"loss": loss.total.reshape(()), "aux": loss.aux.reshape(()), **gradients}


def by_tape(ops: Any, config: Config, parameters: Parameters, form: Composed, dtype: Any = np.float64) -> Arrays:
    model = Decoder(config, ops=ops, functions=form, dtype=dtype)
    held = model.model_parameters()
    for name, array in parameters.items():
        held[name].value.storage.write(array.reshape(-1))
    loss = model.loss(*batch(config))
    loss.total.backward()
    found = {"loss": loss.total.value, "aux": loss.aux.value}
    # An expert that no token meets, and the router of a model without auxiliary loss and choice, have no gradient.
    found |= {name: one.grad if one.grad is not None else one.value * 0.0 for name, one in held.items()}
    return {name: one.contiguous().storage.array.reshape(one.shape) for name, one in found.items()}


def noisy(config: Config, parameters: Parameters, form: Composed, precision: Precision) -> tuple[Arrays, Arrays]:
    """Both on noise numbers."""
    with using(precision), np.errstate(all="ignore"):
        given = {name: exact(array, worst=False) for name, array in parameters.items()}
        ops = (Numbers if precision is FLOAT32 else lambda: OnDoubles(lambda value: exact(value, worst=False)))()
        return by_hand(ops, config, given), by_tape(ops, config, given, form)


def largest_share(error: Any, *noise: Any) -> float:
    """Of its limit, which the sum of these variances gives."""
    numbers = [one for one in noise if isinstance(one, Noisy)]
    if not numbers:
        return 0.0 if not np.any(error) else np.inf
    sums = {field: sum(getattr(one, field) for one in numbers) for field in ("variance", "shared")}
    limit, _ = limits(numbers[0].replaced(**sums, worst=None))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(error == 0, 0.0, error / limit)
    return float(np.max(np.where(np.isnan(share), np.inf, share), initial=0.0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CONFIGS)
def test_both_give_the_same_gradients(name: str, form: str) -> None:
    config = CONFIGS[name]
    parameters = initialise(config, seed=1, deviation=DEVIATION)
    hand, tape = by_hand(reference, config, parameters), by_tape(reference, config, parameters, FORMS[form])
    of_hand, of_tape = noisy(config, parameters, FORMS[form], FLOAT64)
    assert hand.keys() == tape.keys()
    shares = {n: largest_share(np.abs(hand[n] - tape[n]), of_hand[n], of_tape[n]) for n in hand}
    assert max(shares.values()) <= 1, shares
    assert all(np.any(hand[n]) for n in ("embedding", "layers.0.w_k", "layers.0.down", "lm_head"))


@pytest.mark.parametrize("form", FORMS)
def test_on_the_c_library_too(form: str, stub: Library) -> None:
    parameters = {n: a.astype(np.float32) for n, a in initialise(SMALL, seed=1, deviation=DEVIATION).items()}
    doubles = {n: a.astype(np.float64) for n, a in parameters.items()}
    hand, tape = by_hand(reference, SMALL, doubles), by_tape(stub, SMALL, parameters, FORMS[form], np.float32)
    of_hand, of_tape = noisy(SMALL, doubles, FORMS[form], FLOAT32)
    # The numbers that the model is told reach the library rounded: so they do where the noise is propagated.
    shares = {n: largest_share(np.abs(of_hand[n].v - tape[n]), of_tape[n]) for n in hand}
    assert max(shares.values()) <= 1, shares


@pytest.mark.parametrize("wrong", ["rope_backward", "softmax_topk_backward", "swiglu_backward"])
def test_a_wrong_gradient_of_one_of_them_is_seen(wrong: str) -> None:
    """By one part in 2^32, which no rounding of float64 makes."""

    class Wrong(OnDoubles):
        def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
            found = super()._call(operation, *args, **named)
            if operation != wrong:
                return found
            return tuple(one * (1 + 2.0**-32) for one in found) if isinstance(found, tuple) else found * (1 + 2.0**-32)

    parameters = initialise(SMALL, seed=1, deviation=DEVIATION)
    hand = by_hand(reference, SMALL, parameters)
    tape = by_tape(Wrong(np.asarray), SMALL, parameters, FUSED)
    of_hand, of_tape = noisy(SMALL, parameters, FUSED, FLOAT64)
    shares = {n: largest_share(np.abs(hand[n] - tape[n]), of_hand[n], of_tape[n]) for n in hand}
    assert shares["loss"] <= 1
    assert max(shares.values()) > 1
