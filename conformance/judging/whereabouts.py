"""Where an operation's results are wrong, in words that hold in every one of its failing cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance import operations
from conformance.operations import axis_names

from .results import Result
from .spans import joined, spans
from .verdict import Verdict


def whereabouts(failed: Sequence[Result]) -> str:
    """Return where, of the output that is wrong most often: "columns from 1024 on"; nothing where it is everywhere.

    failed: cases of one operation, of all its formats.
    """
    function = operations.OPERATIONS.get(failed[0].operation)
    wrong = [(_array_of(one), one.spans) for result in failed for one in result.verdicts if one.spans]
    names = [name for name, _ in wrong if function and name in function.by_name]
    if not names:
        return ""
    output = max(dict.fromkeys(names), key=names.count)
    if function and function.by_name[output].each:
        return _of_list(failed, output)
    found = [each for name, each in wrong if name == output]
    axes = axis_names(failed[0].operation, output)
    if any(len(each) != len(axes) for each in found):
        return ""
    said = [joined([each[axis] for each in found], name) for axis, name in enumerate(axes)]
    return ", ".join(filter(None, said))


def _of_list(failed: Sequence[Result], name: str) -> str:
    """Which arrays of a list are wrong, and where in them."""
    lists = [sorted((v for v in result.verdicts if _array_of(v) == name), key=_place) for result in failed]
    wrong = [np.array([bool(one.spans) for one in members]) for members in lists]
    arrays = [each for hit in wrong if hit.any() for each in spans(hit)]
    inside = [one.spans[0] for members in lists for one in members if len(one.spans) == 1]
    return ", ".join(filter(None, [joined(arrays, "array"), joined(inside, "element")]))


def _place(verdict: Verdict) -> int:
    """Which of its list an array is."""
    return int(verdict.output.partition("[")[2].rstrip("]"))


def _array_of(verdict: Verdict) -> str:
    """The array, or the list that it is of."""
    return verdict.output.partition("[")[0]
