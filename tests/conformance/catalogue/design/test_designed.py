"""The designed cases: tables that fit the header, cover what they can, and say what they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformance.catalogue.cases import CASES, DESIGNED
from conformance.catalogue.cases.data import DATA, Draw, lone
from conformance.catalogue.cases.strided_calls import MAPS
from conformance.catalogue.design import rows as tables
from conformance.catalogue.design.coverage import coverage
from conformance.catalogue.design.judged_levels import judges_of
from conformance.catalogue.design.levels import SCALARS, VALUES
from conformance.catalogue.design.rows import StaleRowsError, choose, file_of, rows_of, write
from conformance.catalogue.design.space import space_of
from conformance.catalogue.factors import SIZES
from conformance.commands.cli import main
from conformance.operations import OPERATIONS, read_arrays

# Where one value in all cases is right: a seed of a draw that is not made, and what the header gives one meaning.
ONE_VALUE = {"seed"}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_all_that_a_call_can_reach_is_covered(operation: str) -> None:
    found = coverage(space_of(operation), rows_of(operation))
    assert found.missing == 0
    assert found.reached >= 0.9 * found.goals


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["silu", "rmsnorm_backward", "clip_scale", "swiglu_bf16"])
def test_the_tables_stay_as_they_are_where_nothing_new_is_to_be_covered(operation: str) -> None:
    standing = rows_of(operation)
    assert choose(operation, standing) == standing
    fewer = choose(operation, standing[:20])
    assert fewer[:20] == standing[:20]
    assert coverage(space_of(operation), fewer).missing == 0


def test_beside_a_scalar_stands_each_kind_of_special_values() -> None:
    rows = rows_of("scale")
    assert {row["input"] for row in rows if row["scale"] == 0} >= set(VALUES["special"])


def test_in_each_row_stands_one_special_value_of_one_kind() -> None:
    for shape in ((40, 33), (40, 1), (321,), (1,)):
        values = lone(Draw(7), shape)
        numbers = values.reshape(-1, shape[-1]) if len(shape) > 1 else values[: values.size // 8 * 8].reshape(-1, 8)
        special = ~np.isfinite(numbers) | (numbers == 0)
        assert (special.sum(axis=1) == 1).all()
        if len(numbers) > 5:
            assert {*map(str, numbers[special].tolist())} == {"nan", "inf", "-inf", "0.0", "-0.0"}


def test_of_numbers_that_are_nearly_all_zero_every_other_row_is_wholly() -> None:
    rows = DATA["sparse"](Draw(1), (2, 3, 64)).reshape(-1, 64)
    assert rows[::2].any(axis=1).all()
    assert not rows[1::2].any()
    assert DATA["sparse"](Draw(1), (640,)).any()


def test_small_numbers_are_partly_such_as_nobody_may_flush() -> None:
    for shape in ((2, 3, 64), (640,)):
        sizes = np.abs(DATA["subnormal"](Draw(1), shape)).reshape(-1)
        assert (sizes < 2.0**-126).any()
        assert ((sizes > 2.0**-110) & (sizes < 2.0**-90)).any()


def test_nothing_under_the_root_stands_beside_rows_of_zeros() -> None:
    rows = rows_of("rmsnorm")
    assert any(row["eps"] == 0 and row["input"] == "sparse" for row in rows)


def test_the_sign_of_a_zero_counts_in_designed_cases_where_it_does_in_stated_ones() -> None:
    assert all(case.spec.signed_zeros for case in DESIGNED.of("mul").values())
    assert not any(case.spec.signed_zeros for case in DESIGNED.of("silu").values())


def test_the_sign_of_a_zero_does_not_count_where_a_number_is_multiplied_by_a_sum() -> None:
    maps = DESIGNED.of("map_strided").values()
    unsigned = {case.sizes["function"] for case in maps if not case.spec.signed_zeros}
    assert unsigned == {MAPS["gelu"], MAPS["gelu_tanh"]}
    x = np.float32(-0.0)
    assert np.signbit(x * (1 + np.tanh(x)))
    assert not np.signbit(x + x * np.tanh(x))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_scalar_has_one_value_in_all_cases(operation: str) -> None:
    cases = [*CASES.of(operation).values(), *DESIGNED.of(operation).values()]
    for name in {p.name for p in OPERATIONS[operation].parameters if p.is_scalar} & SCALARS.keys() - ONE_VALUE:
        assert len({case.sizes[name] for case in cases}) >= min(3, len(SCALARS[name])), name


@pytest.mark.parametrize("operation", ["softmax", "gemm", "attention_forward", "multi_adamw", "topk_sample"])
def test_what_a_case_is_called_with_has_its_sizes_and_comes_from_its_id_alone(operation: str) -> None:
    case = min(DESIGNED.of(operation).values(), key=lambda case: str(case.sizes))
    first, second = case.arguments(), case.arguments()
    for parameter in read_arrays(OPERATIONS[operation]):
        arrays, again = first[parameter.name], second[parameter.name]
        if parameter.each:
            assert [array.size for array in arrays] == list(case.sizes[parameter.each[1]])
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arrays, again, strict=True))
        else:
            assert np.array_equal(arrays, again, equal_nan=True)


def test_the_sizes_stand_on_either_side_of_every_power_of_two_that_kernels_branch_on() -> None:
    for power in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        assert {power - 1, power, power + 1} <= set(SIZES)
    assert max(SIZES) > 65536


@pytest.mark.slow
def test_a_table_that_does_not_fit_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(["softmax"], judges_of, tmp_path)
    path = file_of("softmax", tmp_path)
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    for wrong, expected in (
        (("\tcols\t", "\tcolumns\t"), "expected the factors rows, cols, input, got rows, columns, input"),
        (("\t65537\t", "\t65538\t"), "expected a level of rows, got 65538"),
    ):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(*wrong), encoding="utf-8")
        tables._tables.cache_clear()
        monkeypatch.setattr(tables, "file_of", lambda family, folder=tmp_path: path)
        with pytest.raises(StaleRowsError, match=expected):
            rows_of("softmax")
        path.write_text(text, encoding="utf-8")
    tables._tables.cache_clear()


@pytest.mark.slow
def test_rows_that_stand_are_kept_beside_those_of_a_new_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = file_of("softmax").read_text(encoding="utf-8")
    standing, found, _ = whole.partition("softmax_backward\t")
    assert found
    path = tmp_path / "softmax.tsv"
    path.write_text(standing, encoding="utf-8")
    monkeypatch.setattr(tables, "file_of", lambda family, folder=tmp_path: path)
    tables._tables.cache_clear()
    write(["softmax"], judges_of, tmp_path, keep=True)
    written = path.read_text(encoding="utf-8")
    assert written.startswith(standing)
    assert "\nsoftmax_backward\trows\tcols" in written
    tables._tables.cache_clear()


def test_the_command_tells_the_share_and_why_the_rest_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "-o", "softmax,gemm", "-v"]) == 0
    said = capsys.readouterr().out
    assert "together" in said
    assert "multiplications, or is one that the header refuses" in said
    assert "cols (size, 4 classes): 1 2 3 4 5 7" in said


def test_they_are_judged_like_any_other_case(stub_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-n", "1", "--library", str(stub_path), "-k", "designed and embedding/"]) == 0
    assert f"{len(DESIGNED.of('embedding'))} cases passed" in capsys.readouterr().out
    assert main(["list", "-k", "embedding/"]) == 0
    assert capsys.readouterr().out.count("/designed/") == len(DESIGNED.of("embedding"))
