"""Gradients from a result to the leaves, each call after all that read its result; nothing here calls itself."""

from __future__ import annotations

from operator import attrgetter

from tensors.errors import TapeError
from tensors.tensor import Tensor

from .function import Leaf, Node

_number = attrgetter("number")


def backward(root: Node | Leaf, gradient: Tensor, retain: bool = False) -> None:
    """Add to every leaf's grad what `gradient` of the root's result comes to there.

    What a call saved is freed when its gradients are had, unless retain. Leaves change at the end, all or none; a
    leaf's grad is a dense copy that shares memory with nothing. Raises TapeError for a graph that is freed.
    """
    pending: dict[Node | Leaf, Tensor] = {root: gradient}
    leaves: set[Leaf] = {root} if isinstance(root, Leaf) else set()
    for node in _calls(root):
        arrived, sources = pending.pop(node, None), node.inputs
        if arrived is not None:
            for number, one in enumerate(node.gradients(arrived)):
                source = sources[number]
                if source is None or one is None:
                    continue
                sofar = pending.get(source)
                pending[source] = one if sofar is None else sofar + one
                if isinstance(source, Leaf):
                    leaves.add(source)
        if not retain:
            node.free()
    sums = [(leaf, pending[leaf].copy() if leaf.grad is None else leaf.grad + pending[leaf]) for leaf in leaves]
    for leaf, total in sums:
        leaf.grad = total


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
