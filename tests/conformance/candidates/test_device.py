"""Candidates on device memory and on emulated devices: copies, late errors, what is judged otherwise than on a host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bindings.shared_object.facts import Facts
from conformance.candidates.candidate import Candidate, CandidateError, candidates, read_schedule
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.worker import Worker
from conformance.commands.cli import main
from tests.compiler import compile_device

X = np.arange(37, dtype=np.float32)


@pytest.fixture
def scaled(tmp_path: Path) -> Callable[[str], Outcome]:
    """Scale by 2 in a library with the given expression in its loop; the next call must be as good as the first."""

    def call(body: str) -> Outcome:
        with Worker(compile_device(tmp_path, "device", f"-DBODY={body}")) as worker:
            outcome = worker.run("scale", {"input": X, "scale": 2.0})
            again = worker.run("scale", {"input": X, "scale": 2.0})
            assert (again.code, again.findings) == (outcome.code, outcome.findings)
        return outcome

    return call


def test_a_right_call(scaled: Callable[[str], Outcome]) -> None:
    outcome = scaled("input[i]*scale")
    assert (outcome.status, outcome.code, outcome.findings) == ("done", 0, [])
    np.testing.assert_array_equal(outcome.outputs["output"], 2 * X)


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("i?2*input[i]:(output[n]=1)", "wrote past the end of output (4 bytes)"),
        ("i?2*input[i]:(output[-1]=1)", "wrote before the beginning of output (4 bytes)"),
        ("(((float*)input)[i]=-1)", "input input was changed at [0] and 36 more"),
        ("i<5?output[i]:2*input[i]", "left output unwritten at [0] and 4 more"),
        (
            "stream?output[i]:2*input[i]",
            "on a stream of its own a call has not written output at [0] and 36 more, on the default stream it has",
        ),
        ("2*input[i]+input[n]", "the second run differs from the first in output at [0] and 36 more"),
    ],
)
def test_what_a_call_does_to_device_memory_is_found(body: str, finding: str, scaled: Callable[[str], Outcome]) -> None:
    assert finding in [found.text for found in scaled(body).findings]


def test_an_error_of_the_device_is_the_call_s_and_the_next_one_starts_afresh(scaled: Callable[[str], Outcome]) -> None:
    assert scaled("(failing=1,0)").code == 700


def test_lists_and_host_arrays(tmp_path: Path) -> None:
    with Worker(compile_device(tmp_path)) as worker:
        outcome = worker.run("multi_scale", {"arrays": [X, X[:3]], "scale": np.array([2], np.float32)})
    assert (outcome.code, outcome.findings) == (0, [])
    np.testing.assert_array_equal(outcome.outputs["arrays"][1], 2 * X[:3])


@pytest.mark.parametrize("refusal", ["indices[0]_too_large", "indices[2]_negative", "indices[4]_too_large"])
@pytest.mark.parametrize(
    ("flag", "code", "said"),
    [
        ("-DNAN_AS_DECLARED", 0, "1 PASS"),
        ("-DCLAMPED", 1, "is what indices["),
        ("-DALL_NAN", 1, "is NaN, and indices["),
    ],
)
def test_an_index_out_of_range(
    refusal: str, flag: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = compile_device(tmp_path, "device", flag)
    assert main(["run", "-n", "1", "--library", str(library), "--case", f"embedding/refused/{refusal}"]) == code
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_library_whose_device_is_missing_has_a_code_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = compile_device(tmp_path, "none", "-DDEVICES=0")
    assert main(["run", "-n", "1", "--library", str(library), "-k", "scale/plain"]) == 3
    assert capsys.readouterr().out.strip() == f"{library}: expected a device that it can compute on, found none"


def test_orders_are_of_an_emulated_device(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match=r"--schedule reverse: expected an emulated library, got mine"):
        candidates([("mine", compile_device(tmp_path))], ["reverse"])


def test_a_candidate_s_process_is_told_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_EMULATOR_MULTIPROCESSORS", "132")
    candidate = Candidate(Path("lib.so"), "mine", "random:7", "sm_90")
    assert candidate.environment == {
        "ASSAYER_EMULATOR_SCHEDULE": "random",
        "ASSAYER_EMULATOR_SEED": "7",
        "ASSAYER_EMULATOR_ARCH": "sm_90",
    }
    assert candidate.name == "mine, random:7, sm_90"
    assert candidate.options == "--schedule random:7 --arch sm_90"


def test_what_a_device_is_like_in_one_order_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAYER_EMULATOR_MULTIPROCESSORS", raising=False)
    told = {order: Candidate(Path("lib.so"), "", order).environment for order in ("forward", "reverse", "random:7")}
    counts = {order: found.get("ASSAYER_EMULATOR_MULTIPROCESSORS") for order, found in told.items()}
    assert counts == {"forward": None, "reverse": None, "random:7": "1"}
    memory = {order: found.get("ASSAYER_EMULATED_DEVICE_MEMORY") for order, found in told.items()}
    assert memory == {"forward": None, "reverse": "1", "random:7": None}


@pytest.mark.parametrize(("is_there", "late"), [(True, "late"), (False, None)])
def test_the_default_stream_is_late_where_arrays_lie_on_the_device(is_there: bool, late: str | None) -> None:
    candidate = Candidate(Path("lib.so"), "", "reverse", facts=Facts(on_device=is_there, emulated=True))
    assert candidate.environment.get("ASSAYER_EMULATOR_DEFAULT_STREAM") == late


@pytest.mark.parametrize("text", ["sideways", "reverse:3", "random:", "random:-1", ""])
def test_an_order_that_is_none(text: str) -> None:
    with pytest.raises(CandidateError, match="expected forward, reverse, random or random:SEED, got"):
        read_schedule(text)
