"""Training and decoding with everything where the library computes: the same bits as with host arrays."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from bindings import DeviceArray, Library
from reference.generate import STRATEGIES, Strategy
from reference.generate import generate as generate_on_host
from reference.model.recompute import Recompute
from reference.step import TrainingConfig, start, training_step
from tests.reference.model_samples import SMALL, batch, parameters
from tests.training.runs import small_run, small_shards
from training.__main__ import main
from training.log import read_log
from training.precision import FLOAT32, PRECISIONS, Precision, Scaling
from training.resident import ResidentStep, generate, on_host
from training.step import Standing, Step

TRAINING = TrainingConfig(lr=1e-2, warmup=2, total=10)
PROMPT = np.array([[3, 1, 4, 1], [5, 9, 2, 6]], np.int32)


@pytest.fixture(params=["stub", "emulated"])
def path(request: pytest.FixtureRequest, device_memory: None) -> Path:
    """The emulated device claims memory of its own, and captures graphs; on the host calls are made again."""
    found: Path = request.getfixturevalue(f"{request.param}_path")
    return found


def run(step: Step, steps: int = 5) -> tuple[Standing, list[list[Any]]]:
    """The standing after some updates, and all that each reported.

    The third and the fourth batch count other targets: called, captured; called, captured anew; called.
    """
    standing, reports = step.start(parameters(dtype=np.float32)), []
    for index in range(steps):
        tokens, targets = batch(seed=index)
        if index in (2, 3):
            targets[1] = -1
        standing, report = step(standing, tokens, targets)
        reports.append([*report[:4], *report.loads, np.array(report.learning_rate)])
    return standing, reports


def assert_same(standing: Standing, expected: Standing) -> None:
    for kind in ("parameters", "m", "v"):
        for name, array in getattr(expected.state, kind).items():
            np.testing.assert_array_equal(getattr(standing.state, kind)[name], array, name)
    for name, copy in expected.copies.items():
        np.testing.assert_array_equal(standing.copies[name].view(np.uint16), copy.view(np.uint16), name)
    assert standing.copies.keys() == expected.copies.keys()
    assert (standing.state.step, standing.scaler) == (expected.state.step, expected.scaler)


@pytest.mark.parametrize("captured", [True, False], ids=["captured", "called"])
@pytest.mark.parametrize("settings", ["plain", "micro_batches", "recompute", "bf16", "fp16"])
def test_five_steps_have_the_bits_of_five_on_host_arrays(path: Path, settings: str, captured: bool) -> None:
    library = Library(path, resident=True)
    assert library.memory.space.on_device == ("emulated" in path.name)
    training = TrainingConfig(lr=1e-2, warmup=2, total=10, micro_batches=2 if settings == "micro_batches" else 1)
    recompute = Recompute("boundaries", 1) if settings == "recompute" else None
    precision = PRECISIONS.get(settings, FLOAT32)
    expected, expected_reports = run(Step(Library(path), SMALL, training, precision=precision, recompute=recompute))
    resident = ResidentStep(library, SMALL, training, precision=precision, recompute=recompute, captured=captured)
    standing, reports = run(resident)
    assert all(isinstance(array, DeviceArray) for array in standing.state.m.values())
    assert_same(on_host(standing), expected)
    for report, other in zip(reports, expected_reports, strict=True):
        for array, there in zip(report, other, strict=True):
            np.testing.assert_array_equal(array.to_host() if isinstance(array, DeviceArray) else array, there)


def test_a_scaled_loss_has_the_same_bits(path: Path) -> None:
    """Unscaled within the graph: the number that does it is a constant of the graph."""
    precision = Precision(scaling=Scaling(start=2.0**15))
    expected, _ = run(Step(Library(path), SMALL, TRAINING, precision=precision))
    standing, _ = run(ResidentStep(Library(path, resident=True), SMALL, TRAINING, precision=precision))
    assert_same(on_host(standing), expected)


def test_the_reference_s_own_step_runs_resident(path: Path) -> None:
    library = Library(path, resident=True)
    tokens, targets = batch(shape=(4, 7))
    plain, _ = training_step(Library(path), SMALL, TRAINING, start(parameters(dtype=np.float32)), tokens, targets)
    step = ResidentStep(library, SMALL, TRAINING, captured=False)
    standing, _ = step(step.start(parameters(dtype=np.float32)), tokens, targets)
    assert_same(on_host(standing), Standing(plain, standing.scaler, {}))


def test_a_step_goes_on_from_a_standing_of_the_host(path: Path) -> None:
    library = Library(path, resident=True)
    step = ResidentStep(library, SMALL, TRAINING)
    half, _ = run(step, 2)
    kept = on_host(half)
    went_on, _ = step(half, *batch(seed=7))
    resumed, _ = ResidentStep(library, SMALL, TRAINING)(step.to_device(kept), *batch(seed=7))
    assert_same(on_host(resumed), on_host(went_on))


def test_the_loss_alone_comes_back(emulated_path: Path, device_memory: None, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(emulated_path, resident=True)
    step = ResidentStep(library, SMALL, TRAINING)
    standing, reports = step.start(parameters(dtype=np.float32)), []
    came: list[int] = []
    to_host = library.memory.to_host
    monkeypatch.setattr(library.memory, "to_host", lambda array: (came.append(array.nbytes), to_host(array))[1])
    waits: list[int] = []
    monkeypatch.setattr(library.memory.space, "synchronize", waits.append)
    for index in range(3):
        standing, report = step(standing, *batch(seed=index))
        reports.append(report)
    assert (came, waits) == ([], [])
    losses = [float(report.loss.to_host()[0]) for report in reports]
    assert (came, len(waits)) == ([4, 4, 4], 3)
    assert len(set(losses)) == 3


def test_training_takes_no_more_memory_from_step_to_step(path: Path) -> None:
    library = Library(path, resident=True)
    step = ResidentStep(library, SMALL, TRAINING)
    standing = run(step, 4)[0]
    reserved = library.memory.statistics.reserved
    for index in range(4):
        standing = step(standing, *batch(seed=index))[0]
    assert library.memory.statistics.reserved == reserved


def test_a_library_that_is_not_resident_is_refused(stub: Library) -> None:
    with pytest.raises(ValueError, match="library: expected a library opened with resident=True, got Library"):
        ResidentStep(stub, SMALL, TRAINING)


@pytest.mark.parametrize("name", STRATEGIES)
def test_decoding_gives_the_reference_s_tokens(path: Path, name: Any) -> None:
    library, strategy = Library(path, resident=True), Strategy(name=name, temperature=0.8, k=5, top_p=0.8)
    held = parameters(dtype=np.float32)
    expected = generate_on_host(reference, SMALL, held, PROMPT, 6, strategy, seed=3)
    on_device = {name: library.array(array) for name, array in held.items()}
    tokens = generate(library, SMALL, on_device, PROMPT, 6, strategy, seed=3)
    np.testing.assert_array_equal(tokens, expected)
    assert tokens.dtype == np.int32


def test_the_training_command_on_a_device(
    emulated_path: Path, device_memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same log, samples and checkpoint as with host arrays, also when it goes on from half way."""
    monkeypatch.setattr("training.__main__.draw", lambda *_: None)
    shards = small_shards(tmp_path / "shards")
    backend = ("--backend", str(emulated_path))
    main(small_run(shards, tmp_path / "resident", *backend))
    shutil.rmtree(tmp_path / "resident" / "checkpoints" / "step-00000006")
    main([*small_run(shards, tmp_path / "resident", *backend), "--resume"])
    monkeypatch.delenv("ASSAYER_EMULATED_DEVICE_MEMORY")
    main(small_run(shards, tmp_path / "host", *backend))
    logs = [read_log(tmp_path / folder / "log.jsonl") for folder in ("resident", "host")]
    numbers = [[(r["step"], r["loss"], r["loads"]) for r in log if r["kind"] == "step"] for log in logs]
    assert numbers[0] == numbers[1]
    texts = [[r["text"] for r in log if r["kind"] == "sample" and r["step"] in (3, 6)] for log in logs]
    assert texts[0] == texts[1]
    tensors = [sorted((tmp_path / folder).rglob("*.safetensors")) for folder in ("resident", "host")]
    assert [file.read_bytes() for file in tensors[0][-2:]] == [file.read_bytes() for file in tensors[1][-2:]]


def test_nothing_to_decode(stub_path: Path) -> None:
    library = Library(stub_path, resident=True)
    np.testing.assert_array_equal(generate(library, SMALL, {}, PROMPT, 0), PROMPT)
    with pytest.raises(ValueError, match="max_new: expected at least 0, got -1"):
        generate(library, SMALL, {}, PROMPT, -1)
    with pytest.raises(ValueError, match="prompt: expected shape"):
        generate(library, SMALL, {}, PROMPT[:, :0], 1)
