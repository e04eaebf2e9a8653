"""Where a mixed-precision step computes in 16 bits: every call of it, by the formats of its arrays."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import reference
from reference.model.config import TINY
from reference.namespace import Wrapped
from reference.ops.sixteen import is_form_of
from reference.step import BACKWARD_BEGINS, FORWARD_BEGINS
from training.precision import BF16, FLOAT32, FP16, MIXED, Policy, Precision, Rule
from training.step_formats import summary, trace

HALF, WIDE = "bfloat16", "float32"
LAYERS = TINY.layers
# Operation: calls, formats read, formats written.
SHARED = {
    "embedding_bf16": (1, (HALF,), (HALF,)),
    "gemm_bf16": (4 * LAYERS + 1, (HALF,), (HALF,)),
    "gemm_nn_bf16": (5 * LAYERS + 1, (HALF,), (HALF,)),
    "gemm_tn_bf16": (5 * LAYERS + 1, (HALF,), (WIDE,)),
    "router_gemm_bf16": (LAYERS, (HALF,), (WIDE,)),
    "grouped_gemm_nn_bf16": (3 * LAYERS, (HALF,), (HALF,)),
    "grouped_gemm_tn_bf16": (3 * LAYERS, (HALF,), (WIDE,)),
    "attention_forward_bf16": (LAYERS, (HALF,), (HALF, WIDE)),
    "attention_backward_bf16": (LAYERS, (HALF, WIDE), (HALF,)),
    "swiglu_backward_bf16": (LAYERS, (HALF,), (HALF,)),
    "expert_dispatch_bf16": (LAYERS, (HALF,), (HALF,)),
    "expert_dispatch_backward_bf16": (LAYERS, (HALF,), (HALF,)),
    "expert_combine_bf16": (LAYERS, (HALF, WIDE), (HALF,)),
    "expert_combine_backward_bf16": (LAYERS, (HALF, WIDE), (HALF, WIDE)),
    "rmsnorm_bf16": (1, (HALF, WIDE), (HALF,)),
    "rmsnorm_backward_bf16": (1, (HALF, WIDE), (HALF, WIDE)),
    "rmsnorm_residual_bf16": (2 * LAYERS, (HALF, WIDE), (HALF,)),
    "rmsnorm_residual_backward_bf16": (2 * LAYERS, (HALF, WIDE), (HALF, WIDE)),
}
ONE_BY_ONE = {
    "grouped_gemm_bf16": (3 * LAYERS, (HALF,), (HALF,)),
    "swiglu_bf16": (LAYERS, (HALF,), (HALF,)),
    "cross_entropy_forward_bf16": (1, (HALF,), (WIDE,)),
    "cross_entropy_backward_bf16": (1, (WIDE,), (HALF,)),
    # The router's choice, and all that works on masters and gradients.
    "softmax": (LAYERS, (WIDE,), (WIDE,)),
    "softmax_topk": (LAYERS, (WIDE,), (WIDE,)),
    "softmax_backward": (LAYERS, (WIDE,), (WIDE,)),
    "softmax_topk_backward": (LAYERS, (WIDE,), (WIDE,)),
    "multi_sum_squares": (1, (WIDE,), (WIDE,)),
}
AT_ONCE = {
    "grouped_gemm_swiglu_bf16": (LAYERS, (HALF,), (HALF,)),
    "grouped_gemm_bf16": (LAYERS, (HALF,), (HALF,)),
    "fused_cross_entropy_bf16": (1, (HALF,), (HALF, WIDE)),
    "topk_router": (LAYERS, (WIDE,), (WIDE,)),
    "topk_router_backward_bf16": (LAYERS, (WIDE,), (HALF,)),
    "multi_sum_squares_nonfinite": (1, (WIDE,), (WIDE,)),
}
Calls = dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]]


class Fused(Wrapped):
    """The reference with its fused operations offered."""

    def offers(self, operation: str) -> bool:
        return hasattr(reference, operation)


def placed(ops: Any) -> Calls:
    found: Calls = {}
    for call, count in summary(trace(ops, TINY, BF16)).items():
        assert call.operation not in found, f"{call.operation} is placed in two ways"
        found[call.operation] = (count, call.given, call.returned)
    return found


@pytest.mark.parametrize(
    ("ops", "due"),
    [(reference, SHARED | ONE_BY_ONE), (Fused(reference), SHARED | AT_ONCE)],
    ids=["one by one", "fused"],
)
def test_every_product_norm_and_loss_is_placed_as_the_policy_says(ops: Any, due: Calls) -> None:
    words = re.compile("gemm|attention|norm|softmax|entropy|swiglu|embedding|router|squares|dispatch|combine")
    assert {name: how for name, how in placed(ops).items() if words.search(name)} == due


@pytest.mark.parametrize("precision", [FLOAT32, BF16, FP16], ids=["float32", "bf16", "fp16"])
def test_forward_and_backward_begin_with_the_operations_that_say_so(precision: Precision) -> None:
    called = [call.operation for call in trace(reference, TINY, precision, micro_batches=2)]
    forward, backward = (
        [place for place, name in enumerate(called) if is_form_of(name, first)]
        for first in (FORWARD_BEGINS, BACKWARD_BEGINS[0])
    )
    assert len(forward) == len(backward) == 2
    assert forward[0] < backward[0] < forward[1] < backward[1]
    gradients = [place for place, name in enumerate(called) if "_backward" in name]
    assert min(gradients) == backward[0]
    assert not any(forward[1] <= place < backward[1] for place in gradients)


def test_what_has_a_16_bit_form_takes_what_it_is_given_but_for_what_makes_16_bits() -> None:
    rules = {name: rule for name, rule in MIXED.operations.items() if rule is not Rule.GIVEN}
    assert rules == dict.fromkeys(["expert_dispatch", "cross_entropy_backward", "topk_router_backward"], Rule.SIXTEEN)


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
@pytest.mark.parametrize(("ops", "each_layer"), [(reference, 1), (Fused(reference), 0)], ids=["one by one", "fused"])
def test_nothing_is_converted_but_what_no_operation_stores_in_16_bits(
    ops: Any, each_layer: int, precision: Precision
) -> None:
    """One by one, the gradient of a router's logits: the operations that it is the sum of know float32 alone."""
    calls = [call.operation for call in trace(ops, TINY, precision)]
    casts = [name for name in calls if name.startswith("cast_")]
    assert casts == [f"cast_to_{precision.format}"] * (each_layer * LAYERS)
    behind = {calls[place - 1] for place, name in enumerate(calls) if name in casts}
    assert behind == ({"add"} if casts else set())


def test_fp16_is_placed_alike() -> None:
    in_bf16, in_fp16 = ({p.operation for p in trace(reference, TINY, one)} for one in (BF16, FP16))
    assert {name.replace("_bf16", "_fp16") for name in in_bf16} | {"multi_scale"} == in_fp16


def test_no_format_is_one_that_no_library_has() -> None:
    formats = {format for p in trace(reference, TINY, BF16) for format in (*p.given, *p.returned)}
    assert formats == {"float32", "bfloat16"}


def test_float32_calls_nothing_of_16_bits() -> None:
    assert not any(p.operation.endswith(("_bf16", "_fp16")) for p in trace(reference, TINY, FLOAT32))


def test_a_policy_of_ones_own() -> None:
    norms = MIXED.operations | {"rmsnorm": Rule.FLOAT32, "rmsnorm_residual": Rule.FLOAT32}
    policy = Policy(operations=norms, parameters=MIXED.parameters - {"lm_head"})
    called = {p.operation for p in trace(reference, TINY, replace(BF16, policy=policy))}
    assert {"rmsnorm", "rmsnorm_residual"} <= called
    assert not {"rmsnorm_bf16", "rmsnorm_residual_bf16"} & called


def test_what_no_policy_can_say_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Policy: operations\['softmax'\]: expected .* has a 16-bit form, got 16-bit"):
        Policy(operations={"softmax": Rule.SIXTEEN})
    with pytest.raises(
        ValueError, match=r"Policy: parameters: expected fields of a model \(attn_norm, .*got \['head'\]"
    ):
        Policy(parameters=frozenset({"head"}))
