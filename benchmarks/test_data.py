"""What data costs beside the training it is for: a batch against a step of the tiny model, and text into shards."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from reference.model.config import TINY
from reference.model.parameters import initialise
from reference.step import TrainingConfig, start, training_step
from training.data import (
    Batches,
    BpeTokenizer,
    DataError,
    Document,
    Loader,
    Tokens,
    embedded_documents,
    list_documents,
    load_tokenizer,
    write_shards,
)

from .backends import Backends
from .interleaved import Rounds, Spread, ratio, take_turns
from .sizes import SHORT, Sizes
from .table import Table

ROOT = Path(__file__).parents[1]
SHAPES = [(2, 64), (4, 128), (8, 512)]
MOST_OF_A_STEP = "at most 2 %"
LEAST_BYTES_PER_SECOND = 10e6


@pytest.fixture(scope="session")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    """The embedded text four times, in shards on the disk."""
    sources = [Document(f"{turn} {d.name}", f"{turn} {d.text}") for turn in range(4) for d in embedded_documents()]
    tokenizer = BpeTokenizer.train((source.text for source in sources), TINY.vocab)
    folder = tmp_path_factory.mktemp("data") / "shards"
    write_shards(sources, tokenizer, folder, shard_tokens=1 << 18)
    return Tokens.open(folder)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_a_batch_beside_a_step(
    shape: tuple[int, int], tokens: Tokens, backends: Backends, sizes: Sizes, table: Table
) -> None:
    loader = Loader(Batches(tokens, *shape, seed=0))
    candidates = {"batch": lambda: next(loader), "step": tiny_step(backends.library, loader)}
    seconds = take_turns(candidates, sizes.operations)
    share = ratio(seconds["batch"], [sum(pair) for pair in zip(*seconds.values(), strict=True)])
    name, of = "x".join(map(str, shape)), f"of a step of the tiny model on the C library, {MOST_OF_A_STEP} asked for"
    percent = Spread(*(100 * part for part in share))
    table.notes.append(f"batch of {name}, shuffled: {median(seconds['batch']) * 1e6:.1f} us, {percent} % {of}")


def tiny_step(ops: Any, loader: Loader) -> Callable[[], None]:
    state, (ids, targets) = start(initialise(TINY, seed=0, dtype="float32")), next(loader)

    def step() -> None:
        nonlocal state
        state, _ = training_step(ops, TINY, TrainingConfig(), state, ids, targets)

    return step


def sources_in(folder: Path, most: int) -> list[str]:
    """The first Python files in a folder; some of the library's tests are not UTF-8, on purpose."""
    texts: list[str] = []
    for file in list_documents(folder):
        if file.name.endswith(".py") and not file.name.startswith("site-packages/") and len(texts) < most:
            with contextlib.suppress(DataError):
                texts.append(file.text)
    return texts


CORPORA: dict[str, Callable[[], list[str]]] = {
    "Python's help text, 16 times": lambda: [document.text for document in embedded_documents()] * 16,
    "the reference's sources, 32 times": lambda: sources_in(ROOT / "reference", 1000) * 32,
    "sources of the standard library": lambda: sources_in(Path(os.__file__).parent, 600),
}


@pytest.mark.parametrize("corpus", CORPORA)
def test_sharding(corpus: str, tmp_path: Path, sizes: Sizes, table: Table) -> None:
    """Byte pairs, one process, its own time: everything from text to shards, no word remembered from before."""
    texts = CORPORA[corpus]()
    texts = texts[: max(1, len(texts) // sizes.divisor)]
    sources = [Document(str(number), text) for number, text in enumerate(texts)]
    size = sum(source.size for source in sources)
    saved = tmp_path / "tokenizer.json"
    saved.write_text(BpeTokenizer.train({source.text: 0 for source in sources}, 4096).as_json(), encoding="utf-8")
    folders = (tmp_path / str(number) for number in count())
    rounds = SHORT.operations if sizes == SHORT else Rounds(least=5, most=5)
    shard = {corpus: lambda: write_shards(sources, load_tokenizer(saved), next(folders))}
    rate = size / median(take_turns(shard, rounds, clock=time.process_time)[corpus])
    asked = f"{LEAST_BYTES_PER_SECOND / 1e6:.0f} asked for"
    table.notes.append(
        f"sharding with byte pairs, {corpus}: {size / 1e6:.1f} MB, {rate / 1e6:.1f} MB/s a core, {asked}"
    )
