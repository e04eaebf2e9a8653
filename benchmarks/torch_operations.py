"""Each operation in PyTorch, eager: a function of the operation's arguments that returns what is to be timed.

A gradient is timed by itself: the graph is built beforehand and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .torch_recurrent import (  # noqa: F401
    gru_backward,
    gru_forward,
    lstm_backward,
    lstm_forward,
    rnn_backward,
    rnn_forward,
)
from .torch_strided import map_strided, matmul_strided, reduce_strided, zip_strided  # noqa: F401

Timed = Callable[[], Any]


def _gradient(forward: Callable[..., Tensor], inputs: Sequence[Tensor], d_output: Tensor) -> Timed:
    leaves = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    output = forward(*leaves)
    return lambda: torch.autograd.grad(output, leaves, d_output, retain_graph=True)


def gemm(A: Tensor, B: Tensor) -> Timed:
    return lambda: A @ B.T


def gemm_nn(A: Tensor, B: Tensor, C: Tensor | None, alpha: float, beta: float) -> Timed:
    return (lambda: A @ B) if C is None else (lambda: torch.addmm(C, A, B, alpha=alpha, beta=beta))


def gemm_tn(A: Tensor, B: Tensor, C: Tensor | None, alpha: float, beta: float) -> Timed:
    return gemm_nn(A.T, B, C, alpha, beta)


def grouped_gemm(A: Tensor, B: Tensor, offsets: Tensor) -> Timed:
    return lambda: torch._grouped_mm(A, B.transpose(1, 2), offsets[1:])


def grouped_gemm_nn(A: Tensor, B: Tensor, offsets: Tensor) -> Timed:
    return lambda: torch._grouped_mm(A, B, offsets[1:])


def grouped_gemm_tn(A: Tensor, B: Tensor, offsets: Tensor, C: None, beta: float) -> Timed:
    return lambda: torch._grouped_mm(A.T, B, offsets[1:])


def gemm_swiglu(A: Tensor, B_gate: Tensor, B_up: Tensor) -> Timed:
    def both() -> tuple[Tensor, Tensor, Tensor]:
        gate, up = A @ B_gate.T, A @ B_up.T
        return gate, up, F.silu(gate) * up

    return both


def grouped_gemm_swiglu(A: Tensor, B_gate: Tensor, B_up: Tensor, offsets: Tensor) -> Timed:
    products = [grouped_gemm(A, B, offsets) for B in (B_gate, B_up)]

    def both() -> tuple[Tensor, Tensor, Tensor]:
        gate, up = (product() for product in products)
        return gate, up, F.silu(gate) * up

    return both


def rmsnorm(input: Tensor, weight: Tensor, eps: float) -> Timed:
    return lambda: F.rms_norm(input, weight.shape, weight, eps)


def rmsnorm_backward(input: Tensor, weight: Tensor, d_output: Tensor, d_weight: None, eps: float, beta: float) -> Timed:
    return _gradient(lambda x, w: F.rms_norm(x, w.shape, w, eps), (input, weight), d_output)


def rmsnorm_residual(input: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Timed:
    return lambda: (F.rms_norm(s := input + residual, weight.shape, weight, eps), s)


def rmsnorm_residual_backward(
    residual_out: Tensor,
    weight: Tensor,
    d_output: Tensor,
    d_residual_out: Tensor,
    d_weight: None,
    eps: float,
    beta: float,
) -> Timed:
    through_norm = rmsnorm_backward(residual_out, weight, d_output, d_weight, eps, beta)

    def both() -> tuple[Tensor, Tensor]:
        d_input, d_weight = through_norm()
        return d_input + d_residual_out, d_weight

    return both


def softmax(input: Tensor) -> Timed:
    return lambda: input.softmax(-1)


def softmax_backward(output: Tensor, d_output: Tensor) -> Timed:
    return lambda: torch._softmax_backward_data(d_output, output, -1, output.dtype)


def attention_softmax(
    scores: Tensor, mask: Tensor | None, scale: float, has_mask: int, causal: int, offset: int
) -> Timed:
    added: Tensor | float = mask[:, None, None] if mask is not None else 0.0
    if causal:
        hidden = torch.ones(scores.shape[2:], dtype=torch.bool).triu(1 + offset)
        added = added + torch.zeros(scores.shape[2:]).masked_fill(hidden, -torch.inf)
    return lambda: torch.softmax(torch.add(added, scores, alpha=scale), -1)


def attention_softmax_backward(weights: Tensor, d_scores: Tensor, scale: float) -> Timed:
    return lambda: torch._softmax_backward_data(d_scores, weights, -1, weights.dtype).mul_(scale)


def softmax_topk(input: Tensor, k: int) -> Timed:
    def chosen() -> tuple[Tensor, Tensor]:
        top, indices = input.topk(k, dim=-1)
        return top.softmax(-1), indices

    return chosen


def topk_router(logits: Tensor, top_k: int, alpha: float) -> Timed:
    def routed() -> tuple[Tensor, ...]:
        probs = logits.softmax(-1, dtype=torch.float32)
        top, indices = probs.topk(top_k, dim=-1)
        counts, means = torch.bincount(indices.flatten(), minlength=probs.shape[1]).float(), probs.mean(0)
        loss = alpha * probs.shape[1] * (counts / len(probs) * means).sum().reshape(1)
        return top / top.sum(-1, keepdim=True), indices, probs, loss, counts, means

    return routed


def swiglu(gate: Tensor, up: Tensor) -> Timed:
    return lambda: F.silu(gate) * up


def swiglu_backward(gate: Tensor, up: Tensor, d_output: Tensor) -> Timed:
    return _gradient(lambda g, u: F.silu(g) * u, (gate, up), d_output)


def add_row(input: Tensor, row: Tensor) -> Timed:
    return lambda: input + row


def add_row_backward(d_output: Tensor, d_row: Tensor, beta: float) -> Timed:
    return lambda: beta * d_row + d_output.sum(0)


def add_column(input: Tensor, column: Tensor) -> Timed:
    return lambda: input + column[:, None]


def add_column_backward(d_output: Tensor, d_column: Tensor, beta: float) -> Timed:
    return lambda: beta * d_column + d_output.sum(1)


def _activation(number: int, alpha: float) -> Callable[[Tensor], Tensor]:
    """By the header's number."""
    functions: tuple[Callable[[Tensor], Tensor], ...] = (
        *(lambda x: x, F.relu, lambda x: F.leaky_relu(x, alpha), lambda x: F.elu(x, alpha)),
        *(torch.sigmoid, torch.tanh, F.gelu, lambda x: F.gelu(x, approximate="tanh")),
    )
    return functions[number]


def dense(input: Tensor, weight: Tensor, bias: Tensor, activation: int, alpha: float, has_bias: int) -> Timed:
    function = _activation(activation, alpha)

    def run() -> tuple[Tensor, Tensor]:
        pre = F.linear(input, weight, bias if has_bias else None)
        return pre, function(pre)

    return run


def dense_backward(
    input: Tensor, weight: Tensor, pre: Tensor, d_output: Tensor, d_weight: Tensor, d_bias: Tensor, activation: int,
    alpha: float, beta: float,
) -> Timed:  # fmt: skip
    of_pre = _gradient(_activation(activation, alpha), (pre,), d_output)

    def run() -> tuple[Tensor, ...]:
        (d_pre,) = of_pre()
        new_weight = torch.addmm(d_weight, d_pre.T, input, beta=beta)
        return d_pre, d_pre @ weight, new_weight, beta * d_bias + d_pre.sum(0)

    return run


def relu(input: Tensor) -> Timed:
    return lambda: F.relu(input)


def relu_backward(input: Tensor, d_output: Tensor) -> Timed:
    return _gradient(F.relu, (input,), d_output)


def leaky_relu(input: Tensor, alpha: float) -> Timed:
    return lambda: F.leaky_relu(input, alpha)


def leaky_relu_backward(input: Tensor, d_output: Tensor, alpha: float) -> Timed:
    return _gradient(lambda x: F.leaky_relu(x, alpha), (input,), d_output)


def elu(input: Tensor, alpha: float) -> Timed:
    return lambda: F.elu(input, alpha)


def elu_backward(input: Tensor, d_output: Tensor, alpha: float) -> Timed:
    return _gradient(lambda x: F.elu(x, alpha), (input,), d_output)


def sigmoid(input: Tensor) -> Timed:
    return lambda: input.sigmoid()


def sigmoid_backward(output: Tensor, d_output: Tensor) -> Timed:
    return lambda: torch.ops.aten.sigmoid_backward(d_output, output)


def tanh(input: Tensor) -> Timed:
    return lambda: input.tanh()


def tanh_backward(output: Tensor, d_output: Tensor) -> Timed:
    return lambda: torch.ops.aten.tanh_backward(d_output, output)


def gelu(input: Tensor) -> Timed:
    return lambda: F.gelu(input)


def gelu_backward(input: Tensor, d_output: Tensor) -> Timed:
    return _gradient(F.gelu, (input,), d_output)


def _gelu_tanh(input: Tensor) -> Tensor:
    return F.gelu(input, approximate="tanh")


def gelu_tanh(input: Tensor) -> Timed:
    return lambda: _gelu_tanh(input)


def gelu_tanh_backward(input: Tensor, d_output: Tensor) -> Timed:
    return _gradient(_gelu_tanh, (input,), d_output)


def softmax_temperature(input: Tensor, temperature: float) -> Timed:
    return lambda: (input / temperature).softmax(-1)


def softmax_temperature_backward(output: Tensor, d_output: Tensor, temperature: float) -> Timed:
    return lambda: torch._softmax_backward_data(d_output, output, -1, output.dtype) / temperature


def add(a: Tensor, b: Tensor) -> Timed:
    return lambda: a + b


def _turned(x: Tensor, turns: Tensor) -> Tensor:
    return torch.view_as_real(torch.view_as_complex(x.view(*x.shape[:-1], -1, 2)) * turns).flatten(-2)


def rope_qk(q: Tensor, k: Tensor, freqs: Tensor, offset: int) -> Timed:
    turns = torch.polar(torch.ones_like(freqs), freqs)[offset : offset + q.shape[1], None]
    return lambda: (_turned(q, turns), _turned(k, turns))


def rope_qk_backward(d_q_out: Tensor, d_k_out: Tensor, freqs: Tensor, offset: int) -> Timed:
    return rope_qk(d_q_out, d_k_out, -freqs, offset)


def _attention(Q: Tensor, K: Tensor, V: Tensor, scale: float) -> Tensor:
    """Of as many queries as keys, or of one, which sees every key."""
    q, k, v = (heads.transpose(1, 2) for heads in (Q, K, V))
    causal = Q.shape[1] > 1
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=True).transpose(1, 2)


def attention_forward(Q: Tensor, K: Tensor, V: Tensor, kv_len: int, scale: float) -> Timed:
    return lambda: _attention(Q, K, V, scale)


def attention_backward(
    Q: Tensor, K: Tensor, V: Tensor, output: Tensor, lse: Tensor, d_output: Tensor, scale: float
) -> Timed:
    return _gradient(lambda q, k, v: _attention(q, k, v, scale), (Q, K, V), d_output)


def expert_dispatch(input: Tensor, position: Tensor) -> Timed:
    tokens = position.flatten().argsort() // position.shape[1]
    return lambda: input.index_select(0, tokens)


def expert_dispatch_backward(d_output: Tensor, position: Tensor) -> Timed:
    flat = position.flatten()
    return lambda: d_output.index_select(0, flat).view(*position.shape, -1).sum(1)


def _combined(rows: Tensor, weights: Tensor, flat: Tensor) -> Tensor:
    return (rows.index_select(0, flat).view(*weights.shape, -1) * weights[:, :, None]).sum(1)


def expert_combine(input: Tensor, weights: Tensor, position: Tensor) -> Timed:
    flat = position.flatten()
    return lambda: _combined(input, weights, flat)


def expert_combine_backward(input: Tensor, weights: Tensor, position: Tensor, d_output: Tensor) -> Timed:
    flat = position.flatten()
    return _gradient(lambda rows, w: _combined(rows, w, flat), (input, weights), d_output)


def cross_entropy_forward(logits: Tensor, targets: Tensor) -> Timed:
    targets = targets.long()

    def both() -> tuple[Tensor, Tensor]:
        log_probs = logits.log_softmax(-1)
        return F.nll_loss(log_probs, targets, ignore_index=-1), log_probs

    return both


def cross_entropy_backward(log_probs: Tensor, targets: Tensor, scale: float) -> Timed:
    columns = targets.long()[:, None]

    def both_steps() -> Tensor:  # the two that autograd takes for nll_loss(log_softmax(x))
        d_log_probs = torch.zeros_like(log_probs).scatter_(1, columns, -scale)
        return torch._log_softmax_backward_data(d_log_probs, log_probs, 1, log_probs.dtype)

    return both_steps


def fused_cross_entropy(logits: Tensor, targets: Tensor, scale: float) -> Timed:
    targets, columns = targets.long(), targets.long()[:, None]

    def all_steps() -> tuple[Tensor, Tensor]:  # those of both passes
        log_probs = logits.log_softmax(-1)
        loss = F.nll_loss(log_probs, targets, ignore_index=-1)
        d_log_probs = torch.zeros_like(log_probs).scatter_(1, columns, -scale)
        return torch._log_softmax_backward_data(d_log_probs, log_probs, 1, log_probs.dtype), loss

    return all_steps


def embedding(weight: Tensor, indices: Tensor) -> Timed:
    return lambda: F.embedding(indices, weight)


def scatter_add(grad_output: Tensor, indices: Tensor, grad_weight: Tensor) -> Timed:
    return lambda: grad_weight.index_add_(0, indices, grad_output)


def max_pool2d(
    input: Tensor, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int
) -> Timed:
    window = (kernel_h, kernel_w), (stride_h, stride_w), (pad_h, pad_w)
    return lambda: F.max_pool2d(input, *window, return_indices=True)


def max_pool2d_backward(
    d_output: Tensor, places: Tensor, height: int, width: int,
    kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
) -> Timed:  # fmt: skip
    window = [kernel_h, kernel_w], [stride_h, stride_w], [pad_h, pad_w]
    planes, wide = d_output.new_empty(*d_output.shape[:2], height, width), places.long()
    backward = torch.ops.aten.max_pool2d_with_indices_backward
    return lambda: backward(d_output, planes, *window, [1, 1], False, wide)


def avg_pool2d(
    input: Tensor, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
    count_include_pad: int,
) -> Timed:  # fmt: skip
    window = (kernel_h, kernel_w), (stride_h, stride_w), (pad_h, pad_w)
    return lambda: F.avg_pool2d(input, *window, count_include_pad=bool(count_include_pad))


def avg_pool2d_backward(
    d_output: Tensor, height: int, width: int,
    kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int, count_include_pad: int,
) -> Timed:  # fmt: skip
    window = [kernel_h, kernel_w], [stride_h, stride_w], [pad_h, pad_w]
    planes = d_output.new_empty(*d_output.shape[:2], height, width)
    backward = torch.ops.aten.avg_pool2d_backward
    return lambda: backward(d_output, planes, *window, False, bool(count_include_pad), None)


def slice_steps(input: Tensor, first: int, count: int) -> Timed:
    return lambda: input[:, first : first + count].contiguous()


def slice_steps_backward(d_output: Tensor, steps: int, first: int) -> Timed:
    return lambda: F.pad(d_output, (0, 0, first, steps - first - d_output.shape[1]))


def concat_steps(a: Tensor, b: Tensor) -> Timed:
    return lambda: torch.cat((a, b), 1)


def concat_steps_backward(d_output: Tensor, steps_a: int, steps_b: int) -> Timed:
    return lambda: tuple(part.contiguous() for part in d_output.split((steps_a, steps_b), 1))


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
    dilation_h: int, dilation_w: int, groups: int, has_bias: int,
) -> Timed:  # fmt: skip
    steps = ((stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w), groups)
    return lambda: F.conv2d(input, weight, bias, *steps)


def _convolution_backward(
    d_output: Tensor, input: Tensor, weight: Tensor, steps: tuple[tuple[int, int], ...], groups: int, place: int
) -> Timed:
    """One gradient of three, as autograd asks for it."""
    stride, pad, dilation = steps
    asked = [i == place for i in range(3)]
    backward = torch.ops.aten.convolution_backward
    given = (d_output, input, weight, None, stride, pad, dilation, False, (0, 0), groups, asked)
    return lambda: backward(*given)[place]


def conv2d_backward_input(
    weight: Tensor, d_output: Tensor, in_channels: int, height: int, width: int, stride_h: int, stride_w: int,
    pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, groups: int,
) -> Timed:  # fmt: skip
    steps = ((stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w))
    input = torch.empty(len(d_output), in_channels, height, width)
    return _convolution_backward(d_output, input, weight, steps, groups, 0)


def conv2d_backward_weight(
    input: Tensor, d_output: Tensor, d_weight: None, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int,
    pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, groups: int, beta: float,
) -> Timed:  # fmt: skip
    steps = ((stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w))
    weight = torch.empty(d_output.shape[1], input.shape[1] // groups, kernel_h, kernel_w)
    return _convolution_backward(d_output, input, weight, steps, groups, 1)


def conv2d_backward_bias(d_output: Tensor, d_bias: None, beta: float) -> Timed:
    return lambda: d_output.sum((0, 2, 3))


def multi_sum_squares(inputs: list[Tensor]) -> Timed:
    return lambda: torch.nn.utils.get_total_norm(inputs, foreach=True).square()


def multi_sum_squares_nonfinite(inputs: list[Tensor]) -> Timed:
    one, flag = torch.ones(1), torch.zeros(1)

    def both() -> tuple[Tensor, Tensor]:  # whether there is one that is not finite, as a gradient scaler asks
        torch._amp_foreach_non_finite_check_and_unscale_(inputs, flag, one)
        return torch.nn.utils.get_total_norm(inputs, foreach=True).square(), flag.int()

    return both


def multi_adamw(
    params: list[Tensor],
    grads: list[Tensor],
    ms: list[Tensor],
    vs: list[Tensor],
    weight_decays: Tensor,
    grad_scale: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    step: int,
) -> Timed:
    decays = weight_decays.tolist()
    groups = [{"params": [p], "weight_decay": decay} for p, decay in zip(params, decays, strict=True)]
    optimizer = torch.optim.AdamW(
        groups, lr=lr, betas=(beta1, beta2), eps=eps, fused=True, capturable=params[0].is_cuda
    )
    for p, g, m, v in zip(params, grads, ms, vs, strict=True):
        p.grad = g * grad_scale
        optimizer.state[p] = {"step": torch.tensor(step - 1.0, device=p.device), "exp_avg": m, "exp_avg_sq": v}

    def update() -> tuple[list[Tensor], ...]:
        optimizer.step()
        return params, ms, vs

    return update


def adamw_step(
    param: Tensor,
    grad: Tensor,
    m: Tensor,
    v: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> Timed:
    decay, one = torch.tensor([weight_decay]), torch.ones(1, device=param.device)
    update = multi_adamw([param], [grad], [m], [v], decay, one, lr, beta1, beta2, eps, step)
    return lambda: tuple(updated for [updated] in update())


def layernorm(input: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Timed:
    def forward() -> tuple[Tensor, Tensor, Tensor]:
        output, mean, rstd = torch.native_layer_norm(input, weight.shape, weight, bias, eps)
        return output, mean.flatten(), rstd.flatten()

    return forward


def layernorm_backward(
    input: Tensor,
    weight: Tensor,
    mean: Tensor,
    rstd: Tensor,
    d_output: Tensor,
    d_weight: Tensor,
    d_bias: Tensor,
    beta: float,
) -> Timed:
    def accumulated() -> tuple[Tensor, ...]:
        d_input, *gradients = torch.ops.aten.native_layer_norm_backward(
            d_output, input, weight.shape, mean[:, None], rstd[:, None], weight, d_bias, [True] * 3
        )
        return d_input, *(old.mul_(beta).add_(new) for old, new in zip((d_weight, d_bias), gradients, strict=True))

    return accumulated


def batchnorm_training(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> Timed:
    def forward() -> tuple[Tensor, ...]:
        results = torch.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
        return *results, running_mean, running_var

    return forward


def batchnorm_evaluation(
    input: Tensor, weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, eps: float
) -> Timed:
    return lambda: F.batch_norm(input, running_mean, running_var, weight, bias, False, 0.0, eps)


def batchnorm_backward(
    input: Tensor,
    weight: Tensor,
    mean: Tensor,
    rstd: Tensor,
    d_output: Tensor,
    d_weight: Tensor,
    d_bias: Tensor,
    beta: float,
) -> Timed:
    def accumulated() -> tuple[Tensor, ...]:
        d_input, *gradients = torch.ops.aten.native_batch_norm_backward(
            d_output, input, weight, None, None, mean, rstd, True, 0.0, [True] * 3
        )
        return d_input, *(old.mul_(beta).add_(new) for old, new in zip((d_weight, d_bias), gradients, strict=True))

    return accumulated


def dropout(input: Tensor, philox: Tensor, rate: float) -> Timed:
    """Of another mask, which PyTorch draws itself."""
    return lambda: torch.native_dropout(input, rate, True)[0]


def dropout_backward(d_output: Tensor, philox: Tensor, rate: float) -> Timed:
    mask = torch.native_dropout(d_output, rate, True)[1]
    return lambda: torch.ops.aten.native_dropout_backward(d_output, mask, 1 / (1 - rate))


def adam_step(
    param: Tensor,
    grad: Tensor,
    m: Tensor,
    v: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> Timed:
    optimizer = torch.optim.Adam([param], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay, fused=True)
    param.grad = grad
    optimizer.state[param] = {"step": torch.tensor(step - 1.0, device=param.device), "exp_avg": m, "exp_avg_sq": v}
    return _stepping(optimizer, param, m, v)


def sgd_step(param: Tensor, grad: Tensor, lr: float, weight_decay: float) -> Timed:
    param.grad = grad
    return _stepping(torch.optim.SGD([param], lr=lr, weight_decay=weight_decay, fused=True), param)


def momentum_step(
    param: Tensor, grad: Tensor, velocity: Tensor, lr: float, momentum: float, weight_decay: float, nesterov: int
) -> Timed:
    settings = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "nesterov": bool(nesterov)}
    optimizer = torch.optim.SGD([param], **settings, fused=True)
    param.grad = grad
    optimizer.state[param] = {"momentum_buffer": velocity}
    return _stepping(optimizer, param, velocity)


def _stepping(optimizer: torch.optim.Optimizer, *updated: Tensor) -> Timed:
    def update() -> Any:
        optimizer.step()
        return updated if len(updated) > 1 else updated[0]

    return update


# ---- losses against targets as many as the predictions ---------------------------------------------------------------
def _loss_of(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Timed]:
    return lambda given, target: lambda: function(given, target).reshape(1)


def _slope_of(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor, float], Timed]:
    def prepare(given: Tensor, target: Tensor, scale: float) -> Timed:
        slope = _gradient(lambda x: function(x, target), (given,), torch.tensor(scale))
        return lambda: slope()[0]

    return prepare


def _categorical(probabilities: Tensor, labels: Tensor) -> Tensor:
    return -(labels * probabilities.log().clamp(min=-100.0)).sum(1).mean()


mse_forward, mse_backward = _loss_of(F.mse_loss), _slope_of(F.mse_loss)
bce_forward, bce_backward = _loss_of(F.binary_cross_entropy), _slope_of(F.binary_cross_entropy)
bce_logits_forward = _loss_of(F.binary_cross_entropy_with_logits)
bce_logits_backward = _slope_of(F.binary_cross_entropy_with_logits)
categorical_cross_entropy_forward = _loss_of(_categorical)
categorical_cross_entropy_backward = _slope_of(_categorical)


def cross_entropy_dense_forward(logits: Tensor, labels: Tensor, temperature: float) -> Timed:
    def both() -> tuple[Tensor, Tensor]:
        log_probs = (logits / temperature).log_softmax(-1)
        return -(labels * log_probs).sum(1).mean().reshape(1), log_probs

    return both


def cross_entropy_dense_backward(log_probs: Tensor, labels: Tensor, temperature: float, scale: float) -> Timed:
    factor = -scale / (len(labels) * temperature)

    def both_steps() -> Tensor:  # the two that autograd takes, the temperature's factor in the first
        return torch._log_softmax_backward_data(labels * factor, log_probs, 1, log_probs.dtype)

    return both_steps
