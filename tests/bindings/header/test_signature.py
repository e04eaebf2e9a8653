"""The Python side of a declaration."""

from __future__ import annotations

import pytest

from bindings import Header, Signature

ARGUMENTS = {
    "rmsnorm": "input weight eps",
    "softmax_topk": "input k",
    "rope_freqs": "max_seq_len head_dim base alpha",
    "rope_forward": "input freqs offset",
    "gemm_nn": "A B C alpha beta",
    "grouped_gemm_tn": "A B offsets C beta",
    "attention_forward": "Q K V kv_len scale",
    "multi_adamw": "params grads ms vs weight_decays grad_scale lr beta1 beta2 eps step",
    "aux_loss_forward": "router_probs expert_indices alpha",
    "aux_loss_backward": "f_counts batch_seq alpha scale",
    "expert_sort": "indices n_experts",
    "scatter_add": "grad_output indices grad_weight",
    "grad_clip": "grad clip_norm",
    "zero_grad": "size",
    "clip_scale": "sum_squares clip_norm",
}
RETURNED = {
    "rmsnorm_residual": "output residual_out",
    "softmax_topk": "weights indices",
    "rmsnorm_backward": "d_input d_weight",
    "multi_adamw": "params ms vs",
    "aux_loss_forward": "aux_loss f_counts p_means",
    "grad_clip": "grad total_norm",
    "scatter_add": "grad_weight",
}


@pytest.mark.parametrize("operation", ARGUMENTS)
def test_arguments(operation: str, header: Header) -> None:
    assert " ".join(Signature(header.operations[operation]).names) == ARGUMENTS[operation]


@pytest.mark.parametrize("operation", RETURNED)
def test_what_a_call_returns(operation: str, header: Header) -> None:
    returned = Signature(header.operations[operation]).returned
    assert " ".join(parameter.name for parameter in returned) == RETURNED[operation]


def test_python_shows_outputs_as_keywords(header: Header) -> None:
    shown = str(Signature(header.operations["softmax_topk"]).python())
    assert shown == "(input, k, *, weights=None, indices=None)"


def test_every_number_of_a_call_is_known(header: Header) -> None:
    """Each scalar of the header is read off a shape or given by the caller, and never both."""
    for function in header.operations.values():
        signature = Signature(function)
        scalars = {p.name for p in function.parameters if p.is_scalar}
        given = {p.name for p in signature.scalars}
        read = {name for name in scalars if signature.source_of(name)}
        assert given | read == scalars, function.operation
        assert not given & read, function.operation
