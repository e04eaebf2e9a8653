"""Pooling of planes, and steps of sequences: a few planes, or a few columns, stand at every place."""

from __future__ import annotations

from conformance.catalogue.cases.pooling import ANYWHERE
from conformance.catalogue.full_model import HIDDEN

from .call import FullCall

BATCH, STEPS = 8, 1024
# The first pooling of a residual network.
_PLANES = {"batch": 32, "channels": 64, "height": 112, "width": 112}
_WINDOW = {"kernel_h": 3, "kernel_w": 3, "stride_h": 2, "stride_w": 2, "pad_h": 1, "pad_w": 1}
_POOL = {**_PLANES, **_WINDOW}
_DRAWN = {"batch": 2, "channels": 3}
_SLICE = {"batch": BATCH, "steps": STEPS, "width": HIDDEN, "first": 300, "count": 512}
_JOINT = {"batch": BATCH, "steps_a": 300, "steps_b": 724, "width": HIDDEN}
_COLUMNS = {"width": 13}

CALLS = (
    FullCall("max_pool2d", _POOL, _DRAWN),
    FullCall("max_pool2d_backward", _POOL, _DRAWN, {"places": ANYWHERE}),
    *(FullCall(op, {**_POOL, "count_include_pad": 0}, _DRAWN) for op in ("avg_pool2d", "avg_pool2d_backward")),
    *(FullCall(op, _SLICE, _COLUMNS) for op in ("slice_steps", "slice_steps_backward")),
    *(FullCall(op, _JOINT, _COLUMNS) for op in ("concat_steps", "concat_steps_backward")),
)
