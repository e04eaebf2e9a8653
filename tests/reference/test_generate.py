"""Decoding with the cache against decoding without, and what the strategies promise."""

from __future__ import annotations

import itertools
from dataclasses import astuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import reference
from reference import random
from reference.generate import Strategy, advance, begin, generate, seeds
from reference.model import transformer
from reference.namespace import Wrapped
from tests.errors import error_of
from tests.reference.model_samples import SMALL, assert_close, batch, in_float64, noisy, parameters

PROMPT = batch(shape=(3, 4))[0]
STRATEGIES = [
    Strategy(),
    Strategy(name="sample", temperature=1.5),
    Strategy(name="top_k", k=5, temperature=0.8),
    Strategy(name="top_p", top_p=0.7),
]


def last_logits(tokens: Any) -> Any:
    """Behind the last token, by the whole forward pass."""
    logits = transformer.forward(reference, SMALL, parameters(), tokens).logits
    return logits.reshape(*tokens.shape, -1)[:, -1]


def test_cached_logits_are_those_of_the_whole_forward() -> None:
    tokens = batch(shape=(3, 9))[0]
    with in_float64():
        decoding = begin(reference, SMALL, batch=3, capacity=11)
        for start, stop in ((0, 4), (4, 5), (5, 8), (8, 9)):  # a prompt, one token, several at once, one
            logits, decoding = advance(reference, SMALL, noisy(parameters()), decoding, tokens[:, start:stop])
            assert decoding.position == stop
            assert_close(last_logits(tokens[:, :stop]), logits, f"logits behind {stop} tokens")


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_cached_tokens_are_those_of_the_whole_forward(strategy: Strategy) -> None:
    expected = PROMPT
    for step in range(8):
        chosen = strategy.choose(reference, last_logits(expected), seeds(7, step, len(PROMPT)))
        expected = np.concatenate([expected, chosen.reshape(-1, 1)], axis=1)
    got = generate(reference, SMALL, parameters(), PROMPT, 8, strategy, seed=7)
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == np.int32


@pytest.mark.parametrize(
    "strategy",
    [
        Strategy(name="sample", temperature=0.0),
        Strategy(name="top_k", k=1),
        Strategy(name="top_p", top_p=0.0),
        Strategy(name="top_p", temperature=0.0),
    ],
    ids=str,
)
def test_what_leaves_one_token_is_greedy(strategy: Strategy) -> None:
    greedy = generate(reference, SMALL, parameters(), PROMPT, 6)
    np.testing.assert_array_equal(generate(reference, SMALL, parameters(), PROMPT, 6, strategy, seed=3), greedy)


def test_float32_stays_float32() -> None:
    single = parameters(dtype=np.float32)
    logits, decoding = advance(reference, SMALL, single, begin(reference, SMALL, 3, 4), PROMPT)
    assert logits.dtype == np.float32
    assert {array.dtype for cache in decoding.caches for array in cache or ()} == {np.dtype(np.float32)}


def test_a_seed_repeats_and_another_does_not() -> None:
    first, again, other = (
        generate(reference, SMALL, parameters(), PROMPT, 12, STRATEGIES[1], seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_seeds_of_rows_and_steps_are_far_apart() -> None:
    drawn = np.concatenate([seeds(seed, step, 16) for seed in (0, 1) for step in range(32)])
    assert drawn.dtype == np.uint64
    # Of well-mixed 64-bit words the samplers use the lower 32: half of these bits are set, and none repeats.
    low = (drawn & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    assert len(set(low.tolist())) == low.size
    set_bits = np.unpackbits(low.view(np.uint8)).mean()
    assert abs(set_bits - 0.5) <= 8 * 0.5 / np.sqrt(low.size * 32)


def test_no_new_tokens_leaves_the_prompt() -> None:
    np.testing.assert_array_equal(generate(reference, SMALL, parameters(), PROMPT, 0), PROMPT)


@pytest.mark.parametrize(
    ("prompt", "max_new", "said"),
    [
        (PROMPT[0], 3, "prompt: expected shape (batch, at least one token), got (4,)"),
        (PROMPT[:, :0], 3, "prompt: expected shape (batch, at least one token), got (3, 0)"),
        (PROMPT, -1, "max_new: expected at least 0, got -1"),
    ],
)
def test_prompts_that_cannot_be_continued_are_refused(prompt: Any, max_new: int, said: str) -> None:
    error = error_of(ValueError, generate, reference, SMALL, {}, prompt, max_new)
    assert str(error) == f"generate: {said}"


def test_seeds_are_those_of_step_and_row() -> None:
    expected = [random.stream(7, "token", 5, row) for row in range(3)]
    np.testing.assert_array_equal(seeds(7, 5, 3), np.array(expected, np.uint64))


def test_every_cache_is_memory_of_its_own() -> None:
    caches = [array for cache in begin(reference, SMALL, 2, 3).caches if cache for array in cache]
    assert len(caches) == 2 * SMALL.layers
    assert not any(np.shares_memory(one, other) for one, other in itertools.combinations(caches, 2))


def test_a_prompt_of_one_token_is_continued() -> None:
    assert generate(reference, SMALL, parameters(), PROMPT[:1, :1], 2).shape == (1, 3)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("name", "beam", "strategy: expected one of greedy, sample, top_k, top_p, got beam"),
        ("temperature", float("nan"), "temperature: expected a finite number of at least 0, got nan"),
        ("temperature", float("inf"), "temperature: expected a finite number of at least 0, got inf"),
        ("temperature", -0.5, "temperature: expected a finite number of at least 0, got -0.5"),
        ("k", 0, "k: expected at least 1, got 0"),
        ("top_p", float("nan"), "top_p: expected a number, got nan"),
    ],
)
def test_strategies_that_mean_nothing_are_refused(option: str, value: Any, said: str) -> None:
    assert str(error_of(ValueError, Strategy, **{option: value})) == f"generate: {said}"


@pytest.mark.parametrize(("option", "value"), [("temperature", 0.0), ("temperature", 0.5), ("k", 1), ("top_p", 2.0)])
def test_the_last_strategies_that_mean_something_are_taken(option: str, value: Any) -> None:
    assert getattr(Strategy(**{option: value}), option) == value


def test_what_a_strategy_is_by_itself() -> None:
    assert astuple(Strategy()) == ("greedy", 1.0, 50, 0.9)


def test_a_strategy_hands_on_its_own_numbers() -> None:
    def told(logits: Any, seeds: Any, **named: float) -> dict[str, float]:
        return named

    ops: Any = SimpleNamespace(sample=told, topk_sample=told, topp_sample=told)
    numbers = {"sample": {"temperature": 0.8}, "top_k": {"k": 5, "temperature": 0.8}}
    numbers["top_p"] = {"top_p": 0.7, "temperature": 0.8}
    for name, due in numbers.items():
        chosen: Any = Strategy(name=name, temperature=0.8, k=5, top_p=0.7).choose(ops, None, None)
        assert chosen == due


@pytest.mark.parametrize("max_new", [0, 1, 6])
def test_caches_have_room_for_the_prompt_and_all_that_is_new(max_new: int) -> None:
    rooms = []

    class Measured(Wrapped):
        def zero_grad(self, size: int) -> Any:
            rooms.append(size)
            return reference.zero_grad(size)

    generate(Measured(reference), SMALL, parameters(), PROMPT, max_new)
    room = len(PROMPT) * (PROMPT.shape[1] + max_new) * SMALL.kv_heads * SMALL.head_dim
    assert rooms == [room] * 2 * SMALL.layers
