"""Namespaces of operations that stand before another."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import reference
from reference.namespace import Namespace, Wrapped, offers


class Doubled(Wrapped):
    """Every result twice as large, but that of `mul`."""

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        return 2 * super()._call(operation, *args, **named)

    def mul(self, a: Any, b: Any) -> Any:
        return self._ops.mul(a, b)


def test_every_call_goes_through_one_method_but_those_that_have_their_own() -> None:
    ops, two = Doubled(reference), np.full(3, 2.0)
    assert ops.add(two, b=two).tolist() == [8.0] * 3
    assert ops.mul(two, two).tolist() == [4.0] * 3
    assert Doubled(ops).add(two, two).tolist() == [16.0] * 3


def test_what_the_other_lacks_is_named() -> None:
    with pytest.raises(AttributeError, match="no_such_operation"):
        Wrapped(reference).no_such_operation()
    with pytest.raises(NotImplementedError):
        Namespace().add()


def test_what_python_looks_for_is_no_operation() -> None:
    assert copy.copy(Doubled(reference)).add(np.ones(1), np.ones(1)).tolist() == [4.0]
    with pytest.raises(AttributeError, match=r"^Doubled has no attribute __len__$"):
        Doubled(reference).__len__()


class Offering(Namespace):
    """A namespace that offers one operation."""

    def offers(self, operation: str) -> bool:
        return operation == "topk_router"


class Transparent(Wrapped):
    """A namespace to which a fused operation means no more than its parts."""

    offers = Wrapped.offered_behind


@pytest.mark.parametrize(("operation", "is_offered"), [("topk_router", True), ("router_gemm", False)])
def test_what_is_offered_behind_is_offered_by_whoever_says_so(operation: str, is_offered: bool) -> None:
    behind = Offering()
    assert Transparent(behind).offers(operation) is is_offered
    assert Transparent(Transparent(behind)).offers(operation) is is_offered
    assert Wrapped(behind).offers(operation) is False
    assert offers(Transparent(behind), operation) is is_offered
    assert offers(reference, operation) is False
