"""Attention whose parts are joined by their log-sum-exps passes, also far from zero; another scale does not."""

from __future__ import annotations

import pytest

from conformance.catalogue.cases import CASES
from conformance.judging import outputs
from conformance.limits.expectation import expect
from conformance.variants.honest import attention
from conformance.variants.honest.replicas import plain
from reference import attention_forward

CASE = CASES["attention_forward/plain/scores_far_from_zero_1x2x1x9x144x150x32x0.25"]


@pytest.mark.parametrize("seed", range(8))
def test_parts_may_be_joined_by_their_log_sum_exps(seed: int) -> None:
    arguments = CASE.arguments(seed)
    expected = expect(CASE.operation, arguments)
    joined = dict(zip(("output", "lse"), map(plain, attention.attention_forward(**arguments)), strict=True))
    assert outputs.passes(CASE.operation, arguments, expected, joined)


def test_scores_that_lose_what_tells_them_apart_still_fail() -> None:
    arguments = CASE.arguments()
    expected = expect(CASE.operation, arguments)
    alike = arguments["K"].copy()
    alike[..., 1] = 0  # 30001 as 30000
    made = attention_forward(arguments["Q"], alike, arguments["V"], arguments["kv_len"], arguments["scale"])
    verdicts = outputs.judge_outputs(
        CASE.operation, arguments, expected, dict(zip(("output", "lse"), made, strict=True))
    )
    assert [verdict.passed for verdict in verdicts if verdict.output == "output"] == [False]
