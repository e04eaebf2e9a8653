"""What forward keeps for backward, by kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from reference.model import block, transformer
from reference.model.recompute import Dropped, Kept

from .ledger import arrays_in, owner_of


def kept_by_kind(output: transformer.Output, given: Iterable[Any]) -> dict[str, int]:
    """Bytes by kind; an array that several hold counts once, and what forward was given not at all."""
    found: dict[str, int] = defaultdict(int)
    counted = {id(owner_of(array)) for array in given}
    for kind, array in _named(output):
        owner = owner_of(array)
        if id(owner) not in counted:
            counted.add(id(owner))
            found[kind] += owner.nbytes
    return dict(found)


def _named(output: transformer.Output) -> Iterator[tuple[str, Any]]:
    for kept in output.trunk.layers:
        yield from _of_layer(kept)
    trunk = output.trunk
    yield from (("logits and head", array) for array in arrays_in((output.logits, trunk.normed, trunk.stream)))


def _of_layer(kept: Kept) -> Iterator[tuple[str, Any]]:
    if isinstance(kept, Dropped):
        yield from (("inputs of segments", array) for array in arrays_in((kept.stream, kept.branch)))
    elif isinstance(kept, block.Kept):
        yield from (("residual stream", array) for array in (kept.attn_stream, kept.ffn_stream))
        yield from (("attention", array) for array in arrays_in(kept.attention))
        yield from (("router", array) for array in (kept.moe.x, *kept.moe.routing))
        yield from (("experts", array) for array in arrays_in(kept.moe))
