"""Where a mixed-precision step computes in 16 bits: every call of it, by the formats of its arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest

import reference
from reference.model.config import TINY
from reference.ops.sixteen import is_form_of
from reference.step import BACKWARD_BEGINS, FORWARD_BEGINS
from training.precision import BF16, FLOAT32, FP16, MIXED, Policy, Precision, Rule
from training.step_formats import summary, trace

HALF, WIDE = "bfloat16", "float32"
LAYERS = TINY.layers
# Operation: calls, formats read, formats written.
PLACED = {
    "embedding_bf16": (1, (HALF,), (HALF,)),
    "gemm_bf16": (4 * LAYERS + 1, (HALF,), (HALF,)),
    "gemm_nn_bf16": (4 * LAYERS + 1, (HALF,), (HALF,)),
    "gemm_tn_bf16": (4 * LAYERS + 1, (HALF,), (WIDE,)),
    "grouped_gemm_bf16": (3 * LAYERS, (HALF,), (HALF,)),
    "grouped_gemm_nn_bf16": (3 * LAYERS, (HALF,), (HALF,)),
    "grouped_gemm_tn_bf16": (3 * LAYERS, (HALF,), (WIDE,)),
    "attention_forward_bf16": (LAYERS, (HALF,), (HALF, WIDE)),
    "attention_backward_bf16": (LAYERS, (HALF, WIDE), (HALF,)),
    "swiglu_bf16": (LAYERS, (HALF,), (HALF,)),
    "swiglu_backward_bf16": (LAYERS, (HALF,), (HALF,)),
    "expert_dispatch_bf16": (LAYERS, (HALF,), (HALF,)),
    "expert_combine_bf16": (LAYERS, (HALF, WIDE), (HALF,)),
    "cross_entropy_forward_bf16": (1, (HALF,), (WIDE,)),
    "cross_entropy_backward_bf16": (1, (WIDE,), (HALF,)),
    # The router, the norms, and all that works on masters and gradients.
    "gemm": (LAYERS, (WIDE,), (WIDE,)),
    "gemm_nn": (LAYERS, (WIDE,), (WIDE,)),
    "gemm_tn": (LAYERS, (WIDE,), (WIDE,)),
    "softmax": (LAYERS, (WIDE,), (WIDE,)),
    "softmax_topk": (LAYERS, (WIDE,), (WIDE,)),
    "softmax_backward": (LAYERS, (WIDE,), (WIDE,)),
    "softmax_topk_backward": (LAYERS, (WIDE,), (WIDE,)),
    "rmsnorm": (1, (WIDE,), (WIDE,)),
    "rmsnorm_backward": (1, (WIDE,), (WIDE,)),
    "rmsnorm_residual": (2 * LAYERS, (WIDE,), (WIDE,)),
    "rmsnorm_residual_backward": (2 * LAYERS, (WIDE,), (WIDE,)),
    "multi_sum_squares": (1, (WIDE,), (WIDE,)),
}


@pytest.fixture(scope="module")
def calls() -> dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]]:
    found: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {}
    for call, count in summary(trace(reference, TINY, BF16)).items():
        assert call.operation not in found, f"{call.operation} is placed in two ways"
        found[call.operation] = (count, call.given, call.returned)
    return found


@pytest.mark.parametrize("operation", PLACED)
def test_it_is_placed_as_the_policy_says(operation: str, calls: dict[str, tuple[int, object, object]]) -> None:
    assert calls[operation] == PLACED[operation]


def test_no_other_product_norm_or_loss_is_called(calls: dict[str, tuple[int, object, object]]) -> None:
    known = ("gemm", "attention", "norm", "softmax", "cross_entropy", "swiglu", "embedding")
    assert {name for name in calls if any(word in name for word in known)} <= PLACED.keys()


@pytest.mark.parametrize("precision", [FLOAT32, BF16, FP16], ids=["float32", "bf16", "fp16"])
def test_forward_and_backward_begin_with_the_operations_that_say_so(precision: Precision) -> None:
    called = [call.operation for call in trace(reference, TINY, precision, micro_batches=2)]
    forward, backward = (
        [place for place, name in enumerate(called) if is_form_of(name, first)]
        for first in (FORWARD_BEGINS, BACKWARD_BEGINS)
    )
    assert len(forward) == len(backward) == 2
    assert forward[0] < backward[0] < forward[1] < backward[1]
    gradients = [place for place, name in enumerate(called) if "_backward" in name]
    assert min(gradients) == backward[0]
    assert not any(forward[1] <= place < backward[1] for place in gradients)


def test_what_has_a_16_bit_form_takes_what_it_is_given_but_for_norms() -> None:
    rules = {name: rule for name, rule in MIXED.operations.items() if rule is not Rule.GIVEN}
    assert rules == {
        **dict.fromkeys(["expert_dispatch", "cross_entropy_backward"], Rule.SIXTEEN),
        **dict.fromkeys([name for name in MIXED.operations if name.startswith("rmsnorm")], Rule.FLOAT32),
    }
    assert len([rule for rule in rules.values() if rule is Rule.FLOAT32]) == 4


def test_fp16_is_placed_alike() -> None:
    in_bf16, in_fp16 = ({p.operation for p in trace(reference, TINY, one)} for one in (BF16, FP16))
    assert {name.replace("_bf16", "_fp16") for name in in_bf16} | {"multi_scale"} == in_fp16


def test_no_format_is_one_that_no_library_has() -> None:
    formats = {format for p in trace(reference, TINY, BF16) for format in (*p.given, *p.returned)}
    assert formats == {"float32", "bfloat16"}


def test_float32_calls_nothing_of_16_bits() -> None:
    assert not any(p.operation.endswith(("_bf16", "_fp16")) for p in trace(reference, TINY, FLOAT32))


def test_a_policy_of_ones_own() -> None:
    norms = MIXED.operations | {"rmsnorm": Rule.SIXTEEN, "rmsnorm_residual": Rule.GIVEN}
    policy = Policy(operations=norms, parameters=MIXED.parameters - {"lm_head"})
    called = {p.operation for p in trace(reference, TINY, replace(BF16, policy=policy))}
    assert {"rmsnorm_bf16", "rmsnorm_residual_bf16"} <= called
    assert not {"rmsnorm", "rmsnorm_residual"} & called


def test_what_no_policy_can_say_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Policy: operations\['softmax'\]: expected .* has a 16-bit form, got 16-bit"):
        Policy(operations={"softmax": Rule.SIXTEEN})
    with pytest.raises(
        ValueError, match=r"Policy: parameters: expected fields of a model \(attn_norm, .*got \['head'\]"
    ):
        Policy(parameters=frozenset({"head"}))
