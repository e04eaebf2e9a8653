"""Gradients from a result to the leaves, each call after all that read its result; nothing here calls itself."""

from __future__ import annotations

from operator import attrgetter

from tensors.errors import TapeError
from tensors.tensor import Tensor

from .function import Leaf, Node
from .parts import Gathered, Part

_number = attrgetter("number")


def backward(root: Node | Leaf, gradient: Tensor, retain: bool = False) -> None:
    """Add to every leaf's grad what `gradient` of the root's result comes to there.

    What a call saved is freed when its gradients are had, unless retain. Leaves change at the end, all or none; a
    leaf's grad is a dense copy that shares memory with nothing. Raises TapeError for a graph that is freed.
    """
    pending: dict[Node | Leaf, Tensor] = {root: gradient}
    gathered: dict[Node | Leaf, Gathered] = {}  # of those in pending, what is a sum of parts
    leaves: set[Leaf] = {root} if isinstance(root, Leaf) else set()
    for node in _calls(root):
        arrived, sources = pending.pop(node, None), node.inputs
        if gathered:
            gathered.pop(node, None)
        if arrived is not None:
            for number, one in enumerate(node.gradients(arrived)):
                source = sources[number]
                if source is None or one is None:
                    continue
                sofar = pending.get(source)
                if isinstance(one, Part):
                    pending[source] = _with_part(gathered, source, sofar, one)
                else:
                    pending[source] = one if sofar is None else sofar + one
                if isinstance(source, Leaf):
                    leaves.add(source)
        if not retain:
            node.free()
    sums = [(leaf, _gradient_of(leaf, pending[leaf], gathered)) for leaf in leaves]
    for leaf, total in sums:
        leaf.grad = total


def _with_part(gathered: dict[Node | Leaf, Gathered], source: Node | Leaf, sofar: Tensor | None, part: Part) -> Tensor:
    """Return the sum of what has arrived at a source and of a part, which is added in place where the sum is ours."""
    sum_of_parts = gathered.get(source)
    if sum_of_parts is None or sum_of_parts.total is not sofar:
        sum_of_parts = gathered[source] = Gathered(sofar, part)
    else:
        sum_of_parts.add(part)
    return sum_of_parts.total


def _gradient_of(leaf: Leaf, arrived: Tensor, gathered: dict[Node | Leaf, Gathered]) -> Tensor:
    """Return a leaf's gradient, in memory that is nobody else's."""
    if leaf.grad is not None:
        return leaf.grad + arrived
    is_own = leaf in gathered and gathered[leaf].total is arrived
    return arrived if is_own else arrived.copy()


def _calls(root: Node | Leaf) -> list[Node]:
    """The calls that lead to the root, the last one that was made first: each before those its inputs came from."""
    found = {root} if isinstance(root, Node) else set()
    waiting = [*found]
    while waiting:
        node = waiting.pop()
        if node.context is None:
            name = node.function.__name__
            raise TapeError(f"backward: expected a graph that is not used yet, got one freed at {name}: retain_graph")
        for source in node.inputs:
            if isinstance(source, Node) and source not in found:
                found.add(source)
                waiting.append(source)
    return sorted(found, key=_number, reverse=True)
