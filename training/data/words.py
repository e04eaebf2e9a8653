"""Byte pairs many times faster than by the tokenizers package alone, with the same ids: a text's words are kept.

The package cuts a text into words and merges pairs inside each. Here the same cuts are made by one regular expression,
and only a word that was not seen before goes through the package. Whatever the expression is not sure of (characters
beyond ASCII, whose classes differ between engines) goes there whole, up to the next sure cut.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# GPT-2's pattern (Radford et al. 2019, encoder.py), which is ByteLevel's, for ASCII: contractions, a run of letters, of
# digits or of others after at most one space, white space except the one character that belongs to what follows it.
_OTHERS = r"[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]"
_VISIBLE = r"[\x00-\x08\x0e-\x1f!-\x7f]"
_WORDS = re.compile(
    r"'(?:[sdmt]|ll|ve|re)"
    rf"| ?(?:[A-Za-z]++|[0-9]++|{_OTHERS}++)(?![^\x00-\x7f])"
    rf"|[\t-\r ]+(?=[\t-\r ]{_VISIBLE})|[\t-\r](?={_VISIBLE})|[\t-\r ]+\Z"
    r"|.+?[!-~](?=[ \n])|.+",
    re.DOTALL,
)
_SURE_CUT = re.compile(r"[!-~](?=[ \n])")
# The characters by which ByteLevel writes those that cannot be seen.
_LEVEL = {**{byte: 256 + byte for byte in range(33)}, 127: 256 + 33}
_BLOCK = 1 << 20  # characters whose words are in memory at once
_LONGEST = 64  # characters of a word that is kept
_MOST = 1 << 18  # words kept: some 50 MB


class Words(dict[str, bytes]):
    """The ids of each word seen, as bytes of uint32."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model, self._merges = model, model.model

    def __missing__(self, word: str) -> bytes:
        """Ask the package."""
        if word.isascii():  # so it is a single one, and the package need not look for cuts in it
            ids = array("I", [token.id for token in self._merges.tokenize(word.translate(_LEVEL))]).tobytes()
        else:
            ids = array("I", self._model.encode(word, add_special_tokens=False).ids).tobytes()
        if len(word) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[word] = ids
        return ids

    def encode(self, text: str) -> NDArray[np.uint32]:
        """Return the ids of a text, as the package would."""
        parts: list[bytes] = []
        start = 0
        while start < len(text):
            cut = _SURE_CUT.search(text, start + _BLOCK)
            end = cut.end() if cut else len(text)
            parts.extend(map(self.__getitem__, _WORDS.findall(text, start, end)))
            start = end
        return np.frombuffer(b"".join(parts), np.uint32)


def cuts_are_known(model: Any) -> bool:
    """Tell whether the package cuts texts for this model as _WORDS does, and merges inside the words alone."""
    content = json.loads(model.to_str())
    cut = content["pre_tokenizer"] or {}
    return (
        content["model"]["type"] == "BPE"
        and not content["model"].get("dropout")
        and cut.get("type") == "ByteLevel"
        and not cut.get("add_prefix_space")
        and bool(cut.get("use_regex", True))
        and not any(content[part] for part in ("normalizer", "truncation", "padding"))
        and all(token["special"] for token in content["added_tokens"])
    )
