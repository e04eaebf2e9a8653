"""Calls at full size: the layout is the same call, and no wrong element escapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance.catalogue.full import FULL, FullCall
from conformance.catalogue.full.call import Drawn
from conformance.catalogue.full.places import Places
from conformance.catalogue.prepared import DiskStore
from conformance.judging.bench import Bench
from conformance.judging.full import expected_of, judge, judge_full
from conformance.judging.full.judge import looks_of, verdicts_on
from conformance.judging.full.spread import Spread
from conformance.judging.full.wrong import judge_spread
from conformance.judging.results import Result, Status
from conformance.limits.expectation import Expected
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy
from tests.conformance.runs import InProcess
from tests.conformance.shrunk import Outputs, computed, laid_out, right, shrunk

CALLS = [pytest.param(shrunk(call), id=id) for id, call in FULL.items()]
TILE, WRAP = 8, 37


@pytest.mark.parametrize("call", CALLS)
def test_the_reference_at_the_full_size_gives_what_is_expected(call: FullCall) -> None:
    drawn = call.draw()
    verdicts = list(verdicts_on(call, drawn, expected_of(call, drawn), computed(call, drawn)))
    assert verdicts
    assert [(v.output, v.reason) for v in verdicts if not v.passed] == []


# Outputs that are the same everywhere: nothing shows what stands in another's place.
CONSTANT = {"zero_grad": "grad"}


def _fails(call: FullCall, change: Callable[[str, Any, Any], None]) -> None:
    """Every output that is changed fails, one after the other; one of a single element cannot be out of place."""
    drawn = call.draw()
    expected = expected_of(call, drawn)
    good = right(call, drawn, expected)
    assert all(v.passed for v in verdicts_on(call, drawn, expected, good))
    for name in good:
        bad: Outputs = {other: array.copy() for other, array in good.items()}
        change(name, bad[name], _limits(call, drawn, expected)[name])
        moved_only = change is _wrapped and (good[name].size <= WRAP or CONSTANT.get(call.operation) == name)
        failed = [v.output for v in verdicts_on(call, drawn, expected, bad) if not v.passed]
        assert failed == ([] if moved_only else [name])


def _limits(call: FullCall, drawn: Any, expected: Expected) -> dict[str, Any]:
    """What each element of the full outputs may be off by."""
    small = {n: limits(e)[0] if isinstance(e, Noisy) else np.zeros(e.shape) for n, e in expected.items()}
    return {name: np.abs(limit) for name, limit in laid_out(call, drawn, small).items()}


def _somewhere(name: str, array: Any) -> tuple[int, ...]:
    flat = int(np.random.default_rng(len(name)).integers(0, array.size))
    return tuple(int(i) for i in np.unravel_index(flat, array.shape))


def _one_element(name: str, array: Any, limit: Any) -> None:
    """Off by twice its limit, or where that is 0 by the last digit."""
    place = _somewhere(name, array)
    if array.dtype.kind == "i":
        array[place] += 1
        return
    array[place] = np.nextafter(np.float32(array[place] + 2 * limit[place]), np.float32(np.inf))


def _last_tile(name: str, array: Any, limit: Any) -> None:
    array.reshape(-1)[-TILE:] = np.nan if array.dtype.kind == "f" else -1


def _wrapped(name: str, array: Any, limit: Any) -> None:
    flat = array.reshape(-1)
    flat[:] = flat[np.arange(flat.size) % WRAP]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("change", [_one_element, _last_tile, _wrapped])
def test_a_wrong_element_is_seen(call: FullCall, change: Callable[[str, Any, Any], None]) -> None:
    _fails(call, change)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_every_call_that_fails_is_diagnosed(call: FullCall) -> None:
    drawn = call.draw()
    expected = expected_of(call, drawn)
    bad = {name: array.copy() for name, array in right(call, drawn, expected).items()}
    for name, array in bad.items():
        _last_tile(name, array, None)
    verdicts = list(verdicts_on(call, drawn, expected, bad))
    diagnosis = looks_of(call, drawn, expected, bad, verdicts)
    assert diagnosis
    assert {name for one in diagnosis.symptoms for name in one.outputs} <= bad.keys()
    assert diagnosis.readings or diagnosis.symptoms


def _cut(array: Any, columns: int = 12288) -> Any:
    return np.concatenate([array[:, :columns], np.zeros_like(array[:, columns:])], axis=1)


def _softmax(input: Any) -> Any:
    """The maximum and the sum over the columns that fit into 48 KB."""
    e = np.exp(input - input[:, :12288].max(axis=1, keepdims=True))
    return e / e[:, :12288].sum(axis=1, keepdims=True)


def _combined(input: Any, weights: Any, position: Any) -> Any:
    """Rows past 16,384 are read from the beginning."""
    return reference.expert_combine(np.concatenate([input[:16384]] * 2), weights, position)


def _attended(Q: Any, K: Any, V: Any, kv_len: int, scale: float) -> Any:
    """Keys past the first 2,048 are not looked at."""
    return reference.attention_forward(Q, K, V, min(kv_len, 2048), scale)


WRONG: dict[str, tuple[str, Callable[..., Any], str]] = {
    "columns past 12,288 are not computed": (
        "gemm", lambda A, B: _cut(reference.gemm(A, B)), "beyond their limit, all of them zero, columns from 12288 on"
    ),
    "a maximum over what fits into 48 KB": ("softmax", _softmax, "elements beyond their limit"),
    "an index wraps at 2^16": (
        "silu", lambda input: reference.silu(np.resize(input[: 1 << 16], input.shape)),
        "elements beyond their limit, in \\d+ of 6291456 elements",
    ),
    "the last tile is not written": (
        "rmsnorm", lambda input, weight, eps: _unwritten(reference.rmsnorm(input, weight, eps)),
        r"32 of 6291456 elements beyond their limit, none of them a number, the last row \(8191\), columns from 736 on",
    ),
    "rows past 16,384": ("expert_combine", _combined, "elements beyond their limit"),
    "a draw from the first 12,288 columns": (
        "sample", lambda logits, seeds, temperature: reference.sample(logits[:, :12288], seeds, temperature), "elements"
    ),
    "half of the keys": ("attention_forward", _attended, "elements beyond their limit"),
}  # fmt: skip


def _unwritten(array: Any) -> Any:
    array[-1, -32:] = np.nan
    return array


def _judged(operation: str, **wrong: Callable[..., Any]) -> Result:
    return judge_full(f"full/{operation}", Bench(InProcess(**wrong)))


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_operation_is_found_at_its_full_size(name: str) -> None:
    operation, wrong, reason = WRONG[name]
    judged = _judged(operation, **{operation: wrong})
    assert judged.status is Status.FAIL
    [verdict] = [v for v in judged.verdicts if not v.passed][:1]
    assert verdict.share > 1
    assert judged.reason.startswith(f"{verdict.output}: {verdict.wrong} of {verdict.elements} elements")
    assert re.search(reason, judged.reason)


def test_what_is_expected_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By seed: a second judgement takes it from the store, and finds what the first one does."""
    made = []

    def counted(call: FullCall, drawn: Drawn) -> Expected:
        made.append(call.operation)
        return expected_of(call, drawn)

    monkeypatch.setattr(judge, "expected_of", counted)
    for seed, worker, status, count in (
        (0, InProcess(), Status.PASS, 1),
        (0, InProcess(relu=lambda input: input), Status.FAIL, 1),
        (5, InProcess(), Status.PASS, 2),
    ):
        assert judge_full("full/relu", Bench(worker, seed=seed, store=DiskStore(tmp_path))).status is status
        assert len(made) == count


def _past(first: int, operation: str, wrong: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that is wrong from some place of its first axis on."""

    def function(*given: Any, **named: Any) -> Any:
        right = getattr(reference, operation)(*given, **named)
        return np.concatenate([right[:first], wrong(*given, **named)[first:]])

    return function


def _wrapping(input: Any, freqs: Any, offset: int) -> Any:
    return reference.rope_forward(input, freqs, offset % 4096)


def _halved(input: Any, weight: Any, eps: float) -> Any:
    return reference.rmsnorm(input, weight, eps) * np.float32(0.5)


TOLD: dict[str, tuple[str, Callable[..., Any], str]] = {
    "a reading that gives everything": ("rope_forward", _wrapping, "matches: offset ignored"),
    "a reading that gives some elements": (
        "swiglu", _past(4096, "swiglu", lambda gate, up: reference.swiglu(up, gate)),
        "matches in a part: gate and up exchanged; output: elements from 4096 on",
    ),
    "no reading, but a factor": (
        "rmsnorm", _past(64, "rmsnorm", _halved), "output: the right values times 1/2, rows from 64 on"
    ),
    "no numbers": ("softmax", _softmax, "output: (infinity|NaN).*, in .* rows"),
    "other rows": ("expert_combine", _combined, r"output: wrong numbers of no simple pattern, in \d+ of 8192 rows"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_what_is_wrong_at_full_size_is_said_by_its_values_and_the_full_places(name: str) -> None:
    operation, wrong, text = TOLD[name]
    diagnosis = _judged(operation, **{operation: wrong}).diagnosis
    assert diagnosis
    assert re.fullmatch(text, diagnosis.text), diagnosis.text


def test_the_reference_passes_at_the_full_size() -> None:
    judged = _judged("rmsnorm_backward")
    assert (judged.status, judged.reason, len(judged.verdicts)) == (Status.PASS, "", 2)
    assert judged.verdicts[0].elements == 8192 * 768


def test_an_output_of_another_shape() -> None:
    due = Spread("output", np.arange(3.0), ("n",), {"n": Places(np.array([0, 1, 2, 0]))})
    assert judge_spread(due, np.zeros(3)).reason == "shape (3,), expected (4,)"


def test_the_worst_element_is_named_with_its_factor() -> None:
    places = {"n": Places(np.array([1, 0, 1]), np.array([4.0, -2.0, 1.0], np.float32))}
    due = Spread("output", np.array([3.0, 5.0]), ("n",), places, ("n",))
    assert judge_spread(due, np.array([20.0, -6.0, 5.0], np.float32)).passed
    verdict = judge_spread(due, np.array([20.0, 6.0, 5.0], np.float32))
    assert (verdict.index, verdict.expected, verdict.got, verdict.wrong) == ((1,), -6.0, 6.0, 1)
    assert verdict.reason == "1 of 3 elements beyond their limit, n 1"
