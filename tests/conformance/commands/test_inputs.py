"""`--inputs FILE` of a stranger: judged where the header allows the call, else one sentence; never anything else."""

from __future__ import annotations

import mmap
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.goldens.tensors import Tensors, pack_expected, pack_inputs, write
from conformance.commands.run.repro import ReproError, memory, recall
from conformance.commands.run.repro.calls import Given
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.limits.expectation import expect
from conformance.operations import OPERATIONS
from tests.conformance.damaged import EDGE, REAL, files

# More of them by hand: ASSAYER_DAMAGED_FILES=10000 pytest tests/conformance/commands/test_inputs.py -k right_library
COUNT = int(os.environ.get("ASSAYER_DAMAGED_FILES", 3 * len(OPERATIONS)))


def judged(stub_path: Path, tmp_path: Path, real: Sequence[float]) -> Iterator[tuple[str, Tensors, str, Result | None]]:
    """Yield of each damaged file its operation, what it holds, what is said against it, and what came of its call."""
    with Worker(stub_path) as worker, np.errstate(all="ignore"):
        bench = Bench(worker)
        for operation, held in files(COUNT, 1, real):
            said, given = read(tmp_path / f"{operation}.safetensors", held)
            result = bench.call("inputs", operation, given.arguments, given.expected) if given else None
            yield operation, held, said, result


@pytest.mark.slow
def test_a_right_library_passes_whatever_a_file_holds_or_the_file_is_refused(stub_path: Path, tmp_path: Path) -> None:
    refused = 0
    for operation, held, said, result in judged(stub_path, tmp_path, REAL):
        refused += not result
        if result:
            assert result.status is Status.PASS, (result, {n: (a.dtype, a.shape) for n, a in held.items()})
        else:
            assert said.startswith(f"{tmp_path}/{operation}.safetensors: ")
            assert "expected " in said
            assert "\n" not in said
    assert COUNT / 4 < refused < COUNT * 3 / 4


@pytest.mark.slow
def test_numbers_at_the_edge_of_their_type_are_judged_or_refused(stub_path: Path, tmp_path: Path) -> None:
    """Not all are judged rightly: infinity times a masked 0 is NaN in the formula, and nothing to many a kernel."""
    came = Counter(result.status if result else "refused" for *_, result in judged(stub_path, tmp_path, EDGE))
    assert set(came) <= {Status.PASS, Status.FAIL, "refused"}
    assert came[Status.PASS] > came[Status.FAIL]


def read(path: Path, held: Tensors) -> tuple[str, Given | None]:
    """What is said against a file, or the call that it holds."""
    write(path, held)
    try:
        return "", recall(path)
    except (ReproError, GoldenError) as error:
        return str(error), None


def held_by(id: str) -> Tensors:
    """The inputs of a case, as a file holds them."""
    case = CASES[id]
    return {name: np.array(array) for name, array in pack_inputs(case.operation, case.arguments()).items()}


def refusal(tmp_path: Path, operation: str, held: Tensors) -> str:
    path = tmp_path / f"{operation}.safetensors"
    write(path, held)
    with pytest.raises(ReproError) as error:
        recall(path)
    return str(error.value).removeprefix(f"{path}: ")


TOPK = "softmax_topk/plain/33x16x4"
EMBEDDING = next(id for id in CASES if id.startswith("embedding/plain/"))
FREQS = next(id for id in CASES if id.startswith("rope_freqs/plain/"))


@pytest.mark.parametrize(
    ("id", "name", "value", "said"),
    [
        (TOPK, "argument.k", np.array(0), "softmax_topk: argument k: expected k from 1 to 2147483647 (int), got k = 0"),
        (
            TOPK,
            "argument.k",
            np.array(2**31 - 1),
            "softmax_topk: argument k: expected k <= cols, got k = 2147483647, cols = 16",
        ),
        (
            TOPK,
            "argument.k",
            np.array(2**31),
            "argument k: expected a whole number (int) from -2147483648 to 2147483647, got 2147483648",
        ),
        (TOPK, "input.input", np.zeros((33, 0), "f4"), "argument input: expected cols from 1 to 2147483647 (int), got"),
        (TOPK, "input.input", np.zeros((0, 16), "f4"), "argument input: expected rows from 1 to 2147483647 (int), got"),
        (EMBEDDING, "input.indices", np.array([-1], "i4"), "argument indices: expected values v with 0 <= v < vocab"),
        (FREQS, "argument.max_seq_len", np.array(2**31 - 1), "argument freqs: expected results that fit, with their"),
        ("silu/plain/33", "input.input", np.zeros(33, "f8"), "input.input: expected F32 of 1 dimensions, got F64 [33]"),
    ],
)
def test_what_does_not_fit_is_one_sentence(id: str, name: str, value: Any, said: str, tmp_path: Path) -> None:
    assert said in refusal(tmp_path, CASES[id].operation, held_by(id) | {name: value})


def test_what_takes_more_than_half_the_memory_on_the_way_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "budget", lambda: 1 << 26)
    long = {f"input.{name}": np.zeros((1, 4096, 1, 1), np.float32) for name in "QKV"}  # scores of 4096 x 4096
    said = refusal(tmp_path, "flash_attention", long | {"argument.scale": np.array(1, np.float32)})
    assert said.startswith("flash_attention: expected a call whose result and noise take 64 MiB")


def test_the_limit_of_memory_is_lifted_again() -> None:
    # Pages of their own: an array may lie where the process has freed another, which takes nothing.
    with pytest.raises(OSError, match="Cannot allocate memory"), memory.held_to(1 << 20):
        mmap.mmap(-1, 1 << 27)
    mmap.mmap(-1, 1 << 27).close()


def test_a_file_larger_than_memory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "silu.safetensors"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    monkeypatch.setattr(memory, "budget", lambda: 1 << 30)
    with pytest.raises(GoldenError, match=r"expected a file of at most 1073741824 bytes, got one of 1099511627776"):
        recall(path)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "silu.safetensors")
    with pytest.raises(GoldenError, match="expected a safetensors file, got what is no file"):
        recall(tmp_path / "silu.safetensors")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sigma.output": None}, "sigma.output: expected F32 [33], got no such tensor"),
        ({"shared.output": None}, "shared.output: expected F32 [33], got no such tensor"),
        ({"worst.output": np.zeros(32, "f4")}, "worst.output: expected F32 [33], got F32 [32]"),
        ({"sigma.output": np.zeros(33)}, "sigma.output: expected F32 [33], got F64 [33]"),
    ],
)
def test_errors_that_do_not_fit_what_they_are_of_are_refused(changed: Any, said: str, tmp_path: Path) -> None:
    golden = safetensors.numpy.load_file(Path("golden/silu/plain/33.safetensors"))
    held = {name: value for name, value in (golden | changed).items() if value is not None}
    assert refusal(tmp_path, "silu", held) == said


def test_a_result_of_which_nothing_is_known_condemns_nobody(tmp_path: Path) -> None:
    both = {f"input.{name}": np.full(3, 3e38, np.float32) for name in ("a", "b")}
    said = refusal(tmp_path, "mul", both)
    assert said == (
        "output: expected inputs that leave every element's error bounded, "
        "got 3 of 3 elements that an order overflows at, or that the header leaves open"
    )


def test_a_file_that_says_what_is_due_may_leave_a_part_of_it_open(tmp_path: Path) -> None:
    arguments = {name: np.array([2.0, 3e38], np.float32) for name in ("a", "b")}
    stated = pack_inputs("mul", arguments) | pack_expected(expect("mul", arguments))
    write(tmp_path / "mul.safetensors", stated)
    assert np.isinf(recall(tmp_path / "mul.safetensors").expected["output"].variance).tolist() == [False, True]
    assert "got 1 of 2 elements" in refusal(tmp_path, "mul", pack_inputs("mul", arguments))
    arguments = {name: np.array([3e38], np.float32) for name in ("a", "b")}
    stated = pack_inputs("mul", arguments) | pack_expected(expect("mul", arguments))
    assert "got 1 of 1 elements" in refusal(tmp_path, "mul", stated)


def test_the_operation_may_be_said_instead_of_the_file_s_name(tmp_path: Path) -> None:
    write(tmp_path / "mine.safetensors", held_by("silu/plain/33"))
    assert recall(tmp_path / "mine.safetensors", "silu").operation == "silu"
    with pytest.raises(ReproError, match=r"expected a file named after its operation, .* got mine\.safetensors"):
        recall(tmp_path / "mine.safetensors")
    with pytest.raises(ReproError, match=r"got silo\.safetensors \(did you mean silu\?\)"):
        recall(tmp_path / "silo.safetensors")
