"""Layers: the least that a graph is, to begin with; a value that is read twice, and one loss."""

from __future__ import annotations

from conformance.graphs.task import Settings
from graph import record

SHAPES = {"x": (6, 4), "targets": (6, 3)}
SETTINGS = Settings(optimizer="sgd", lr=0.125)
RECORDS = (
    record("dense", ["x"], ["w0", "b0"], "h", units=5),
    record("tanh", ["h"], [], "t"),
    record("add", ["h", "t"], [], "u"),
    record("dense", ["u"], ["w1", "b1"], "y", units=3),
    record("mse", ["y", "targets"], [], "loss"),
)
