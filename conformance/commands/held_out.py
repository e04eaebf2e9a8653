"""`held-out`: plant faults that only held-out cases find, hunt for each, and count what is found."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bindings import BindingError
from bindings.places import builds
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.proof.held_out.log import LogError, trials
from conformance.proof.held_out.plant import Plants
from conformance.proof.held_out.score import is_right, line_of, lines
from conformance.proof.held_out.trial import Hunter, Trial

from .options import add_command, keywords, positive

_EXAMPLES = """\
  held-out --library build/stub/libassayer_stub.so                  40 faults, five minutes for each
  held-out --library ... --seed 7 --minutes 1                       others, a minute for each
  held-out --library ... -k softmax                                 in operations whose name matches
"""
_EXIT = "exit code: 0 at least 95 % were found, and nothing else; 1 fewer, or something else; 2 nothing was planted"


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "hold a tenth of the design out, plant faults that it alone finds, and count what the hunt finds"
    parser = add_command(commands, "held-out", what, run, _EXAMPLES, _EXIT)
    parser.add_argument("--library", type=Path, required=True, metavar="PATH", help="a correct library")
    parser.add_argument("--count", type=positive, default=40, metavar="N", help="how many faults (default: 40)")
    parser.add_argument("--minutes", type=float, default=5.0, metavar="M", help="for each hunt (default: 5)")
    parser.add_argument("--calls", type=positive, metavar="N", help="end each hunt after N draws")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="draws all (default: %(default)s)")
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only operations that match")
    log = "where results are kept (default: build/held_out.jsonl); what stands there is not hunted again"
    parser.add_argument("--log", type=Path, metavar="FILE", help=log)
    parser.add_argument("-n", type=positive, default=1, metavar="N", help="hunts at once (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Plant, hunt, print; return the exit code."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    started, done = time.monotonic(), list[Trial]()
    try:
        hunter = Hunter(options.library.resolve(), options.seed, 60 * options.minutes, options.calls)
        chosen = [name for name in Plants(hunter.library, hunter.seed).operations() if options.k.matches(name)]
        log = options.log or builds() / "held_out.jsonl"
        for trial in _planted(hunter, chosen, log, options):
            console.print(line_of(trial))
            done.append(trial)
    except (BindingError, LogError, OSError) as error:
        console.print(str(error))
        return HARNESS
    if not done:
        console.print(f"expected an operation that {options.k.text!r} matches, in which a fault shows; got none")
        return HARNESS
    for line in ("", *lines(done), f"{time.monotonic() - started:.0f} s, seed {options.seed}"):
        console.print(line)
    return PASSED if is_right(done) else FAILED


def _planted(hunter: Hunter, chosen: Sequence[str], log: Path, options: argparse.Namespace) -> Iterator[Trial]:
    """Yield the trials that count, of as many operations from the first on as it takes."""
    wanted, at = options.count, 0
    while wanted and at < len(chosen):
        for trial in trials(hunter, chosen[at : at + wanted], log, options.n):
            at += 1
            if trial.counts:
                wanted -= 1
                yield trial
