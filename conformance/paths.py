"""Where the project's own files lie, and where what can be made again is kept."""

from bindings.places import CACHE, CUDA, ROOT

GOLDEN = ROOT / "golden"
EXAMPLES = ROOT / "examples"

__all__ = ["CACHE", "CUDA", "EXAMPLES", "GOLDEN", "ROOT"]
