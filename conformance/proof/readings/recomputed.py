"""Tries the wrong readings of gradient checkpointing: the same bits, the calls that are due, less kept than plain."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import reference
from conformance.steps import recomputed, scenarios
from reference.model import recompute
from reference.readings import Reading
from reference.readings.recompute import READINGS, itself
from reference.step import start
from training.memory.ledger import Ledger, Watched
from training.memory.predict import Stages

from .trial import Attempt

RECOMPUTATION = "recomputation"  # what stands for an operation's name
SETTINGS = recomputed.SETTINGS
_TRAINING = replace(recomputed.TRAINING, micro_batches=1)


class Done(NamedTuple):
    """What a step came to: the bits of all that it leaves behind, how often each operation was called, and the bytes of
    results alive when backward begins."""

    bits: dict[str, bytes]
    calls: Counter[str]
    kept: int


def try_recomputation(text: str, readings: Sequence[Reading] = READINGS) -> list[Attempt]:
    """Try readings with one setting."""
    plain, due = _done("none", itself), _done(text, itself)
    attempts = []
    for reading in readings:
        got = done(text, reading.function)
        passed = got.bits == plain.bits and got.calls == due.calls and got.kept < plain.kept
        attempts.append(Attempt(reading.id, text, passed, 0.0 if passed else math.inf))
    return attempts


def done(text: str, step: Callable[..., Any]) -> Done:
    """Run one step of the model that is judged, in float32."""
    ledger, calls = Ledger(), Counter[str]()
    ops = Stages(Watched(reference, ledger, calls), ledger)
    state = start(recomputed.beginning())
    left = step(ops, recomputed.CONFIG, _TRAINING, state, *scenarios.batch(1), recompute.read(text))
    bits = {name: array.tobytes() for name, array in recomputed.by_name(*left).items()}
    return Done(bits, calls, ops.bytes_kept)


_done = functools.cache(done)
