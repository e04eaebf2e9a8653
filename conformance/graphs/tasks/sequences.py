"""Sequences: an RNN's steps cut in two and added, one weight used at two places, two GRU layers, three losses."""

from __future__ import annotations

from conformance.graphs.task import Settings
from graph import record

SHAPES = {"steps": (4, 6, 3), "targets": (4, 3, 2), "last": (4, 3, 2), "kinds": (4, 3)}
SETTINGS = Settings(optimizer="sgd", lr=0.1, weight_decay=0.125)
RECORDS = (
    record("dense", ["steps"], ["w0", "b0"], "d", units=5, activation="tanh"),
    record("rnn", ["d"], ["r_x", "r_h", "r_b"], "h", hidden=5, return_sequences=True),
    record("slice_steps", ["h"], [], "early", first=0, count=3),
    record("slice_steps", ["h"], [], "late", first=3, count=3),
    record("add", ["early", "late"], [], "u"),
    record("tanh", ["u"], [], "t"),
    record("add", ["u", "t"], [], "v"),
    record("dense", ["v"], ["w1", "b1"], "q", units=2),
    record("dense", ["late"], ["w1", "b1"], "k", units=2),
    record("concat_steps", ["v", "late"], [], "both"),
    record("gru", ["both"], ["g_x", "g_h", "g_bx", "g_bh", "f_x", "f_h", "f_bx", "f_bh"], "g", hidden=4, layers=2),
    record("dense", ["g"], ["w2", "b2"], "logits", units=3),
    record("mse", ["q", "targets"], [], "error"),
    record("mse", ["k", "last"], [], "beside", weight=0.25),
    record("softmax_cross_entropy", ["logits", "kinds"], [], "entropy", temperature=2.5, weight=0.5),
)
