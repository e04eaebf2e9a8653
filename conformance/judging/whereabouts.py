"""Where an operation's results are wrong, in words that hold in every one of its failing cases."""

from __future__ import annotations

from collections.abc import Sequence

from conformance import operations

from .results import Result
from .spans import axis_names, joined
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
    found = [each for name, each in wrong if name == output]
    axes = axis_names(failed[0].operation, output)
    if any(len(each) != len(axes) for each in found):
        return ""
    said = [joined([each[axis] for each in found], name) for axis, name in enumerate(axes)]
    return ", ".join(filter(None, said))


def _array_of(verdict: Verdict) -> str:
    """The array, or the list that it is of."""
    return verdict.output.partition("[")[0]
