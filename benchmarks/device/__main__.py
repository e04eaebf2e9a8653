"""What operations cost where the library computes, at the full model's shapes: `python -m benchmarks.device`.

    python -m benchmarks.device --library build/cuda-90/libassayer_cuda.so --peers

Every row is first held against the reference, at a small size.  A time is the median of several turns, each of calls
recorded once (on a device: a graph), on arrays that together overflow its cache.  GB/s are those of the arguments and
results, TFLOP/s of the multiplications and additions of products.  `floor`: the time that a copy of those bytes takes
on this device, or with --peers PyTorch's 8192^3 product at as many operations where that is longer, in parts of ours.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.agreement import wrong
from benchmarks.cases import Case
from benchmarks.machine import header
from benchmarks.sizes import SHORT_FORM
from bindings import Library

from .replays import PUBLISHED, SHORT, Replay, Turns, has_device, of_library, of_torch, take_turns
from .rows import FORMATS, flops, product, timed

SIDE = 8192  # of the matrices whose product is the ceiling
CHOOSING = ("embedding", "scatter_add")  # of a table's rows: its bytes say nothing
COPIED = 1 << 30  # bytes, read and written
HEADING = f"{'':<58}{'format':>8}{'us':>12}{'GB/s':>8}{'TFLOP/s':>9}{'floor':>7}"
PEER = f"{'PyTorch us':>12}{'ratio':>7}"


def main() -> int:
    """Print a row for each operation; exit code 1 where one computes something else than the reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="the library to time")
    parser.add_argument("--peers", action="store_true", help="PyTorch on the same device, in turn")
    parser.add_argument("--short", action="store_true", help="small sizes and few rounds: that every row runs")
    parser.add_argument("-k", metavar="WORD", default="", help="only rows that contain the word")
    parser.add_argument("--json", type=Path, help="the rows as JSON lines, too")
    options = parser.parse_args()
    if options.peers and not has_device():
        parser.error("--peers: expected PyTorch with a CUDA device, found none")
    library = Library(options.library, resident=True)
    print(*header(options.library, ("numpy", *(["torch"] if options.peers else []))), sep="\n")
    print(library.facts.described, *([SHORT_FORM] if options.short else []), sep="\n")
    turns = SHORT if options.short else PUBLISHED
    ceilings = Ceilings(_copy_rate(library, turns), _product_rates(turns) if options.peers else {})
    print(ceilings, HEADING + (PEER if options.peers else ""), sep="\n")
    failed = 0
    with (options.json or Path(os.devnull)).open("w", encoding="utf-8") as log:
        for row in timed(short=options.short):
            if options.k not in row.operation:
                continue
            if told := disagreements(library, row.small()):
                print(f"{row.operation}: {'; '.join(told)}")
                failed = 1
                continue
            figures = measured(library, row.case(), row.form, turns, peers=options.peers)
            print(shown(figures, ceilings), flush=True)
            log.write(json.dumps(figures) + "\n")
            gc.collect()
    return failed


class Ceilings(NamedTuple):
    """Bytes a second of a copy, read and written, and operations a second of PyTorch's product, by format."""

    copied: float
    multiplied: Mapping[str, float]

    def __str__(self) -> str:
        lines = [f"a copy within its memory: {self.copied / 1e9:,.0f} GB/s, read and written"]
        lines += [
            f"PyTorch's product of matrices in {form}: {rate / 1e12:,.1f} TFLOP/s"
            for form, rate in self.multiplied.items()
        ]
        return "\n".join(lines)

    def seconds(self, row: Mapping[str, Any]) -> float:
        """The least that a call can take."""
        multiplied: float = row["flops"] / self.multiplied.get(row["format"], float("inf"))
        copied: float = row["moved"] / self.copied
        return max(copied, multiplied)


def disagreements(library: Library, small: Case) -> list[str]:
    """Return a line for each output of a small case that lies beyond the judge's limits."""
    given = [library.array(v) if isinstance(v, np.ndarray) else v for v in small.call()]
    results = getattr(library, small.operation)(*given)
    each = results if isinstance(results, tuple) else (results,)
    return wrong(small, tuple(array.to_host() for array in each))


def measured(library: Library, case: Case, form: str, turns: Turns, *, peers: bool) -> dict[str, Any]:
    """Time one row: seconds, bytes and operations of a call, and PyTorch's seconds or why there are none."""
    replays: dict[str, Replay] = {"ours": of_library(library, case, turns)}
    row: dict[str, Any] = {"row": case.id, "format": form, "moved": replays["ours"].moved, "flops": flops(case)}
    if peers:
        try:
            replays["PyTorch"] = of_torch(case, turns)
        except Exception as error:  # whatever it says of what it has not
            row["without"] = f"{type(error).__name__}: {error}".splitlines()[0]
    seconds = take_turns(replays, turns)
    return row | {"seconds": seconds["ours"], "peer": seconds.get("PyTorch")}


def shown(row: Mapping[str, Any], ceilings: Ceilings) -> str:
    """A line of the table."""
    seconds = row["seconds"]
    rate = f"{row['flops'] / seconds / 1e12:.1f}" if row["flops"] else "-"
    whole = row["row"].split()[0] not in CHOOSING
    moved, floor = (f"{row['moved'] / seconds / 1e9:,.0f}", f"{ceilings.seconds(row) / seconds:.0%}") if whole else "--"
    line = f"{row['row']:<58}{row['format']:>8}{seconds * 1e6:>12,.1f}{moved:>8}{rate:>9}{floor:>7}"
    if row["peer"]:
        line += f"{row['peer'] * 1e6:>12,.1f}{row['peer'] / seconds:>7.2f}"
    return line + (f"  {row['without']}" if "without" in row else "")


def _copy_rate(library: Library, turns: Turns) -> float:
    count = COPIED // (4096 if turns == SHORT else 8)
    source, target = (library.array(np.ones(count, np.float32)) for _ in range(2))
    replay = Replay(lambda: target.copy_from(source), library.synchronize, 1, 8 * count, ())
    return replay.moved / take_turns({"copy": replay}, turns)["copy"]


def _product_rates(turns: Turns) -> dict[str, float]:
    case = {form: product(256 if turns == SHORT else SIDE, form) for form in FORMATS}
    return {form: flops(case[form]) / take_turns({form: of_torch(case[form], turns)}, turns)[form] for form in FORMATS}


if __name__ == "__main__":
    sys.exit(main())
