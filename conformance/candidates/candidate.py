"""What is judged: a library on a machine, and in which order an emulated device runs its threads."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bindings import Facts, LibraryError
from conformance.frameworks import Linked
from conformance.kernels import Compiled

from .module.source import Module
from .sandbox.restrictions import is_trusted
from .worker import begun
from .worker.worker import Worker

SCHEDULES = ("forward", "reverse", "random")
_IN_DEVICE_MEMORY, _ON_ONE_MULTIPROCESSOR = "reverse", "random"
# Arrays in memory of the device's own, and, where they are there, for then calls are waited for, work on the default
# stream done late.
_DEVICE_MEMORY = {"ASSAYER_EMULATED_DEVICE_MEMORY": "1"}
OF_A_DEVICE = {**_DEVICE_MEMORY, "ASSAYER_EMULATOR_DEFAULT_STREAM": "late"}
_MULTIPROCESSORS = "ASSAYER_EMULATOR_MULTIPROCESSORS"
_SCHEDULE = re.compile(rf"({'|'.join(SCHEDULES)})(?:(?<=random):(\d{{1,18}}))?")


class CandidateError(ValueError):
    """A library cannot be run as it is asked for; the message says why."""


@dataclass(frozen=True)
class Candidate:
    """One way to run one library or module; `schedule` and `arch` are of an emulated device.

    path: where it lies.  module: how it is imported, where it is one of Python.  compiled: from which CUDA sources or
    framework the judge has made it, where it has.  kept_from: what of the machine, once it was asked what it is.
    """

    path: Path
    called: str = ""  # what the caller calls it
    schedule: str = ""  # forward, reverse, random or random:SEED
    arch: str = ""  # whose limits hold: sm_70 ...
    facts: Facts = field(default_factory=Facts)
    module: Module | None = None
    compiled: Compiled | Linked | None = None
    kept_from: tuple[str, ...] = ()

    @property
    def source(self) -> Path | Module:
        """What its worker opens."""
        return self.module or self.path.resolve()

    @property
    def options(self) -> str:
        """What the command line said beside the library."""
        framework = self.module.framework if self.module else ""
        said = {"--schedule": self.schedule, "--arch": self.arch, "--framework": framework}
        words = [word for option, value in said.items() if value for word in (option, value)]
        sources = self.compiled.project.words[1:] if self.compiled else ()
        return shlex.join([*sources, *words, *["--trust"] * is_trusted()])

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the library's process.

        In one of the orders an emulated device has the arrays in memory of its own, which host code cannot read, and a
        default stream whose work is late; in the others they lie in the judge's, where an access beyond an end is found
        at once.  In another order it has one multiprocessor, for which kernels take larger tiles and cut less, unless
        the variable says how many.
        """
        schedule, _, seed = self.schedule.partition(":")
        said = {"SCHEDULE": schedule, "SEED": seed, "ARCH": self.arch}
        variables = {f"ASSAYER_EMULATOR_{name}": value for name, value in said.items() if value}
        if schedule == _IN_DEVICE_MEMORY:
            variables |= OF_A_DEVICE if self.facts.on_device else _DEVICE_MEMORY
        if schedule == _ON_ONE_MULTIPROCESSOR and _MULTIPROCESSORS not in os.environ:
            variables[_MULTIPROCESSORS] = "1"
        return variables | dict(self.compiled.environment if self.compiled else {})

    @property
    def name(self) -> str:
        """What reports call it."""
        own = f"{self.module.name or self.path.name}{self.module.of_step}" if self.module else self.path.name
        return ", ".join(filter(None, (self.called or own, self.schedule, self.arch)))

    @property
    def key(self) -> str:
        """What it is remembered by: sources by where they are compiled, whatever they hold."""
        place = self.compiled.project.folder if self.compiled else self.path.resolve()
        step = f"--step {self.module.step}" if self.module and self.module.step else ""
        return " ".join(filter(None, (str(place), step, self.options)))


def candidates(
    libraries: Sequence[tuple[str, Path]],
    schedules: Sequence[str] = (),
    archs: Sequence[str] = (),
    compiled: Compiled | Linked | None = None,
) -> list[Candidate]:
    """Return the candidates: every library, an emulated one once for each schedule and architecture.

    libraries: what each is called, if it has a name, and where it lies; compiled: what the judge has made it of.
    Raises CandidateError where nothing is emulated, and what opening a library raises: LibraryError, NoDevice.
    """
    found: list[Candidate] = []
    for called, path in libraries:
        plain = _asked(Candidate(path, called, compiled=compiled))
        if plain.facts.emulated:
            ways = itertools.product(schedules or [""], archs or [""])
            asked = [replace(plain, schedule=schedule, arch=arch) for schedule, arch in ways]
            found += map(_asked, asked)
        else:
            found.append(plain)
    if (schedules or archs) and not any(candidate.facts.emulated for candidate in found):
        options = Candidate(Path(), "", next(iter(schedules), ""), next(iter(archs), "")).options
        raise CandidateError(f"{options}: expected an emulated library, got {', '.join(c.name for c in found)}")
    return found


def module_candidates(modules: Sequence[tuple[str, Module]]) -> list[Candidate]:
    """Return the candidates that modules are: what each is called, if it has a name, and how it is imported.

    Raises LibraryError where one cannot be.
    """
    return [_asked(Candidate(module.path, called, module=module)) for called, module in modules]


def _asked(candidate: Candidate) -> Candidate:
    """The candidate with what it says of itself, and what its process is kept from."""
    worker = _idle(candidate)
    asked = replace(candidate, facts=worker.facts(), kept_from=tuple(worker.process().restricted))
    if asked.environment != candidate.environment:  # what it said of itself says in which it is to be judged
        _warm.pop(candidate.key).close()
    return asked


def facts_of(candidate: Candidate) -> Facts:
    """Return what a library says of itself, in a process of its own, which may serve `worker_of` next."""
    return _idle(candidate).facts()


def ask(candidate: Candidate, function: Callable[..., Any]) -> Any:
    """Return what a function of a module says, given the open candidate, in a process that may serve `worker_of` next.

    Raises CandidateError where it ends the process.
    """
    outcome = _idle(candidate).call(function)
    if outcome.status != "done":
        raise CandidateError(f"{candidate.path}: {outcome.status}: {outcome.detail}")
    return outcome.value


def _idle(candidate: Candidate) -> Worker:
    """A worker that serves nobody.  Raises LibraryError where the candidate cannot be opened."""
    worker = _warm.pop(candidate.key, None) or _opened(candidate)
    try:
        worker.facts()
    except LibraryError:
        worker.close()
        raise
    _warm[candidate.key] = worker
    return worker


def _opened(candidate: Candidate) -> Worker:
    """A worker with one thread, on the process that was begun for the library if there is one."""
    environment = candidate.environment
    started = None if environment or candidate.module else begun.take_over(candidate.path)
    return Worker(candidate.source, begun.THREADS, environment=environment, begun=started)


def worker_of(candidate: Candidate, threads: int, limit_s: float) -> Worker:
    """Return a worker of the candidate: the one that told what its library is, where that is free, or a new one."""
    if threads == begun.THREADS and (worker := _warm.pop(candidate.key, None)):
        worker.limit_s = limit_s
        return worker
    return Worker(candidate.source, threads, limit_s, candidate.environment)


def close_idle_workers() -> None:
    """End the workers that told what libraries are and have served nobody else."""
    for worker in _warm.values():
        worker.close()
    _warm.clear()
    begun.end_begun()


_warm: dict[str, Worker] = {}  # of this process, by the candidate's key; they end with it


def read_schedule(text: str) -> str:
    """Read forward, reverse, random or random:SEED.  Raises CandidateError."""
    if not _SCHEDULE.fullmatch(text):
        raise CandidateError(f"expected {', '.join(SCHEDULES)} or random:SEED, got {text!r}")
    return text
