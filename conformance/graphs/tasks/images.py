"""Images: convolutions with a batch norm and a residual, pooled twice, to a softmax with a temperature."""

from __future__ import annotations

from conformance.graphs.task import Settings

SHAPES = {"pixels": (4, 2, 8, 8), "classes": (4,)}
SETTINGS = Settings(optimizer="momentum", nesterov=True, lr=0.05, weight_decay=0.0625, clip_norm=1.0)
RECORDS = [
    {"kind": "conv2d", "inputs": ["pixels"], "parameters": ["k0", "b0"], "output": "c0", "filters": 4, "kernel": 3, "padding": 1},
    {"kind": "batchnorm", "inputs": ["c0"], "parameters": ["gain", "shift", "mean", "var"], "output": "n0"},
    {"kind": "elu", "inputs": ["n0"], "output": "r0", "alpha": 0.5},
    {"kind": "conv2d", "inputs": ["r0"], "parameters": ["k1", "b1"], "output": "c1", "filters": 4, "kernel": 3, "padding": 1, "groups": 2},
    {"kind": "add", "inputs": ["c1", "r0"], "output": "sum"},
    {"kind": "relu", "inputs": ["sum"], "output": "r1"},
    {"kind": "max_pool2d", "inputs": ["r1"], "output": "p1", "kernel": 2, "stride": 2},
    {"kind": "conv2d", "inputs": ["p1"], "parameters": ["k2", "b2"], "output": "c2", "filters": 5, "kernel": 2, "stride": [1, 2], "dilation": [2, 1]},
    {"kind": "avg_pool2d", "inputs": ["c2"], "output": "p2", "kernel": 2, "stride": 1, "padding": 1, "count_include_pad": False},
    {"kind": "flatten", "inputs": ["p2"], "output": "flat"},
    {"kind": "dense", "inputs": ["flat"], "parameters": ["w", "b"], "output": "logits", "units": 3},
    {"kind": "softmax_cross_entropy", "inputs": ["logits", "classes"], "output": "loss", "temperature": 2.5, "labels": "index"},
]  # fmt: skip
