"""For tests of calls that may raise or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def error_of(kind: type[Exception], call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return the error of this kind that a call raises, None where it raises none."""
    try:
        call(*arguments, **named)
    except kind as error:
        return error
    return None
