"""What a decoded token costs on the C build: `python -m benchmarks.decoding [--short] [--peers]`.

Choosing it from a row of logits, and attention of its query to the keys that are cached, in float32 and bfloat16; with
--peers beside what PyTorch's users write for that.
"""

from __future__ import annotations

from . import threads  # noqa: F401  isort: skip (before NumPy)

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

import ml_dtypes
import numpy as np

from bindings import Library

from .backends import AbsentError, find_library
from .interleaved import Rounds, ratio, take_turns
from .machine import header
from .sizes import SHORT, SHORT_FORM, STEADY

Calls = Mapping[str, Callable[[], object]]

VOCABULARY, SHORT_VOCABULARY = 32_000, 500
ROWS = (1, 8)
TOP_K, TOP_P, TEMPERATURE = 50, 0.9, 0.8
# Query heads, KV heads, cached keys, numbers of a head.
CACHES = ((12, 1, 4096, 64), (4, 4, 1024, 64), (8, 1, 4096, 256))


def main() -> None:
    """Print the time of each, and how many times as long PyTorch takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.add_argument("--short", action="store_true", help="small sizes and few rounds")
    parser.add_argument("--peers", action="store_true", help="PyTorch beside it")
    options = parser.parse_args()
    try:
        path = find_library(options.library)
    except AbsentError as error:
        parser.error(str(error))
    print(*header(path), *([SHORT_FORM] if options.short else []), sep="\n")
    print(f"{'median us':<44}{'C':>10}{'PyTorch':>10}{'PyTorch / C, median (quartiles)':>36}")
    rounds = SHORT.operations if options.short else Rounds(least=20, most=200, seconds=2.0, settle=STEADY, turn=STEADY)
    for what, calls in every(Library(path), options.short, options.peers).items():
        print(line(what, calls, rounds), flush=True)


def every(library: Library, short: bool, peers: bool) -> dict[str, Calls]:
    """The calls of each row of the table: the C build's, and PyTorch's if it is asked for."""
    found: dict[str, Calls] = {}
    for rows in ROWS:
        logits = drawn(rows, SHORT_VOCABULARY if short else VOCABULARY)
        ours = samplers(library, logits)
        theirs: Calls = {}
        if peers:
            from .torch_decoding import samplers as in_torch

            theirs = in_torch(logits, TOP_K, TOP_P, TEMPERATURE)
        found |= {f"{name}, {rows} x {logits.shape[1]}": beside(name, ours, theirs) for name in ours}
    for heads, kv_heads, keys, head_dim in CACHES:
        keys = keys // SHORT.divisor if short else keys
        arrays = [drawn(1, 1, heads, head_dim), *(drawn(1, keys, kv_heads, head_dim) for _ in range(2))]
        ours = attentions(library, arrays)
        theirs = {}
        if peers:
            from .torch_decoding import attentions as in_torch_too

            theirs = in_torch_too(arrays)
        shape = f"{heads} heads, {kv_heads} KV, {keys} keys of {head_dim}"
        found |= {f"attention {name}, {shape}": beside(name, ours, theirs) for name in ours}
    return found


def drawn(*shape: int) -> np.ndarray:
    """Normal numbers, spread as logits are."""
    return np.random.default_rng(0).normal(0, 2, shape).astype(np.float32)


def samplers(library: Library, logits: np.ndarray) -> Calls:
    """A token for each row, in four ways."""
    seeds = np.arange(len(logits), dtype=np.uint64)
    return {
        "largest": partial(library.argmax, logits),
        "of all": partial(library.sample, logits, seeds, TEMPERATURE),
        f"of the {TOP_K} largest": partial(library.topk_sample, logits, seeds, TOP_K, TEMPERATURE),
        f"of a nucleus of {TOP_P}": partial(library.topp_sample, logits, seeds, TOP_P, TEMPERATURE),
    }


def attentions(library: Library, arrays: list[np.ndarray]) -> Calls:
    """Of a query for each head, in both formats."""
    keys, scale = arrays[1].shape[1], arrays[0].shape[-1] ** -0.5
    short = [array.astype(ml_dtypes.bfloat16) for array in arrays]
    return {
        "float32": partial(library.attention_forward, *arrays, keys, scale),
        "bf16": partial(library.attention_forward_bf16, *short, keys, scale),
    }


def beside(name: str, ours: Calls, theirs: Calls) -> Calls:
    """One call of both."""
    return {"C": ours[name]} | ({"PyTorch": theirs[name]} if name in theirs else {})


def line(what: str, calls: Calls, rounds: Rounds) -> str:
    """A row of the table."""
    seconds = take_turns(calls, rounds)
    times = [f"{1e6 * median(seconds[name]):>10.0f}" if name in seconds else f"{'-':>10}" for name in ("C", "PyTorch")]
    compared = str(ratio(seconds["PyTorch"], seconds["C"])) if "PyTorch" in seconds else "-"
    return f"{what:<44}{''.join(times)}{compared:>36}"


if __name__ == "__main__":
    main()
