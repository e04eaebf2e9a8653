"""Images: convolutions with a batch norm and a residual, pooled twice, to a softmax with a temperature."""

from __future__ import annotations

from conformance.graphs.task import Settings
from graph import record

SHAPES = {"pixels": (4, 2, 8, 8), "classes": (4,)}
SETTINGS = Settings(optimizer="momentum", nesterov=True, lr=0.05, weight_decay=0.0625, clip_norm=1.0)
RECORDS = (
    record("conv2d", ["pixels"], ["k0", "b0"], "c0", filters=4, kernel=3, padding=1),
    record("batchnorm", ["c0"], ["gain", "shift", "mean", "var"], "n0"),
    record("elu", ["n0"], [], "r0", alpha=0.5),
    record("conv2d", ["r0"], ["k1", "b1"], "c1", filters=4, kernel=3, padding=1, groups=2),
    record("add", ["c1", "r0"], [], "sum"),
    record("relu", ["sum"], [], "r1"),
    record("max_pool2d", ["r1"], [], "p1", kernel=2, stride=2),
    record("conv2d", ["p1"], ["k2", "b2"], "c2", filters=5, kernel=2, stride=[1, 2], dilation=[2, 1]),
    record("avg_pool2d", ["c2"], [], "p2", kernel=2, stride=1, padding=1, count_include_pad=False),
    record("flatten", ["p2"], [], "flat"),
    record("dense", ["flat"], ["w", "b"], "logits", units=3),
    record("softmax_cross_entropy", ["logits", "classes"], [], "loss", temperature=2.5, labels="index"),
)
