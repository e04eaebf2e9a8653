"""Where a step really computes in 16 bits: every call with the formats of its arrays, as the library is called.

`python -m training.step_formats --precision bf16` prints it for one step on the reference.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

import reference
from reference import random
from reference.model.config import TINY, Config
from reference.model.parameters import initialise
from reference.namespace import Ops, Wrapped
from reference.step import TrainingConfig

from .precision import PRECISIONS, Precision
from .step import Step


class CallFormats(NamedTuple):
    """One call: the operation, and the formats of the floating-point arrays it was given and gave back."""

    operation: str
    given: tuple[str, ...]
    returned: tuple[str, ...]


class Recorded(Wrapped):
    """A namespace of operations that notes the placement of every call."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.calls: list[CallFormats] = []

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        given = _formats([*args, *named.values()])
        results = _in_float32(super()._call(operation, *args, **named))
        self.calls.append(CallFormats(operation, given, _formats(results)))
        return results


def _in_float32(results: Any) -> Any:
    """What a library would have returned: the reference gives float64 where no argument's type says otherwise."""
    if isinstance(results, (list, tuple)):
        parts = [_in_float32(result) for result in results]
        return type(results)(*parts) if hasattr(results, "_fields") else type(results)(parts)
    return results.astype(np.float32) if getattr(results, "dtype", None) == np.float64 else results


def _formats(values: Any) -> tuple[str, ...]:
    if isinstance(values, (list, tuple)):
        return tuple(format for value in values for format in _formats(value))
    dtype = getattr(values, "dtype", None)
    return () if dtype is None or dtype.kind in "iu" else (str(dtype),)


def trace(ops: Ops, config: Config, precision: Precision, micro_batches: int = 1) -> list[CallFormats]:
    """Return every call of one step of two short sequences per micro-batch, from parameters of the project's own."""
    recorded = Recorded(ops)
    step = Step(recorded, config, TrainingConfig(micro_batches=micro_batches), precision=precision)
    standing = step.start(initialise(config, 0, np.float32))
    recorded.calls.clear()
    tokens = random.integers(random.stream("trace"), 0, config.vocab, (2 * micro_batches, 8)).astype(np.int32)
    step(standing, tokens, tokens)
    return recorded.calls


def summary(calls: Iterable[CallFormats]) -> Counter[CallFormats]:
    """Return how often each placement occurs; in lists of arrays each format is named once."""
    return Counter(CallFormats(p.operation, *(tuple(dict.fromkeys(f)) for f in p[1:])) for p in calls)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every operation of one step."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.step_formats", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--precision", choices=PRECISIONS, default="bf16", help="default: %(default)s")
    precision = PRECISIONS[parser.parse_args(arguments).precision]
    print(f"{'calls':>5}  {'operation':<32} {'reads':<20} writes")
    for (operation, given, returned), count in sorted(summary(trace(reference, TINY, precision)).items()):
        print(f"{count:>5}  {operation:<32} {', '.join(given):<20} {', '.join(returned)}")


if __name__ == "__main__":
    main()
