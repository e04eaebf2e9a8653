"""All that opening a folder does not look at: every byte of it against its manifest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from .documents import DataError
from .manifest import STARTS, TOKENIZER_FILE, Manifest

if TYPE_CHECKING:
    from pathlib import Path

    from .manifest import Split


def verify(folder: Path) -> Manifest:
    """Read every file of the folder. Raises DataError that names the first that is not what was written, and where."""
    manifest = Manifest.read(folder)
    tokenizer = folder / TOKENIZER_FILE
    content = tokenizer.read_bytes() if tokenizer.is_file() else b""
    if hashlib.sha256(content).hexdigest() != manifest.plan.tokenizer_sha256:
        raise DataError(f"{tokenizer}: not the tokeniser of these shards")
    for split in manifest.splits.values():
        _verify_split(folder, split, manifest)
    return manifest


def _verify_split(folder: Path, split: Split, manifest: Manifest) -> None:
    starts = split.starts.mapped(folder, STARTS) if split.starts else np.empty(0, STARTS)
    begin = 0
    for shard in split.shards:
        ids = shard.mapped(folder, manifest.plan.dtype)
        file = folder / shard.file
        wrong = np.flatnonzero(ids >= manifest.plan.vocab_size)
        if wrong.size:
            bad = f"token {wrong[0]} is {ids[wrong[0]]}"
            raise DataError(f"{file}: {bad}, but the vocabulary has {manifest.plan.vocab_size} ids")
        first, end = np.searchsorted(starts, (begin, begin + shard.size))
        marks = np.flatnonzero(ids == manifest.plan.eot)
        if not np.array_equal(marks, starts[first:end] - begin):
            differing = np.setxor1d(marks, starts[first:end] - begin)
            raise DataError(f"{file}: token {differing[0]}: a document's mark and the list of documents do not agree")
        shard.check(folder, ids)
        begin += shard.size
    if split.starts:
        split.starts.check(folder, starts)
