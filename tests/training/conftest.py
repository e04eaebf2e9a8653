from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """All bytes of a folder, by file."""
    return lambda folder: {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
