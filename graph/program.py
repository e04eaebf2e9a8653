"""A pass, forward and backward, traced, planned, and captured as a graph of a library's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from bindings import DeviceArray, Library
from bindings import Graph as Recorded
from reference.arrays import Array

from .checked import Checked
from .places import Places
from .plan import Plan, plan_of
from .run import Run
from .trace import Trace, Traced


@dataclass(frozen=True)
class TracedPass:
    """What was noted of a pass, and of what it gave: losses and kept values, running statistics, gradients."""

    trace: Trace
    results: dict[str, Array]
    state: dict[str, Array]
    gradients: dict[str, Array]


@dataclass(frozen=True)
class Program:
    """What is launched. results: losses and kept values; norm: of all gradients before clipping, None without it."""

    recorded: Recorded
    plan: Plan
    results: dict[str, DeviceArray]
    norm: DeviceArray | None


def traced_pass(
    checked: Checked,
    library: Library,
    arrays: Mapping[str, DeviceArray],
    draws: Callable[[int], DeviceArray],
    gradients: Collection[str],
    keep: Collection[str],
) -> TracedPass:
    """Make the pass once, and note the calls it needs; gradients: the parameters whose gradients are wanted."""
    ops = Traced(library)
    run = Run(checked, ops, draws)
    forward = run.forward(arrays)
    found = run.backward(forward).parameters
    results = {**forward.losses, **{name: forward.values[name] for name in keep}}
    wanted = {name: found[name] for name in gradients}
    held = [*results.values(), *forward.state.values(), *wanted.values()]
    return TracedPass(ops.trace.needed(held), results, forward.state, wanted)


def bind(
    noted: TracedPass,
    library: Library,
    arrays: Mapping[str, DeviceArray],
    gradients: Mapping[str, DeviceArray],
    clip: Callable[[], DeviceArray] | None,
) -> Program:
    """Make the calls once more, on the places that a plan gives their arrays, as a graph.

    arrays: what the pass read; its running statistics are written back there. gradients: where those of the parameters
    go. clip: scales all of these, and returns their norm.
    """
    fixed: dict[int, DeviceArray] = {}
    for name, array in gradients.items():
        slot = noted.trace.slot(noted.gradients[name])
        assert slot is not None, name  # a call of its own makes every parameter's gradient
        fixed[slot] = array
    found = plan_of(noted.trace, elsewhere=fixed)
    places = Places(noted.trace, found, fixed, library)
    with library.capture() as recorded:
        for call in noted.trace.calls:
            places.call(call)
        for name, statistics in noted.state.items():
            arrays[name].copy_from(places.of(statistics))
        norm = None if clip is None else clip()
    results = {name: places.of(array) for name, array in noted.results.items()}
    return Program(recorded, found, results, norm)
