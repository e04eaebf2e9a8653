"""A training step on a library's own memory, its calls bound once and launched as often as wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bindings import DeviceArray, Library
from bindings import Graph as Recorded
from reference.arrays import Array

from .checked import Checked
from .errors import refuse
from .flat import Flat
from .kinds import philox_of
from .optimizers import Optimizer, State
from .places import Places
from .plan import Plan, plan_of
from .run import Forward, Run
from .trace import Trace, Traced

Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Program:
    """What is launched: key: all that is frozen in it; results by name, in arrays that every launch writes."""

    key: tuple[int, ...]
    recorded: Recorded
    plan: Plan
    results: dict[str, DeviceArray]


class CapturedStep:
    """train_step on a library that was opened with resident=True, captured at the first call.

    Parameters, moments, gradients and intermediates stay where the library computes: each kind in one piece of memory,
    intermediates by the plan. A step copies the batch there, launches, and updates all parameters by one call, as the
    rate and the number of the step move. Frozen are the shapes, clip_norm, and how many class numbers count: a batch
    with another count is captured anew.

    arrays: all inputs and parameters of the host; keep: values whose arrays `results` has, beside the losses.
    """

    def __init__(
        self,
        checked: Checked,
        library: Library,
        arrays: Mapping[str, Any],
        optimizer: Optimizer,
        *,
        clip_norm: float | None = None,
        seed: int = 0,
        keep: Collection[str] = (),
    ) -> None:
        if not (isinstance(library, Library) and library.resident):
            raise refuse("CapturedStep: library", "one that was opened with resident=True", library)
        self.checked, self.optimizer, self.seed, self.step = checked, optimizer, seed, 0
        self._library, self._clip_norm, self._keep = library, clip_norm, tuple(keep)
        memory = library.memory
        trained = [name for name in checked.trainable if name in self._learning()]
        self._parameters = Flat(memory, {name: checked.shapes[name] for name in trained})
        self._gradients = Flat(memory, {name: checked.shapes[name] for name in trained})
        self._moments = [memory.zeros((self._parameters.size,), np.float32) for _ in range(optimizer.count)]
        self._given = {name: self._own(name, arrays) for name in (*checked.graph.inputs, *checked.graph.parameters)}
        self._streams = _streams(checked)
        self._draws = memory.zeros((max(1, len(self._streams)), 2), np.uint64)
        self._program: _Program | None = None

    def _learning(self) -> set[str]:
        """The parameters that a loss depends on."""
        graph, contributing = self.checked.graph, self.checked.contributing
        numbers = [n for n, record in enumerate(graph.records) if record.output in contributing]
        return {name for n in (*numbers, *self.checked.losses) for name in graph.records[n].parameters}

    def _own(self, name: str, arrays: Mapping[str, Any]) -> DeviceArray:
        """An array of the step's own that holds what is given for a name."""
        array, held = self._taken(name, arrays), self._parameters.arrays.get(name)
        if held is None:
            held = self._library.memory.empty(array.shape, array.dtype)
        held.copy_from(array)
        return held

    def _taken(self, name: str, arrays: Mapping[str, Any]) -> Any:
        """The array that is given for a name, if it is of its shape and type."""
        shape, kind = self.checked.shapes[name], np.dtype(np.int32 if name in self.checked.integers else np.float32)
        array = arrays.get(name)
        if array is None or tuple(array.shape) != shape or array.dtype != kind:
            got = "none" if array is None else f"{array.dtype} of shape {tuple(array.shape)}"
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
        """Losses, the norm before clipping ("norm"), and what was to be kept, as the last step left them."""
        return dict(self._program.results) if self._program else {}

    def __call__(self, batch: Mapping[str, Any], lr: float | None = None) -> dict[str, DeviceArray]:
        """Make a step on a batch: inputs of the host by name. Returns `results`, which the next step writes over."""
        taken = {name: self._taken(name, batch) for name in self.checked.graph.inputs}
        for name, array in taken.items():
            self._given[name].copy_from(array)
        if self._streams:
            drawn = [philox_of(self.seed, self.step, stream) for stream in self._streams]
            self._draws.copy_from(np.stack(drawn))
        program = self._captured(self._key(batch))
        program.recorded.launch()
        self._update(self.optimizer.lr if lr is None else float(lr))
        return dict(program.results)

    def _update(self, lr: float) -> None:
        """Move all parameters by one call."""
        self.step += 1
        flat = self._parameters.whole, self._gradients.whole, tuple(self._moments)
        if self._parameters.arrays:
            self.optimizer.update(self._library, *flat, self.step, lr)

    def _key(self, batch: Mapping[str, Any]) -> tuple[int, ...]:
        """How many class numbers of each label count."""
        records = (self.checked.graph.records[number] for number in self.checked.losses)
        labels = [record.inputs[1] for record in records if record.inputs[1] in self.checked.integers]
        return tuple(int(np.count_nonzero(np.asarray(batch[name]) >= 0)) for name in labels)

    def _captured(self, key: tuple[int, ...]) -> _Program:
        if self._program is not None and self._program.key == key:
            return self._program
        if self._program is not None:
            self._program.recorded.reset()
        trace, wanted = self._traced()
        self._program = self._bind(key, trace, wanted)
        return self._program

    def _traced(self) -> tuple[Trace, dict[str, Array]]:
        """Make the pass once, noting its calls; returns what is wanted of it by name."""
        ops = Traced(self._library)
        run = Run(self.checked, ops, draws=lambda stream: self._draws[self._streams.index(stream)])
        forward: Forward = run.forward(self._given, seed=self.seed, step=self.step)
        backward = run.backward(forward)
        wanted = {**forward.losses, **{name: forward.values[name] for name in self._keep}}
        held = {f"state {name}": array for name, array in forward.state.items()}
        gradients = {f"gradient {name}": backward.parameters[name] for name in self._gradients.arrays}
        found = {**wanted, **held, **gradients}
        for array in found.values():
            ops.trace.keep(array)
        return ops.trace, found

    def _bind(self, key: tuple[int, ...], trace: Trace, wanted: dict[str, Array]) -> _Program:
        """Make the calls once more, on the places that the plan gives their arrays, as a graph of the library's."""
        fixed: dict[int, DeviceArray] = {}
        for name, array in self._gradients.arrays.items():
            slot = trace.slot(wanted[f"gradient {name}"])
            assert slot is not None, name  # a call of its own makes every parameter's gradient
            fixed[slot] = array
        found = plan_of(trace, elsewhere=fixed)
        places = Places(trace, found, fixed, self._library)
        results = {name: places.of(array) for name, array in wanted.items() if " " not in name}
        with self._library.capture() as recorded:
            for call in trace.calls:
                places.call(call)
            for name, array in wanted.items():
                if name.startswith("state "):
                    self._given[name.removeprefix("state ")].copy_from(places.of(array))
            if self._clip_norm is not None:
                results["norm"] = self._clip(self._clip_norm)
        return _Program(key, recorded, found, results)

    def _clip(self, clip_norm: float) -> DeviceArray:
        ops, gradients = self._library, [self._gradients.whole]
        norm: DeviceArray
        norm, factor = ops.clip_scale(ops.multi_sum_squares(gradients), clip_norm=float(clip_norm))
        ops.multi_scale(gradients, factor)
        return norm

    def parameters(self) -> dict[str, Any]:
        """All parameters as they are now, running statistics too, in arrays of the host; waits for them."""
        return {name: np.array(self._given[name].to_host()) for name in self.checked.graph.parameters}

    def state(self) -> State:
        """Where the optimiser stands, in arrays of the host; waits for them."""
        flats = [Flat(self._library.memory, self._parameters.shapes, moment) for moment in self._moments]
        names = self._parameters.arrays
        moments = {name: tuple(np.array(flat.arrays[name].to_host()) for flat in flats) for name in names}
        return State(self.step, moments)


def _streams(checked: Checked) -> list[int]:
    """What each dropout draws by."""
    dropouts = [(n, r) for n, r in enumerate(checked.graph.records) if r.kind == "dropout"]
    return list(dict.fromkeys(n if r.attributes["stream"] is None else r.attributes["stream"] for n, r in dropouts))
