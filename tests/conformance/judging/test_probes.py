"""Probes find what a library computes in: one wrong library for each property, and none for a right one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.candidates.candidate import Candidate
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.families import products
from conformance.commands import probe
from conformance.commands.cli import main
from conformance.commands.selection import Keywords, select
from conformance.judging.bench import Bench
from conformance.judging.probes import PROPERTIES, judge_probe, probe_ids
from conformance.judging.probes.channels import carries, sums
from conformance.judging.results import Result, Status
from conformance.limits import HEADER, Contract, Declaration, read_contract
from conformance.limits.noise import FORMATS
from conformance.variants.honest.eager import eager
from conformance.variants.honest.tensor_cores import shortened, tensor_cores, truncated
from tests.conformance.runs import InProcess


def probed(id: str, declared: Contract = HEADER, **wrong: Any) -> Result:
    return judge_probe(f"probe/{id}", Bench(InProcess(**wrong), declared=declared))


def shorter(operation: str, format: str) -> Callable[..., Any]:
    """The operation with the factors of its products rounded."""
    kind = tensor_cores(FORMATS[format])[f"{format} rounding by 16"]

    def carried_out(**arguments: Any) -> Any:
        values = {n: v.view(kind) if getattr(v, "dtype", None) == np.float32 else v for n, v in arguments.items()}
        return np.asarray(getattr(reference, operation)(**values))

    return carried_out


def one_by_one(A: Any, B: Any, store: Callable[[Any], Any]) -> Any:
    """gemm with every partial sum stored somehow."""
    total = np.zeros((len(A), len(B)))
    for k in range(A.shape[1]):
        total = store(total + A[:, k, None].astype(np.float64) * B[None, :, k]).astype(np.float64)
    return total.astype(np.float32)


# ---- what can be probed ------------------------------------------------------------------------------------------
def test_every_operation_that_has_a_case_is_probed() -> None:
    assert {id.split("/")[1] for id in probe_ids()} == set(operations.OPERATIONS)
    assert {id.split("/")[2] for id in probe_ids()} == set(PROPERTIES)
    assert {id.split("/")[1] for id in probe_ids() if id.endswith("/inputs")} == products()


def test_channels_are_found_on_the_reference() -> None:
    assert {(c.input, c.output) for c in carries("gemm")} == {("A", "C"), ("B", "C")}
    assert {(c.input, c.axis) for c in sums("grouped_gemm_tn")} >= {("A", "rows"), ("B", "rows")}
    assert [(c.input, c.axis, c.scales) for c in sums("aux_loss_forward") if c.output == "p_means"] == [
        ("router_probs", "batch_seq", True)
    ]
    assert carries("silu") == ()  # no number goes through it as it is
    assert sums("add") == ()


# ---- libraries that are wrong ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("format", "said"), [("tf32", "10 bits (tf32)"), ("bfloat16", "7 bits (bfloat16)")])
@pytest.mark.parametrize("operation", ["gemm", "gemm_tt", "attention_output", "flash_attention"])
def test_short_inputs_are_found(operation: str, format: str, said: str) -> None:
    if operation == "gemm_tt":
        wrong = {operation: lambda **a: np.asarray(shorter("gemm_tt", format)(**(a | {"C": None})))}
    else:
        wrong = {operation: shorter(operation, format)}
    found = probed(f"{operation}/inputs", **wrong)
    assert (found.status, found.detail) == (Status.FAIL, said)
    assert found.reason.startswith(f"declared float32 inputs; found {said}")
    if operation != "flash_attention":  # 5,000 ones are a large square there
        assert probed(f"{operation}/accumulator", **wrong).status is Status.PASS


@pytest.mark.parametrize("format", ["float16", "bfloat16"])
def test_a_short_accumulator_is_found(format: str) -> None:
    def gemm(A: Any, B: Any) -> Any:
        return one_by_one(A, B, lambda total: shortened(total, FORMATS[format]))

    found = probed("gemm/accumulator", gemm=gemm)
    assert found.status is Status.FAIL
    assert f"found {FORMATS[format].bits} bits" in found.reason
    mine = Contract("mine", Declaration(accumulator=format))
    assert probed("gemm/accumulator", mine, gemm=gemm).status is Status.PASS


def test_a_sum_that_stops_counting_is_found() -> None:
    """Its digits are right for two numbers: only many show it."""

    def multi_sum_squares(inputs: Any) -> Any:
        return np.minimum(reference.multi_sum_squares(inputs), np.float32(2048))

    found = probed("multi_sum_squares/accumulator", multi_sum_squares=multi_sum_squares)
    assert found.reason == "declared float32 sums; 5000 ones add up to 2048"


@pytest.mark.parametrize("operation", ["softmax", "cross_entropy_forward", "rmsnorm"])
def test_short_sums_of_exponentials_and_squares_are_found(operation: str) -> None:
    def carried_out(**arguments: Any) -> Any:
        x = next(iter(arguments.values())).astype(np.float64)
        with np.errstate(all="ignore"):
            terms = x * x if operation == "rmsnorm" else np.exp(x)
        total = shortened(terms.sum(axis=1, keepdims=True), FORMATS["bfloat16"])
        if operation == "rmsnorm":
            return (x / np.sqrt(total / x.shape[1])).astype(np.float32)
        if operation == "softmax":
            return (terms / total).astype(np.float32)
        return np.zeros(1, np.float32), (x - np.log(total)).astype(np.float32)

    found = probed(f"{operation}/accumulator", **{operation: carried_out})
    assert found.status is Status.FAIL
    assert "declared float32 sums; found" in found.reason


def test_truncation_is_found() -> None:
    def gemm(A: Any, B: Any) -> Any:
        return one_by_one(A, B, truncated)

    found = probed("gemm/rounding", gemm=gemm)
    assert found.reason == "declared sums rounded to nearest; found toward zero"
    assert probed("gemm/rounding", read_contract("tf32"), gemm=gemm).status is Status.PASS


def test_flushing_to_zero_is_found() -> None:
    def mul(a: Any, b: Any) -> Any:
        product = a * b
        return np.where(np.abs(product) < 2.0**-126, np.float32(0), product)

    found = probed("mul/flush_to_zero", mul=mul)
    assert found.reason == "declared to keep subnormal numbers; found 2^-130 in a to become 0"
    flushing = Contract("mine", Declaration(flush_to_zero=True))
    assert probed("mul/flush_to_zero", flushing, mul=mul).status is Status.PASS


def test_a_short_output_is_found() -> None:
    def embedding(weight: Any, indices: Any) -> Any:
        return shortened(reference.embedding(weight, indices), FORMATS["bfloat16"]).astype(np.float32)

    found = probed("embedding/output", embedding=embedding)
    assert found.reason.startswith("declared float32 output; found 7 bits (bfloat16)")
    mine = Contract("mine", Declaration(output="bfloat16"))
    assert probed("embedding/output", mine, embedding=embedding).status is Status.PASS


def test_results_that_vary_are_found() -> None:
    calls = iter(range(100))

    def silu(input: Any) -> Any:
        return reference.silu(input) + np.float32(next(calls) * 2.0**-20)

    found = probed("silu/deterministic", silu=silu)
    assert found.reason.startswith("declared deterministic; found output to differ")
    loose = Contract("mine", Declaration(deterministic=False))
    assert probed("silu/deterministic", loose, silu=silu).status is Status.PASS


class Lacking(InProcess):
    """A library that exports nothing."""

    def run(self, operation: str, arguments: Any, override: Any = None) -> Outcome:
        return Outcome("missing", detail=f"the library does not export cuda_{operation}")


@pytest.mark.parametrize("operation", ["add", "rmsnorm", "softmax", "gemm", "cross_entropy_forward", "adamw_step"])
def test_steps_that_store_16_bits_are_found_where_they_are_not_declared(operation: str) -> None:
    kind, mine = eager(FORMATS["bfloat16"]), Contract("mine", Declaration(intermediate="bfloat16"))

    def carried_out(**arguments: Any) -> Any:
        viewed = {n: v.view(kind) if getattr(v, "dtype", None) == np.float32 else v for n, v in arguments.items()}
        results = getattr(reference, operation)(**viewed)
        return tuple(map(np.asarray, results)) if isinstance(results, tuple) else np.asarray(results)

    ids = [id for id in probe_ids() if id.startswith(f"probe/{operation}/") and not id.endswith("deterministic")]
    found = {
        name: [judge_probe(id, Bench(InProcess(**{operation: carried_out}), declared=declared)) for id in ids]
        for name, declared in (("mine", mine), ("header", HEADER))
    }
    assert [(result.id, result.reason) for result in found["mine"] if not result.is_fine] == []
    assert any("found 7 bits (bfloat16)" in result.reason for result in found["header"])
    if operation == "add":  # of many steps no more is due than they leave
        shorter = Bench(InProcess(add=carried_out), declared=Contract("mine", Declaration(intermediate="tf32")))
        wrong = judge_probe("probe/add/output", shorter)
        assert wrong.reason.startswith("declared tf32 intermediate results; found 7 bits (bfloat16)")


# ---- libraries that are right ------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", ["float32", "tf32", "bf16", "eager-bf16"])
def test_the_reference_in_float32_passes_whatever_is_declared(name: str) -> None:
    bench = Bench(InProcess(), declared=read_contract(name))
    ids = [id for id in probe_ids() if not id.endswith(("deterministic", "flash_attention/accumulator"))]
    heavy = ("attention_backward/accumulator", "attention_output/accumulator")  # 5,000 ones are a large square here
    results = [judge_probe(id, bench) for id in ids if not id.endswith(heavy)]
    assert [(result.id, result.reason) for result in results if not result.is_fine] == []
    assert {result.detail for result in results if result.id.endswith("/inputs")} == {"23 bits (float32)"}


def test_what_a_library_lacks_is_not_run() -> None:
    result = judge_probe("probe/gemm/inputs", Bench(Lacking()))
    assert (result.status, result.reason) == (Status.NOT_RUN, "the library does not export cuda_gemm")


@pytest.mark.slow
@pytest.mark.parametrize("contract", ["float32", "bf16"])
def test_no_probe_passes_an_operation_that_is_not_there(contract: str) -> None:
    bench = Bench(Lacking(), declared=read_contract(contract))
    assert {judge_probe(id, bench).status for id in probe_ids()} == {Status.NOT_RUN}


def test_how_sums_are_rounded_cannot_be_told_where_they_are_declared_short() -> None:
    mine = Contract("mine", Declaration(accumulator="bfloat16"))
    assert probed("expert_combine/rounding", mine).status is Status.TOO_FINE
    assert "probe/expert_combine_bf16/rounding" not in probe_ids()


# ---- where people meet them --------------------------------------------------------------------------------------
def test_probes_are_part_of_a_whole_run_and_can_be_chosen() -> None:
    assert set(probe_ids()) <= set(select(Keywords()).cases)
    assert select(Keywords("probe/gemm/")).cases == tuple(id for id in probe_ids() if id.startswith("probe/gemm/"))
    assert select(Keywords(), ["probe/gemm/inputs"]).cases == ("probe/gemm/inputs",)


def test_the_command_prints_declared_beside_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = InProcess(gemm=shorter("gemm", "bfloat16"))
    monkeypatch.setattr(probe, "one", lambda options: Candidate(options.library))
    monkeypatch.setattr(probe, "absent", lambda candidate: ())
    monkeypatch.setattr(probe, "worker_of", lambda candidate, threads, limit_s: nullcontext(worker))
    assert main(["probe", "--library", "lib.so", "-k", "gemm_nn/inputs", "--contract", "tf32", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {
        "operation": "gemm_nn",
        "property": "inputs",
        "declared": "tf32",
        "found": "23 bits (float32)",
        "status": "PASS",
        "reason": "",
    }
    assert main(["probe", "--library", "lib.so", "-k", "probe/gemm/", "--contract", "tf32"]) == 1
    printed = capsys.readouterr().out
    assert "bfloat16, not tf32" in printed
    assert "FAIL probe/gemm/inputs: declared tf32 inputs; found 7 bits (bfloat16) from A to C" in printed
    assert "6 probes by the contract tf32: 1 did not hold" in printed
    assert main(["probe", "--library", "lib.so", "-k", "nothing"]) == 2
    assert main(["probe", "--library", "lib.so", "--contract", "tf23"]) == 2
