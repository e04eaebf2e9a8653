"""Honest engines pass: any order of sums and of a gradient's parts, fused records, our own graph on every library."""

from __future__ import annotations

import numpy as np
import pytest

from bindings import Library
from conformance.graphs.engines.operations import call_operations
from conformance.graphs.handed import handed
from conformance.graphs.honest import honest
from conformance.graphs.judge import Judged, free_of, judge_step
from conformance.graphs.task import Task
from conformance.graphs.tasks import TASKS, shipped
from conformance.limits.namespaces import OnFloat32
from conformance.variants.honest import implementations
from graph import Run, check, fuse

WAYS = {name: way for name, way in implementations().items() if {"conv2d", "lstm_forward"} <= way.operations}
SEEDS = range(3)


def wrong(judged: Judged) -> list[str]:
    return [f"{result.id}: {result.reason}" for result in judged.results if not result.is_fine]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_honest_engine_is_told_that_it_is_wrong(name: str, seed: int) -> None:
    task = shipped(name, seed)
    assert WAYS
    assert free_of(task).near == 0
    for way, implementation in WAYS.items():
        assert not wrong(judge_step(task, handed(task, honest(implementation, task, seed)))), way


@pytest.mark.parametrize("name", TASKS)
def test_every_result_is_judged_both_ways(name: str) -> None:
    task = shipped(name)
    judged = judge_step(task, handed(task, call_operations(OnFloat32(), task.document, task.arrays)["results"]))
    names = [result.id.rpartition(" ")[2] for result in judged.locked]
    assert names == [*task.known] == [result.id.rpartition(" ")[2] for result in judged.free]
    assert all(0 < result.share < 1 for result in judged.free if result.verdicts[0].limit)


@pytest.mark.parametrize("name", TASKS)
def test_our_own_graph_conforms_on_the_c_library(name: str, stub: Library) -> None:
    task = shipped(name, 1)
    found = call_operations(stub, task.document, task.arrays)["results"]
    assert not wrong(judge_step(task, handed(task, found)))


@pytest.mark.parametrize("name", TASKS)
def test_an_engine_that_fuses_records_conforms_in_what_it_hands_in(name: str) -> None:
    task = shipped(name)
    judged = judge_step(task, handed(task, fused(task)), partial=True)
    assert judged.absent or name == "images"
    assert not wrong(judged)


def fused(task: Task) -> dict[str, np.ndarray]:
    """What our own graph hands in where adjacent records are carried out as one."""
    arrays = {**task.inputs, **task.parameters}
    checked = check(fuse(task.graph), {name: array.shape for name, array in arrays.items()})
    run = Run(checked, OnFloat32())
    forward = run.forward(arrays, seed=task.settings.seed, step=task.settings.step)
    backward = run.backward(forward)
    found = {f"value.{name}": array for name, array in forward.values.items()}
    found |= {f"loss.{name}": array for name, array in forward.losses.items()}
    found |= {f"gradient.{name}": array for name, array in backward.values.items()}
    found |= {f"gradient.{name}": array for name, array in backward.parameters.items() if array is not None}
    return {name: np.asarray(array, np.float32) for name, array in found.items() if name in task.known}
