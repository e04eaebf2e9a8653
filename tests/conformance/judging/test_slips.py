"""Slips that nobody has stated: an argument read as something else, an index that wraps, what is no number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import reference
from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.judging.diagnoses import Diagnosis, Kind
from conformance.judging.diagnosis import Compared, diagnose
from conformance.judging.diagnosis.matching import matches
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy
from conformance.variants.wrong.arithmetic import slips
from conformance.variants.wrong.planted import known
from conformance.variants.wrong.slips import are_affordable, misreadings

Given = dict[str, Any]


def looks(id: str, got: dict[str, Any]) -> Diagnosis:
    """What is said of a case's outputs."""
    case = CASES[id]
    arguments = case.arguments()
    expected = expect(case.operation, arguments)
    found = diagnose(case.operation, arguments, expected, got, judge_outputs(case.operation, arguments, expected, got))
    assert found is not None
    return found


def results(id: str, **changes: Callable[[Any], Any]) -> dict[str, Any]:
    """What a case gives with some arguments changed, as it is stored."""
    case = CASES[id]
    arguments = case.arguments()
    arguments |= {name: change(arguments[name]) for name, change in changes.items()}
    function = operations.OPERATIONS[case.operation]
    given = operations.by_name(function, getattr(reference, case.operation)(**arguments))
    return operations.narrowed(case.operation, operations.flat(given))


@pytest.mark.parametrize(
    ("id", "name", "change", "said"),
    [
        ("rmsnorm/plain/5x257x1e-06", "weight", lambda x: x[np.arange(257) % 128], "weight read modulo 128"),
        ("rope_forward/plain/1x7x2x64x5", "offset", lambda x: x - 1, "offset one too small"),
        ("scale/plain/257x-1.7", "scale", lambda x: -1.703125,
         "scale rounded to bfloat16"),
        ("softmax_topk_backward/plain/130x130x40", "indices", lambda x: x % 64, "indices modulo 64"),
        ("cross_entropy_backward/plain/5x1000x0.03", "log_probs",
         lambda x: np.where(np.arange(1000) < 512, x, np.float32(0)), "log_probs taken as 0 from column 512 on"),
        ("gemm/plain/17x33x65", "A", lambda x: x * 0 + x[:1], "the first row of A read for all"),
        ("gemm_bf16/plain/17x33x65", "A", lambda x: x * 0 + x[:1], "the first row of A read for all"),
    ],
)  # fmt: skip
def test_an_argument_that_is_read_as_something_else_is_named(
    id: str, name: str, change: Callable[[Any], Any], said: str
) -> None:
    found = looks(id, results(id, **{name: change}))
    assert any(reading.startswith(said) for reading in found.readings), found.text
    assert found.is_searched


def test_a_loop_that_ends_at_a_number_no_case_is_there_for_is_named() -> None:
    id = "rmsnorm/plain/5x257x1e-06"
    x, weight, eps = CASES[id].arguments().values()
    squares = np.sum(x[:, :16].astype(np.float64) ** 2, axis=1, keepdims=True)
    got = x / np.sqrt(squares / 257 + eps) * weight
    assert looks(id, {"output": got.astype(np.float32)}).readings == ("first 16 terms of a sum alone",)
    assert "first 16 terms of a sum alone" in {reading.name for reading in slips("rmsnorm")}


def test_long_lists_of_which_many_are_read_are_not_misread_in_turn() -> None:
    def given(count: int, *names: str) -> Given:
        return {name: [np.ones(1, np.float32)] * count for name in names}

    updated = ("params", "grads", "ms", "vs")
    assert are_affordable("multi_sum_squares", given(257, "inputs"))
    assert not are_affordable(
        "multi_adamw", CASES["multi_adamw/plain/1x(5,)x0.01x0.9x0.95x1e-08x7"].arguments() | given(257, *updated)
    )


def test_a_slip_beside_an_array_that_carries_noise_is_compared_too() -> None:
    case = next(case for case in CASES.values() if case.operation == "scatter_add")
    arguments = case.arguments()
    compared = Compared("scatter_add", arguments, expect("scatter_add", arguments))
    for reading in misreadings("scatter_add", arguments):
        if (values := compared.values(reading)) is not None:
            assert compared.expectations(reading, values)


def test_a_list_is_misread_from_the_array_that_no_launch_has_room_for() -> None:
    arguments = {"inputs": [np.ones(1, np.float32)] * 111}
    names = {reading.name for reading in misreadings("multi_sum_squares", arguments)}
    assert "from 110 on those of inputs taken as 0" in names


def test_what_is_subnormal_in_the_format_it_is_stored_in_is_said_to_be_flushed() -> None:
    id = "cross_entropy_backward_fp16/plain/5x1000x0.03"
    flushed = {name: np.where(np.abs(x) < 2.0**-14, np.float32(0), x) for name, x in results(id).items()}
    assert [symptom.kind for symptom in looks(id, flushed).symptoms] == [Kind.FLUSHED]


def test_a_slip_that_changes_nothing_is_none() -> None:
    case = CASES["scale/plain/257x-1.7"]
    arguments = case.arguments() | {"scale": 1.0}
    names = {reading.name for reading in misreadings("scale", arguments)}
    assert "scale taken as 1" not in names
    assert "scale taken as 0.5" in names


def test_only_small_calls_are_searched() -> None:
    assert are_affordable("gemm", CASES["gemm/plain/17x33x65"].arguments())
    large = {"A": np.zeros((512, 512), np.float32), "B": np.zeros((512, 512), np.float32)}
    assert not are_affordable("gemm", large)


def test_what_stands_where_no_number_is_due_is_said_with_what_is_due() -> None:
    right = results("silu/special/1025")["output"]
    got = np.where(np.isinf(right), np.float32(65536), np.where(np.isnan(right), np.float32(0), right))
    found = looks("silu/special/1025", {"output": got})
    assert str(found).startswith("output: 0 where NaN is due, 65536 where infinity is due")
    got = np.where(np.isnan(right), np.float32(7), right)
    assert str(looks("silu/special/1025", {"output": got})).startswith("output: 7 where NaN is due")


def test_an_index_that_wraps_is_told_by_where_the_values_belong() -> None:
    got = results("add/tails/1025")["output"].copy()
    got[512:] = got[np.arange(512, 1025) % 512]
    found = looks("add/tails/1025", {"output": got})
    assert str(found).startswith("output: what belongs to the element modulo 512")


def test_whole_numbers_in_too_few_bits_are_told() -> None:
    id = "expert_sort/plain/1025x1x3"
    got = results(id)
    found = looks(id, got | {"position": got["position"].astype(np.int8).astype(np.int32)})
    assert "position: cut off to a signed number of 8 bits" in str(found)


def test_arrays_of_a_list_are_misread_each_or_left_out() -> None:
    arrays = [np.array([1.0, -np.inf], np.float32), np.array([np.nan], np.float32)]
    names = {reading.name: reading for reading in misreadings("multi_nonfinite", {"inputs": arrays})}
    assert int(names["minus infinity in inputs taken as 0"].function(arrays)[0]) == 1
    assert int(names["the first of inputs taken as 0"].function(arrays)[0]) == 1
    assert "plus infinity in inputs taken as 0" not in names  # there is none


def test_a_slip_whose_results_have_another_shape_is_passed_over() -> None:
    id = "softmax_topk/plain/33x16x4"
    right = results(id)
    found = looks(id, right | {"weights": np.full_like(right["weights"], np.nan)})
    assert "k one too small" not in found.readings


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (np.r_[0:16, 32:65], "second 16 products left out"),
        (np.r_[0:65, 33:65], "last 32 products counted twice"),
    ],
)
def test_a_slice_of_the_products_is_named(counted: Any, said: str) -> None:
    """A stage of a pipeline that is used too early, or once more."""
    arguments = CASES["gemm/plain/17x33x65"].arguments()
    A, B = (arguments[name][:, counted] for name in "AB")
    assert said in str(looks("gemm/plain/17x33x65", {"C": np.float32(A @ B.T)}))


def test_a_slip_of_one_part_is_named_with_where_that_is() -> None:
    id = "sgd_step/plain/8193x0.01x0.1"
    right, wrong = results(id), results(id, grad=lambda x: np.append(x[:1], x[:-1]))
    mixed = {name: np.where(np.arange(array.size) < 4096, array, wrong[name]) for name, array in right.items()}
    said = looks(id, mixed).text
    assert said == "matches in a part: of grad the element before read; param: elements from 4096 on"


def test_an_index_into_a_long_table_is_affordable() -> None:
    id = "embedding/plain/indices_past_16_bits_64x65600x1"
    assert "indices modulo 65536" in looks(id, results(id, indices=lambda x: x % 65536)).readings


def test_numbers_of_one_format_of_16_bits_taken_for_the_other() -> None:
    def taken(x: Any) -> Any:
        return x.astype(np.float16).view(ml_dtypes.bfloat16).astype(np.float32)

    found = looks("gemm_fp16/plain/17x33x65", results("gemm_fp16/plain/17x33x65", A=taken, B=taken))
    assert "numbers of inputs read as bfloat16" in found.readings


def test_a_reading_that_gives_what_is_right_explains_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale of this case is 1 / sqrt(head_dim); that reading is given more noise than what is right has."""
    case = CASES["attention_forward/tails/2x12x1x5x65x80x64x0.125"]
    arguments = case.arguments()
    compared = Compared(case.operation, arguments, expect(case.operation, arguments))
    [reading] = [one for one in known(case.operation) if one.name == "1 / sqrt(head_dim) in place of the scale"]
    got = {name: np.array(value) for name, value in (compared.values(reading) or {}).items()}
    got["lse"][0, 1, 2] += 1.1 * limits(compared.expected["lse"])[0][0, 1, 2]
    noisy = {name: Noisy(x.v, 4 * x.variance, 4 * x.shared, None) for name, x in compared.expected.items()}
    monkeypatch.setattr(compared, "expectations", lambda one, values: [noisy] if one is reading else [])
    assert matches(compared, got)[0] == []


def _as_if_normal(x: Any) -> Any:
    bits = x.astype(np.float16).view(np.uint16).astype(np.uint32)
    wrong = ((bits & 0x7FFF) << 13) + (112 << 23) | (bits & 0x8000) << 16
    is_normal = (bits & 0x7C00 != 0) | (x == 0)
    return np.where(is_normal, x, wrong.view(np.float32))


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        (lambda x: np.where(np.abs(x) < 2.0**-14, 0, x), "subnormal in float16 taken as 0"),
        (_as_if_normal, "subnormal in float16 read as normal"),
    ],
)
def test_float16_read_without_its_subnormal_numbers(taken: Any, said: str) -> None:
    """As a converter by hand does that moves exponent and digits alone."""
    id = "gemm_fp16/plain/subnormal_17x33x65"
    assert said in looks(id, results(id, A=taken, B=taken)).text


def test_only_arrays_of_16_bits_go_through_the_other_format() -> None:
    def names(id: str) -> set[str]:
        return {reading.name for reading in misreadings(CASES[id].operation, CASES[id].arguments())}

    assert "A rounded to float16" in names("gemm_bf16/range/17x33x65")
    assert not [name for name in names("gemm/range/17x33x65") if "float16" in name.split()]


def test_what_is_cut_off_at_one_number_is_not_the_last_call_s_output() -> None:
    case = next(case for case in CASES.of("silu").values() if case.arguments()["input"].size > 2)
    arguments = case.arguments()
    got = {"output": np.full_like(arguments["input"], 0.5)}
    expected = expect("silu", arguments)
    verdicts = judge_outputs("silu", arguments, expected, got)
    found = diagnose("silu", arguments, expected, got, verdicts, last={"output": np.full(9, 0.5, np.float32)})
    assert found is not None
    assert "the same number everywhere, 0.5" in found.text


def test_numbers_that_a_short_format_has_one_number_for_are_not_the_same_number_everywhere() -> None:
    a = np.linspace(29900.0, 29999.0, 40).astype(np.float32)
    arguments = {"a": a, "b": np.ones_like(a)}
    expected = expect("add", arguments)
    got = {"output": np.full_like(a, 29952.0)}
    found = diagnose("add", arguments, expected, got, judge_outputs("add", arguments, expected, got))
    assert found is not None
    assert found.text == "output: stored through bfloat16"


@pytest.mark.parametrize(("by", "said"), [(-2e-6, "toward zero"), (2e-6, "away from zero")])
def test_a_factor_in_the_last_digits_is_a_rounding_to_one_side(by: float, said: str) -> None:
    id = "gemm/plain/17x33x65"
    right = reference.gemm(**CASES[id].arguments())
    found = looks(id, {"C": (right * (1 + by)).astype(np.float32)})
    assert f"rounded {said} where the nearest number is due" in found.text
