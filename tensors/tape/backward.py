"""Gradients from a result to the leaves, each call after all that read its result; nothing here calls itself."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from tensors.tensor import Tensor

from .function import Leaf, Node
from .ownership import is_sole
from .parts import Gathered, Part

_number = attrgetter("number")


def backward(root: Node | Leaf, gradient: Tensor, retain: bool = False) -> None:
    """Add to every leaf's grad what `gradient` of the root's result comes to there.

    What a call saved is freed when its gradients are had, unless retain. Leaves change at the end, all or none; a
    leaf's grad is a dense tensor that shares memory with nothing. Raises TapeError for a graph that is freed.
    """
    arrived, gathered = _arrived(root, gradient, retain)
    sums = []
    while arrived:  # one after the other, so that nothing here refers to what is taken
        leaf, total = arrived.popitem()
        is_own = (leaf in gathered and gathered.pop(leaf).total is total) or is_sole(total, variables=1)
        if leaf.grad is not None:
            sums.append((leaf, leaf.grad + total))
        else:
            sums.append((leaf, total if is_own else total.copy()))
    for leaf, total in sums:
        leaf.grad = total


def _arrived(
    root: Node | Leaf, gradient: Tensor, retain: bool
) -> tuple[dict[Leaf, Tensor], dict[Node | Leaf, Gathered]]:
    """Return what arrives at each leaf, and what of it is a sum of parts."""
    pending: dict[Any, Tensor] = {root: gradient}
    gathered: dict[Node | Leaf, Gathered] = {}  # of those in pending, what is a sum of parts
    for node in _calls(root):
        arrived = pending.pop(node, None)
        if gathered:
            gathered.pop(node, None)
        if arrived is not None and node.inputs is not None:
            for source, one in zip(node.inputs, node.gradients(arrived)):  # noqa: B905 (as many: gradients looks)
                if source is None or one is None:
                    continue
                sofar = pending.get(source)
                if isinstance(one, Part):
                    pending[source] = _with_part(gathered, source, sofar, one)
                else:
                    pending[source] = one if sofar is None else sofar.zip("add", one)
        if not retain:
            node.free()
    return pending, gathered  # of the calls none is left


def _with_part(gathered: dict[Node | Leaf, Gathered], source: Node | Leaf, sofar: Tensor | None, part: Part) -> Tensor:
    """Return the sum of what has arrived at a source and of a part, which is added in place where the sum is ours."""
    sum_of_parts = gathered.get(source)
    if sum_of_parts is None or sum_of_parts.total is not sofar:
        sum_of_parts = gathered[source] = Gathered(sofar, part)
    else:
        sum_of_parts.add(part)
    return sum_of_parts.total


def _calls(root: Node | Leaf) -> list[Node]:
    """The calls that lead to the root, the last one that was made first: each before those its inputs came from."""
    found = {root} if isinstance(root, Node) else set()
    waiting = [*found]
    while waiting:
        node = waiting.pop()
        if node.inputs is None:
            raise node.freed()
        for source in node.inputs:
            if isinstance(source, Node) and source not in found:
                found.add(source)
                waiting.append(source)
    return sorted(found, key=_number, reverse=True)
