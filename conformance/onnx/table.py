"""What came of ONNX's node cases, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .node_cases import NodeCase


def lines(cases: Sequence[NodeCase]) -> Iterator[str]:
    """Yield a row for each operator and operation, failures below it, then why others do not apply."""
    yield f"{'operator':<26}{'operation':<24}{'passed':>7}{'failed':>7}"
    applied = [case for case in cases if case.operation]
    for operator, operation in dict.fromkeys((case.operator, case.operation) for case in applied):
        mine = [case for case in applied if (case.operator, case.operation) == (operator, operation)]
        failed = [case for case in mine if case.failure]
        yield f"{operator:<26}{operation:<24}{len(mine) - len(failed):>7}{len(failed):>7}"
        yield from (f"    FAIL {case.name}: {case.failure}" for case in failed)
    reasons = Counter((case.operator, case.reason) for case in cases if not case.operation)
    for (operator, reason), count in reasons.items():
        yield f"not applicable: {count} of {operator}: {reason}"
    passed = sum(not case.failure for case in applied)
    yield f"{passed} passed, {len(applied) - passed} failed, {len(cases) - len(applied)} not applicable"
