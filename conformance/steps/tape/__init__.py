"""The model written a second time, on a tape of strided operations: its gradients are the hand-written step's.

In: a library in its worker; the reference on noise numbers.
Out: a result for the loss and for each parameter's gradient; where one is wrong, one for the operation that went wrong.
Used by: steps/table.
"""

from __future__ import annotations

from .judge import judge_tape
from .run import TAPE, operations, run

__all__ = ["TAPE", "judge_tape", "operations", "run"]
