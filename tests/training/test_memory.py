"""What is predicted of a step's memory is what a step on a library holds, byte for byte; and what the command says."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library, read_header
from reference.model import recompute, transformer
from reference.model.config import TINY
from reference.namespace import Wrapped
from tests.reference.model_samples import SMALL, batch, parameters
from training.memory.__main__ import main
from training.memory.kept import kept_by_kind
from training.memory.ledger import Ledger, Watched, arrays_in
from training.memory.measure import measure
from training.memory.predict import Setting, predict
from training.memory.shapes import Shaped, Shapes
from training.precision import BF16, FP16, Precision

DEEP = replace(SMALL, layers=4)
POLICIES = ("none", "every:2", "every:1", "boundaries:3")


class Compared(Wrapped):
    """A library whose every result is compared with what the shapes alone tell."""

    def __init__(self, ops: Any) -> None:
        super().__init__(ops)
        self._shapes = Shapes()

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        due = [(a.shape, a.dtype) for a in arrays_in(getattr(self._shapes, operation)(*args, **named))]
        results = super()._call(operation, *args, **named)
        assert [(array.shape, array.dtype) for array in arrays_in(results)] == due, operation
        return results


def setting(policy: str = "none", **more: Any) -> Setting:
    return Setting(config=DEEP, batch=4, seq=7, recompute=recompute.read(policy), **more)


def test_every_result_of_a_step_has_the_shape_that_is_told(stub: Library) -> None:
    step = setting().step(Compared(stub))
    step(step.start(parameters(DEEP, dtype=np.float32)), *batch())


@pytest.mark.parametrize("micro_batches", [1, 2])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_peak_is_that_of_a_step_on_a_library(policy: str, micro_batches: int, stub: Library) -> None:
    asked, ledger = setting(policy, micro_batches=micro_batches), Ledger()
    step = asked.step(Watched(stub, ledger))
    standing = step.start(parameters(DEEP, dtype=np.float32))
    for array in arrays_in(standing):
        ledger.hold(array)
    before = ledger.live
    step(standing, *batch())
    predicted = predict(asked)
    assert (ledger.live, ledger.peak) == (before, predicted.peak)
    assert sum(predicted.state.values()) == before == 3 * predicted.gradients


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("precision", [BF16, FP16], ids=lambda precision: precision.format)
def test_the_peak_is_that_of_a_step_in_16_bits(precision: Precision, policy: str, stub: Library) -> None:
    asked, ledger = setting(policy, precision=precision), Ledger()
    step = asked.step(Watched(stub, ledger))
    standing = step.start(parameters(DEEP, dtype=np.float32))
    for array in arrays_in(standing):
        ledger.hold(array)
    ledger.begin()
    step(standing, *batch())
    assert (
        ledger.peak
        == predict(asked).peak
        < predict(setting(policy)).peak + sum(a.nbytes for a in standing.copies.values())
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_kept_is_what_forward_keeps(policy: str) -> None:
    given, tokens = parameters(DEEP, dtype=np.float32), batch()[0]
    output = transformer.forward(reference, DEEP, given, tokens, recompute.read(policy))
    assert kept_by_kind(output, [*given.values(), tokens]) == predict(setting(policy)).kept


def test_devices_share_the_batch_and_sum_their_gradients() -> None:
    half, shared = predict(replace(setting(), batch=2)), predict(setting(devices=2))
    assert (shared.state, shared.kept) == (half.state, half.kept)
    assert shared.worst["gradients"] >= half.gradients
    assert shared.worst["sums over devices"] >= 2 * half.gradients  # a copy that becomes the sum; slices of all devices
    micro = predict(setting(devices=2, micro_batches=2))
    assert micro.kept == predict(replace(setting(), batch=1)).kept


def test_devices_share_the_experts() -> None:
    config = replace(DEEP, experts=4)
    alike, divided = (
        predict(Setting(config=config, batch=4, seq=8, devices=2, expert_parallel=shared)) for shared in (False, True)
    )
    experts = sum(
        array.nbytes for name, array in parameters(config).items() if name.endswith((".gate", ".up", ".down"))
    )
    assert alike.state["parameters"] - divided.state["parameters"] == experts // 2 // 2  # float64 there, float32 here
    assert divided.peak < alike.peak


def test_a_process_takes_what_is_predicted(stub_path: Path) -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("only glibc is told what to do with freed memory")
    asked = Setting(config=replace(TINY, layers=4), batch=8, seq=128, recompute=recompute.read("every:1"))
    measured, peak = measure(asked, stub_path), predict(asked).peak
    assert peak <= measured["arrays"] <= 1.15 * peak
    assert peak <= measured["pages, freed ones returned"] <= 1.15 * peak


@pytest.mark.usefixtures("device_memory")
def test_a_device_holds_what_is_predicted(emulated_path: Path) -> None:
    asked = Setting(config=TINY, batch=2, seq=32, recompute=recompute.read("every:1"))
    measured, peak = measure(asked, emulated_path), predict(asked).peak
    assert peak <= measured["arrays on the device"] <= 1.15 * peak
    assert measured["arrays on the device"] <= measured["reserved on the device"]


def test_a_model_that_does_not_fit_is_not_measured(stub_path: Path) -> None:
    with pytest.raises(ValueError, match=r"--check: expected a step that fits this machine's .* bytes, got one of "):
        measure(Setting(config=replace(TINY, ffn=2**40), batch=1, seq=1), stub_path)


def test_arrays_without_numbers_have_views_and_no_more() -> None:
    array = Shaped((4, 6), np.float32)
    assert [array.reshape(shape).shape for shape in (-1, (3, -1), (2, 12))] == [(24,), (3, 8), (2, 12)]
    assert (array[1].shape, array[1:3].shape, len(array), array[0].base is array) == ((6,), (2, 6), 4, True)
    with pytest.raises(ValueError, match=r"reshape: shape: expected 24 elements, as in \(4, 6\), got \(5, 5\)"):
        array.reshape(5, 5)
    with pytest.raises(TypeError, match=r"numpy\.sum: no function of an array without numbers"):
        np.sum(array)  # type: ignore[call-overload]
    with pytest.raises(AttributeError, match="the header declares no operation gem"):
        Shapes().gem  # noqa: B018


def test_working_memory_that_is_declared_counts_for_a_call() -> None:
    ledger = Ledger()
    grad = Shaped((1000,), np.float32, ledger)
    results = Shapes(ledger).grad_clip(grad, clip_norm=1.0)
    declared = read_header().operations["grad_clip"].by_name["partial_norms"].shape[0].size({"size": 1000})
    assert (ledger.live, ledger.peak) == (4004, 4004 + 4 * declared)
    assert results[0] is grad


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--layers", "3", "--batch", "4", "--micro-batches", "2", "--recompute", "every:3"])
    said = capsys.readouterr().out
    for words in ("3 layers; 4 x 512 tokens", "kept by forward", "residual stream", "inputs of segments", "every:1"):
        assert words in said


def test_the_command_writes_bytes_for_machines(capsys: pytest.CaptureFixture[str], stub_path: Path) -> None:
    main(["--hidden", "16", "--vocab", "50", "--batch", "2", "--seq", "16", "--json", "--check", str(stub_path)])
    told = json.loads(capsys.readouterr().out)
    predicted = told["predicted"]
    assert predicted["peak"] == sum(predicted["state"].values()) + sum(predicted["worst"].values())
    assert told["others"]["none"]["float32"] == predicted
    assert told["measured"]["arrays"] > predicted["peak"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--config big", "configuration: name: expected one of bench, full, tiny, got big"),
        ("--hidden 0", "Config: hidden: expected a whole number of at least 1, got 0"),
        ("--seq 0", "memory: seq: expected at least 1, got 0"),
        ("--batch 7 --devices 2", "memory: batch: expected a multiple of devices x micro-batches = 2, got 7"),
        (
            "--expert-parallel --devices 8",
            "memory: experts: expected a multiple of devices = 8, which share them, got 4",
        ),
        ("--devices 2 --check nowhere.so", "--check: expected one device, since one process is measured, got 2"),
        ("--precision fp8", "--precision: expected one of float32"),
        ("--recompute every:9", "Recompute: k: expected at most the 2 layers there are, got 9"),
        ("--recompute all", "Recompute: policy: expected none, or every or boundaries"),
        ("--check nowhere.so", "nowhere.so: there is no such file"),
    ],
)
def test_the_command_refuses_what_cannot_be(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert message in str(ended.value)
    assert capsys.readouterr().out == ""
