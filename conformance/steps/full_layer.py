"""A layer of the full model, forward and backward: every call judged on exact inputs, at the sizes of its weights.

A layer's experts hold 226 million numbers.  Along their inner axis a few members are drawn, and every place of the
axis holds one of them, as in calls at full size (conformance.catalogue.full): through products, activation and back the
copies stay copies, so that a layer with as many places as members says what each of the elements must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance import operations
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.full import Drawn, FullCall, axes_of
from conformance.catalogue.full.call import Placed
from conformance.catalogue.full.layout import laid_out
from conformance.catalogue.full.places import Places, shuffled
from conformance.catalogue.full.sums import GROUPED
from conformance.ids import FULL_LAYER
from conformance.judging.bench import Bench
from conformance.judging.full import expected_of, judge_drawn
from conformance.judging.results import Result
from conformance.limits.expectation import rounded
from conformance.limits.noise import using
from reference import random
from reference.model import block, transformer
from reference.model.config import FULL
from reference.model.parameters import Layer, initialise, layer
from reference.namespace import Namespace

_MEMBERS = 23  # of the experts' inner axis: as long as no other axis
BATCH, SEQ = 2, 32  # so few, since with 8,192 tokens the experts alone make 10^12 multiplications
SMALL = replace(FULL, layers=1, ffn=_MEMBERS, vocab=1)
_ROWS = BATCH * SEQ * FULL.top_k
Arguments = dict[str, Any]


def judge_full_layer(bench: Bench, inner: int = FULL.ffn) -> list[Result]:
    """Judge every call of one layer, in the order of execution; inner: the length of the experts' inner axis."""
    source = Draw(random.stream(FULL_LAYER, bench.seed))
    weights = layer(initialise(SMALL, bench.seed, dtype=np.float32), 0)
    ops = _Judging(bench, weights, shuffled(source.of("places"), inner, _MEMBERS))
    stream, d_stream = (_normal(source.of(name)) for name in ("stream", "d_stream"))
    freqs = transformer.rotary_angles(reference, SMALL, SEQ).astype(np.float32)
    output = block.forward(ops, SMALL, weights, stream, _normal(source.of("branch")), freqs, BATCH)
    nothing = Layer(*[None] * len(Layer._fields))
    block.backward(ops, SMALL, weights, output.kept, freqs, d_stream, 1.0, nothing)
    return ops.results


def _normal(source: Draw) -> NDArray[np.float32]:
    return source.normal((BATCH * SEQ, FULL.hidden)).astype(np.float32)


class _Judging(Namespace):
    """Has each operation carried out at full size, judges it, and goes on with what it was to give, in small."""

    def __init__(self, bench: Bench, weights: Layer, inner: Places) -> None:
        self.results: list[Result] = []
        self._bench = bench
        self._names = {id(array): name for name, array in weights._asdict().items()}
        flat = (np.arange(_ROWS)[:, None] * _MEMBERS + inner.member).reshape(-1)
        self._lengths = {_MEMBERS: inner, _ROWS * _MEMBERS: Places(flat)}

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        function = operations.OPERATIONS[operation]
        given = operations.signature(function).named(args, named)
        arguments = given | operations.typed(function, {n: v for n, v in given.items() if v is not None})
        call, drawn = self._laid_out(operation, arguments)
        with using(self._bench.declared.of(operation).arithmetic):
            expected = expected_of(call, drawn)
            id = f"{FULL_LAYER}/{len(self.results):03d} {self._label(operation, given)}"
            self.results.append(judge_drawn(id, call, drawn, expected, self._bench))
        values = tuple(operations.gathered(function, rounded(expected)).values())
        return values[0] if len(values) == 1 else values

    def _label(self, operation: str, given: Arguments) -> str:
        """The operation with the parameter that it reads, if one."""
        known = [self._names[id(value)] for value in given.values() if id(value) in self._names]
        return f"{operation}({known[0]})" if known else operation

    def _laid_out(self, operation: str, small: Arguments) -> tuple[FullCall, Drawn]:
        places, full = self._places(operation, small), dict(small)
        for parameter in operations.read_arrays(operations.OPERATIONS[operation]):
            if places.keys() & {*axes_of(parameter)} and small[parameter.name] is not None:
                full[parameter.name] = laid_out(small[parameter.name], axes_of(parameter), places)
        counted = GROUPED.get(operation) if "K" in places else None
        return FullCall(operation, {}, carried_out=counted), Drawn(small, full, places)

    def _places(self, operation: str, small: Mapping[str, Any]) -> Placed:
        """The axes of a call that are the experts' inner one, or that and the rows in one."""
        arrays = [p for p in operations.read_arrays(operations.OPERATIONS[operation]) if small[p.name] is not None]
        axes = [pair for p in arrays for pair in zip(axes_of(p), small[p.name].shape, strict=True)]
        return {axis: self._lengths[length] for axis, length in axes if length in self._lengths}
