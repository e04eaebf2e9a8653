"""A whole training step that is one function of Python: one update tensor by tensor, then several in the envelope.

`expected` says what an update must give, `judge` holds a function's to that, `run` has it make several.
"""

from __future__ import annotations

from .expected import ID
from .judge import judge_update, not_given
from .run import judge_run, lacking

__all__ = ["ID", "judge_run", "judge_update", "lacking", "not_given"]
