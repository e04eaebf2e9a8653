"""Functions that err by units in the last place: as many as are declared, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance.catalogue.cases import CASES
from conformance.judging.bench import Bench
from conformance.judging.probes import judge_probe
from conformance.judging.results import Result, Status
from conformance.limits import HEADER, Contract, ContractError, Declaration, read_contract
from conformance.limits.noise import Arithmetic, Noisy, exact, using
from conformance.limits.noise.own_errors import FUNCTIONS
from conformance.proof.false_alarms import judge_case, known_implementations
from conformance.variants.honest.inexact import inexact
from reference import special
from reference.readings import READINGS
from tests.conformance.runs import InProcess

UNITS = (
    ("exp", 16.0),
    ("log", 8.0),
    ("pow", 20.0),
    ("sqrt", 6.0),
    ("sin", 10.0),
    ("cos", 10.0),
    ("division", 5.0),
    ("erf", 6.0),
)
FAST = Contract("mine", Declaration(functions=UNITS))
OPERATIONS = (
    *("silu", "silu_backward", "softmax", "rmsnorm", "rope_forward", "cross_entropy_forward", "attention_forward"),
    *("adamw_step", "clip_scale", "cross_entropy_backward", "gelu"),
)
NUMBER = "expected units in the last place, a number from 0.5 to 65536, got"


def ids(operation: str, count: int = 12) -> list[str]:
    return [case.id for case in CASES.values() if case.operation == operation][:count]


def library(operation: str, units: Any) -> InProcess:
    """One whose functions all err to one side in this operation."""
    kind = inexact(dict(units))

    def carried_out(**arguments: Any) -> Any:
        viewed = {n: v.view(kind) if getattr(v, "dtype", None) == np.float32 else v for n, v in arguments.items()}
        results = getattr(reference, operation)(**viewed)
        return tuple(map(np.asarray, results)) if isinstance(results, tuple) else np.asarray(results)

    return InProcess(**{operation: carried_out})


# ---- the file ----------------------------------------------------------------------------------------------------
def read(text: str, folder: Path) -> Contract:
    path = folder / "mine.toml"
    path.write_text(text)
    return read_contract(str(path))


def test_a_number_is_of_every_function_and_a_table_of_those_it_names(tmp_path: Path) -> None:
    mine = read("functions = 4\n[operations.softmax]\nfunctions = { log = 2, exp = 8.5 }\n", tmp_path)
    assert mine.of("silu").functions == tuple((name, 4.0) for name in FUNCTIONS)
    assert mine.of("softmax").functions == (("exp", 8.5), ("log", 2.0))
    assert str(mine.of("softmax")) == "functions exp to 8.5 units and log to 2 units"
    assert mine.of("softmax").arithmetic == Arithmetic(functions=(("exp", 8.5), ("log", 2.0)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "functions = { exq = 4 }",
            "functions: exq: expected one of exp, log, pow, sqrt, sin, cos, tanh, erf, division",
        ),
        ("functions = { exp = 0 }", f"functions: exp: {NUMBER} 0"),
        ('functions = "4"', f"functions: {NUMBER} '4'"),
        ("functions = true", f"functions: {NUMBER} True"),
        ("functions = nan", f"functions: {NUMBER} nan"),
        ("functions = { exp = [1] }", f"functions: exp: {NUMBER} [1]"),
        ('[operations.silu]\nfunctions = "all"', "operations.silu: functions: expected units"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ContractError) as error:
        read(text, tmp_path)
    assert said in str(error.value)


# ---- limits ------------------------------------------------------------------------------------------------------
def test_a_function_leans_by_what_is_declared_of_it() -> None:
    x = exact(np.array([-2.5, 0.0, 1.25]))
    with using(FAST.of("silu").arithmetic):
        due: Any = np.exp(x)
        undeclared: Any = np.tanh(x)
    assert np.array_equal(due.lean[[0, 2]], 32 * 2.0**-24 * due.v[[0, 2]])
    assert due.lean[1] == due.variance[1] == 0  # exp(0) is 1
    assert undeclared.lean is None


def test_the_declaration_of_one_function_changes_no_other() -> None:
    x = exact(np.array([0.7, 3.0]))
    with using(Arithmetic(functions=(("exp", 16.0),))):
        made: Any = [np.log(x), np.sqrt(x), x / exact(np.array([3.0, 7.0]))]
    plain: Any = [np.log(x), np.sqrt(x), x / exact(np.array([3.0, 7.0]))]
    for one, other in zip(made, plain, strict=True):
        assert isinstance(one, Noisy)
        assert np.array_equal(one.variance, other.variance)
        assert one.lean is None


def test_what_is_left_of_1_less_erf_errs_as_the_difference_does() -> None:
    x = exact(np.array([-3.0, 0.5, 5.0, 12.0]))
    left, difference = special.erfc(x), 1.0 - special.erf(x)
    assert np.array_equal(left.variance, difference.variance)
    assert np.array_equal(left.v, special.erfc(x.v))
    assert left.sigma[3] > 2.0**-24


@pytest.mark.parametrize("operation", OPERATIONS)
def test_functions_pass_to_as_many_units_as_are_declared(operation: str) -> None:
    known = {n: one for n, one in known_implementations([], FAST).items() if "exp to" in n or n == "float32"}
    assert len(known) == 3
    assert [run for id in ids(operation) for run in judge_case(id, 3, known, FAST) if run.line] == []


@pytest.mark.parametrize("operation", ["silu", "cross_entropy_backward", "clip_scale"])
def test_they_fail_where_nothing_or_less_is_declared(operation: str) -> None:
    for declared in (HEADER, Contract("mine", Declaration(functions=tuple((name, 1.0) for name, _ in UNITS)))):
        bench = Bench(library(operation, UNITS), declared=declared, explains=False)
        assert Status.FAIL in {bench.case(CASES[id]).status for id in ids(operation)}


@pytest.mark.parametrize("operation", ["silu", "softmax", "rmsnorm", "cross_entropy_backward"])
def test_wrong_readings_still_fail(operation: str) -> None:
    every = [case for case in CASES.values() if case.operation == operation]
    for reading in (reading for reading in READINGS if reading.operation == operation):
        bench = Bench(InProcess(**{operation: reading.function}), declared=FAST, explains=False)
        assert any(bench.case(case).status is Status.FAIL for case in every), reading.id


@pytest.mark.slow
def test_so_many_units_that_a_case_can_tell_nothing_are_too_fine() -> None:
    coarse = Contract("mine", Declaration(functions=(("exp", 65536.0),)))
    found = {Bench(InProcess(), declared=coarse).case(CASES[id]).status for id in ids("flash_attention", 30)}
    assert found == {Status.PASS, Status.TOO_FINE}


# ---- probes ------------------------------------------------------------------------------------------------------
def probed(operation: str, units: Any, declared: Contract) -> Result:
    return judge_probe(f"probe/{operation}/functions", Bench(library(operation, units), declared=declared))


@pytest.mark.parametrize(
    ("operation", "function"),
    [
        ("cross_entropy_backward", "exp"),
        ("cross_entropy_forward", "log"),
        ("rope_freqs", "pow"),
        ("rope_forward", "sin"),
        ("rope_forward", "cos"),
        ("clip_scale", "sqrt"),
        ("clip_scale", "division"),
    ],
)
def test_a_probe_measures_the_units(operation: str, function: str) -> None:
    units = ((function, 40.0),)
    if operation == "rope_freqs":  # only numbers go into it
        made = InProcess(rope_freqs=lambda **a: reference.rope_freqs(**a) * (1 + 39 * 2.0**-23))
        found = judge_probe("probe/rope_freqs/functions", Bench(made))
    else:
        found = probed(operation, units, HEADER)
        assert probed(operation, units, Contract("mine", Declaration(functions=units))).status is Status.PASS
    assert found.status is Status.FAIL
    assert found.reason.startswith(f"expected {function} to ")
    fewer = probed(operation, units, Contract("mine", Declaration(functions=((function, 20.0),))))
    if operation != "rope_freqs":
        assert fewer.reason.startswith(f"declared {function} to 20 units in the last place; found ")
        assert 20 < float(fewer.reason.rpartition(" ")[2]) <= 40


def test_what_is_stored_in_16_bits_hides_its_functions() -> None:
    mine = Contract("mine", Declaration(intermediate="bfloat16"))
    found = judge_probe("probe/clip_scale/functions", Bench(InProcess(), declared=mine))
    assert found.status is Status.TOO_FINE
