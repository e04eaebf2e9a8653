"""Which goldens there are: the set in the repository, and every operation at the sizes of the full model."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.cases.spec import sizes
from conformance.limits.envelope import RUNS, Run
from conformance.operations import OPERATIONS, base_of, is_sixteen_bit
from reference.model.config import FULL as MODEL

from .sources import CaseSource, Source, by_id, chosen
from .step import StepSource
from .training_run import RunSource

COMMITTED, FULL = "committed", "full"
STEP_SEED = 0  # such that no routing choice of the step lies within the noise
TRAINING_RUNS: dict[Run, Source] = {run: RunSource(run) for run in RUNS}

BATCH, SEQ = 2, 130
TOKENS = BATCH * SEQ
ROWS = TOKENS * MODEL.top_k
HIDDEN, FFN, VOCAB, EXPERTS = MODEL.hidden, MODEL.ffn, MODEL.vocab, MODEL.experts
HEADS, KV_HEADS, HEAD_DIM = MODEL.q_heads, MODEL.kv_heads, MODEL.head_dim
SCALE = HEAD_DIM**-0.5
EXPERT = (FFN * HIDDEN, FFN * HIDDEN, HIDDEN * FFN, HIDDEN)  # one expert's weights, and a norm's
HYPER = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8}


@functools.cache
def sources(profile: str) -> Mapping[str, Source]:
    """Every golden of a profile by id."""
    if profile == COMMITTED:
        return by_id([*(CaseSource(case) for case in chosen()), StepSource(STEP_SEED), *TRAINING_RUNS.values()])
    return by_id(CaseSource(case, asks_oracle=False) for case in full_cases())


def full_cases() -> list[Case]:
    """The first case of every operation in the catalogue, at the sizes it has in one layer of the full model."""
    first: dict[str, Case] = {}
    for case in CASES.values():
        first.setdefault(case.operation, case)
    return [_resized(first[operation], row) for operation, row in full_sizes().items()]


def _resized(case: Case, row: Mapping[str, Any]) -> Case:
    [resized] = replace(case.spec, data={case.data: [row]}).cases()
    return resized


def _alike(operations: tuple[str, ...], row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return dict.fromkeys(operations, row)


def full_sizes() -> dict[str, Mapping[str, Any]]:
    """The sizes of every operation in a layer of the full model, in the order of the step, then those of 16 bits."""
    rows = _float32_sizes()
    [element] = sizes("n", (TOKENS * HIDDEN,))
    sixteen = filter(is_sixteen_bit, OPERATIONS)
    return {**rows, **{operation: rows.get(base_of(operation), element) for operation in sixteen}}


def _float32_sizes() -> dict[str, Mapping[str, Any]]:
    [element, pair] = sizes("n", (TOKENS * HIDDEN,), (ROWS * FFN,))
    [router, vocabulary] = sizes("rows cols", (TOKENS, EXPERTS), (TOKENS, VOCAB))
    [norm] = sizes("rows hidden_dim eps", (TOKENS, HIDDEN, MODEL.eps))
    fresh = {"alpha": 1.0, "beta": 0.0}
    [head] = sizes("M N K", (TOKENS, VOCAB, HIDDEN))
    [heads] = sizes("batch seq_len n_heads head_dim offset", (BATCH, SEQ, HEADS, HEAD_DIM, 0))
    [both] = sizes("batch seq_len n_q_heads n_kv_heads head_dim offset", (BATCH, SEQ, HEADS, KV_HEADS, HEAD_DIM, 0))
    [mqa] = sizes("batch n_heads seq_len head_dim", (BATCH, HEADS, SEQ, HEAD_DIM))
    [attention] = sizes(
        "batch n_q_heads n_kv_heads seq_len head_dim scale", (BATCH, HEADS, KV_HEADS, SEQ, HEAD_DIM, SCALE)
    )
    [routed] = sizes("tokens top_k hidden_dim", (TOKENS, MODEL.top_k, HIDDEN))
    [groups] = sizes("rows n_experts N K", (ROWS, EXPERTS, FFN, HIDDEN))
    [table] = sizes("num_indices vocab_size embedding_dim", (TOKENS, VOCAB, HIDDEN))
    [loss] = sizes("batch_seq vocab_size", (TOKENS, VOCAB))
    [draw] = sizes("batch vocab_size", (8, VOCAB))
    many = {"count": len(EXPERT), "sizes": EXPERT}
    return {
        **_alike(("silu", "silu_backward", "add", "mul"), element),
        **_alike(("swiglu", "swiglu_backward"), pair),
        "scale": {**element, "scale": 0.125},
        **_alike(("softmax", "softmax_backward"), vocabulary),
        **_alike(("softmax_topk", "softmax_topk_backward"), {**router, "k": MODEL.top_k}),
        **_alike(("rmsnorm", "rmsnorm_residual"), norm),
        **_alike(("rmsnorm_backward", "rmsnorm_residual_backward"), {**norm, "beta": 0.0}),
        "gemm": head,
        "gemm_beta": {"M": TOKENS, "N": HIDDEN, "K": HEADS * HEAD_DIM, **fresh},
        "gemm_nn": {"M": TOKENS, "N": HIDDEN, "K": VOCAB, **fresh},
        "gemm_tn": {"M": VOCAB, "N": HIDDEN, "K": TOKENS, **fresh},
        "gemm_tt": {"M": HIDDEN, "N": TOKENS, "K": HIDDEN, **fresh},
        "batched_gemm": {"batch": BATCH * HEADS, "M": SEQ, "N": SEQ, "K": HEAD_DIM},
        "grouped_gemm": groups,
        "grouped_gemm_nn": {**groups, "N": HIDDEN, "K": FFN},
        "grouped_gemm_tn": {"rows": ROWS, "n_experts": EXPERTS, "M": FFN, "N": HIDDEN, "beta": 0.0},
        "rope_freqs": {"max_seq_len": SEQ, "head_dim": HEAD_DIM, "base": MODEL.rope_base, "alpha": MODEL.rope_alpha},
        **_alike(("rope_forward", "rope_backward"), heads),
        **_alike(("rope_qk", "rope_qk_backward"), both),
        "attention_scores": {**mqa, "scale": SCALE},
        "attention_output": mqa,
        **_alike(("flash_attention", "attention_backward"), attention),
        "attention_forward": {
            **{"batch": BATCH, "n_q_heads": HEADS, "n_kv_heads": KV_HEADS},
            **{"q_len": 1, "kv_len": SEQ, "kv_capacity": 256, "head_dim": HEAD_DIM, "scale": SCALE},
        },
        "kv_cache_append": {
            **{"batch": BATCH, "new_len": SEQ, "n_kv_heads": KV_HEADS, "head_dim": HEAD_DIM},
            **{"kv_capacity": 256, "position": 0},
        },
        "expert_sort": {"tokens": TOKENS, "top_k": MODEL.top_k, "n_experts": EXPERTS},
        **_alike(("expert_dispatch", "expert_dispatch_backward"), routed),
        **_alike(("expert_combine", "expert_combine_backward"), routed),
        "aux_loss_forward": {
            **{"batch_seq": TOKENS, "n_experts": EXPERTS, "top_k": MODEL.top_k, "alpha": MODEL.aux_alpha},
        },
        "aux_loss_backward": {"batch_seq": TOKENS, "n_experts": EXPERTS, "alpha": MODEL.aux_alpha, "scale": 1.0},
        "cross_entropy_forward": loss,
        "cross_entropy_backward": {**loss, "scale": 1 / TOKENS},
        "adamw_step": {"size": EXPERT[0], **HYPER, "weight_decay": 0.1, "step": 7},
        "multi_adamw": {**many, **HYPER, "step": 7},
        "zero_grad": {"size": VOCAB * HIDDEN},
        "grad_clip": {"size": EXPERT[0], "clip_norm": 1.0},
        **_alike(("multi_sum_squares", "multi_nonfinite"), many),
        "clip_scale": {"clip_norm": 1.0},
        "multi_scale": many,
        **_alike(("embedding", "scatter_add"), table),
        "argmax": draw,
        "sample": {**draw, "temperature": 0.7},
        "topk_sample": {**draw, "k": 40, "temperature": 0.7},
        "topp_sample": {**draw, "top_p": 0.9, "temperature": 0.7},
    }
