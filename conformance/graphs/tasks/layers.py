"""Layers: the least that a graph is, to begin with; a value that is read twice, and one loss."""

from __future__ import annotations

from conformance.graphs.task import Settings

SHAPES = {"x": (6, 4), "targets": (6, 3)}
SETTINGS = Settings(optimizer="sgd", lr=0.125)
RECORDS = [
    {"kind": "dense", "inputs": ["x"], "parameters": ["w0", "b0"], "output": "h", "units": 5},
    {"kind": "tanh", "inputs": ["h"], "output": "t"},
    {"kind": "add", "inputs": ["h", "t"], "output": "u"},
    {"kind": "dense", "inputs": ["u"], "parameters": ["w1", "b1"], "output": "y", "units": 3},
    {"kind": "mse", "inputs": ["y", "targets"], "output": "loss"},
]
