"""Layers, forward and backward: the C build and PyTorch in turn."""

from __future__ import annotations

from .agreement import Agreement
from .backends import REFERENCE, Backends
from .interleaved import take_turns
from .layers import timed_layers
from .sizes import Sizes
from .table import Table


def test_layer(layer_id: str, backends: Backends, agreement: Agreement, sizes: Sizes, table: Table) -> None:
    known = timed_layers(sizes)[layer_id]
    for case in known.smaller():
        assert not any(agreement.disagreements(case).values())
    layer = known.layer()
    calls = {name: layer.call(backends, name) for name in backends.names if name != REFERENCE}
    table.add_ratios(layer_id, take_turns(calls, sizes.operations), of=tuple(calls))
