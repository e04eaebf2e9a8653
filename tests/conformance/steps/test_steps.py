"""Whole training steps: an honest implementation passes, and a wrong operation is the first that is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.candidates.worker.outcome import Outcome
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.steps import FREE, FULL_LAYER, RECOMPUTED, RESIDENT, STEPS, corpus, judge_step

ELSEWHERE = (RESIDENT, FULL_LAYER)  # which have tests of their own


class InProcess:
    """A worker that runs the reference in float32, some operations replaced by wrong ones."""

    def __init__(self, *lacks: str, **wrong: Any) -> None:
        self.lacks, self.wrong = lacks, wrong

    def __getattr__(self, operation: str) -> Any:
        function = self.wrong.get(operation, getattr(reference, operation))
        return lambda *arrays, **named: self._float32(function(*arrays, **named))

    def run(self, operation: str, arguments: dict[str, Any], override: Any = None) -> Outcome:
        with np.errstate(all="ignore"):
            results = getattr(self, operation)(**arguments)
        outputs = operations.by_name(operations.OPERATIONS[operation], results)
        held = {n: _held(v) for n, v in outputs.items()}
        return Outcome("done", 0, held)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        return Outcome("done", 0, value=function(self, *arguments))

    @property
    def missing(self) -> tuple[str, ...]:
        return self.lacks

    def _float32(self, result: Any) -> Any:
        if isinstance(result, (tuple, list)):
            return type(result)(self._float32(r) for r in result)
        return result.astype(np.float32) if result.dtype == np.float64 else result


def _held(value: Any) -> Any:
    """As the judge holds numbers of 16 bits."""
    return [_held(v) for v in value] if isinstance(value, list) else operations.widened(value)


def judged(name: str, **wrong: Any) -> list[Result]:
    return judge_step(name, Bench(InProcess(**wrong)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in STEPS if name not in ELSEWHERE])
def test_an_honest_implementation_passes_every_call(name: str) -> None:
    results = judged(name)
    assert [r.id for r in results if r.status is not Status.PASS] == []
    assert max(r.share for r in results) > 0 or name == RECOMPUTED  # which is of the same bits


def test_a_free_step_of_a_library_that_lacks_operations_is_not_run() -> None:
    [result] = judge_step(FREE, Bench(InProcess("rmsnorm", "embedding", "sample")))
    assert (result.status, result.id) == (Status.NOT_RUN, "steps/free")
    assert result.reason == "the library does not export cuda_embedding, nor 1 more that a step needs"


def no_inverse(d_q_out: Any, d_k_out: Any, freqs: Any, offset: int) -> Any:
    return reference.rope_qk(d_q_out, d_k_out, freqs, offset)


def test_the_locked_step_finds_a_wrong_operation_and_nothing_behind_it() -> None:
    bad = [r for r in judged(STEPS[0], rope_qk_backward=no_inverse) if r.status is Status.FAIL]
    assert {r.operation for r in bad} == {"rope_qk_backward"}
    assert len(bad) == 2  # one for each layer


@pytest.mark.slow
def test_the_free_step_names_the_first_wrong_operation_and_shows_what_follows() -> None:
    bad = [r for r in judged(FREE, rope_qk_backward=no_inverse) if r.status is not Status.PASS]
    assert bad[0].operation == "rope_qk_backward"
    assert len({r.operation for r in bad}) > 5


def test_calls_are_named_after_the_parameters_they_read() -> None:
    names = [r.id.split(" ", 1)[1] for r in judged(STEPS[0])]
    assert "gemm(layers.0.w_q)" in names
    assert "grouped_gemm(layers.1.down)" in names
    assert "swiglu of grouped_gemm(layers.0.gate)" in names


def test_a_candidate_that_does_not_finish_the_free_step_is_reported_as_such() -> None:
    class Dies(InProcess):
        def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
            return Outcome("crashed", detail="SIGSEGV")

    (result,) = judge_step(FREE, Bench(Dies()))
    assert (result.status, result.detail) == (Status.CRASHED, "SIGSEGV")


def test_a_choice_inside_the_noise_makes_a_free_step_mistrusted(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.limits import choices

    monkeypatch.setattr(choices, "SIGMAS", 1e9)
    results = judged(FREE)
    assert {r.operation for r in results if r.status is Status.MISTRUSTED} == {"softmax_topk"}


def test_the_corpus_is_real_text_with_a_hash() -> None:
    tokens, sha256 = corpus()
    assert tokens.size > 100_000
    assert len(sha256) == 64


def test_every_tensor_of_a_layer_says_of_which() -> None:
    results = judged(STEPS[0])
    named = {r.id.partition(" ")[2]: r.tensors for r in results}
    assert named["gemm(layers.0.w_q)"] == {"C": "C of layers.0"}
    assert named["swiglu of grouped_gemm(layers.1.gate)"] == {"output": "output of layers.1"}
    assert named["gemm(lm_head)"] == named["embedding(embedding)"] == {}
    assert named["add of aux_loss_forward"] == named["add of cross_entropy_forward"] == {}
    experts = [r.tensors for r in results if r.operation == "expert_sort"]
    assert experts == [{n: f"{n} of layers.{layer}" for n in ("offsets", "position")} for layer in range(2)]
    heads = [r.tensors for r in results if r.operation == "gemm_tn"]
    assert heads[0] == {"C": "gradient of lm_head"}
