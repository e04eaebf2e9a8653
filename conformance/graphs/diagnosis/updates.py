"""What a wrong update looks like: another reading of the optimiser gives the parameters that came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance.graphs.handed import Handed
from conformance.graphs.local import Local
from conformance.graphs.settings import OPTIMIZERS, Settings
from conformance.graphs.update import update
from conformance.judging.verdict import Verdict

from .looks import fits, plainly


def of_update(local: Local, came: Handed, name: str, verdict: Verdict) -> str:
    """Say in a line what is wrong with a parameter after the update."""
    bare = name.partition(".")[2]
    if name in came.arrays:
        got, task, own = came.arrays[name], local.task, {bare: local.parameters[bare]}
        gradient = {bare: local.goes_on_with(f"gradient.{bare}")}
        for words, settings in _readings(task.settings):
            taken = {bare: local.clipped[bare]} if settings.clip_norm else gradient
            if fits(update(local.ops, replace(settings, clip_norm=0.0), own, taken)[bare], got):
                return f"the update of {bare}: {words}"
        if task.settings.clip_norm and fits(update(local.ops, task.settings, own, gradient)[bare], got):
            return f"the update of {bare}: each gradient is clipped by its own norm, not all by one"
        if np.array_equal(got, task.parameters[bare]):
            return f"{bare} is not updated: it is what it was"
    return f"the update of {bare}: {plainly(local, came, name, verdict)}"


def _readings(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """Yield what the update may have been taken for."""
    if settings.clip_norm:
        yield "the gradients are not clipped", replace(settings, clip_norm=0.0)
    if settings.weight_decay:
        yield "without its weight decay", replace(settings, weight_decay=0.0)
    if settings.optimizer == "momentum":
        yield (
            f"nesterov = {str(settings.nesterov).lower()} is ignored",
            replace(settings, nesterov=not settings.nesterov),
        )
    for other in OPTIMIZERS:
        if other != settings.optimizer:
            yield f"{other}'s, not {settings.optimizer}'s", replace(settings, optimizer=other)
    yield "it is added, not subtracted", replace(settings, lr=-settings.lr)
