"""Engines that do one thing wrong, as published ones have done it; a reading runs one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.graphs.local import with_attributes
from conformance.graphs.step import Part, Results, Step
from conformance.graphs.task import Task
from reference.namespace import Ops

_POINTER, _COUNTS = 0x00007F3A, 96  # the upper half of an address, and sizes: what freed memory is full of


class Engine(Step):
    """An engine in float32; `kinds` are the records it goes wrong at."""

    kinds: tuple[str, ...] = ()

    def __init__(self, ops: Ops, task: Task) -> None:
        super().__init__(ops, task, lambda array: array.astype(np.float32))

    def is_hit(self, number: int) -> bool:
        return self.task.records[number].kind in self.kinds


class Uninitialised(Engine):
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


class WithoutBackward(Engine):
    """The switch over kinds has no case for this one in backward: nothing is added to anything."""

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if not self.is_hit(number):
            return of_inputs, of_parameters
        return [_zeros(array) for array in of_inputs], [_zeros(array) for array in of_parameters]


def _zeros(array: Any) -> Any:
    return None if array is None else np.zeros_like(array)


class OneSample(Engine):
    """The kernel that copies a slice of steps is launched for the first sample alone."""

    kinds = ("slice_steps",)

    def forward_of(self, number: int, *given: Any) -> tuple[Any, Any]:
        output, saved = super().forward_of(number, *given)
        if self.is_hit(number):
            output = np.concatenate([output[:1], np.zeros_like(output[1:])])
        return output, saved


class LastState(Engine):
    """return_sequences is read and never asked: the last state stands where all states are due."""

    kinds = ("rnn", "lstm", "gru")

    def forward_of(self, number: int, *given: Any) -> tuple[Any, Any]:
        output, saved = super().forward_of(number, *given)
        if self.is_hit(number) and self.task.records[number].attributes["return_sequences"]:
            output = np.concatenate([output[:, -1].reshape(-1), np.zeros(output.size - output[:, -1].size, np.float32)])
            output = output.reshape(saved[-1][0].shape)
        return output, saved


class Assigned(Engine):
    """A gradient is written where it should be added: the last record that backward comes to gives all of it."""

    def total(self, name: str, parts: Sequence[Part]) -> Any:
        return parts[-1].array


class ScaledByBatch(Engine):
    """The gradient of binary cross entropy is divided by the samples, the loss by all numbers."""

    kinds = ("bce", "bce_logits")

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if self.is_hit(number):
            gradient: Any = of_inputs[0]
            of_inputs = (gradient * np.float32(gradient.size / len(gradient)), *of_inputs[1:])
        return of_inputs, of_parameters


class WithoutTemperature(Engine):
    """The fused gradient is that of the softmax of the divided logits, and is not divided itself."""

    kinds = ("softmax_cross_entropy",)

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        if self.is_hit(number):
            temperature = np.float32(self.task.records[number].attributes["temperature"])
            gradient: Any = of_inputs[0]
            of_inputs = (gradient * temperature, *of_inputs[1:])
        return of_inputs, of_parameters


class TemperatureOne(Engine):
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


class PassedOver(Engine):
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


class Stale(PassedOver):
    """The same, and the output, which was taken before, is handed in as it is."""

    absent = False
