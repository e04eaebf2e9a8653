"""Goldens: what the repository holds, that what is read is what was made, and which cases are chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import FOLDER, Golden, load, load_tensors, manifest, profiles, tensors
from conformance.catalogue.goldens.names import file_of
from conformance.catalogue.goldens.sources import CaseSource, by_id, chosen
from conformance.limits.expectation import expect
from conformance.limits.noise import Noisy
from tests.conformance.golden_folder import SILU, check, contents, remake


def same(a: Any, b: Any) -> bool:
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind == "f")


@pytest.fixture(scope="module")
def kept() -> manifest.Manifest:
    return manifest.read(FOLDER)


def test_every_golden_of_the_profile_is_kept_and_no_other(kept: manifest.Manifest) -> None:
    assert kept.cases.keys() == profiles.sources(profiles.COMMITTED).keys()
    files = {p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*.safetensors")}
    assert files == {entry.file for entry in kept.cases.values()}


def test_every_operation_and_data_set_has_a_golden(kept: manifest.Manifest) -> None:
    held = {tuple(id.split("/")[:2]) for id in kept.cases}
    whole = [case for case in CASES.values() if not operations.is_sixteen_bit(case.operation)]
    assert {(case.operation, case.data) for case in whole} <= held
    assert {case.operation for case in CASES.values()} <= {operation for operation, _ in held}


def test_every_operation_is_confirmed_by_an_oracle(kept: manifest.Manifest) -> None:
    confirmed = {id.split("/")[0] for id, entry in kept.cases.items() if entry.oracle and entry.oracle.agrees}
    assert confirmed == {*operations.OPERATIONS, "training_step"}
    assert all(entry.oracle.agrees for entry in kept.cases.values() if entry.oracle)


def test_they_are_small(kept: manifest.Manifest) -> None:
    most = 1e5 * len(operations.OPERATIONS)  # so many bytes for each on the average
    assert sum(p.stat().st_size for p in FOLDER.rglob("*") if p.is_file()) < most


def test_each_can_be_read_and_says_why_it_exists(kept: manifest.Manifest) -> None:
    for id, entry in kept.cases.items():
        assert load_tensors(id) is not None
        assert len(entry.scenario) > 10, id


@pytest.mark.parametrize("place", range(3))
def test_what_is_read_is_what_was_made(folder: Path, three_goldens: tuple[str, ...], place: int) -> None:
    id = three_goldens[place]
    golden = load(id, folder)
    assert isinstance(golden, Golden)
    arguments = CASES[id].arguments()
    assert golden.arguments.keys() == arguments.keys()
    for name, value in operations.flat(arguments).items():
        assert same(operations.flat(golden.arguments)[name], value), name
    for name, wanted in expect(CASES[id].operation, arguments).items():
        got = golden.expected[name]
        if not isinstance(wanted, Noisy):
            assert same(got, wanted)
            continue
        assert same(got.v, wanted.v)
        for mine, due in ((got.sigma, wanted.sigma), (got.worst, wanted.worst), (got.shared, wanted.shared)):
            assert (mine >= due * (1 - 2.0**-50)).all()  # a square root is undone to the last bit or two
            assert (mine <= due * (1 + 2.0**-20) + np.finfo(np.float32).smallest_subnormal).all()


def test_making_them_again_changes_no_byte(folder: Path) -> None:
    before = contents(folder)
    assert check(folder) == 0
    assert remake(folder) == 0
    assert contents(folder) == before


def test_a_case_without_a_golden_has_none(folder: Path) -> None:
    assert load("add/plain/33", folder) is None
    assert load(SILU, folder / "nowhere") is None


def test_rounding_is_never_downwards() -> None:
    values = np.array([0.0, 1.0, 1 + 2.0**-40, 1 - 2.0**-40, 1e-46, 3.4e38, np.pi])
    stored = tensors.upward(values)
    assert (stored >= values).all()
    assert (stored[[0, 1]] == [0, 1]).all()


def test_the_smallest_that_is_enough_is_chosen() -> None:
    [case] = chosen(c for c in CASES.values() if c.operation == "add" and c.data == "plain")
    assert case.id == "add/plain/33"  # 32 elements tell a bias; 31 do not


def test_files_of_different_goldens_differ() -> None:
    assert file_of("multi_scale/plain/3x(1, 33, 257)") == "multi_scale/plain/3x_1_33_257_.safetensors"
    with pytest.raises(ValueError, match="would share a file"):
        by_id([CaseSource(CASES[SILU]), CaseSource(CASES[SILU])])


def test_the_full_profile_has_every_operation_at_real_sizes() -> None:
    cases = profiles.full_cases()
    assert sorted(case.operation for case in cases) == sorted(operations.OPERATIONS)
    assert {case.operation: case for case in cases}["gemm"].sizes == {"M": 260, "N": 32000, "K": 768}
