"""Sequences: an RNN's steps cut in two and added, one weight used at two places, two GRU layers on top, three losses."""

from __future__ import annotations

from conformance.graphs.task import Settings

SHAPES = {"steps": (4, 6, 3), "targets": (4, 3, 2), "last": (4, 3, 2), "kinds": (4, 3)}
SETTINGS = Settings(optimizer="sgd", lr=0.1, weight_decay=0.125)
RECORDS = [
    {"kind": "dense", "inputs": ["steps"], "parameters": ["w0", "b0"], "output": "d", "units": 5, "activation": "tanh"},
    {"kind": "rnn", "inputs": ["d"], "parameters": ["r_x", "r_h", "r_b"], "output": "h", "hidden": 5, "return_sequences": True},
    {"kind": "slice_steps", "inputs": ["h"], "output": "early", "first": 0, "count": 3},
    {"kind": "slice_steps", "inputs": ["h"], "output": "late", "first": 3, "count": 3},
    {"kind": "add", "inputs": ["early", "late"], "output": "u"},
    {"kind": "tanh", "inputs": ["u"], "output": "t"},
    {"kind": "add", "inputs": ["u", "t"], "output": "v"},
    {"kind": "dense", "inputs": ["v"], "parameters": ["w1", "b1"], "output": "q", "units": 2},
    {"kind": "dense", "inputs": ["late"], "parameters": ["w1", "b1"], "output": "k", "units": 2},
    {"kind": "concat_steps", "inputs": ["v", "late"], "output": "both"},
    {"kind": "gru", "inputs": ["both"], "parameters": ["g_x", "g_h", "g_bx", "g_bh", "f_x", "f_h", "f_bx", "f_bh"], "output": "g", "hidden": 4, "layers": 2},
    {"kind": "dense", "inputs": ["g"], "parameters": ["w2", "b2"], "output": "logits", "units": 3},
    {"kind": "mse", "inputs": ["q", "targets"], "output": "error"},
    {"kind": "mse", "inputs": ["k", "last"], "output": "beside", "weight": 0.25},
    {"kind": "softmax_cross_entropy", "inputs": ["logits", "kinds"], "output": "entropy", "temperature": 2.5, "weight": 0.5},
]  # fmt: skip
