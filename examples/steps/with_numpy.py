"""A whole training step in NumPy: `assayer run --step examples/steps/with_numpy.py:step`.

Forward and backward of docs/model.md.  Each piece returns its result and a function that takes the result's gradient,
notes the gradients of the parameters that it read, and returns that of its argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = dict[str, Array]
Back = Callable[[Array], Array]


def step(parameters: Arrays, tokens: Array, targets: Array, settings: Any) -> dict[str, Any]:
    model = Model(parameters, settings, *tokens.shape)
    cross_entropy, aux_loss = model.forward(tokens, targets.reshape(-1))
    gradients = model.backward()
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in gradients.values()))
    after, m, v = update(parameters, gradients, min(1.0, settings.clip_norm / norm), settings)
    losses = {"loss": cross_entropy + aux_loss, "cross_entropy": cross_entropy, "aux_loss": aux_loss}
    return {**losses, "norm": norm, "gradients": gradients, "parameters": after, "m": m, "v": v}


def update(parameters: Arrays, gradients: Arrays, scale: float, s: Any) -> tuple[Arrays, Arrays, Arrays]:
    """AdamW; norms do not decay."""
    after, m, v = {}, {}, {}
    for name, p in parameters.items():
        g, decay = gradients[name] * scale, s.weight_decay * (p.ndim > 1)
        m[name] = s.beta1 * s.m[name] + (1 - s.beta1) * g
        v[name] = s.beta2 * s.v[name] + (1 - s.beta2) * g * g
        mean, root = m[name] / (1 - s.beta1**s.update), np.sqrt(v[name] / (1 - s.beta2**s.update))
        after[name] = p - s.lr * (mean / (root + s.adam_eps) + decay * p)
    return after, m, v


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_back(p: Array, d: Array) -> Array:
    return p * (d - (d * p).sum(-1, keepdims=True))


class Model:
    """One batch's way through the model."""

    def __init__(self, parameters: Arrays, settings: Any, batch: int, seq: int) -> None:
        self.p, self.s, self.batch, self.seq = parameters, settings, batch, seq
        self.gradients: Arrays = {}
        self.backs: list[Back] = []  # in the order of forward
        half = settings.head_dim // 2
        base = settings.rope_base * settings.rope_alpha ** (settings.head_dim / (settings.head_dim - 2))
        angles = np.arange(seq)[:, None] * base ** (-np.arange(half) / half)
        self.turn = np.exp(1j * angles)[:, None].astype(np.complex64)  # [seq, 1, half]

    def forward(self, tokens: Array, targets: Array) -> tuple[float, float]:
        x, aux_loss = self.p["embedding"][tokens.reshape(-1)], 0.0
        for layer in (f"layers.{i}." for i in range(self.s.layers)):
            x = self.residual(x, self.normed(layer + "attn_norm", self.attention, layer))
            x = self.residual(x, self.normed(layer + "ffn_norm", self.moe, layer))
            aux_loss += self.aux_loss
        x, norm_back = self.rmsnorm(x, "final_norm")
        logits, head_back = self.linear(x, "lm_head")
        probs, counted = softmax(logits), np.flatnonzero(targets >= 0)
        hit = counted, targets[counted]

        def back(_: Array) -> Array:
            d = np.zeros_like(probs)
            d[counted] = probs[counted] / np.float32(len(counted))
            d[hit] -= np.float32(1 / len(counted))
            return norm_back(head_back(d))

        self.backs.append(back)
        self.tokens = tokens.reshape(-1)
        return float(-np.log(probs[hit]).mean()), aux_loss

    def backward(self) -> Arrays:
        d = np.zeros(0, np.float32)
        for back in reversed(self.backs):
            d = back(d)
        self.gradients["embedding"] = np.zeros_like(self.p["embedding"])
        np.add.at(self.gradients["embedding"], self.tokens, d)
        return {name: self.gradients[name] for name in self.p}

    def residual(self, x: Array, branch: Callable[[Array], tuple[Array, Back]]) -> Array:
        y, back = branch(x)
        self.backs.append(lambda d: d + back(d))
        return x + y

    def normed(self, norm: str, sublayer: Callable[[Array, str], tuple[Array, Back]], layer: str) -> Any:
        def branch(x: Array) -> tuple[Array, Back]:
            h, norm_back = self.rmsnorm(x, norm)
            y, back = sublayer(h, layer)
            return y, lambda d: norm_back(back(d))

        return branch

    def linear(self, x: Array, name: str) -> tuple[Array, Back]:
        def back(d: Array) -> Array:
            self.gradients[name] = d.T @ x
            return d @ self.p[name]

        return x @ self.p[name].T, back

    def rmsnorm(self, x: Array, name: str) -> tuple[Array, Back]:
        r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.s.eps))
        n = x * r

        def back(d: Array) -> Array:
            self.gradients[name] = (d * n).sum(0)
            d = d * self.p[name]
            return r * (d - n * (d * n).mean(-1, keepdims=True))

        return n * self.p[name], back

    def turned(self, x: Array, turn: Array) -> Array:
        """Rotate pairs of neighbours; x: [batch, seq, heads, head_dim]."""
        pairs = (x[..., ::2] + 1j * x[..., 1::2]) * turn
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    def attention(self, h: Array, layer: str) -> tuple[Array, Back]:
        s, group, scale = self.s, self.s.q_heads // self.s.kv_heads, np.float32(self.s.head_dim**-0.5)
        (q, q_back), (k, k_back), (v, v_back) = (self.linear(h, layer + name) for name in ("w_q", "w_k", "w_v"))
        q, k, v = (x.reshape(self.batch, self.seq, -1, s.head_dim) for x in (q, k, v))
        q, k = self.turned(q, self.turn), np.repeat(self.turned(k, self.turn), group, 2)
        v = np.repeat(v, group, 2)
        scores = np.einsum("bihd,bjhd->bhij", q, k) * scale
        scores[..., ~np.tri(self.seq, dtype=bool)] = -np.inf
        p = softmax(scores)
        y, o_back = self.linear(np.einsum("bhij,bjhd->bihd", p, v).reshape(len(h), -1), layer + "w_o")

        def gathered(d: Array) -> Array:  # what the query heads of one key's group have added
            return d.reshape(self.batch, self.seq, s.kv_heads, group, s.head_dim).sum(3)

        def flat(d: Array) -> Array:
            return d.reshape(len(h), -1)

        def back(d: Array) -> Array:
            d = o_back(d).reshape(q.shape)
            d_v = gathered(np.einsum("bhij,bihd->bjhd", p, d))
            d_scores = softmax_back(p, np.einsum("bihd,bjhd->bhij", d, v)) * scale
            d_q = self.turned(np.einsum("bhij,bjhd->bihd", d_scores, k), self.turn.conj())
            d_k = self.turned(gathered(np.einsum("bhij,bihd->bjhd", d_scores, q)), self.turn.conj())
            return q_back(flat(d_q)) + k_back(flat(d_k)) + v_back(flat(d_v))

        return y, back

    def moe(self, h: Array, layer: str) -> tuple[Array, Back]:
        s, gate, up, down = self.s, *(self.p[layer + name] for name in ("gate", "up", "down"))
        logits, router_back = self.linear(h, layer + "router")
        p = softmax(logits)
        chosen = np.zeros(p.shape, bool)
        np.put_along_axis(chosen, np.argsort(-p, axis=-1, kind="stable")[:, : s.top_k], True, -1)
        total = (p * chosen).sum(-1, keepdims=True)
        weights, load = p * chosen / total, chosen.mean(0, dtype=np.float32) * np.float32(s.aux_alpha * s.experts)
        self.aux_loss = float((load * p.mean(0)).sum())
        y, kept = np.zeros_like(h), []
        for e in range(s.experts):
            rows = np.flatnonzero(chosen[:, e])
            g, u = h[rows] @ gate[e].T, h[rows] @ up[e].T
            sigmoid = 1 / (1 + np.exp(-g))
            out = (g * sigmoid * u) @ down[e].T
            y[rows] += weights[rows, e, None] * out
            kept.append((rows, g, u, sigmoid, out))

        def back(d: Array) -> Array:
            d_h, d_weights = np.zeros_like(h), np.zeros_like(p)
            of_experts = [np.zeros_like(w) for w in (gate, up, down)]
            for e, (rows, g, u, sigmoid, out) in enumerate(kept):
                d_weights[rows, e] = (d[rows] * out).sum(-1)
                d_out = d[rows] * weights[rows, e, None]
                d_inner = d_out @ down[e]
                d_gate = d_inner * u * sigmoid * (1 + g * (1 - sigmoid))
                d_up = d_inner * g * sigmoid
                of_experts[0][e], of_experts[1][e] = d_gate.T @ h[rows], d_up.T @ h[rows]
                of_experts[2][e] = d_out.T @ (g * sigmoid * u)
                d_h[rows] += d_gate @ gate[e] + d_up @ up[e]
            for name, gradient in zip(("gate", "up", "down"), of_experts, strict=True):
                self.gradients[layer + name] = gradient
            d_p = chosen * (d_weights - (d_weights * weights).sum(-1, keepdims=True)) / total
            return d_h + router_back(softmax_back(p, d_p + load / np.float32(len(h))))

        return y, back
