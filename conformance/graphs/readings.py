"""Wrong readings of a graph: engines that run the whole list, and do one thing as published engines have done it.

A reading is called as (ops, task) and gives the results by name; those it has not, it never had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conformance.graphs.local import with_attributes
from conformance.limits.namespaces import OnFloat32
from reference.namespace import Ops
from reference.readings import Reading

from .step import Part, Results, Step
from .task import Task

GRAPH = "graph"  # what stands for an operation's name
RECURRENT, CONVOLUTIONS, POOLS = ("rnn", "lstm", "gru"), ("conv2d",), ("max_pool2d", "avg_pool2d")
_POINTER, _COUNTS = 0x00007F3A, 96  # the upper half of an address, and sizes: what freed memory is full of


class Engine(Step):
    """An engine in float32; `kinds` are the records it goes wrong at."""

    kinds: tuple[str, ...] = ()

    def __init__(self, ops: Ops, task: Task) -> None:
        super().__init__(ops, task, lambda array: array.astype(np.float32))

    def is_hit(self, number: int) -> bool:
        return self.task.records[number].kind in self.kinds

    def kind_of(self, number: int) -> str:
        return self.task.records[number].kind


class _Uninitialised(Engine):
    """The input gradient is computed, and then overwritten by a buffer that was taken and not filled."""

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if not self.is_hit(number):
            return of_inputs, of_parameters
        return (_left_over(of_inputs[0]), *of_inputs[1:]), of_parameters


def _left_over(array: Any) -> Any:
    """Memory as a heap leaves it: addresses, sizes, and what was computed there before."""
    places = np.arange(array.size, dtype=np.uint32)
    bits = np.where(places % 2 == 1, np.uint32(_POINTER), places * np.uint32(_COUNTS))
    numbers = np.where(places % 4 < 2, bits.view(np.float32), np.resize(np.tanh(places), array.size).astype(np.float32))
    return numbers.astype(np.float32).reshape(array.shape)


class _WithoutBackward(Engine):
    """The switch over kinds has no case for this one in backward: nothing is added to anything."""

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if not self.is_hit(number):
            return of_inputs, of_parameters
        return [_zeros(array) for array in of_inputs], [_zeros(array) for array in of_parameters]


def _zeros(array: Any) -> Any:
    return None if array is None else np.zeros_like(array)


class _OneSample(Engine):
    """The kernel that copies a slice of steps is launched for the first sample alone."""

    kinds = ("slice_steps",)

    def forward_of(self, number: int, *given: Any) -> tuple[Any, Any]:
        output, saved = super().forward_of(number, *given)
        if self.is_hit(number):
            output = np.concatenate([output[:1], np.zeros_like(output[1:])])
        return output, saved


class _LastState(Engine):
    """return_sequences is read and never asked: the last state stands where all states are due."""

    kinds = RECURRENT

    def forward_of(self, number: int, *given: Any) -> tuple[Any, Any]:
        output, saved = super().forward_of(number, *given)
        if self.is_hit(number) and self.task.records[number].attributes["return_sequences"]:
            output = np.concatenate([output[:, -1].reshape(-1), np.zeros(output.size - output[:, -1].size, np.float32)])
            output = output.reshape(saved[-1][0].shape)
        return output, saved


class _Assigned(Engine):
    """A gradient is written where it should be added: the last record that backward comes to gives all of it."""

    def total(self, name: str, parts: Sequence[Part]) -> Any:
        return parts[-1].array


class _ScaledByBatch(Engine):
    """The gradient of binary cross entropy is divided by the samples, the loss by all numbers."""

    kinds = ("bce", "bce_logits")

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if self.is_hit(number):
            gradient: Any = of_inputs[0]
            of_inputs = (gradient * np.float32(gradient.size / len(gradient)), *of_inputs[1:])
        return of_inputs, of_parameters


class _WithoutTemperature(Engine):
    """The fused gradient is that of the softmax of the divided logits, and is not divided itself."""

    kinds = ("softmax_cross_entropy",)

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if self.is_hit(number):
            temperature = np.float32(self.task.records[number].attributes["temperature"])
            gradient: Any = of_inputs[0]
            of_inputs = (gradient * temperature, *of_inputs[1:])
        return of_inputs, of_parameters


class _TemperatureOne(Engine):
    """The fused gradient is computed as if there were no temperature."""

    kinds = ("softmax_cross_entropy",)

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        if not self.is_hit(number):
            return super().backward_of(number, *given)
        task, (inputs, parameters, d_output) = self.task, given
        record, kind = with_attributes(task.records[number], temperature=1.0), task.kind(number)
        context = task.context(number)
        forward = kind.forward(self.ops, record, inputs, parameters, context)
        return kind.backward(self.ops, record, inputs, parameters, *forward, d_output, context)


class _PassedOver(Engine):
    """A record whose parameter is not found prints a line and returns; what reads it goes on with memory of zeros."""

    absent = True

    def missing(self) -> int:
        """The record whose tensor is not found: the second that has parameters."""
        return [n for n in self.task.order if self.task.records[n].parameters][1]

    def forward_of(self, number: int, *given: Any) -> tuple[Any, Any]:
        output, saved = super().forward_of(number, *given)
        return (np.zeros_like(output) if number == self.missing() else output), saved

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        found = super().backward_of(number, *given)
        return tuple([_zeros(a) for a in few] for few in found) if number == self.missing() else found  # type: ignore[return-value]

    def run(self) -> Results:
        results = super().run()
        record = self.task.records[self.missing()]
        gone = {f"value.{record.output}", *(f"gradient.{name}" for name in record.parameters)} if self.absent else set()
        return {name: array for name, array in results.items() if name not in gone}


class _Stale(_PassedOver):
    """The same, and the output, which was taken before, is handed in as it is."""

    absent = False


def of_kinds(engine: type[Engine], *kinds: str) -> type[Engine]:
    """The engine that goes wrong at these kinds."""
    return type(engine.__name__, (engine,), {"kinds": kinds})


def _run(engine: type[Engine]) -> Callable[..., Results]:
    def function(ops: Ops, task: Task) -> Results:
        return engine(ops, task).run()

    return function


def _reading(name: str, why: str, engine: type[Engine], says: str) -> Reading:
    return Reading(GRAPH, name, why, _run(engine), says=says)


_UNFILLED = "A buffer that was taken for the gradient and never filled is copied over it."
_OVERWRITTEN = "overwrites the gradient of .* with memory that nobody has written"
_NO_CASE = "The switch over kinds has no case for it in backward."
_FIRST, _ONE_LAUNCH = "one sample only: sample 0 is right", "The kernel is launched for one sample."
_LAST, _ANY_CASE = "ignores return_sequences = true: it gives the last state", "The last state is given in any case."
_BY_BATCH, _TWO_MEANS = r"is scaled by 1 / \d+ \(its samples\)", "Divided by the samples, the loss by all numbers."
_LOST, _UNDIVIDED = "the temperature is lost, in the gradient of record", "The gradient is not divided by it."
_PASSED, _RUNS_ON = "was passed over: ", "The record is passed over with a line on the screen, and the run goes on."
_ONE_OF_TWO = "A value that two records read has the gradient of one."

READINGS = (
    _reading("RNN's input gradient uninitialised", _UNFILLED, of_kinds(_Uninitialised, *RECURRENT), _OVERWRITTEN),
    _reading(
        "convolution's input gradient uninitialised", _UNFILLED, of_kinds(_Uninitialised, *CONVOLUTIONS), _OVERWRITTEN
    ),
    _reading("pooling's input gradient uninitialised", _UNFILLED, of_kinds(_Uninitialised, *POOLS), _OVERWRITTEN),
    _reading("add_bias without backward", _NO_CASE, of_kinds(_WithoutBackward, "add_bias"), "has no backward"),
    _reading("time slices without backward", _NO_CASE, of_kinds(_WithoutBackward, "slice_steps"), "have no backward"),
    _reading("slices of the first sample only", _ONE_LAUNCH, _OneSample, _FIRST),
    _reading("return_sequences ignored", _ANY_CASE, _LastState, _LAST),
    _reading("gradients assigned", _ONE_OF_TWO, _Assigned, "assigned, not added"),
    _reading("BCE's gradient by the batch", _TWO_MEANS, _ScaledByBatch, _BY_BATCH),
    _reading("temperature lost behind the softmax", _UNDIVIDED, _WithoutTemperature, f"{_LOST}.*2.5 times the right"),
    _reading("temperature lost in backward", "The gradient is that at temperature 1.", _TemperatureOne, _LOST),
    _reading("a missing tensor only prints a line", _RUNS_ON, _PassedOver, f"{_PASSED}nothing was handed in for"),
    _reading("a missing tensor leaves zeros", _RUNS_ON, _Stale, f"{_PASSED}.* is zero everywhere"),
)


def carried_out(reading: Reading, task: Task) -> dict[str, Any]:
    """Return what a reading hands in for a task: the results that an engine is asked for."""
    with np.errstate(all="ignore"):
        results = reading.function(OnFloat32(), task)
    return {name: np.asarray(array, np.float32) for name, array in results.items() if name in task.wanted}
