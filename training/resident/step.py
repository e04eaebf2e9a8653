"""The training step on a library's own memory, captured once and launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bindings import DeviceArray, Graph, Library
from reference.arrays import Array
from reference.model.config import Config
from reference.model.parameters import Parameters
from reference.model.recompute import Recompute
from reference.step import TrainingConfig
from training.precision import FLOAT32, Precision
from training.ranks import ALONE, Ranks, between
from training.step import Computed, Report, Standing, Step

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


class Captured(NamedTuple):
    """A graph from a batch to clipped gradients; key: all that is frozen in it."""

    key: Hashable
    graph: Graph
    tokens: DeviceArray
    targets: DeviceArray
    computed: Computed


class ResidentStep(Step):
    """A Step whose parameters, moments, activations and gradients stay where the library computes.

    It takes batches of the host and waits for nothing: the report's arrays are waited for by whoever looks at them.
    captured: everything up to the clipped gradients is captured once and launched at each step.  AdamW is called behind
    the launch, once for all parameters, as its rate and step number change.  Frozen in a graph are the shape of the
    batch, how many targets count, the loss scale and the arrays; what comes with others is called, and captured where
    it comes twice in a row: so the first step loads the kernels, and an odd batch now and then costs no graph.
    With other ranks nothing is captured: their sums lie in between.  way: how those cross.
    """

    def __init__(
        self,
        library: Library,
        config: Config,
        training: TrainingConfig,
        *,
        precision: Precision = FLOAT32,
        recompute: Recompute | None = None,
        ranks: Ranks = ALONE,
        captured: bool = True,
    ) -> None:
        if not library.resident:
            expected = "a library opened with resident=True"
            raise ValueError(f"ResidentStep: library: expected {expected}, got {library} without")
        several = ranks.size > 1
        way_between = between(ranks, library) if several else None
        self.way = way_between.way if way_between else ""
        ranks = way_between or ranks
        super().__init__(library, config, training, precision=precision, recompute=recompute, ranks=ranks)
        self._library, self._wanted = library, captured and not several
        self._captured: Captured | None = None
        self._last: Hashable = None  # the key of the step before

    def start(self, parameters: Parameters) -> Standing:
        """Where training of these parameters (float32, of the host, left as they are) starts."""
        return super().start({name: self._device_copy(array) for name, array in parameters.items()})

    def to_device(self, standing: Standing) -> Standing:
        """Return a standing of host arrays, as a checkpoint holds one, where the library computes."""
        return _each(standing, self._device_copy)

    def __call__(self, standing: Standing, tokens: Array, targets: Array) -> tuple[Standing, Report]:
        """tokens and targets: int32 [batch, seq] of the host; a negative target is not counted."""
        counts = self._counts(targets)
        key = tokens.shape, tuple(counts), standing.scaler.scale, tuple(_addresses(standing))
        again, self._last = key == self._last, key
        if not self._wanted or not (again or self._known(key)):
            batch = self._device_copy(tokens), self._device_copy(targets)
            return self._finish(standing, self._compute(standing, *batch, counts))
        captured = self._known(key) or self._capture(key, standing, tokens.shape, counts)
        captured.tokens.copy_from(np.ascontiguousarray(tokens))
        captured.targets.copy_from(np.ascontiguousarray(targets))
        captured.graph.launch()
        standing, report = self._finish(standing, captured.computed)
        return standing, self._copy_report(report)

    def _known(self, key: Hashable) -> Captured | None:
        return self._captured if self._captured is not None and self._captured.key == key else None

    def _capture(self, key: Hashable, standing: Standing, shape: tuple[int, ...], counts: list[int]) -> Captured:
        if self._captured is not None:
            graph, self._captured = self._captured.graph, None
            graph.reset()
        tokens, targets = (self._library.memory.empty(shape, np.int32) for _ in range(2))
        with self._library.capture() as graph:
            computed = self._compute(standing, tokens, targets, counts)
        self._captured = Captured(key, graph, tokens, targets, computed)
        return self._captured

    def _moved(self, standing: Standing, gradients: Parameters, factor: Array, rate: float) -> Standing:
        """The 16-bit copies stay where they are, for a graph reads them there."""
        moved = super()._moved(standing, gradients, factor, rate)
        for name, array in moved.copies.items():
            standing.copies[name].copy_from(array)
        return moved._replace(copies=standing.copies)

    def _copy_report(self, report: Report) -> Report:
        """The report in arrays that the next launch does not write to."""
        return report._replace(
            loss=self._copy(report.loss),
            cross_entropy=self._copy(report.cross_entropy),
            aux_loss=self._copy(report.aux_loss),
            norm=self._copy(report.norm),
            loads=[self._copy(load) for load in report.loads],
        )

    def _copy(self, array: Array) -> DeviceArray:
        copy = self._library.memory.empty(array.shape, array.dtype)
        copy.copy_from(array)
        return copy

    def _device_copy(self, array: Array) -> DeviceArray:
        """On the host too: what is trained is written to."""
        return self._copy(np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array)


def on_host(standing: Standing) -> Standing:
    """Return a standing in NumPy arrays of its own, as a checkpoint takes it; waits for them."""
    return _each(standing, lambda array: np.array(array.to_host()))


def _each(standing: Standing, change: Any) -> Standing:
    state, copies = standing.state, standing.copies
    changed = [{name: change(array) for name, array in held.items()} for held in (*state[:3], copies)]
    return standing._replace(state=state._replace(parameters=changed[0], m=changed[1], v=changed[2]), copies=changed[3])


def _addresses(standing: Standing) -> Iterable[int]:
    return (array.address for held in (standing.state.parameters, standing.copies) for array in held.values())
