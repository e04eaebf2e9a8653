"""What is wrong with a golden file."""

from __future__ import annotations

from pathlib import Path


class GoldenError(ValueError):
    """A golden that cannot be relied on: names the file, what was expected and what was found."""

    def __init__(self, path: Path, expected: str, got: str) -> None:
        super().__init__(f"{path}: expected {expected}, got {got}")
        self.path, self.expected, self.got = path, expected, got

    def __reduce__(self) -> tuple[type[GoldenError], tuple[Path, str, str]]:
        """What another process is handed: an exception goes there by the arguments it is made of, not its text."""
        return type(self), (self.path, self.expected, self.got)
