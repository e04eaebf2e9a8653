"""JSON that others wrote, as records: every value is of the type that its field declares, or is named."""

from __future__ import annotations

import re
from typing import TypeVar

Record = TypeVar("Record")

_MISFIT = re.compile(r"(?P<what>.*?)(?: - at `(?P<where>.*)`)?", re.S)
_CHANGED = re.compile(r"Expected `(?P<due>.*?)`, got `(?P<got>.*?)`")


class DecodingError(ValueError):
    """What is wrong with a text: where in it, what was expected and what came."""


def decode(kind: type[Record], text: bytes) -> Record:
    """Return JSON as a dataclass, whose fields may be dataclasses too; names that it does not know are passed over.

    "inf", "-inf" and "nan" are floating-point numbers, which JSON has no others for.  Raises DecodingError.
    """
    import msgspec  # here, as most commands read no JSON

    try:
        return msgspec.json.decode(text, type=kind, strict=False)
    except RecursionError:
        raise DecodingError("expected values a few levels deep, got more levels than can be read") from None
    except msgspec.ValidationError as error:
        raise DecodingError(_sentence(str(error))) from None
    except ValueError as error:  # no JSON, or no UTF-8
        raise DecodingError(f"expected JSON, got damage: {error}") from None


def _sentence(message: str) -> str:
    """The package's message as the judge words it: `$.run.seed` is run.seed, and comes first."""
    found = _MISFIT.fullmatch(message)
    what, where = (found["what"], found["where"]) if found else (message, None)
    place = (where or "$").removeprefix("$").removeprefix(".")
    changed = _CHANGED.fullmatch(what)
    said = f"expected {changed['due']}, got {changed['got']}" if changed else f"{what[0].lower()}{what[1:]}"
    return f"{place}: {said}" if place else said
