"""Where the project's own files lie: the judge reads these folders, and writes none of them but the goldens."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
CUDA = ROOT / "cuda"
GOLDEN = ROOT / "golden"
