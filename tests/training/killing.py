"""Stopping a process's work as a kill would, at a chosen change of the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Killed(BaseException):
    """Nothing catches it, as nothing catches a kill."""


@contextmanager
def killed_at(call: int) -> Iterator[list[str]]:
    """Stop right after this call of those that change what is on the disk; yields the calls that were made."""
    made: list[str] = []

    def counted(owner: Any, name: str) -> Any:
        function = getattr(owner, name)

        def instead(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            made.append(name)
            if len(made) == call:
                if name == "open":
                    result.close()
                raise Killed
            return result

        return instead

    changes = [(Path, "replace"), (Path, "unlink"), (Path, "open"), (Path, "mkdir"), (os, "fsync"), (os, "rmdir")]
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in changes:
            patch.setattr(owner, name, counted(owner, name))
        yield made
