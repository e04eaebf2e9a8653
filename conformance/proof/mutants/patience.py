"""How long a call of a mutant may take: one that never ends is not waited for much longer than a right call takes."""

from __future__ import annotations

_TIMES = 20.0  # as long as the call has taken: a mutant may be slow without being wrong
_LEAST_S = 1.0  # a busy machine is slow, too


class Patience:
    """The time that each case's calls have taken where the case passed, and the limit that follows from it.

    most_s: the limit of a case that has not passed yet.
    """

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._taken: dict[str, float] = {}

    def limit_s(self, case: str) -> float:
        """Return how many seconds a call of this case may take."""
        taken = self._taken.get(case)
        return self._most_s if taken is None else _LEAST_S + _TIMES * taken

    def knows(self, case: str) -> bool:
        """Whether the case has passed before."""
        return case in self._taken

    def note(self, case: str, seconds: float) -> None:
        """Remember how long a case took that passed."""
        self._taken[case] = min(seconds, self._taken.get(case, seconds))
