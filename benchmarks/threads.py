"""How many threads compute, settled before NumPy is loaded: import this first.

Everything runs on two. The reference shares out its work to threads of its own, so NumPy's BLAS keeps to one: two pools
of threads on the same cores would wait for each other. PyTorch and the C build read OMP_NUM_THREADS.
"""

from __future__ import annotations

from . import needed  # noqa: F401  isort: skip (before what it asks for)

import os
import sys

THREADS = 2
SETTINGS = {"OMP_NUM_THREADS": str(THREADS), "OPENBLAS_NUM_THREADS": "1"}

if "numpy" in sys.modules and any(os.environ.get(name) != value for name, value in SETTINGS.items()):
    raise RuntimeError(f"NumPy was loaded before its threads were settled; run with {SETTINGS}")
os.environ.update(SETTINGS)
