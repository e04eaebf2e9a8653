"""Documents: word numbers through an embedding and an LSTM's last state to three yes-or-no answers, and a second loss."""

from __future__ import annotations

from conformance.graphs.task import Settings

SHAPES = {"words": (5, 6), "answers": (5, 3), "summaries": (5, 5)}
SETTINGS = Settings(seed=7, step=3, optimizer="adamw", lr=0.01, weight_decay=0.125, clip_norm=0.5)
RECORDS = [
    {"kind": "embedding", "inputs": ["words"], "parameters": ["table"], "output": "embedded", "vocab_size": 13, "width": 4},
    {"kind": "dropout", "inputs": ["embedded"], "output": "kept", "rate": 0.25},
    {"kind": "lstm", "inputs": ["kept"], "parameters": ["w_x", "w_h", "b_h"], "output": "read", "hidden": 5},
    {"kind": "layernorm", "inputs": ["read"], "parameters": ["gain", "shift"], "output": "normed"},
    {"kind": "matmul", "inputs": ["normed"], "parameters": ["w"], "output": "product", "units": 3},
    {"kind": "add_bias", "inputs": ["product"], "parameters": ["b"], "output": "logits"},
    {"kind": "sigmoid", "inputs": ["logits"], "output": "chances"},
    {"kind": "bce", "inputs": ["chances", "answers"], "output": "loss"},
    {"kind": "gelu", "inputs": ["normed"], "output": "bent", "form": "tanh"},
    {"kind": "mse", "inputs": ["bent", "summaries"], "output": "aside", "weight": 0.5},
]
