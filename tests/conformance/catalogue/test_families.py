"""Families: a file for each section of the header, with the facts of its operations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance import operations
from conformance.catalogue import cases, families
from conformance.catalogue.cases import CASES
from conformance.catalogue.facts import Facts
from conformance.catalogue.families import facts_of, products
from conformance.judging.probes.arguments import build
from conformance.variants.wrong.arithmetic import used_by

FOLDER = Path(cases.__file__).parent
HELPERS = {
    "__init__", "broken", "data", "designed", "entries", "losses", "matrix_units", "misplaced", "refusals", "sequences",
    "spec", "strided_calls", "strided_rows", "updates",
}  # fmt: skip


@pytest.fixture
def fresh() -> Iterator[None]:
    """Lines and facts are read anew, in the test and after it."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    families.specs.cache_clear()
    families._stated.cache_clear()
    facts_of.cache_clear()


def test_every_file_is_of_a_section_of_the_header() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - HELPERS == set(families.families())


def test_a_section_without_a_file(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    monkeypatch.setattr(families, "family", lambda operation: "divination")
    with pytest.raises(LookupError, match=r"divination: expected a file divination\.py in .*cases, got none"):
        families.specs()


def test_every_float32_operation_has_facts_of_its_own() -> None:
    own = {facts.operation for name in families.families() for facts in families._stated(name).values()}
    assert own >= {name for name in operations.OPERATIONS if operations.base_of(name) == name}


def test_a_sixteen_bit_form_has_the_facts_of_its_operation() -> None:
    assert facts_of("gemm_bf16") is facts_of("gemm")
    assert facts_of("cast_from_fp16").operation == "cast_from_fp16"
    assert facts_of("training_step") == Facts("training_step")


def test_facts_of_one_operation_are_stated_once(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    for wrong in ("softmax", "gemm", "no_such"):
        made = SimpleNamespace(FACTS=(Facts("softmax"), Facts(wrong)))
        monkeypatch.setattr(families, "_read", lambda name, made=made: made)
        with pytest.raises(ValueError, match=f"expected one record for each operation .*, got another of {wrong}"):
            facts_of("softmax")


def test_what_multiplies_is_what_the_reference_does_so() -> None:
    float32 = {name for name in operations.OPERATIONS if operations.base_of(name) == name}
    assert products() == {name for name in float32 if used_by(name)["matmul"]}


def test_two_cases_with_one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = next(iter(CASES.values())).spec
    monkeypatch.setattr(cases, "_specs", lambda: {spec.operation: [spec, spec]})
    with pytest.raises(ValueError, match=f"two cases are called {next(iter(CASES))}"):
        cases.cases_of(spec.operation)


def test_a_scalar_that_no_facts_speak_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.judging.probes.arguments._SCALARS", {})
    with pytest.raises(LookupError, match="scale: expected scale among the neutral arguments of its facts, got none"):
        build("scale", "", 1, 1.0, {})


def test_a_family_is_read_by_itself() -> None:
    code = "import conformance.catalogue.cases.norm as norm; assert norm.SPECS and norm.FACTS"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
