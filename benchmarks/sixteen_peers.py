"""The C build in float32 and bf16 beside PyTorch's eager mode and its autocast, for `benchmarks.sixteen --peers`."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import ml_dtypes
import numpy as np
import torch

from bindings import Library

from .cases import TRAINING, batch, initial_state
from .interleaved import Rounds, ratio, take_turns
from .sizes import Sizes
from .threads import THREADS
from .torch_peer import TorchPeer

PRODUCT = 1024  # a square product's rows, columns and depth


def compare(library: Library, steps: dict[str, Callable[[], object]], sizes: Sizes, rounds: Rounds) -> None:
    """Print how many times as long as the C build PyTorch takes: for a product, and for a training step.

    steps: those of the C build, by format.
    """
    torch.set_num_threads(THREADS)
    print(f"{'PyTorch / C, median (quartiles)':<40}{'float32':>26}{'bf16':>26}")
    row(f"product, {PRODUCT} x {PRODUCT} x {PRODUCT}", products(library, PRODUCT // sizes.divisor), rounds)
    tokens, targets = (torch.from_numpy(array).long() for array in batch(sizes))
    beside: dict[str, Callable[[], object]] = dict(steps)
    for name, autocast in (("float32", None), ("bf16", torch.bfloat16)):
        peer = TorchPeer(sizes.config, TRAINING, initial_state(sizes).parameters, autocast)
        beside[f"{name} PyTorch"] = lambda peer=peer: peer.training_step(tokens, targets)
    row(f"training step, {sizes.batch} x {sizes.seq}", beside, rounds)


def products(library: Library, n: int) -> dict[str, Callable[[], object]]:
    """C = A . B^T of n x n numbers drawn at random, by both in both formats."""
    drawn = np.random.default_rng(0)
    a, b = (drawn.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    short = [x.astype(ml_dtypes.bfloat16) for x in (a, b)]
    wide = [torch.from_numpy(x) for x in (a, b)]
    in_bf16 = [x.bfloat16() for x in wide]
    return {
        "float32": lambda: library.gemm(a, b),
        "bf16": lambda: library.gemm_bf16(*short),
        "float32 PyTorch": lambda: torch.nn.functional.linear(*wide),
        "bf16 PyTorch": lambda: torch.nn.functional.linear(*in_bf16),
    }


def row(what: str, calls: dict[str, Callable[[], object]], rounds: Rounds) -> None:
    """Print the ratios of each format, and all four times."""
    seconds = take_turns(calls, rounds)
    ratios = "".join(f"{ratio(seconds[f'{name} PyTorch'], seconds[name])!s:>26}" for name in ("float32", "bf16"))
    times = ", ".join(f"{name} {1e3 * median(each):.2f}" for name, each in seconds.items())
    print(f"{what:<40}{ratios}   ms: {times}", flush=True)
