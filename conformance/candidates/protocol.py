"""What the judge needs of whatever runs calls: a worker with a library, or a folder of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bindings import Facts

from .finding import Finding


class Outcome(Protocol):
    """What a worker reports of a call."""

    status: str
    code: int
    outputs: Mapping[str, Any]
    findings: list[Finding]
    detail: str
    again: Mapping[str, Any] | None
    elsewhere: Mapping[str, Any]
    raised: str


class Runs(Protocol):
    """Whatever runs a call: conformance.candidates.worker.worker.Worker."""

    def run(self, operation: str, arguments: Mapping[str, Any], override: Mapping[str, Any] | None = None) -> Any: ...

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any: ...

    def facts(self) -> Facts: ...
