"""What a folder of shards holds: a small file beside them, by which everything else in the folder is checked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import DataError
from .files import map_array, read_json

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MANIFEST_FILE, TOKENIZER_FILE = "manifest.json", "tokenizer.json"
FORMAT = 1
SPLITS = ("train", "validation")
STARTS = np.dtype("<i8")


@dataclass(frozen=True)
class Stored:
    """A flat `.npy` file: its name, how many values it holds, and the SHA-256 of their bytes."""

    file: str
    size: int
    sha256: str

    def mapped(self, folder: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the values, not read yet. Raises DataError for a file that holds something else."""
        return map_array(folder / self.file, dtype, self.size)

    def check(self, folder: Path, content: NDArray[Any]) -> None:
        """Compare every byte. Raises DataError that names the file."""
        if digest(content) != self.sha256:
            raise DataError(f"{folder / self.file}: its SHA-256 is not the one in the manifest")


@dataclass(frozen=True)
class Split:
    """The shards of one split in order, and the file of the places where documents start; None without documents."""

    documents: int
    tokens: int
    shards: tuple[Stored, ...]
    starts: Stored | None


@dataclass(frozen=True)
class Plan:
    """What decides the bytes of the shards, known before the first is written."""

    vocab_size: int
    eot: int
    tokenizer_sha256: str
    shard_tokens: int
    validation: float
    sources: int
    sources_sha256: str  # of their names and sizes

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type the ids are stored in."""
        return storage(self.vocab_size)


@dataclass(frozen=True)
class Manifest:
    """The plan and what came of it."""

    plan: Plan
    splits: dict[str, Split]

    def fingerprint(self, split: str) -> str:
        """Return what tells these tokens from others: of the same text, cut into the same shards, it is the same."""
        content = {"vocab_size": self.plan.vocab_size, "eot": self.plan.eot, "split": asdict(self.splits[split])}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the file's content."""
        splits = {name: asdict(split) for name, split in self.splits.items()}
        return {"format": FORMAT, "dtype": str(self.plan.dtype), "plan": asdict(self.plan), "splits": splits}

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the folder's file. Raises DataError, naming the file and what is wrong in it."""
        file = folder / MANIFEST_FILE
        if not file.is_file():
            raise DataError(f"{file}: not there; expected a folder that `python -m {__package__}` has written")
        content = read_json(file)
        try:
            if content["format"] != FORMAT:
                raise DataError(f"{file}: expected format {FORMAT}, got {content['format']!r}")
            splits = {name: _split(file, content["splits"][name]) for name in SPLITS}
            return cls(Plan(**content["plan"]), splits)
        except (KeyError, TypeError) as error:
            raise DataError(f"{file}: not a manifest of shards ({type(error).__name__}: {error})") from error


def _split(file: Path, content: dict[str, Any]) -> Split:
    starts = content["starts"] and Stored(**content["starts"])
    shards = tuple(Stored(**shard) for shard in content["shards"])
    split = Split(content["documents"], content["tokens"], shards, starts)
    held = sum(shard.size for shard in shards), starts.size if starts else 0
    if held != (split.tokens, split.documents):
        said = f"{split.tokens} tokens and {split.documents} documents"
        raise DataError(f"{file}: a split of {said}, whose files hold {held[0]} and {held[1]}")
    return split


def digest(values: NDArray[Any]) -> str:
    """Return the SHA-256 of an array as it is stored, of tokens say."""
    return hashlib.sha256(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).data).hexdigest()


def storage(vocab_size: int) -> np.dtype[Any]:
    """Return the smallest type that holds the ids: uint16 or uint32, little-endian."""
    return np.dtype("<u2" if vocab_size <= 1 << 16 else "<u4")
