"""Where training stands, on disk: complete or not there, checked byte by byte when it is read."""

from .content import Checkpoint, CheckpointError, require
from .store import Store

__all__ = ["Checkpoint", "CheckpointError", "Store", "require"]
