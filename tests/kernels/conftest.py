"""What tests of the kernels' library share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tested_path(request: pytest.FixtureRequest) -> Path:
    """The kernels on the emulated device, or the library that $ASSAYER_EMULATED names."""
    named = os.environ.get("ASSAYER_EMULATED")
    found: Path = Path(named) if named else request.getfixturevalue("emulated_path")
    return found
