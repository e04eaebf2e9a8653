"""How tests start ranks by mpirun."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MPIRUN = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or shutil.which("mpirun")


def ranks(size: int, *program: str | Path) -> list[str]:
    """What starts as many ranks of a program; skips the test where mpi4py, an optional extra, is not installed."""
    pytest.importorskip("mpi4py", reason="mpi4py is an optional extra")
    assert MPIRUN, "mpi4py is installed, mpirun is not: pip install mpich"
    return [MPIRUN, "-n", str(size), sys.executable, *map(str, program)]
