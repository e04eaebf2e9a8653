"""What the judge asks for where a worker's process is to be started."""

from __future__ import annotations

from typing import NamedTuple

from conformance.candidates.sandbox.restrictions import Walls


class Order(NamedTuple):
    """Which candidate a copy opens, and how; walls: None where it is trusted."""

    capacity: int
    candidate: str
    walls: Walls | None
