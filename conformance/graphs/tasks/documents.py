"""Documents: words through an embedding and an LSTM's last state to three yes-or-no answers, and a second loss."""

from __future__ import annotations

from conformance.graphs.task import Settings
from graph import record

SHAPES = {"words": (5, 6), "answers": (5, 3), "summaries": (5, 5)}
SETTINGS = Settings(seed=7, step=3, optimizer="adamw", lr=0.01, weight_decay=0.125)
RECORDS = (
    record("embedding", ["words"], ["table"], "embedded", vocab_size=13, width=4),
    record("dropout", ["embedded"], [], "kept", rate=0.25),
    record("lstm", ["kept"], ["w_x", "w_h", "b_h"], "read", hidden=5),
    record("layernorm", ["read"], ["gain", "shift"], "normed"),
    record("matmul", ["normed"], ["w"], "product", units=3),
    record("add_bias", ["product"], ["b"], "logits"),
    record("sigmoid", ["logits"], [], "chances"),
    record("bce", ["chances", "answers"], [], "loss"),
    record("gelu", ["normed"], [], "bent", form="tanh"),
    record("mse", ["bent", "summaries"], [], "aside", weight=0.5),
)
