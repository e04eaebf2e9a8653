"""What judging needs of a case or a step and no candidate changes, made once and kept on disk.

Arguments, expectations and whether a case can be trusted cost three quarters of a run and depend on sources, seed and
contract alone.  They are kept in files under a key of all that made them, each with a checksum; what is damaged or
missing is made again.
"""

from .key import made_by
from .store import DiskStore, MemoryStore, Store, kept_between_runs

__all__ = ["DiskStore", "MemoryStore", "Store", "kept_between_runs", "made_by"]
