"""Ids of every kind are taken apart into what they were made of."""

from __future__ import annotations

import pytest

from conformance import ids
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.catalogue.full import FULL
from conformance.steps import STEPS


def test_a_case_a_refusal_and_a_sequence_name_their_operation() -> None:
    for id, case in (*CASES.items(), *REFUSALS.items(), *SEQUENCES.items()):
        assert ids.operation_of(id) == case.operation
        assert ids.is_refusal(id) is (id in REFUSALS)
        assert ids.is_sequence(id) is (id in SEQUENCES)
        assert not ids.is_of_step(id)
        assert not ids.is_probe(id)


def test_a_probe_names_its_operation_and_property() -> None:
    id = "probe/gemm_bf16/accumulator"
    assert (ids.is_probe(id), ids.operation_of(id), ids.property_of(id)) == (True, "gemm_bf16", "accumulator")


def test_a_call_at_full_size_names_its_operation() -> None:
    for id, call in FULL.items():
        assert (ids.is_full(id), ids.operation_of(id)) == (True, call.operation)
        assert not ids.is_of_step(id)
        assert not ids.is_refusal(id)
    assert not any(map(ids.is_full, CASES))


@pytest.mark.parametrize("step", STEPS)
def test_a_result_of_a_step_names_it_and_its_place(step: str) -> None:
    for place in ("012", "2.014", "ranks:2,micro_batches:2"):
        id = f"{step}/{place} rmsnorm(layers.0.attn_norm, ...)"
        assert ids.is_of_step(id)
        assert (ids.step_of(id), ids.place_of(id)) == (step, place)
        assert ids.label_of(id) == "rmsnorm(layers.0.attn_norm, ...)"
    assert (ids.step_of(step), ids.place_of(step), ids.label_of(step)) == (step, "", "")


@pytest.mark.parametrize(
    ("step", "is_locked", "format"),
    [
        ("step2/locked", True, ""),
        ("step1-bf16/locked", True, "bf16"),
        ("steps/free", False, ""),
        ("step/envelope-fp16", False, "fp16"),
    ],
)
def test_a_step_tells_its_format_and_whether_it_is_locked(step: str, is_locked: bool, format: str) -> None:
    assert step in STEPS
    assert (ids.is_locked(step), ids.format_of_step(step)) == (is_locked, format)


def test_a_locked_step_has_a_name() -> None:
    assert ids.name_of_locked("step1-bf16/locked") == "1-bf16"
