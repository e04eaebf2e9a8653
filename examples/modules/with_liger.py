"""Liger's Triton kernels, under Triton's interpreter: `assayer run --module examples/modules/with_liger.py --exported`.

The one function of CUDA's libdevice that they call, which the interpreter has not, is replaced by Triton's own.
"""

from __future__ import annotations

import os

os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is loaded: it reads this once

import torch
import torch.distributed.tensor  # Liger looks for it without loading it
import torch.nn.functional as F  # noqa: N812  (as every PyTorch program calls it)
import triton
import triton.language as tl
from liger_kernel.ops import cross_entropy, fused_add_rms_norm, rms_norm, rope
from liger_kernel.ops import softmax as softmax_kernels
from liger_kernel.ops import swiglu as swiglu_kernels
from torch import Tensor

FRAMEWORK = "torch"
_LLAMA = "llama"


@triton.jit
def _rsqrt(x):
    return tl.rsqrt(x)


rms_norm.rsqrt = fused_add_rms_norm.rsqrt = _rsqrt


class _Number(float):
    """A number that a kernel can cast, as on a GPU; the interpreter hands kernels those of Python."""

    def to(self, dtype):
        return self


def _added(beta: float, old: Tensor, new: Tensor) -> Tensor:
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else beta * old + new


def swiglu(gate, up):
    """By the kernel for a gate and up that lie side by side in a row."""
    return swiglu_kernels.swiglu_fused_gate_up_forward(torch.cat([gate, up])[None])[1][0]


def swiglu_backward(gate, up, d_output):
    d_both = swiglu_kernels.swiglu_fused_gate_up_backward(torch.cat([gate, up])[None], d_output[None])[0]
    return d_both[: len(gate)], d_both[len(gate) :]


def softmax(input):
    if input.shape[1] > 65536:
        raise NotImplementedError("a row has to fit in one block")
    return softmax_kernels._softmax_forward(input)[0]


def softmax_backward(output, d_output):
    block, warps = softmax_kernels.calculate_settings(output.shape[1])
    return softmax_kernels._softmax_backward(d_output, output, block, warps, output.shape[1] > block)


def rmsnorm(input, weight, eps):
    return rms_norm.rms_norm_forward(input, weight, _Number(eps), _Number(0), _LLAMA, None)[0]


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    _, x, r, block, warps, mode = rms_norm.rms_norm_forward(input, weight, _Number(eps), _Number(0), _LLAMA, None)
    d_input, d_w = rms_norm.rms_norm_backward(d_output, x, weight, r, _Number(0), mode, block, warps, False, None)
    return d_input, _added(beta, d_weight, d_w)


def rmsnorm_residual(input, residual, weight, eps):
    return fused_add_rms_norm.fused_add_rms_norm_forward(input, residual, weight, _Number(eps), _Number(0), _LLAMA)[:2]


def rmsnorm_residual_backward(residual_out, weight, d_output, d_residual_out, d_weight, eps, beta):
    zero = torch.zeros_like(residual_out)
    made = fused_add_rms_norm.fused_add_rms_norm_forward(residual_out, zero, weight, _Number(eps), _Number(0), _LLAMA)
    _, total, r, block, warps, stages, mode = made
    settings = (mode, block, warps, stages, False)
    d_input, _, d_w = fused_add_rms_norm.fused_add_rms_norm_backward(
        d_output, d_residual_out, total, weight, r, _Number(0), *settings
    )
    return d_input, _added(beta, d_weight, d_w)


def _halves(x: Tensor) -> Tensor:
    """Interleaved pairs as the two halves of a head that Liger rotates, heads before positions."""
    return torch.cat([x[..., ::2], x[..., 1::2]], -1).transpose(1, 2)


def _pairs(x: Tensor) -> Tensor:
    first, second = x.transpose(1, 2).chunk(2, -1)
    return torch.stack([first, second], -1).flatten(-2).contiguous()


def _turned(kernel, q, k, freqs, offset):
    angles = freqs[offset : offset + q.shape[1]].repeat(1, 2)[None]
    rotated = kernel(_halves(q), _halves(k), angles.cos(), angles.sin())
    return _pairs(rotated[0]), _pairs(rotated[1])


def rope_qk(q, k, freqs, offset):
    return _turned(rope.rope_forward, q, k, freqs, offset)


def rope_qk_backward(d_q_out, d_k_out, freqs, offset):
    return _turned(rope.rope_backward, d_q_out, d_k_out, freqs, offset)


def cross_entropy_forward(logits, targets):
    """The loss is Liger's; its kernel keeps no log_probs, which are PyTorch's."""
    labels = torch.where(targets >= 0, targets, -100).long()
    loss = cross_entropy.cross_entropy_forward(
        logits.clone(), labels, None, -100, 0.0, 0.0, "mean", None, return_z_loss=False
    )[0]
    return loss.reshape(1), F.log_softmax(logits, -1)
