"""Wrong readings of a graph: engines that run the whole list, and do one thing as published engines have done it.

A reading is called as (ops, task) and gives the results by name; those it has not, it never had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.graphs.step import Results
from conformance.graphs.task import Task
from conformance.limits.namespaces import OnFloat32
from reference.namespace import Ops
from reference.readings import Reading

from .engines import (
    Assigned,
    Engine,
    LastState,
    OneSample,
    PassedOver,
    ScaledByBatch,
    Stale,
    TemperatureOne,
    Uninitialised,
    WithoutBackward,
    WithoutTemperature,
)

GRAPH = "graph"  # what stands for an operation's name
RECURRENT, CONVOLUTIONS, POOLS = ("rnn", "lstm", "gru"), ("conv2d",), ("max_pool2d", "avg_pool2d")


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
    _reading("RNN's input gradient uninitialised", _UNFILLED, of_kinds(Uninitialised, *RECURRENT), _OVERWRITTEN),
    _reading(
        "convolution's input gradient uninitialised", _UNFILLED, of_kinds(Uninitialised, *CONVOLUTIONS), _OVERWRITTEN
    ),
    _reading("pooling's input gradient uninitialised", _UNFILLED, of_kinds(Uninitialised, *POOLS), _OVERWRITTEN),
    _reading("add_bias without backward", _NO_CASE, of_kinds(WithoutBackward, "add_bias"), "has no backward"),
    _reading("time slices without backward", _NO_CASE, of_kinds(WithoutBackward, "slice_steps"), "have no backward"),
    _reading("slices of the first sample only", _ONE_LAUNCH, OneSample, _FIRST),
    _reading("return_sequences ignored", _ANY_CASE, LastState, _LAST),
    _reading("gradients assigned", _ONE_OF_TWO, Assigned, "assigned, not added"),
    _reading("BCE's gradient by the batch", _TWO_MEANS, ScaledByBatch, _BY_BATCH),
    _reading("temperature lost behind the softmax", _UNDIVIDED, WithoutTemperature, f"{_LOST}.*2.5 times the right"),
    _reading("temperature lost in backward", "The gradient is that at temperature 1.", TemperatureOne, _LOST),
    _reading("a missing tensor only prints a line", _RUNS_ON, PassedOver, f"{_PASSED}nothing was handed in for"),
    _reading("a missing tensor leaves zeros", _RUNS_ON, Stale, f"{_PASSED}.* is zero everywhere"),
)


def carried_out(reading: Reading, task: Task) -> dict[str, Any]:
    """Return what a reading hands in for a task: the results that an engine is asked for."""
    with np.errstate(all="ignore"):
        results = reading.function(OnFloat32(), task)
    return {name: np.asarray(array, np.float32) for name, array in results.items() if name in task.wanted}
