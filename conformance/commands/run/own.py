"""`run --on`: this project's own builds as what is judged."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rich.console import Console

from conformance.builds import TARGETS, BuildError, build, device_builds
from conformance.candidates.candidate import SCHEDULES

from .frameworks import framework_rounds
from .kernels import kernel_rounds


def rounds(console: Console, options: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the options of each round of judging: as they are, or for each build of --on, --cuda or --map its own.

    A build is made when its round begins, so that the verdict on the first does not wait for the others; its options
    are as if --library had named it.  Emulated kernels are run in every order of threads unless --schedule chooses.
    Raises DeviceError and BuildError.
    """
    if options.cuda:
        yield from kernel_rounds(console, options)
        return
    if not options.on:
        yield from framework_rounds(options) if options.map else (options,)
        return
    _check(options)
    for name in (name for name in TARGETS if name in options.on):
        console.print(f"building {name}", markup=False, highlight=False)
        libraries = list(device_builds(options.arch)) if name == "cuda" else [(name, build(name))]
        emulated = name == "emulated"
        asked = {
            "library": libraries,
            "schedule": (options.schedule or list(SCHEDULES)) if emulated else [],
            "arch": options.arch if emulated else [],  # what was compiled for one says so itself
        }
        yield argparse.Namespace(**vars(options) | asked)


def _check(options: argparse.Namespace) -> None:
    """Raise BuildError on options of a build that is not chosen."""
    on = " and ".join(dict.fromkeys(options.on))
    if options.arch and set(options.on) == {"stub"}:
        raise BuildError(f"--arch {options.arch[0]}: expected --on emulated or cuda, got {on}; the C library has none")
    if options.schedule and "emulated" not in options.on:
        raise BuildError(f"--schedule {options.schedule[0]}: expected --on emulated, got {on}")
