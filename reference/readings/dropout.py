"""Wrong readings of dropout: another mask, or another scale."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from reference import philox as generator
from reference.arrays import Array
from reference.ops import dropout as ops

from .reading import Reading, fed

Draws = Callable[[Array, int], Array]  # key and offset, how many: a word for each element
_ROUNDS = generator.ROUNDS


def _blocks(
    philox: Array, count: int, arrange: Callable[..., tuple[Any, ...]] = lambda low, high: (low, high, 0, 0),
    key: Callable[..., tuple[Any, Any]] = lambda low, high: (low, high), rounds: int = _ROUNDS, first: Any = None,
) -> Array:  # fmt: skip
    """A row of four words for each block, its counter arranged otherwise, by another key or fewer rounds."""
    with np.errstate(over="ignore"):
        counters = (philox[1] if first is None else first) + np.arange(-(-count // 4), dtype=np.uint64)
    low, high = generator.halves(counters)
    counter = [word + np.zeros_like(low) for word in arrange(low, high)]
    return np.stack(generator.philox4x32(counter, key(*generator.halves(philox[0])), rounds), axis=-1)


def _by(count: int, blocks: Array) -> Array:
    return blocks.reshape(-1)[:count]


def _of_elements(philox: Array, count: int) -> Array:
    """A block for each element, of which the first word is used."""
    with np.errstate(over="ignore"):
        counters = philox[1] + np.arange(count, dtype=np.uint64)
    nothing = np.zeros_like(counters)
    return generator.philox4x32((*generator.halves(counters), nothing, nothing), generator.halves(philox[0]))[0]


def _apart(philox: Array, count: int) -> Array:
    """The first words of all blocks, then the second ones."""
    return _blocks(philox, count).T.reshape(-1)[:count]


def _shifted_words(philox: Array, count: int) -> Array:
    """The offset counts words, not blocks."""
    skipped = int(philox[1] % np.uint64(4))
    return _blocks(philox, count + skipped, first=philox[1] // np.uint64(4)).reshape(-1)[skipped : skipped + count]


def _short_counter(philox: Array, count: int) -> Array:
    """The sum of offset and block in 32 bits: what it carries is lost."""
    low, high = generator.halves(philox[1])
    counters, _ = generator.halves(low + np.arange(-(-count // 4), dtype=np.uint64))
    nothing = np.zeros_like(counters)
    words = generator.philox4x32((counters, high + nothing, nothing, nothing), generator.halves(philox[0]))
    return np.stack(words, axis=-1).reshape(-1)[:count]


WORDS: tuple[tuple[str, str, Draws], ...] = (
    (
        "7 rounds",
        "Philox4x32-7, which passes the tests of randomness too.",
        lambda p, n: _by(n, _blocks(p, n, rounds=7)),
    ),
    (
        "key's halves exchanged",
        "The upper half of the key is taken for its first word.",
        lambda p, n: _by(n, _blocks(p, n, key=lambda low, high: (high, low))),
    ),
    (
        "counter's halves exchanged",
        "The upper half of the counter is taken for its first word.",
        lambda p, n: _by(n, _blocks(p, n, lambda low, high: (high, low, 0, 0))),
    ),
    (
        "counter in the upper words",
        "It is taken for the number of a subsequence, as by curand_init.",
        lambda p, n: _by(n, _blocks(p, n, lambda low, high: (0, 0, low, high))),
    ),
    ("words of a block reversed", "The last word comes first.", lambda p, n: _by(n, _blocks(p, n)[:, ::-1])),
    ("words apart", "Element i takes its word from block i mod the number of blocks.", _apart),
    ("one word of each block", "Each element has a block of its own.", _of_elements),
    ("one block for all", "The block's number is not added.", lambda p, n: _by(n, 0 * _blocks(p, n) + _blocks(p, 1))),
    ("offset counted in words", "The mask begins at word philox[1].", _shifted_words),
    ("offset ignored", "Every call draws the same mask.", lambda p, n: _by(n, _blocks(p, n, first=np.uint64(0)))),
    ("counter of 32 bits", "What the sum of offset and block carries is lost.", _short_counter),
    (
        "key and offset exchanged",
        "Two words of one array.",
        lambda p, n: _by(n, _blocks(p[::-1], n)),
    ),
    (
        "key of 32 bits",
        "The upper half of the key is 0.",
        lambda p, n: _by(n, _blocks(p, n, key=lambda low, high: (low, np.uint64(0)))),
    ),
    (
        "numbers from the lower bits",
        "The upper eight bits of a word are left out, not the lower.",
        lambda p, n: (_by(n, _blocks(p, n)) & np.uint64(0xFFFFFF)) << np.uint64(8),
    ),
)


def _scaled(x: Array, rate: float) -> Array:
    return x / (1.0 - rate)


def _masked(mask: Callable[[Array, int, float], Array], scale: Callable[[Array, float], Array] = _scaled) -> Any:
    """Dropout or its backward by another mask or another scale; both have their array first."""

    def of(x: Array, philox: Array, rate: float) -> Array:
        return np.where(mask(philox, x.size, rate), scale(x, rate), np.zeros_like(x))

    return of


def _drawn(words: Draws) -> Callable[[Array, int, float], Array]:
    return lambda philox, count, rate: generator.uniform(words(philox, count)) >= rate


def _uniform(philox: Array, count: int) -> Array:
    return generator.uniform(generator.words(int(philox[0]), int(philox[1]), count))


RULES: tuple[tuple[str, str, Any], ...] = (
    # (what, why, the operation)
    (
        "kept below the rate",
        "rate is taken as the probability to keep.",
        _masked(lambda p, n, rate: _uniform(p, n) < rate),
    ),
    (
        "dropped at the rate",
        "Kept where the number is larger than rate.",
        _masked(lambda p, n, rate: _uniform(p, n) > rate),
    ),
    ("not scaled", "As it was published first: scaled when it is evaluated.", _masked(ops.kept, lambda x, rate: x)),
    (
        "scaled by 1 - rate",
        "Multiplied where it is to be divided.",
        _masked(ops.kept, lambda x, rate: x * (1.0 - rate)),
    ),
    (
        "divided by the rate",
        "The rate is taken as the probability to keep in the scale.",
        _masked(ops.kept, lambda x, rate: x / rate),
    ),
    (
        "multiplied by the mask",
        "What is dropped is multiplied by 0: a NaN or an infinity stays one.",
        lambda x, philox, rate: x * (ops.kept(philox, x.size, rate).astype(x.dtype) / (1.0 - rate)),
    ),
    ("nothing dropped", "As when it is evaluated.", lambda x, philox, rate: x + 0.0),
)


def _named(operation: str, function: Any) -> Any:
    """The function with the operation's own names of arguments."""
    first = "input" if operation == "dropout" else "d_output"

    @functools.wraps(getattr(ops, operation))
    def of(*args: Any, **named: Any) -> Any:
        return function(*(args or (named[first], named["philox"], named["rate"])))

    return of


_NEXT = fed(ops.dropout_backward, philox=lambda g: g["philox"] + np.array([0, 1], np.uint64))

READINGS = (
    *(
        Reading(operation, name, why, _named(operation, function))
        for operation in ("dropout", "dropout_backward")
        for name, why, function in (*RULES, *((name, why, _masked(_drawn(words))) for name, why, words in WORDS))
    ),
    Reading("dropout_backward", "mask of the next block", "The offset was moved on before the backward pass.", _NEXT),
)
