"""Whole training steps: judged operation by operation on the reference's inputs, and as a whole from one start."""

from .scenario import STEPS, Scenario, scenario
from .trace import Call, Traced

__all__ = ["STEPS", "Call", "Scenario", "Traced", "scenario"]
