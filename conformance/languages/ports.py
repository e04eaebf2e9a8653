"""Whether a port can be built here, and its build."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conformance.paths import EXAMPLES

from .listed import Port, Positional, Trial
from .npm import FetchError, fetched

_SECONDS = 300  # that a compiler may take
_LAST = 12  # lines of what it said
# No compiler may fetch anything: what a port needs stands in its folder, or npm has fetched it before.
_ALONE = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "CARGO_NET_OFFLINE": "true"}


class PortError(RuntimeError):
    """A port could not be built; the message holds the last that its compiler said."""


@dataclass(frozen=True)
class Built:
    """Where the results of a build lie."""

    library: Path | None
    program: tuple[str, ...]
    answers: tuple[str, ...] = ()


def lacking(port: Port) -> str:
    """Why a port cannot be built here, or nothing: a tool that is on the path and does not work counts as missing."""
    for tool in port.tools:
        if not shutil.which(tool):
            return f"there is no {tool} on the path"
    if said := _tried(port.trial):
        return f"{port.trial.command[0]} is on the path and does not work: {said.splitlines()[-1]}"
    try:
        _modules(port, EXAMPLES / port.folder)
    except FetchError as error:
        return str(error)
    return ""


def lacking_by_position(positional: Positional) -> str:
    """Why a port cannot be built here for 32-bit x86, or nothing."""
    if not (said := _tried(positional.trial).strip().splitlines()):
        return ""
    first = next((line for line in said if "error" in line or "cannot find" in line), said[-1])
    more = next((line for line in said if "help:" in line), "").strip(" =")
    return f"no compiler for 32-bit x86: {first}" + (f" ({more})" if more else "")


def _tried(trial: Trial) -> str:
    """What was said where a trial failed, else nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"trial{trial.suffix}")
        file.write_text(trial.source, encoding="utf-8")
        return _run(tuple(word.format(file=file) for word in trial.command), Path(folder))


def _modules(port: Port, source: Path) -> Path | None:
    """What npm fetches for a port that is compiled by it; none for any other.  Raises FetchError."""
    return fetched(source / "package.json") if "npm" in port.tools else None


def build(port: Port, source: Path, out: Path) -> Built:
    """Build a port from a folder of sources; out: an absolute folder.  Raises PortError."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        modules = _modules(port, source)
    except FetchError as error:
        raise PortError(f"{port.name}: {error}") from None

    def filled(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.format(out=out, modules=modules) for word in words)

    for command in map(filled, port.build):
        _make(port.name, command, source)
    library = Path(port.library.format(out=out)) if port.library else None
    return Built(library, filled(port.program), filled(port.answers))


def build_by_position(name: str, positional: Positional, source: Path, out: Path) -> Path:
    """Build a port's library for 32-bit x86 and return its path.  Raises PortError."""
    _make(name, tuple(word.format(out=out) for word in positional.build), source)
    return Path(positional.library.format(out=out))


def _make(name: str, command: tuple[str, ...], source: Path) -> None:
    if said := _run(command, source):
        raise PortError(f"{name}: {' '.join(command)}: " + "\n".join(said.splitlines()[-_LAST:]))


def _run(command: tuple[str, ...], folder: Path) -> str:
    """What a command said where it failed, else nothing."""
    environment = {**os.environ, **_ALONE}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr + done.stdout).strip() or f"exit code {done.returncode}"
