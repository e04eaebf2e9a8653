"""Small corpora whose tokens tell their places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from training.data import Tokens


def numbered(shards: list[int], starts: list[int] | None = None) -> Tokens:
    """The tokens 0, 1, 2, ... in shards of these lengths."""
    ends = np.cumsum([0, *shards])
    ids = np.arange(ends[-1], dtype=np.uint16)
    arrays = {f"shard {i}": ids[begin:end] for i, (begin, end) in enumerate(pairwise(ends))}
    return Tokens(arrays, len(ids), None if starts is None else np.array(starts, np.int64))


@st.composite
def corpora(draw: st.DrawFn) -> Tokens:
    """Shards of any lengths, empty ones among them, and documents that start anywhere, the first at the beginning."""
    shards = [*draw(st.lists(st.integers(0, 40), max_size=8)), draw(st.integers(2, 40))]
    starts = draw(st.sets(st.integers(1, sum(shards) - 1), max_size=20))
    return numbered(shards, [0, *sorted(starts)])
