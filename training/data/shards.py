"""Tokens on disk: flat `.npy` files of uint16, the end-of-text mark before each document, cut to one size."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from training.data.documents import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from training.data.documents import Document
    from training.data.tokenizers import Tokenizer

TokenArray: TypeAlias = "NDArray[np.uint16]"
STORED = np.dtype("<u2")
TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True)
class Summary:
    """What write_shards wrote: counts, and the digest of all tokens in order."""

    documents: int
    tokens: int
    shards: int
    sha256: str


def tokenize(documents: Iterable[Document], tokenizer: Tokenizer) -> TokenArray:
    """Return all documents as one array of ids, the mark before each; documents without text are left out.

    Raises DataError for a vocabulary that uint16 cannot hold and for a corpus without any text.
    """
    return np.concatenate(list(_pieces(documents, tokenizer)))


def digest(tokens: TokenArray) -> str:
    """Return the SHA-256 of the tokens as they are stored."""
    return hashlib.sha256(np.ascontiguousarray(tokens, STORED).data).hexdigest()


def write_shards(
    documents: Iterable[Document], tokenizer: Tokenizer, folder: Path, shard_tokens: int = 1 << 24
) -> Summary:
    """Write the documents as shards of shard_tokens ids (the last one shorter), and the tokeniser, into a new folder.

    Everything is written aside and renamed at the end: the folder is there complete or not at all.
    Raises DataError as tokenize does, and for a folder that already holds something.
    """
    if shard_tokens < 1:
        raise DataError(f"shard_tokens: expected at least 1, got {shard_tokens}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: already there; expected a new or empty folder")
    aside = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    aside.mkdir(parents=True)
    try:
        summary = _save(_cut(_pieces(documents, tokenizer), shard_tokens), tokenizer.eot, aside)
        tokenizer.save(aside / TOKENIZER_FILE)
        aside.replace(folder)
    except BaseException:
        shutil.rmtree(aside)
        raise
    return summary


def _pieces(documents: Iterable[Document], tokenizer: Tokenizer) -> Iterator[TokenArray]:
    """Yield each document that has text as one array: the mark, then its ids."""
    most = np.iinfo(STORED).max + 1
    if tokenizer.vocab_size > most:
        raise DataError(f"vocabulary: expected at most {most} ids (stored as uint16), got {tokenizer.vocab_size}")
    empty = True
    for document in documents:
        ids = tokenizer.encode(document.text)
        if ids.size:
            empty = False
            yield np.concatenate(([tokenizer.eot], ids), dtype=STORED, casting="unsafe")
    if empty:
        raise DataError("the corpus is empty: no document holds any text")


def _cut(pieces: Iterable[TokenArray], size: int) -> Iterator[TokenArray]:
    """Yield the pieces joined and cut to the size, the last one shorter."""
    held: list[TokenArray] = []
    count = 0
    for piece in pieces:
        held.append(piece)
        count += piece.size
        if count >= size:
            joined = np.concatenate(held)
            whole = count - count % size
            yield from joined[:whole].reshape(-1, size)
            held, count = [joined[whole:]], count - whole
    if count:
        yield np.concatenate(held)


def _save(shards: Iterable[TokenArray], eot: int, folder: Path) -> Summary:
    """Write the shards in order."""
    hashed = hashlib.sha256()
    documents = tokens = number = 0
    for number, shard in enumerate(shards, start=1):
        np.save(folder / f"tokens_{number - 1:06d}.npy", shard)
        hashed.update(shard.data)
        documents += int(np.count_nonzero(shard == eot))
        tokens += shard.size
    return Summary(documents, tokens, number, hashed.hexdigest())
