"""A classifier of sentences learns on the tape, on the reference and on a library: from which part of scikit-learn?

Its text is scikit-learn's own documentation: the sentences of the docstrings of six of its parts, those left out that
stand in several. Of unseen ones it must get as many right as naive Bayes does by their words, but for chance.
`python -m benchmarks.sentences --library PATH`.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import reference
from bindings import Library
from reference import random
from reference.namespace import Ops
from tensors import Tensor
from tensors.functions import FUSED
from tensors.modules import Attention, Dropout, Embedding, FeedForward, LayerNorm, Linear, Module
from tensors.optimizers import AdamW, WarmupCosine, clip_by_global_norm
from tensors.tape import Variable, no_grad

PARTS = ("cluster", "decomposition", "ensemble", "linear_model", "metrics", "preprocessing")
LONGEST = 30.0  # seconds of a training, of a processor
LENGTH, FEWEST = 32, 6  # words of a sentence, at most and at least
HIDDEN, HEADS, RATE, EPOCHS, BATCH = 32, 2, 0.3, 8, 32
SPREADS = 3.0  # of a coin thrown for each sentence that one of two classifiers alone gets right
_PADDING, _UNKNOWN = 0, 1
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
Array = np.ndarray[Any, Any]


class Text(NamedTuple):
    """words [sentences, LENGTH], int32, padded, and parts [sentences]; of the last `tested` nothing is learned."""

    words: Array
    parts: Array
    vocabulary: int
    tested: int


def sentences(part: str) -> set[str]:
    """The sentences of a part's docstrings.  Raises ImportError without scikit-learn."""
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise ImportError("sklearn: expected scikit-learn to be installed")
    files = sorted((Path(spec.origin).parent / part).glob("*.py"))
    trees = (ast.walk(ast.parse(file.read_text(encoding="utf-8"))) for file in files)
    documented = (n for tree in trees for n in tree if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    return {each for node in documented for each in _prose(ast.get_docstring(node) or "")}


def _prose(docstring: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", docstring):
        if not any(mark in paragraph for mark in (">>>", "---", ".. ")):
            found = _SENTENCE.split(" ".join(paragraph.split()))
            yield from (one for one in found if one[0:1].isupper() and one.endswith(".") and len(split(one)) >= FEWEST)


def split(sentence: str) -> list[str]:
    """The words of a sentence."""
    return re.findall(r"[a-z]+", sentence.lower())


def text() -> Text:
    """All sentences, shuffled; a fifth is kept for testing.  Raises ImportError."""
    found = [sentences(part) for part in PARTS]
    places = Counter(one for each in found for one in each)
    every = [(split(one), n) for n, each in enumerate(found) for one in sorted(each) if places[one] == 1]
    order = random.permutation(random.stream("sentences"), len(every))
    every = [every[k] for k in order]
    tested = len(every) // 5
    counts = Counter(word for words, _ in every[:-tested] for word in words)
    known = [word for word in sorted(counts) if counts[word] > 1]
    numbers = {word: n for n, word in enumerate(known, start=_UNKNOWN + 1)}
    words = np.full((len(every), LENGTH), _PADDING, np.int32)
    for row, (spoken, _) in zip(words, every, strict=True):
        told = [numbers.get(word, _UNKNOWN) for word in spoken[:LENGTH]]
        row[: len(told)] = told
    return Text(words, np.array([n for _, n in every], np.int32), len(known) + _UNKNOWN + 1, tested)


def naive_bayes(given: Text) -> Array:
    """Which unseen sentences are told by how often each part has each word (Laplace's rule)."""
    learned, unseen = slice(None, -given.tested), slice(-given.tested, None)
    counts = np.ones((len(PARTS), given.vocabulary))
    np.add.at(counts, (given.parts[learned, None], given.words[learned]), 1.0)
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    logs[:, _PADDING] = 0.0
    prior = np.log(np.bincount(given.parts[learned], minlength=len(PARTS)))
    scores = prior + logs[:, given.words[unseen]].sum(axis=-1).T
    right: Array = scores.argmax(axis=1) == given.parts[unseen]
    return right


def lost(right: Array, others: Array) -> float:
    """How many more sentences the others alone get right, in standard deviations of chance (McNemar 1947)."""
    theirs, ours = int((others & ~right).sum()), int((right & ~others).sum())
    return (theirs - ours) / max(1.0, math.sqrt(theirs + ours))


class Classifier(Module):
    """Words, one layer of attention, a feed-forward network; of these the sum divided by the root of their number.

    Attention is causal: so no word meets the padding, which stands behind all.
    """

    def __init__(self, vocabulary: int, ops: Ops) -> None:
        super().__init__()
        self.embedding = Embedding(vocabulary, HIDDEN, seed="words", ops=ops)
        self.attention_norm, self.ffn_norm = (LayerNorm(HIDDEN, ops=ops) for _ in range(2))
        self.attention = Attention(HIDDEN, HEADS, 1, HIDDEN // HEADS, seed="attention", ops=ops)
        self.feed_forward = FeedForward(HIDDEN, 2 * HIDDEN, seed="ffn", ops=ops)
        self.drops = [Dropout(RATE, seed=n) for n in range(4)]
        self.scores = Linear(HIDDEN, len(PARTS), seed="scores", ops=ops)
        self._ops = ops

    def forward(self, words: Array) -> Variable:
        """Scores (sentences, parts) of words (sentences, length)."""
        spoken = (words != _PADDING).astype(np.float32)
        shares = Tensor((spoken / np.sqrt(spoken.sum(axis=1, keepdims=True)))[:, :, None], self._ops)
        before, attended, fed, behind = self.drops
        x = before(self.embedding(words))
        x = x + attended(self.attention(self.attention_norm(x)))
        x = x + fed(self.feed_forward(self.ffn_norm(x)))
        scores: Variable = self.scores(behind((x * shares).sum(1)))
        return scores


def train(given: Text, ops: Ops, epochs: int = EPOCHS) -> tuple[Array, float]:
    """Return which unseen sentences are told, and the processor's seconds that training took."""
    began, model = time.process_time(), Classifier(given.vocabulary, ops)
    words, parts = given.words[: -given.tested], given.parts[: -given.tested]
    updates = epochs * -(-len(words) // BATCH)
    optimizer = AdamW(model, WarmupCosine(4e-3, updates // 20, updates), weight_decay=0.05)
    for epoch in range(epochs):
        order = random.permutation(random.stream("sentences", epoch), len(words))
        for some in np.split(order, range(BATCH, len(order), BATCH)):
            optimizer.zero_grad()
            FUSED.cross_entropy(model(words[some]), parts[some]).backward()
            clip_by_global_norm(model.parameters(), 1.0)
            optimizer.step()
    seconds = time.process_time() - began
    model.eval()
    with no_grad():
        scores = model(given.words[-given.tested :]).numpy()
    return scores.argmax(axis=1) == given.parts[-given.tested :], seconds


def main() -> int:
    """Train on all backends; return 1 where one gets too little right or is too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, action="append", default=[], help="trained on beside the reference")
    backends = {"reference": reference} | {path.name: Library(path) for path in parser.parse_args().library}
    given, failed = text(), False
    others = naive_bayes(given)
    most = np.bincount(given.parts[-given.tested :]).max() / given.tested
    known = f"the commonest part {most:.1%}, naive Bayes {others.mean():.1%}"
    print(f"{len(given.words)} sentences, {given.tested} unseen: {known}", flush=True)
    for name, ops in backends.items():
        right, seconds = train(given, ops)
        wrong = lost(right, others) > SPREADS or seconds > LONGEST
        due = f": FAIL, due is what naive Bayes gets, but for chance, in {LONGEST:.0f} s" if wrong else ""
        print(f"sentences on {name}: {right.mean():.1%} in {seconds:.1f} s of a processor{due}", flush=True)
        failed |= wrong
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
