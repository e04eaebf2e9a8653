"""Documents to shards: flat `.npy` files of ids, the end-of-text mark before each document, cut to one size."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import DataError
from .encoding import Encoder, encode_all
from .manifest import MANIFEST_FILE, TOKENIZER_FILE, Manifest, Plan
from .unfinished import Unfinished, publish, unfinished_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from .documents import Document, Source
    from .tokenizers import Tokenizer

SHARD_TOKENS = 1 << 24
_COMMIT_SECONDS = 1.0  # what is done in less than that is not worth a write


def tokenize(documents: Iterable[Document], tokenizer: Tokenizer) -> NDArray[Any]:
    """Return all documents as one array of ids, the mark before each; documents without text are left out.

    Raises DataError for a corpus without any text.
    """
    encoder = Encoder(tokenizer, validation=0)
    parts = [encoder.ids(document.text) for document in documents if document.text]
    if not parts:
        raise DataError("the corpus is empty: no document holds any text")
    return np.concatenate(parts)


def write_shards(
    sources: Sequence[Source],
    tokenizer: Tokenizer,
    folder: Path,
    *,
    shard_tokens: int = SHARD_TOKENS,
    validation: float = 0.0,
    workers: int = 1,
    resume: bool = False,
    report: Callable[[Unfinished], None] = lambda _: None,
    commit_seconds: float = _COMMIT_SECONDS,
) -> Manifest:
    """Write the documents as shards of shard_tokens ids (the last of a split shorter), and the tokeniser.

    The share `validation` of the documents goes into shards of its own. The bytes written depend on neither the number
    of worker processes nor on how often the run was stopped and resumed; the folder is there complete or not at all.
    Raises DataError for documents that are not text, a corpus without any, a folder that holds something else.
    """
    _check(shard_tokens, validation, workers)
    text = tokenizer.as_json()
    plan = _plan(sources, tokenizer, text, shard_tokens, validation)
    if finished := _finished(folder, plan, resume):
        return finished
    with closing(Unfinished(folder, plan, sources, text, resume)) as work:
        committed = time.monotonic()
        report(work)
        saved = work.folder / TOKENIZER_FILE
        for encoded in encode_all(sources[work.done :], tokenizer, saved, validation, workers):
            work.add(encoded)
            if time.monotonic() - committed >= commit_seconds:
                work.commit()
                committed = time.monotonic()
            report(work)
        return work.finish()


def _check(shard_tokens: int, validation: float, workers: int) -> None:
    for name, value in (("shard_tokens", shard_tokens), ("workers", workers)):
        if value < 1:
            raise DataError(f"{name}: expected at least 1, got {value}")
    if not 0 <= validation < 1:
        raise DataError(f"validation: expected a share of at least 0 and below 1, got {validation}")


def _plan(sources: Sequence[Source], tokenizer: Tokenizer, text: str, shard_tokens: int, validation: float) -> Plan:
    listing = json.dumps([[source.name, source.size] for source in sources])
    hashes = [hashlib.sha256(content.encode()).hexdigest() for content in (text, listing)]
    return Plan(
        tokenizer.vocab_size, tokenizer.eot, hashes[0], shard_tokens, float(validation), len(sources), hashes[1]
    )


def _finished(folder: Path, plan: Plan, resume: bool) -> Manifest | None:
    """Return the manifest of an earlier run that was killed after its work, or was not killed at all."""
    if resume and (unfinished_folder(folder) / MANIFEST_FILE).exists():
        publish(folder)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if resume and (folder / MANIFEST_FILE).exists():
        manifest = Manifest.read(folder)
        if manifest.plan == plan:
            return manifest
        raise DataError(f"{folder}: holds shards of other documents or settings ({manifest.plan})")
    raise DataError(f"{folder}: already there; expected a new or empty folder")
