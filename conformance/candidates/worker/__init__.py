"""Runs a candidate library in a process of its own: guarded buffers, poison, a time limit, every call twice."""

from .outcome import Outcome, Status
from .worker import Worker

__all__ = ["Outcome", "Status", "Worker"]
