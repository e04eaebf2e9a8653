"""What data costs beside the training it is for: a batch against a step of the tiny model, and text into shards."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
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

ROOT = Path(__file__).parents[1]
SHAPES = [(2, 64), (4, 128), (8, 512)]
ROUNDS, STEPS, BATCHES = 5, 5, 200
MOST_OF_A_STEP = 0.02
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
    shape: tuple[int, int], tokens: Tokens, backends: Backends, note: Callable[[str], None]
) -> None:
    loader = Loader(Batches(tokens, *shape, seed=0))
    step = tiny_step(backends.operations("C"), loader)
    batch = fastest(lambda: next(loader), BATCHES)
    whole = fastest(step, STEPS)
    share = batch / (batch + whole)
    name = "x".join(map(str, shape))
    of = f"{share:.2%} of a step of the tiny model on the C library, to be below {MOST_OF_A_STEP:.0%}"
    note(f"batch of {name}, shuffled: {batch * 1e6:.1f} us, {of}")


def tiny_step(ops: Any, loader: Loader) -> Callable[[], None]:
    state, (ids, targets) = start(initialise(TINY, seed=0, dtype="float32")), next(loader)

    def step() -> None:
        nonlocal state
        state, _ = training_step(ops, TINY, TrainingConfig(), state, ids, targets)

    return step


def fastest(function: Callable[[], Any], calls: int) -> float:
    """Seconds a call takes in the fastest round."""
    rounds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(calls):
            function()
        rounds.append((time.perf_counter() - begun) / calls)
    return min(rounds)


def sources_in(folder: Path, most: int) -> list[str]:
    """The first Python files in a folder; some of the library's tests are not UTF-8, on purpose."""
    texts = []
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
def test_sharding(corpus: str, tmp_path: Path, note: Callable[[str], None]) -> None:
    """Byte pairs, one process, its own time: everything from text to shards, no word remembered from before."""
    sources = [Document(str(number), text) for number, text in enumerate(CORPORA[corpus]())]
    size = sum(source.size for source in sources)
    saved = tmp_path / "tokenizer.json"
    saved.write_text(BpeTokenizer.train({source.text: 0 for source in sources}, 4096).as_json(), encoding="utf-8")
    rounds = []
    for turn in range(ROUNDS):
        tokenizer = load_tokenizer(saved)
        begun = time.process_time()
        write_shards(sources, tokenizer, tmp_path / str(turn))
        rounds.append(time.process_time() - begun)
    rate = size / min(rounds)
    asked = f"to be above {LEAST_BYTES_PER_SECOND / 1e6:.0f}"
    note(f"sharding with byte pairs, {corpus}: {size / 1e6:.1f} MB, {rate / 1e6:.1f} MB/s per core, {asked}")
