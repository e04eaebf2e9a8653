"""The adapter of moe.py, a model in PyTorch: `assayer run --step examples/steps/with_torch.py:step`."""

import torch
from moe import Model

FRAMEWORK = "torch"


def named(model, of):
    """By the judge's names what belongs to the model's parameters, of(p), in parts: experts are stacked there."""
    ours = {"embedding": [of(model.embed.weight)], "lm_head": [of(model.head.weight)]}
    for n, (attention, moe) in enumerate(zip(model.attention, model.moe, strict=True)):
        w_q, w_k, w_v = of(attention.qkv.weight).split(attention.split)
        gate, up = zip(*(of(expert.gate_up.weight).chunk(2) for expert in moe.experts), strict=True)
        one = {"w_q": [w_q], "w_k": [w_k], "w_v": [w_v], "w_o": [of(attention.out.weight)], "gate": gate, "up": up}
        one |= {"down": [of(expert.down.weight) for expert in moe.experts], "router": [of(moe.router.weight)]}
        one |= {"attn_norm": [of(attention.norm.weight)], "ffn_norm": [of(moe.norm.weight)]}
        ours |= {f"layers.{n}.{name}": parts for name, parts in one.items()}
    return ours | {"final_norm": [of(model.norm.weight)]}


def step(parameters, tokens, targets, s):
    model = Model(s.vocab, s.hidden, s.layers, s.q_heads, s.kv_heads, s.head_dim, s.ffn, s.experts, s.top_k,
                  s.rope_base, s.rope_alpha, s.eps, s.aux_alpha)  # fmt: skip
    groups = [{"params": [p], "weight_decay": s.weight_decay * (p.ndim > 1)} for p in model.parameters()]
    adam = torch.optim.AdamW(groups, s.lr, (s.beta1, s.beta2), s.adam_eps)
    m, v = ({p: torch.zeros_like(p) for p in model.parameters()} for _ in range(2))
    adam.state |= {p: {"step": torch.tensor(s.update - 1.0), "exp_avg": m[p], "exp_avg_sq": v[p]} for p in m}
    of = {"parameters": torch.Tensor.detach, "m": m.get, "v": v.get}
    for kind, given in zip(of, (parameters, s.m, s.v), strict=True):
        for name, parts in named(model, of[kind]).items():
            for part, values in zip(parts, given[name].chunk(len(parts)), strict=True):
                part.copy_(values.view_as(part))
    losses = dict(zip(("loss", "cross_entropy", "aux_loss"), model(tokens, targets), strict=True))
    losses["loss"].backward()
    of["gradients"] = {p: p.grad.clone() for p in m}.get
    losses["norm"] = torch.nn.utils.clip_grad_norm_([*m], s.clip_norm)
    adam.step()
    return losses | {k: {n: torch.cat(t).view_as(parameters[n]) for n, t in named(model, of[k]).items()} for k in of}
