"""Tries the wrong readings of how a batch is divided, by every division that is judged."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.catalogue.prepared import MemoryStore
from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnFloat32
from conformance.steps.divided import DIVISIONS, batch, beginning
from conformance.steps.recomputed import by_name
from reference.readings import Reading
from reference.readings.accumulation import READINGS

from .trial import Attempt, margin

_EXPECTED = MemoryStore()
ACCUMULATION = "accumulation"  # what stands for an operation's name


def try_division(text: str, readings: Sequence[Reading] = READINGS) -> list[Attempt]:
    """Try readings with one division."""
    division = DIVISIONS[text]
    config, training, expected = division.config, division.training, division.expected(_EXPECTED)
    attempts = []
    for reading in readings:
        got = by_name(*reading.function(OnFloat32(), config, training, beginning(config), *batch(), division.ranks))
        verdicts = [judge(what, wanted, got[what]) for what, wanted in expected.items()]
        attempts.append(Attempt(reading.id, text, all(v.passed for v in verdicts), max(map(margin, verdicts))))
    return attempts
