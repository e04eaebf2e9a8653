"""Convolutions and recurrent layers in short formats: declared, honest ones pass; undeclared, the same ones fail."""

from __future__ import annotations

import functools

import pytest

from conformance.catalogue.cases import cases_of
from conformance.catalogue.families import products
from conformance.limits import HEADER, Contract, Declaration, read_contract
from conformance.operations import OPERATIONS, family
from conformance.proof.false_alarms import judge_case, known_implementations
from conformance.variants.honest import Implementation

LAYERS = [op for op in OPERATIONS if family(op) in {"convolution", "recurrent"} and op in products()]
OF_FACTORS = [(name, op) for name in ("tf32", "bf16") for op in LAYERS]
EAGER = Contract("mine", Declaration(intermediate="bfloat16"))


@functools.cache
def short(name: str) -> dict[str, Implementation]:
    """The implementations that differ from float32 as a contract lets them."""
    declared = EAGER if name == "mine" else read_contract(name)
    known, plain = known_implementations([], declared), known_implementations([], HEADER)
    return {said: one for said, one in known.items() if said not in plain}


def lines(declared: Contract, operation: str, known: dict[str, Implementation]) -> dict[str, list[str]]:
    """What is said of each implementation, by its name: "" where it passed.  Of many steps nothing is known."""
    plain = [id for id in cases_of(operation) if "/plain/" in id][1:7]
    runs = [run for id in plain for run in judge_case(id, 1, known, declared)]
    return {name: [run.line for run in runs if run.implementation == name] for name in known}


@pytest.mark.parametrize(("name", "operation"), OF_FACTORS)
def test_rounded_factors_conform_where_they_are_declared_and_nowhere_else(name: str, operation: str) -> None:
    known = short(name)
    assert len(known) >= 3
    declared, undeclared = (lines(one, operation, known) for one in (read_contract(name), HEADER))
    for said in (one for one in known if not one.endswith("rearranged")):
        assert len(declared[said]) >= 3, said
        assert not any(declared[said]), declared[said]
        assert any(undeclared[said]), said


@pytest.mark.parametrize("operation", LAYERS)
def test_steps_that_are_stored_in_16_bits_conform_where_that_is_declared_and_nowhere_else(operation: str) -> None:
    declared, undeclared = (lines(one, operation, short("mine")) for one in (EAGER, HEADER))
    for said in short("mine"):
        assert len(declared[said]) >= 3, said
        assert not any(declared[said]), declared[said]
        assert any(undeclared[said]), said


def test_bfloat16_is_not_tf32() -> None:
    known = {said: one for said, one in short("bf16").items() if not said.endswith("rearranged")}
    assert all(any(said) for said in lines(read_contract("tf32"), "conv2d", known).values())
