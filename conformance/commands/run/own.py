"""`run --on`: this project's own builds as what is judged."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from conformance.builds import TARGETS, BuildError, build, device_builds
from conformance.candidates.candidate import SCHEDULES


def with_own_builds(console: Console, options: argparse.Namespace) -> argparse.Namespace:
    """Return the options with what --on names built, as if --library had named it; without --on as they are.

    Emulated kernels are run in every order of threads unless --schedule chooses.  Raises DeviceError and BuildError.
    """
    if not options.on:
        return options
    _check(options)
    libraries: list[tuple[str, Path]] = []
    for name in (name for name in TARGETS if name in options.on):
        console.print(f"building {name}", markup=False, highlight=False)
        libraries += device_builds(options.arch) if name == "cuda" else [(name, build(name))]
    emulated = "emulated" in options.on
    return argparse.Namespace(
        **vars(options)
        | {
            "library": libraries,
            "schedule": (options.schedule or list(SCHEDULES)) if emulated else [],
            "arch": options.arch if emulated else [],  # what was compiled for one says so itself
        }
    )


def _check(options: argparse.Namespace) -> None:
    """Raise BuildError on options of a build that is not chosen."""
    on = " and ".join(dict.fromkeys(options.on))
    if options.arch and set(options.on) == {"stub"}:
        raise BuildError(f"--arch {options.arch[0]}: expected --on emulated or cuda, got {on}; the C library has none")
    if options.schedule and "emulated" not in options.on:
        raise BuildError(f"--schedule {options.schedule[0]}: expected --on emulated, got {on}")
