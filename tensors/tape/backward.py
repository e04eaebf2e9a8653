"""Gradients from a result to the leaves, each call after all that read its result; nothing here calls itself."""

from __future__ import annotations

from collections import Counter

from tensors.errors import TapeError
from tensors.tensor import Tensor

from .function import Leaf, Node


def backward(root: Node | Leaf, gradient: Tensor, retain: bool = False) -> None:
    """Add to every leaf's grad what `gradient` of the root's result comes to there.

    What a call saved is freed when its gradients are had, unless retain. Leaves change at the end, all or none; a
    leaf's grad is a dense copy that shares memory with nothing. Raises TapeError for a graph that is freed.
    """
    readers = _readers(root)
    pending: dict[int, Tensor] = {id(root): gradient}
    leaves: dict[int, Leaf] = {id(root): root} if isinstance(root, Leaf) else {}
    ready = [root] if isinstance(root, Node) else []
    while ready:
        node = ready.pop()
        arrived, sources = pending.pop(id(node), None), node.inputs
        found = (None,) * len(sources) if arrived is None else node.gradients(arrived)
        for source, one in zip(sources, found, strict=True):
            if source is None:
                continue
            if one is not None:
                sofar = pending.get(id(source))
                pending[id(source)] = one if sofar is None else sofar + one
                if isinstance(source, Leaf):
                    leaves[id(source)] = source
            if isinstance(source, Node):
                readers[id(source)] -= 1
                if not readers[id(source)]:
                    ready.append(source)
        if not retain:
            node.free()
    gathered = [(leaf, pending[number]) for number, leaf in leaves.items()]
    sums = [(leaf, one.copy() if leaf.grad is None else leaf.grad + one) for leaf, one in gathered]
    for leaf, total in sums:
        leaf.grad = total


def _readers(root: Node | Leaf) -> Counter[int]:
    """How many times each call's result is read on the way to the root, by id."""
    readers: Counter[int] = Counter()
    waiting = [root] if isinstance(root, Node) else []
    while waiting:
        node = waiting.pop()
        if node.context is None:
            name = node.function.__name__
            raise TapeError(f"backward: expected a graph that is not used yet, got one freed at {name}: retain_graph")
        for source in node.inputs:
            if isinstance(source, Node):
                readers[id(source)] += 1
                if readers[id(source)] == 1:
                    waiting.append(source)
    return readers
