"""Implementations that evaluate in an order drawn at random: they are honest, differ by seed, and pass."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance.catalogue.cases import CASES
from conformance.commands import cli
from conformance.exit_codes import HARNESS
from conformance.limits import HEADER, Contract, Declaration
from conformance.limits.measure import measure
from conformance.limits.noise import exact
from conformance.pool import PoolError
from conformance.proof import false_alarms
from conformance.proof.false_alarms import judge_case, known_implementations, results, shares
from conformance.variants.honest import implementations, name_of
from conformance.variants.honest.expressions import Orders, Product, Sum
from conformance.variants.honest.reordered import reordered

SEEDS = range(6)
Floats = np.ndarray[Any, np.dtype[Any]]


class EndsTheProcess:
    """What ends a process that unpickles it, without a word, as a lack of memory does."""

    def __reduce__(self) -> Any:
        return os._exit, (9,)


def normal(*shape: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def gradients(seed: int, gate: Floats, up: Floats, d_output: Floats) -> list[Floats]:
    make = reordered(seed)
    return [np.asarray(one) for one in reference.swiglu_backward(make(gate), make(up), make(d_output))]


def test_orders_differ_by_seed_and_are_the_same_by_the_same_seed() -> None:
    given = normal(200), normal(200, seed=1), normal(200, seed=2)
    by_seed = [gradients(seed, *given)[0] for seed in SEEDS]
    again = [gradients(seed, *given)[0] for seed in SEEDS]
    assert all(np.array_equal(one, other) for one, other in zip(by_seed, again, strict=True))
    assert len({one.tobytes() for one in by_seed}) > 2
    assert all(one.dtype == np.float32 for one in by_seed)
    expected = reference.swiglu_backward(*map(exact, given))[0]
    assert all(measure(expected, one).share.max() <= 1 for one in by_seed)


def test_every_order_of_three_factors_and_a_divisor_comes_up() -> None:
    a, b, c, d = (normal(300, seed=seed) for seed in range(4))
    found = {Orders(seed).value(Product((a, b, c), (d,))).tobytes() for seed in range(1000)}
    named = [a * b * c / d, a * b / d * c, a * c / d * b, a / d * b * c, (a * c) * (b / d), a * b * c * (1 / d)]
    assert all(one.tobytes() in found for one in named)


def test_a_factor_goes_to_the_terms_of_a_sum_unless_these_are_exact() -> None:
    x, a, b = (normal(300, seed=seed) for seed in range(3))
    for inputs, ways in ((1, {(x * (a + b)).tobytes(), (x * a + x * b).tobytes()}), (2, {(x * (a + b)).tobytes()})):
        product = Product((x, Sum((Product((a,)), Product((b,))), inputs)))
        assert {Orders(seed).value(product).tobytes() for seed in range(30)} == ways


def test_a_subnormal_quotient_is_flushed_by_some() -> None:
    small, large = np.full(4, 1e-30, np.float32), np.full(4, 1e12, np.float32)
    with np.errstate(under="ignore"):
        found = {float(Orders(seed).value(Product((small,), (large,)))[0]) for seed in range(40)}
    assert 0.0 in found
    assert any(0 < one < 1e-38 for one in found)


def test_an_infinite_factor_stays_before_its_sum() -> None:
    infinite, s = np.full(3, np.inf, np.float32), np.full(3, 0.25, np.float32)
    product = Product((infinite, Sum((Product((np.ones(3, np.float32),)), Product((-s,))), 1)))
    assert all(np.isposinf(Orders(seed).value(product)).all() for seed in range(20))


def test_what_all_terms_have_in_common_is_multiplied_before_or_after_a_sum() -> None:
    rows, column = normal(5, 40), normal(5, 1, seed=1)

    def total(seed: int) -> Floats:
        make = reordered(seed)
        return np.asarray(np.sum(make(rows) * make(column), axis=-1, keepdims=True))

    found = [total(seed) for seed in range(20)]
    assert len({one.tobytes() for one in found}) > 10
    expected: Any = np.sum(exact(rows) * exact(column), axis=-1, keepdims=True)
    assert all(measure(expected, one).share.max() <= 1 for one in found)


@pytest.mark.parametrize(
    "id",
    [
        *(
            "swiglu_backward/range/1025",
            "silu_backward/range/1025",
            "silu_backward/special/1025",
            "softmax/large/2x1025",
        ),
        *("rmsnorm_backward/plain/3x33x1e-06x1", "adamw_step/plain/33x0.001x0.9x0.95x1e-08x0.1x7"),
        *("gemm_nn/plain/17x33x65x2x1", "cross_entropy_backward/plain/33x257x0.03"),
    ],
)
def test_they_pass(id: str) -> None:
    known = {"reordered": implementations()["reordered"]}
    chosen = id if id in CASES else next(one for one in CASES if one.startswith(id.rpartition("/")[0]))
    runs = [run for seed in SEEDS for run in judge_case(chosen, seed, known)]
    assert len(runs) == len(SEEDS)
    assert [run.line for run in runs if run.line] == []


def test_subnormal_numbers_are_flushed_only_where_that_is_declared() -> None:
    declared = Contract("flushing", Declaration(flush_to_zero=True))
    known = known_implementations([], declared)
    flushing = {"flushing": known["reordered, flushing"]}
    assert "reordered, flushing" not in known_implementations([], HEADER)
    cases = ("mul/signed/1025", "scale/signed/1025x0.003", "swiglu_backward/range/1025")
    for contract, found in ((declared, set()), (HEADER, {"mul/signed/1025", "scale/signed/1025x0.003"})):
        assert {id for id in cases for run in judge_case(id, 1, flushing, contract) if run.line} == found


def test_of_two_sums_in_a_product_one_is_multiplied_out_at_most() -> None:
    """(x - m)^2 of numbers far from zero, m being their mean: x^2 - 2 x m + m^2 keeps nothing of it."""
    x = normal(4, 33) + np.float32(1000)

    def squares(seed: int) -> Floats:
        given = reordered(seed)(x)
        centred = given - np.mean(given, axis=-1, keepdims=True)
        return np.asarray(centred * centred)

    found = [squares(seed) for seed in SEEDS]
    assert len({one.tobytes() for one in found}) > 1
    wide = x.astype(np.float64)
    due = (wide - wide.mean(axis=-1, keepdims=True)) ** 2
    assert all(np.abs(one - due).max() < 0.02 for one in found)


@pytest.mark.parametrize(
    ("id", "seed", "name"),
    [
        ("momentum_step/cancel/1025x0.01x0.9x1x0", 1120000, "reordered"),  # a sum of two came out exact
        ("layernorm/range/3x1025x1e-05", 1120116, "reverse"),  # like squares behind a large one
        ("batchnorm_training/special/9x65x5x0.3x1e-05", 1120108, "rearranged"),  # an infinite running mean
        ("layernorm/special/5x33x1e-05", 1120002, "rearranged"),  # a running mean of infinity
        ("softmax_backward/special/31x4", 777, "rearranged"),  # an infinite weight, which no softmax gives
        ("attention_backward_fp16/plain/scores_far_from_zero_1x2x1x40x8x0.25", 777, "rearranged"),  # in base two
        ("gelu_tanh_backward/designed/129_huge_signed", 1121100, "reordered"),  # infinity times what is left of zero
    ],
)
def test_what_has_been_a_false_alarm_is_none(id: str, seed: int, name: str) -> None:
    (run,) = judge_case(id, seed, {name: implementations()[name]})
    assert run.line == ""


def test_runs_are_dealt_until_there_are_enough() -> None:
    known = known_implementations([], HEADER)
    ids = ["add/plain/1", "mul/signed/1025", "gelu/plain/1"]
    once = shares(ids, 5, 1, 2, known)
    assert [len(share) for share in once] == [1, 0]
    assert once[0][0] in [(id, 5) for id in ids]
    assert {shares(ids, seed, 1, 2, known)[0][0][0] for seed in range(20)} == {*ids}
    a_round = sum(len(judge_case(id, 5, known)) for id in ids)
    dealt = shares(ids, 5, a_round, 2, known)
    assert sorted(unit for share in dealt for unit in share) == [(id, 5) for id in sorted(ids)]


def test_a_case_meets_every_kind_of_process_in_turn() -> None:
    known = known_implementations([], HEADER)
    ids = ["add/plain/1", "mul/signed/1025"]
    dealt = shares(ids, 0, 2 * sum(len(judge_case(id, 0, known)) for id in ids), 2, known)
    assert [{id for id, _ in share} for share in dealt] == [{*ids}, {*ids}]


def test_there_are_no_runs_where_nothing_is_judged() -> None:
    assert shares([], 0, 100, 2, known_implementations([], HEADER)) == [[], []]


def test_calls_at_full_size_and_in_sequence_are_judged_on_libraries(
    stub_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "false-alarms",
        "-k",
        "softmax_topk_backward and (full or sequence/same_sizes)",
        "--runs",
        "3",
        "--seed",
        "0",
    ]
    assert cli.main([*words, "--library", str(stub_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(rf"{name_of(stub_path)} +[1-9]\d* +0 ", out)
    assert cli.main(words) == HARNESS
    assert "no case matches" in capsys.readouterr().out


def test_a_process_that_fails_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(false_alarms, "_LOOKED_AFTER_S", 0.2)
    ended: Any = [EndsTheProcess()]
    for units in ([("add/plain/nothing", 0)], ended):
        with pytest.raises(PoolError, match="its runs are not counted"):
            [*results([units], [], HEADER)]


def test_an_id_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["false-alarms", "--case", "add/plain/nothing"]) == HARNESS
    assert "--case add/plain/nothing: expected a case, got no case's id; did you mean add/" in capsys.readouterr().out


def test_no_case_that_matches_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["false-alarms", "-k", "nowhere"]) == HARNESS
    assert "no case matches -k 'nowhere'" in capsys.readouterr().out


def test_a_contract_that_is_not_there_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["false-alarms", "--case", "silu/plain/1", "--contract", "nowhere.toml"]) == HARNESS
    assert "nowhere.toml: expected a file, or one of " in capsys.readouterr().out
