"""What slips of an engine look like that are none of the listed readings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.graphs.data import drawn
from conformance.graphs.diagnosis import silence
from conformance.graphs.diagnosis.looks import fits
from conformance.graphs.engines.operations import call_operations
from conformance.graphs.handed import handed
from conformance.graphs.judge import judge_step, tensor_of
from conformance.graphs.local import with_attributes
from conformance.graphs.readings.engines import Engine
from conformance.graphs.task import Settings, Task
from conformance.graphs.tasks import shipped
from conformance.limits.namespaces import OnFloat32
from graph import make, record


def first_line(task: Task, engine: Engine) -> str:
    came = {name: np.asarray(a, np.float32) for name, a in engine.run().items() if name in task.wanted}
    return judge_step(task, handed(task, came)).wrong[0].headline


def ignoring(output: str, **attributes: Any) -> Callable[[Task], Engine]:
    """An engine that carries out one record with other attributes, forward and backward."""

    class Ignoring(Engine):
        def forward_of(self, number: int, *given: Any) -> tuple[Any, Any]:
            record = self.task.records[number]
            if record.output != output:
                return super().forward_of(number, *given)
            changed = with_attributes(record, **attributes)
            found: tuple[Any, Any] = self.task.kind(number).forward(
                self.ops, changed, *given, self.task.context(number)
            )
            return found

    return lambda task: Ignoring(OnFloat32(), task)


@pytest.mark.parametrize(
    ("name", "engine", "line"),
    [
        ("images", ignoring("r0", alpha=1.0), "record 2 (elu -> r0) ignores alpha = 0.5: as if it were 1"),
        ("images", ignoring("p2", count_include_pad=True), "(avg_pool2d -> p2) ignores count_include_pad = false"),
        ("documents", ignoring("bent", form="erf"), '(gelu -> bent) ignores form = "tanh": as if it were "erf"'),
        ("documents", ignoring("kept", rate=0.0), "record 1 (dropout -> kept) ignores rate = 0.25: as if it were 0"),
        ("sequences", ignoring("d", activation="linear"), 'record 0 (dense -> d) ignores activation = "tanh"'),
        (
            "sequences",
            ignoring("early", first=3),
            "(slice_steps -> early): it holds what value.late holds",
        ),
        ("sequences", ignoring("entropy", temperature=1.0), "-> entropy) ignores temperature = 2.5: as if it were 1"),
    ],
)
def test_an_attribute_that_is_ignored_is_named(name: str, engine: Callable[[Task], Engine], line: str) -> None:
    task = shipped(name)
    assert line in first_line(task, engine(task))


class _Weightless(Engine):
    """A loss's weight is left out of its gradient."""

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        of_inputs, of_parameters = super().backward_of(number, *given)
        weight = self.task.records[number].attributes.get("weight", 1.0)
        if weight == 1.0:
            return of_inputs, of_parameters
        gradient: Any = of_inputs[0]
        return (gradient / np.float32(weight), *of_inputs[1:]), of_parameters


def test_a_weight_that_is_lost_is_named() -> None:
    task = shipped("documents")
    line = "the weight is lost, in the gradient of record 9 (mse -> aside): 2 times the right one"
    assert first_line(task, _Weightless(OnFloat32(), task)) == line


@pytest.mark.parametrize(
    ("name", "changed", "line"),
    [
        ("images", {"clip_norm": 0.0}, "the gradients are not clipped"),
        ("documents", {"weight_decay": 0.0}, "without its weight decay"),
        ("documents", {"optimizer": "adam"}, "adam's, not adamw's"),
        ("images", {"nesterov": False}, "nesterov = true is ignored"),
    ],
)
def test_an_update_by_other_settings_is_named(name: str, changed: dict[str, Any], line: str) -> None:
    task = shipped(name)
    other = Task(name, task.graph, task.inputs, task.parameters, replace(task.settings, **changed))
    came = {n: np.asarray(a, np.float32) for n, a in Engine(OnFloat32(), other).run().items() if n in task.wanted}
    judged = judge_step(task, handed(task, came))
    assert {result.id.split()[1].split(".")[0] for result in judged.wrong} == {"parameter"}
    assert judged.wrong[0].headline.endswith(line)


def of_reference(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = call_operations(OnFloat32(), task.document, task.arrays)["results"]
    return found


@pytest.mark.parametrize("result", ["value.h", "loss.loss", "gradient.b0", "parameter.b0", "parameter.w1"])
def test_an_array_of_another_shape_or_type_is_said_as_that(result: str) -> None:
    task = shipped("layers")
    right = of_reference(task)
    others = np.ones(7, np.float32), np.ones((0, 4), np.float32), np.float32(3), right[result].astype(np.float64)
    for other in others:
        judged = judge_step(task, handed(task, right | {result: np.asarray(other)}))
        assert [tensor_of(one) for one in judged.wrong] == [result]
        assert "expected" in judged.wrong[0].reason


def test_each_record_is_looked_at_once_for_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long list in which everything is wrong, what is looked at grows with its length and no faster."""
    looked: list[int] = []

    def counting(due: Any, got: Any) -> bool:
        looked.append(got.size)
        return fits(due, got)

    monkeypatch.setattr(silence, "fits", counting)
    counts = []
    for layers in (4, 8):
        records = [record("dense", [f"h{n}"], ["w", "b"], f"h{n + 1}", units=3) for n in range(layers)]
        records.append(record("mse", [f"h{layers}", "t"], [], "loss"))
        task = drawn(make(records), {"h0": (2, 3), "t": (2, 3)}, Settings(optimizer="sgd"), "long")
        judge_step(task, handed(task, {n: a * np.float32(1.25) for n, a in of_reference(task).items()}))
        counts.append(len(looked))
        looked.clear()
    assert 0 < counts[1] <= 2 * counts[0]


def test_a_record_whose_statistics_alone_are_missing_was_not_passed_over() -> None:
    task = shipped("images")
    came = {name: array for name, array in of_reference(task).items() if name != "state.mean"}
    [result] = judge_step(task, handed(task, came)).wrong
    assert result.headline == "state.mean, of record 1 (batchnorm -> n0): nothing was handed in"
