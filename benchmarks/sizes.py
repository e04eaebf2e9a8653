"""How much is timed: what figures are published of, or the short form, which shows that every benchmark runs."""

from __future__ import annotations

from dataclasses import dataclass

from reference.model.config import BENCH, TINY, Config

from .interleaved import Rounds

SHORT_FORM = "the short form: it shows that every benchmark runs, its figures mean nothing"
STEADY = 0.02  # seconds: longer than idle OpenMP threads keep a core before they sleep


@dataclass(frozen=True)
class Sizes:
    """A training step's model and batch, what the rows of large arrays are divided by, and how often each is timed."""

    config: Config
    batch: int
    seq: int
    divisor: int
    operations: Rounds
    steps: Rounds


PUBLISHED = Sizes(
    BENCH,
    batch=4,
    seq=128,
    divisor=1,
    operations=Rounds(least=7, most=25, seconds=1.5, settle=STEADY, turn=STEADY),
    steps=Rounds(least=7, most=20, seconds=20.0, settle=STEADY),
)
SHORT = Sizes(
    TINY, batch=2, seq=16, divisor=64, operations=Rounds(least=2, most=2), steps=Rounds(least=2, most=2)
)  # fmt: skip
