"""Wrong readings of how a batch is divided: a step called with the number of ranks that share the batch.

(ops, config, training, state, tokens, targets, ranks): each rank reads an equal part and cuts it into
training.micro_batches.  Here they take turns in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from reference import step
from reference.arrays import Array
from reference.model.config import Config
from reference.model.transformer import Loss
from reference.step import Accumulated, Metrics, State, TrainingConfig, Whole

from .reading import Reading

Result = tuple[State, Metrics]
Of = Callable[[Whole, int], Whole]  # of the whole, and of the targets that count in a part, what the part is divided by


class Given(NamedTuple):
    """What a step is called with."""

    ops: Any
    config: Config
    training: TrainingConfig
    state: State
    tokens: Array
    targets: Array
    ranks: int


def itself(*given: Any) -> Result:
    """The step, called as its readings are."""
    return _updated(Given(*given), _sum(_parts(Given(*given))))


def _parts(given: Given, of: Of | None = None) -> list[Accumulated]:
    """What every micro-batch gives, those of a rank one after the other."""
    count = given.ranks * given.training.micro_batches
    whole, parts = Whole(step.counted(given.targets), count), []
    for tokens, targets in zip(np.split(given.tokens, count), np.split(given.targets, count), strict=True):
        share = of(whole, step.counted(targets)) if of else whole
        parts.append(step.accumulate(given.ops, given.config, given.state.parameters, tokens, targets, whole=share))
    return parts


def _by_rank(given: Given, parts: Sequence[Accumulated]) -> list[Sequence[Accumulated]]:
    each = given.training.micro_batches
    return [parts[first : first + each] for first in range(0, len(parts), each)]


def _sum(parts: Sequence[Accumulated]) -> Accumulated:
    total, *others = parts
    for part in others:
        gradients = {name: array + part.gradients[name] for name, array in total.gradients.items()}
        loss = Loss(*(a + b for a, b in zip(total.loss, part.loss, strict=True)))
        total = Accumulated(loss, gradients, total.loads)
    return total


def _times(part: Accumulated, factor: Any) -> Accumulated:
    return part._replace(gradients={name: array * factor for name, array in part.gradients.items()})


def _clipping(given: Given, part: Accumulated) -> tuple[Array, Array]:
    return step.clipping(given.ops, given.training, part.gradients)


def _updated(given: Given, total: Accumulated, factor: Array | None = None, updates: int | None = None) -> Result:
    """The update; factor: what gradients are taken times instead; updates: what the schedule reads."""
    norm, due = _clipping(given, total)
    rate = step.learning_rate(given.training, updates or given.state.step + 1)
    clipped = due if factor is None else factor
    lists, named = step.adamw_arguments(given.training, given.state, total.gradients, clipped, rate)
    return step.moved(given.state, *given.ops.multi_adamw(*lists, **named)), Metrics(*total.loss, norm, rate)


# ---- what a part weighs -----------------------------------------------------------------------------


def _divided(of: Of, given: Given) -> Result:
    """The loss is reported as it is; only the gradients err."""
    return _updated(given, _sum(_parts(given))._replace(gradients=_sum(_parts(given, of)).gradients))


def _averaged_again(given: Given) -> Result:
    return _updated(given, _times(_sum(_parts(given)), np.float32(1 / given.ranks)))


# ---- which parts are added --------------------------------------------------------------------------


def _last(given: Given) -> Result:
    parts = _parts(given)
    last = _sum([of_rank[-1] for of_rank in _by_rank(given, parts)])
    return _updated(given, _sum(parts)._replace(gradients=last.gradients))


def _summed_each_time(given: Given) -> Result:
    parts = _parts(given)
    held: Accumulated | None = None
    for of_ranks in zip(*_by_rank(given, parts), strict=True):
        held = _sum([part if held is None else _sum([held, part]) for part in of_ranks])
    assert held is not None
    return _updated(given, _sum(parts)._replace(gradients=held.gradients))


def _all_the_first(given: Given) -> Result:
    tokens, targets = (np.concatenate([np.split(a, given.ranks)[0]] * given.ranks) for a in given[4:6])
    return itself(*given._replace(tokens=tokens, targets=targets))


# ---- clipped and stepped once -----------------------------------------------------------------------


def _clipped_apart(given: Given) -> Result:
    ranks = [_sum(parts) for parts in _by_rank(given, _parts(given))]
    clipped = [_times(part, _clipping(given, part)[1]) for part in ranks]
    state, metrics = _updated(given, _sum(clipped), np.ones(1, np.float32))
    return state, metrics._replace(norm=_clipping(given, _sum(ranks))[0])


def _own_norm(given: Given) -> Result:
    parts = _parts(given)
    _, factor = _clipping(given, _sum(_by_rank(given, parts)[0]))
    return _updated(given, _sum(parts), factor)


def _own_experts(given: Given) -> Result:
    total = _sum(_parts(given))
    own = {n: a[: -(-len(a) // given.ranks)] if a.ndim == 3 else a for n, a in total.gradients.items()}
    _, factor = _clipping(given, total._replace(gradients=own))
    return _updated(given, total, factor)


def _averaged_experts(given: Given) -> Result:
    total = _sum(_parts(given))
    share = np.float32(1 / given.ranks)
    averaged = {name: array * share if array.ndim == 3 else array for name, array in total.gradients.items()}
    return _updated(given, total._replace(gradients=averaged))


def _counted_in_parts(given: Given) -> Result:
    updates = (given.state.step + 1) * given.training.micro_batches
    return _updated(given, _sum(_parts(given)), updates=updates)


def _updated_in_parts(given: Given) -> Result:
    each = given.training.micro_batches
    for place in range(each):
        of_all = slice(place, None, each)  # every rank's micro-batch of that place
        tokens, targets = (np.concatenate(np.split(a, given.ranks * each)[of_all]) for a in given[4:6])
        single = replace(given.training, micro_batches=1)
        state, metrics = itself(*given._replace(training=single, tokens=tokens, targets=targets))
        given = given._replace(state=state)
    return state, metrics


def _reading(name: str, why: str, function: Callable[[Given], Result]) -> Reading:
    return Reading("accumulation", name, why, lambda *given: function(Given(*given)))


READINGS = (
    _reading(
        "mean of means",
        "Each part's mean over its own targets, however few they are, weighs the same.",
        partial(_divided, lambda whole, counted: Whole(counted * whole.micro_batches, whole.micro_batches)),
    ),
    _reading(
        "sum of means",
        "The means over each part's targets are added up, and never divided by the parts.",
        partial(_divided, lambda _, counted: Whole(counted, 1)),
    ),
    _reading(
        "auxiliary loss in full of every part",
        "The cross entropy is divided, the auxiliary loss is forgotten.",
        partial(_divided, lambda whole, _: Whole(whole.counted, 1)),
    ),
    _reading("averaged over the ranks again", "Each rank's gradient is of the whole's mean already.", _averaged_again),
    _reading("last micro-batch only", "Gradients are set to zero before each micro-batch, not each batch.", _last),
    _reading(
        "summed over the ranks at every micro-batch",
        "What is summed already is summed again with the next.",
        _summed_each_time,
    ),
    _reading("every rank reads the first's part", "The data is not divided among the ranks.", _all_the_first),
    _reading("clipped on every rank", "By the norm of what the rank has, before the sum.", _clipped_apart),
    _reading("norm of one rank", "The sum is clipped by the norm of what one rank has of it.", _own_norm),
    _reading(
        "norm without the other ranks' experts",
        "Each rank takes the norm of what it has: its own experts, and what all share.",
        _own_experts,
    ),
    _reading(
        "experts' gradients averaged over the ranks",
        "They are of all ranks' tokens already, since the tokens came to them.",
        _averaged_experts,
    ),
    _reading("schedule counts micro-batches", "The learning rate runs ahead of the updates.", _counted_in_parts),
    _reading("an update for each micro-batch", "Nothing is accumulated.", _updated_in_parts),
)
