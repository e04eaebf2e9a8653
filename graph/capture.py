"""A training step on a library's own memory, its calls bound once and launched as often as wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from bindings import DeviceArray, Library

from .checked import Checked, check_values
from .errors import refuse
from .flat import Flat
from .kinds import philox_of, stream_of
from .kinds.context import counted
from .optimizers import Moments, Optimizer, State, check_clip_norm, check_number
from .plan import Plan
from .program import Program, bind, traced_pass
from .step import check_state


class CapturedStep:
    """train_step on a library that was opened with resident=True, captured at the first call.

    Parameters, moments, gradients and intermediates stay where the library computes: each kind in one piece of memory,
    intermediates by the plan. What neither a result nor a gradient depends on is not computed. A step copies the batch
    there, launches, and updates all parameters by one call, as the rate and the number of the step move. Frozen are the
    shapes, clip_norm, and how many class numbers count: a batch with another count is captured anew.

    arrays: all inputs and parameters, of the host; state: where the optimiser stands, None for the beginning; keep:
    values whose arrays `results` has, beside the losses. Raises GraphError for what does not fit.
    """

    def __init__(
        self,
        checked: Checked,
        library: Library,
        arrays: Mapping[str, Any],
        optimizer: Optimizer,
        state: State | None = None,
        *,
        clip_norm: float | None = None,
        seed: int = 0,
        keep: Collection[str] = (),
    ) -> None:
        if not (isinstance(library, Library) and library.resident):
            raise refuse("CapturedStep: library", "one that was opened with resident=True", library)
        check_values("CapturedStep: keep", checked, keep)
        check_clip_norm("CapturedStep", clip_norm)
        _check_names(arrays, {*checked.graph.inputs, *checked.graph.parameters}, "an input or a parameter")
        self.checked, self.optimizer, self.seed = checked, optimizer, seed
        self._library, self._clip_norm, self._keep = library, clip_norm, tuple(keep)
        learning = checked.learning
        shapes = {name: checked.shapes[name] for name in checked.trainable if name in learning}
        self._parameters, self._gradients = Flat(library.memory, shapes), Flat(library.memory, shapes)
        self._moments = [Flat(library.memory, shapes) for _ in range(optimizer.count)]
        self._given = {name: self._own(name, arrays) for name in (*checked.graph.inputs, *checked.graph.parameters)}
        self._streams = {stream: place for place, stream in enumerate(_streams(checked))}
        self._draws = library.memory.zeros((max(1, len(self._streams)), 2), np.uint64)
        self._program: Program | None = None
        self._key: tuple[int, ...] = ()  # what is frozen in the program beside shapes
        self.step = 0
        self._aside: Mapping[str, Moments] = {}  # moments of what no loss depends on
        if state is not None:
            self._start(state, arrays)

    def _own(self, name: str, arrays: Mapping[str, Any]) -> DeviceArray:
        """An array of the step's own that holds what is given for a name."""
        array, held = self._taken(name, arrays), self._parameters.arrays.get(name)
        if held is None:
            held = self._library.memory.empty(array.shape, array.dtype)
        held.copy_from(array)
        return held

    def _start(self, state: State, arrays: Mapping[str, Any]) -> None:
        """Go on from a state, as train_step and `state` give it."""
        check_state("CapturedStep", self.optimizer, state, {name: arrays[name] for name in self.checked.trainable})
        self.step = state.step
        self._aside = {name: held for name, held in state.moments.items() if name not in self._parameters.arrays}
        for name in self._parameters.arrays:
            for flat, moment in zip(self._moments, state.moments[name], strict=True):
                flat.arrays[name].copy_from(np.ascontiguousarray(moment, np.float32))

    def _taken(self, name: str, arrays: Mapping[str, Any]) -> Any:
        """The array that is given for a name, if it is of its shape and type."""
        shape, kind = self.checked.shapes[name], np.dtype(np.int32 if name in self.checked.integers else np.float32)
        array: Any = arrays.get(name)
        if not hasattr(array, "dtype") or tuple(array.shape) != shape or array.dtype != kind:
            got = "none" if array is None else type(array).__name__
            if hasattr(array, "dtype"):
                got = f"{array.dtype} of shape {tuple(array.shape)}"
            raise refuse(f"CapturedStep: {name}", f"{kind} of shape {shape}", got)
        return array if isinstance(array, DeviceArray) else np.ascontiguousarray(array)

    @property
    def plan(self) -> Plan | None:
        """How the intermediates lie; None before the first step."""
        return self._program.plan if self._program else None

    @property
    def launches_by_library(self) -> bool:
        """Whether the library records and launches by itself; else the calls are made again, one by one."""
        return self._program is not None and self._program.recorded.by_library

    @property
    def results(self) -> dict[str, DeviceArray]:
        """Losses and what was to be kept, as the last step left them."""
        return dict(self._program.results) if self._program else {}

    @property
    def norm(self) -> DeviceArray | None:
        """The norm of all gradients before clipping, (1,), as the last step left it; None where nothing clips."""
        return self._program.norm if self._program else None

    def __call__(self, batch: Mapping[str, Any], lr: float | None = None) -> dict[str, DeviceArray]:
        """Make a step on a batch: all inputs by name, and nothing else. lr: this step's rate, for the optimiser's.

        Returns `results`, which the next step writes over. Raises GraphError, before anything is computed, for a batch
        or a rate that does not fit.
        """
        rate = self.optimizer.lr if lr is None else lr
        check_number("CapturedStep: lr", rate)
        _check_names(batch, self.checked.graph.inputs, "an input")
        taken = {name: self._taken(name, batch) for name in self.checked.graph.inputs}
        for name, array in taken.items():
            self._given[name].copy_from(array)
        if self._streams:
            drawn = [philox_of(self.seed, self.step, stream) for stream in self._streams]
            self._draws.copy_from(np.stack(drawn))
        self._captured(tuple(counted(taken[name]) for name in self._labels())).recorded.launch()
        self.step += 1
        if self._parameters.arrays:
            flat = self._parameters.whole, self._gradients.whole, tuple(moment.whole for moment in self._moments)
            self.optimizer.update(self._library, *flat, self.step, float(rate))
        return self.results

    def _labels(self) -> list[str]:
        """The labels that are class numbers."""
        labels = [self.checked.graph.records[number].inputs[1] for number in self.checked.losses]
        return [name for name in labels if name in self.checked.integers]

    def _captured(self, key: tuple[int, ...]) -> Program:
        if self._program is not None and self._key == key:
            return self._program
        if self._program is not None:
            recorded, self._program = self._program.recorded, None
            recorded.reset()
        gradients, draws = self._gradients.arrays, self._drawn
        noted = traced_pass(self.checked, self._library, self._given, draws, gradients, self._keep)
        clip = None if self._clip_norm is None else partial(self._clip, float(self._clip_norm))
        self._program, self._key = bind(noted, self._library, self._given, gradients, clip), key
        return self._program

    def _drawn(self, stream: int) -> DeviceArray:
        return self._draws[self._streams[stream]]

    def _clip(self, clip_norm: float) -> DeviceArray:
        """Scale all gradients by one factor; returns their norm before."""
        ops, gradients = self._library, [self._gradients.whole]
        norm: DeviceArray
        norm, factor = ops.clip_scale(ops.multi_sum_squares(gradients), clip_norm=clip_norm)
        ops.multi_scale(gradients, factor)
        return norm

    def parameters(self) -> dict[str, Any]:
        """All parameters as they are now, running statistics too, in arrays of the host; waits for them."""
        return {name: np.array(self._given[name].to_host()) for name in self.checked.graph.parameters}

    def state(self) -> State:
        """Where the optimiser stands, in arrays of the host; waits for them."""
        moments = {}
        for name in self.checked.trainable:
            if name in self._parameters.arrays:
                held = [flat.arrays[name].to_host() for flat in self._moments]
            else:  # what no loss depends on stands where it stood
                nothing = np.zeros(self.checked.shapes[name], np.float32)
                held = [*self._aside.get(name, (nothing,) * self.optimizer.count)]
            moments[name] = tuple(np.array(moment) for moment in held)
        return State(self.step, moments)


def _streams(checked: Checked) -> list[int]:
    """What each dropout draws by."""
    dropouts = [(n, r) for n, r in enumerate(checked.graph.records) if r.kind == "dropout"]
    return list(dict.fromkeys(stream_of(n, record) for n, record in dropouts))


def _check_names(given: Mapping[str, Any], known: Collection[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise refuse("CapturedStep", f"names of {what}", name)
