"""Names of goldens: the profiles that they are made by, and the file of an id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.limits.envelope import Run

COMMITTED, FULL = "committed", "full"  # small enough to be kept in the repository; at the model's own sizes
TRAINING_RUN = "training_run/"  # what the ids of training runs begin with


def file_of(id: str) -> str:
    """The file of an id, below the folder: its parts, without characters that a file system may not take."""
    return "/".join(re.sub(r"[^\w.+-]+", "_", part) for part in id.split("/")) + ".safetensors"


def training_run(run: Run) -> str:
    """The id of the golden of a training run."""
    return f"{TRAINING_RUN}tiny{run.suffix}/{run.steps}x{run.batch}x{run.seq}"
