"""Calls at full size, judged element by element: what is expected is known small, and spread over the whole."""

from .judge import expected_of, judge_drawn, judge_full

__all__ = ["expected_of", "judge_drawn", "judge_full"]
