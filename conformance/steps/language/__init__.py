"""Whether a model learns language: by the training command, to a stated loss, on a course that honest runs take."""

from __future__ import annotations

from .comparison import BackendResult, Comparison, check

__all__ = ["BackendResult", "Comparison", "check"]
