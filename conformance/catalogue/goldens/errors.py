"""What is wrong with a golden file."""

from __future__ import annotations

from pathlib import Path


class GoldenError(ValueError):
    """A golden that cannot be relied on: names the file, what was expected and what was found."""

    def __init__(self, path: Path, expected: str, got: str) -> None:
        super().__init__(f"{path}: expected {expected}, got {got}")
        self.path, self.expected, self.got = path, expected, got
