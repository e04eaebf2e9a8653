"""Where the project's own files lie, and where what can be made again is kept."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
CUDA = ROOT / "cuda"
GOLDEN = ROOT / "golden"
CACHE = Path(
    os.environ.get("ASSAYER_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "assayer")
).expanduser()
