"""Engines: what runs a task's records and hands in what they come to, each in a worker's process of its own.

`module` is one function of Python, `library` one function of C (cuda/include/assayer_graph.h), `operations` our own
graph over a library that exports the header's operations.
"""

from __future__ import annotations

from .engine import Engine, EngineError, Outcome, engine_of

__all__ = ["Engine", "EngineError", "Outcome", "engine_of"]
