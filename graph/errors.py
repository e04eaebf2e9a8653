"""What can be wrong with a graph, and how it is said."""

from __future__ import annotations


class GraphError(ValueError):
    """A graph, a record or what a run was given is not as it must be: says where, what was expected and what came."""


def refuse(where: str, expected: str, got: object) -> GraphError:
    """Return the error that names a place, what was expected there and what came."""
    return GraphError(f"{where}: expected {expected}, got {got}")
