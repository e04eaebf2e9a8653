"""Tokenisers: bytes as they are, or byte pairs merged as learned from a text.

Both keep the last id of their vocabulary for the end-of-text mark that stands before every document. No text encodes to
it, whatever the text says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .documents import DataError
from .words import Words, cuts_are_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import tokenizers
    from numpy.typing import NDArray


class Tokenizer(Protocol):
    """Text to ids 0 <= id < vocab_size and back."""

    @property
    def vocab_size(self) -> int:
        """The number of ids, the end-of-text mark included."""

    @property
    def eot(self) -> int:
        """The id of the end-of-text mark."""

    def encode(self, text: str) -> NDArray[np.uint32]:
        """Return the text's ids, without a mark."""

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """Return the text of the ids, marks left out, half characters replaced by U+FFFD."""

    def as_json(self) -> str:
        """Return the content of a file that load_tokenizer reads."""


class ByteTokenizer:
    """The bytes of UTF-8 are ids 0 to 255; 256 is the end-of-text mark."""

    vocab_size = 257
    eot = 256

    def encode(self, text: str) -> NDArray[np.uint32]:
        """Return the text's ids, without a mark."""
        return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """Return the text of the ids, marks left out, half characters replaced by U+FFFD."""
        values = np.asarray(ids, np.int64)
        text: bytes = values[values != self.eot].astype(np.uint8).tobytes()
        return text.decode("utf-8", errors="replace")

    def as_json(self) -> str:
        """Return the content of a file that load_tokenizer reads."""
        return json.dumps({"kind": "bytes"}) + "\n"


class BpeTokenizer:
    """Byte pairs, by the tokenizers package; its file is the package's own JSON, and other byte-level ones load too."""

    def __init__(self, model: tokenizers.Tokenizer) -> None:
        # A mark of the package's own (in a file made elsewhere) is plain text when it occurs in a text.
        model.encode_special_tokens = True
        self._model = model
        self._words = Words(model) if cuts_are_known(model) else None

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> BpeTokenizer:
        """Learn vocab_size ids (256 bytes and the mark among them; fewer where the texts have no more pairs to merge).

        Raises DataError for a size below 257, ImportError without the tokenizers package.
        """
        package = _tokenizers_package()
        least = ByteTokenizer.vocab_size
        if vocab_size < least:
            raise DataError(f"vocabulary: expected at least {least} ids (256 bytes and the mark), got {vocab_size}")
        alphabet = package.pre_tokenizers.ByteLevel.alphabet()
        model = package.Tokenizer(package.models.BPE())
        model.pre_tokenizer = package.pre_tokenizers.ByteLevel(add_prefix_space=False)
        model.decoder = package.decoders.ByteLevel()
        trainer = package.trainers.BpeTrainer(vocab_size=vocab_size - 1, initial_alphabet=alphabet, show_progress=False)
        model.train_from_iterator(texts, trainer)
        return cls(model)

    @property
    def vocab_size(self) -> int:
        """The number of ids, the end-of-text mark included."""
        return int(self._model.get_vocab_size()) + 1

    @property
    def eot(self) -> int:
        """The id of the end-of-text mark: the one behind the package's own."""
        return int(self._model.get_vocab_size())

    def encode(self, text: str) -> NDArray[np.uint32]:
        """Return the text's ids, without a mark."""
        if self._words is not None:
            return self._words.encode(text)
        return np.asarray(self._model.encode(text, add_special_tokens=False).ids, np.uint32)

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """Return the text of the ids, marks left out, half characters replaced by U+FFFD."""
        return str(self._model.decode([int(i) for i in ids if i != self.eot], skip_special_tokens=False))

    def as_json(self) -> str:
        """Return the content of a file that load_tokenizer reads."""
        return str(self._model.to_str(pretty=True)) + "\n"


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a file of what `as_json` returned.

    Raises DataError for a file that is no tokeniser, ImportError where its package is missing.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a tokeniser ({error})") from error
    if content == {"kind": "bytes"}:
        return ByteTokenizer()
    package = _tokenizers_package()
    try:
        return BpeTokenizer(package.Tokenizer.from_str(text))
    except Exception as error:  # the package raises bare Exception
        raise DataError(f"{path}: not a tokeniser ({error})") from error


def _tokenizers_package() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        message = "byte-pair tokenisers need the tokenizers package: pip install tokenizers"
        raise ImportError(message, name="tokenizers") from error
    return tokenizers
